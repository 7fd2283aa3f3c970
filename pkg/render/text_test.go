package render

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

func TestTheGatesAnswerHasTheShapeOfTheReadme(t *testing.T) {
	assert.Equal(t, Style{}.Gate(storyView(), storyResult()), strings.TrimPrefix(`
1 hook (Argo CD and Helm hooks are not compared with live objects): shop/Job/migrate- (PreSync)
plan p_f88610636592 · cluster (prod) · reversible · 1 object · server-side dry run
~ shop/ConfigMap/shop-config (update)
     data.feature_new_cart: "false" → "true"
change c_9dd33d8939b8 (#3): awaiting-approval
policy: approval required (out-of-band; approvers: group:sre): production Kubernetes syncs need SRE approval
`, "\n"))
}

func TestAPlanShowsEveryKindOfChangeWithTheGravestFirst(t *testing.T) {
	golden.Assert(t, Style{}.Plan(PlanView{Plan: richPlan(), ShowUnchanged: true}), t.Name()+".golden")
}

func TestWhoIsAboutToSignSeesAll(t *testing.T) {
	golden.Assert(t, Style{Full: true}.Plan(PlanView{Plan: richPlan()}), t.Name()+".golden")
}

func TestColourIsOnlyForTerminals(t *testing.T) {
	assert.Assert(t, !strings.Contains(Style{}.Gate(storyView(), storyResult()), "\x1b"))
	assert.Assert(t, strings.Contains(Style{Color: true}.Gate(storyView(), storyResult()), "\x1b[33m~ shop/ConfigMap/shop-config (update)\x1b[0m"))
}

func TestApprovalsAreShownWithWhatVoidsThem(t *testing.T) {
	r := storyResult()
	r.Request.Status, r.Verdict = gate.Approved, gate.Verdict{Decision: state.VerdictAllowed, Reasons: []policy.Reason{{Reason: "Approved", Message: "approved by alice"}}}
	own := aliceApproves()
	own.Counts, own.Reason, own.Detail, own.Predicate.Person.Username = false, "ApproverIsProposer", "bob proposed it", "bob"
	r.Request.Decisions = []approval.Checked{aliceApproves(), own}
	r.StaleRequest = &gate.Request{ID: "c_000000000001", Number: 2}
	r.Stale = []gate.Stale{{Cause: "live", Object: manifest.Key{Kind: "ConfigMap", Namespace: "shop", Name: "shop-config"}, Path: "data.feature_new_cart", Manager: "kubectl-edit",
		Time: time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC), Message: `was "false", is "maybe"`}}
	r.Warnings = []string{"the clock is off"}
	r.Enforced = false
	golden.Assert(t, Style{}.Gate(storyView(), r), t.Name()+".golden")
}

func TestLargeValuesAreCutWithSizeAndDigestButNotForSigners(t *testing.T) {
	p := storyPlan()
	p.Changes[1].Body.Transitions = []diff.Transition{
		{Path: "data.big", Action: diff.Change, Old: "x", New: strings.Repeat("y", 5000)},
		{Path: "data.long", Action: diff.Add, New: strings.Repeat("line\n", 500)},
		{Path: "data.wide", Action: diff.Add, New: "a\n" + strings.Repeat("w", 5001) + "\nb\n"}}
	created := flagChange()
	created.Body.Operation, created.Body.Transitions = plan.Create, nil
	created.Body.Object = map[string]any{"data": map[string]any{"blob": strings.Repeat("z", 5002)}}
	p.Changes = append(p.Changes, created)
	short, full := Style{}.Plan(PlanView{Plan: p}), Style{Full: true}.Plan(PlanView{Plan: p})
	assert.Assert(t, len(short) < 4000, "%d bytes", len(short))
	assert.Assert(t, strings.Contains(short, "… (5.0 kB, sha256:"), short)
	assert.Assert(t, strings.Contains(short, "more lines, now (2.5 kB"), short)
	assert.Equal(t, strings.Count(short, "… (5.0 kB, sha256:"), 3, short)
	for letter, n := range map[string]int{"y": 5000, "w": 5001, "z": 5002} {
		assert.Assert(t, strings.Contains(full, strings.Repeat(letter, n)))
	}
	assert.Equal(t, strings.Count(full, "+line"), 500)
}

func TestATrailingLineFeedThatGoesIsShown(t *testing.T) {
	assert.DeepEqual(t, hunks("a\nb\n", "a\nb"), []string{"@@ -1,2 +1,2 @@", " a", "-b", "+b", `\ no line feed at the end`})
	assert.DeepEqual(t, hunks("", "a\tb\n"), []string{"@@ -0,0 +1,1 @@", `+a\tb`})
}

func TestTheGravestFindingIsOnTheFirstScreen(t *testing.T) {
	p := storyPlan()
	for range 2000 {
		noise := flagChange()
		noise.Risks = []plan.Risk{{Name: "image"}}
		p.Changes = append(p.Changes, noise)
	}
	grave := flagChange()
	grave.Body = plan.Body{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding", Name: "evil", Operation: plan.Create}
	grave.Risks = []plan.Risk{{Name: "rbac", Detail: "grants cluster-admin to group dev"}}
	p.Changes = append(p.Changes, grave)
	for _, out := range []string{Style{Full: true}.Plan(PlanView{Plan: p}), Style{}.Markdown(Comment{View: PlanView{Plan: p}})} {
		first := strings.Join(strings.SplitN(out, "\n", 12)[:11], "\n")
		assert.Assert(t, strings.Contains(first, "! rbac: ClusterRoleBinding/evil (grants cluster-admin to group dev)"), first)
	}
}

func TestARequestAndItsListAreReadable(t *testing.T) {
	r := storyRequest()
	r.Decisions = []approval.Checked{aliceApproves()}
	byGate := state.Person{Username: "gate"}
	web := state.ObjectResult{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	written, diverged := web, web
	written.Result = state.ObjectWritten
	diverged.Result, diverged.Fields, diverged.Managers = state.ObjectDiverged, []string{"spec.replicas"}, []string{"kubectl-edit"}
	r.Outcomes = []state.Outcome{{Result: state.ResultStarted, Actor: byGate, Time: "2026-03-01T12:04:00Z"},
		{Result: state.ResultApplied, Actor: byGate, Time: "2026-03-01T12:05:00Z", Objects: []state.ObjectResult{written}},
		{Result: state.ResultDiverged, Actor: byGate, Time: "2026-03-01T12:06:00Z", Objects: []state.ObjectResult{diverged}},
		{Result: state.ResultReconciled, Actor: byGate, Time: "2026-03-01T12:07:00Z", Revision: "4f3c2b1"}}
	now := r.Created.Add(5 * time.Minute)
	golden.Assert(t, Style{}.Request(r)+Requests([]gate.Request{r}, now), t.Name()+".golden")
}

func TestAHookThatNeverRunsSaysSo(t *testing.T) {
	var p plan.Plan
	p.Changes = []plan.Change{{Body: plan.Body{Operation: plan.Hook, Kind: "Job", Namespace: "a", Name: "b"}}}
	assert.Assert(t, strings.Contains(Style{}.Plan(PlanView{Plan: &p}), "a/Job/b (no phase that is known)"))
}

func TestRowsThatFollowATableAreAlignedWithIt(t *testing.T) {
	one, other := storyRequest(), storyRequest()
	other.ID, other.Header.Scope = "c_000000000001", "a/much/longer/scope"
	all, now := []gate.Request{one, other}, one.Created.Add(time.Minute)
	row := RequestRows(all, []gate.Request{one}, now)
	assert.Equal(t, strings.Split(Requests(all, now), "\n")[1]+"\n", row)
	assert.Equal(t, RequestRows(all, nil, now), "")
}

func TestAFailureIsOneLineAMessage(t *testing.T) {
	assert.Equal(t, Style{}.Failure([]string{"approval required", "two\nlines"}, []string{"try again"}),
		"error: approval required\nerror: two\n  lines\nhint: try again\n")
}
