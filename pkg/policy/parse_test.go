package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/changeward/changeward/pkg/policy"
)

// spec wraps the members of a spec into a policy.
func spec(members string) []byte {
	lines := strings.Split(strings.Trim(members, "\n"), "\n")
	return []byte("apiVersion: changeward.dev/v1alpha1\nkind: Policy\nspec:\n  " + strings.Join(lines, "\n  ") + "\n")
}

// parsed is a policy of a clusterName, one SRE rule and further members.
func parsed(t *testing.T, members string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse(spec("clusterName: prod-eu\n" + members))
	assert.NilError(t, err)
	return p
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	assert.NilError(t, err)
	return data
}

func TestEveryKeyOfTheSchemaIsRead(t *testing.T) {
	p, err := policy.Parse(file(t, "everything.yaml"))
	assert.NilError(t, err)

	assert.Equal(t, p.ClusterName, "prod-eu")
	assert.DeepEqual(t, p.Aliases, []string{"prod", "eu"})
	assert.Equal(t, p.Env, "prod")
	assert.DeepEqual(t, p.Envs, []policy.EnvRule{{Env: "staging", Namespaces: []string{"*-staging", "sandbox"}}})
	assert.Equal(t, p.Enforce, false)
	assert.DeepEqual(t, p.Proposers, policy.Subjects{Groups: []string{"ci"}, Users: []string{"robot"}})
	assert.DeepEqual(t, p.Auditors, policy.Subjects{Groups: []string{"audit"}})
	assert.DeepEqual(t, p.Admins, policy.Admins{Subjects: policy.Subjects{Groups: []string{"platform"}, Users: []string{"root"}}, Count: 2})
	assert.Equal(t, p.Default, policy.Deny)
	assert.DeepEqual(t, p.Approvals, policy.Approvals{ExpireAfter: 24 * time.Hour, NotProposer: false, UnknownAuthor: "refuse",
		Identity: "signed", Enrollment: "roster", RequireReason: true, RequireTicket: true})
	assert.DeepEqual(t, p.Emergency, policy.Emergency{Subjects: policy.Subjects{Groups: []string{"sre"}}, Review: 48 * time.Hour})
	assert.DeepEqual(t, p.Freezes, []policy.Freeze{{Name: "year-end", From: time.Date(2026, 12, 20, 0, 0, 0, 0, time.UTC),
		To: time.Date(2027, 1, 3, 0, 0, 0, 0, time.UTC), Except: policy.Subjects{Groups: []string{"oncall"}}}})
	assert.Equal(t, p.Staleness, "object")
	assert.Equal(t, p.SameRevision, true)
	assert.DeepEqual(t, p.IgnorePaths, []string{"metadata.annotations.build"})
	assert.DeepEqual(t, p.MaxDeletes, policy.MaxDeletes{Count: 0, HasCount: true, Share: 0.25})
	assert.Equal(t, p.AllowUnverified, true)
	assert.Equal(t, p.AllowUnboundSecrets, true)
	assert.DeepEqual(t, p.Expires, time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC))

	assert.Equal(t, len(p.Rules), 2)
	assert.Equal(t, p.Rules[0].Enforce, false)
	assert.Equal(t, p.Rules[1].Enforce, true)
	assert.DeepEqual(t, p.Rules[0].Approvers, []policy.Requirement{
		{Rule: "two-views", Who: policy.Subjects{Groups: []string{"sre"}}, Count: 2, Message: "two teams look at it"},
		{Rule: "two-views", Who: policy.Subjects{Users: []string{"dba"}}, Count: 1, Message: "two teams look at it"},
	})
}

func TestWhatIsNotGivenHasTheDocumentedDefault(t *testing.T) {
	p := parsed(t, "default: deny")
	assert.Equal(t, p.Enforce, true)
	assert.DeepEqual(t, p.Approvals, policy.Approvals{ExpireAfter: 72 * time.Hour, NotProposer: true, UnknownAuthor: "show", Identity: "both", Enrollment: "attested"})
	assert.Equal(t, p.Admins.Count, 1)
	assert.Equal(t, p.Emergency.Review, 72*time.Hour)
	assert.Equal(t, p.Staleness, "fields")
}

func TestAllProblemsAreReportedAtOnceWithLineAndPath(t *testing.T) {
	files, err := filepath.Glob("testdata/bad-*.yaml")
	assert.NilError(t, err)
	assert.Assert(t, len(files) > 3)
	for _, name := range files {
		base := filepath.Base(name)
		t.Run(base, func(t *testing.T) {
			p, err := policy.Parse(file(t, base))
			assert.Assert(t, p == nil)
			assert.Assert(t, err != nil)
			golden.Assert(t, err.Error()+"\n", base+".golden")
		})
	}
}

func TestAPolicyThatWouldNotMeanWhatItSaysIsRefused(t *testing.T) {
	const sre = "rules: [{name: a, match: 'true', decision: approval, approvers: [{groups: [sre]}]}]"
	for name, test := range map[string]struct{ members, want string }{
		"no cluster name":                 {"default: deny", "spec.clusterName: missing"},
		"default asks for nobody":         {"clusterName: c", "spec.default: approval, but no rule names anyone"},
		"a rule asks for nobody":          {"clusterName: c\ndefault: deny\nrules: [{name: a, match: 'true', decision: approval}]", "needs approvers"},
		"an empty list of approvers":      {"clusterName: c\ndefault: deny\nrules: [{name: a, match: 'true', decision: approval, approvers: []}]", "names nobody"},
		"approvers of an allow rule":      {"clusterName: c\nrules: [{name: a, match: 'true', decision: allow, approvers: [{groups: [x]}]}]", "only a rule of decision approval"},
		"a count of none":                 {"clusterName: c\nrules: [{name: a, match: 'true', decision: approval, approvers: [{groups: [x], count: 0}]}]", "at least 1"},
		"more people than are named":      {"clusterName: c\nrules: [{name: a, match: 'true', decision: approval, approvers: [{users: [x, x], count: 2}]}]", "asks for 2 people, but names 1"},
		"two rules of one name":           {"clusterName: c\ndefault: deny\nrules: [{name: a, match: 'true', decision: deny}, {name: a, match: 'true', decision: deny}]", `two rules are named "a"`},
		"a rule that is called default":   {"clusterName: c\ndefault: deny\nrules: [{name: default, match: 'true', decision: deny}]", "is not free"},
		"a freeze that ends first":        {"clusterName: c\n" + sre + "\nfreezes: [{name: f, from: 2027-01-01T00:00:00Z, to: 2026-01-01T00:00:00Z}]", "from must be before to"},
		"a duration of days":              {"clusterName: c\n" + sre + "\napprovals: {expireAfter: 3d}", "want a duration above zero"},
		"a negative duration":             {"clusterName: c\n" + sre + "\napprovals: {expireAfter: -1h}", "want a duration above zero"},
		"a share above all":               {"clusterName: c\n" + sre + "\nmaxDeletes: {share: 25}", "want a number above 0 and at most 1"},
		"a share that is no number":       {"clusterName: c\n" + sre + "\nmaxDeletes: {share: .nan}", "want a number above 0 and at most 1"},
		"a path that is none":             {"clusterName: c\n" + sre + "\nignorePaths: [metadata.annotations.a/b]", "not a field path"},
		"a limit that limits nothing":     {"clusterName: c\n" + sre + "\nmaxDeletes: {}", "limits nothing"},
		"a bad pattern":                   {"clusterName: c\n" + sre + "\nenvs: [{env: e, namespaces: ['[']}]", "bad pattern"},
		"a number as a name":              {"clusterName: 12\n" + sre, "want a string"},
		"a word for a boolean":            {"clusterName: c\n" + sre + "\nenforce: 'no'", "want true or false"},
		"an alias":                        {"clusterName: &x c\n" + sre + "\nenv: *x", "aliases are not supported"},
		"a merge key":                     {"<<: {clusterName: c}\n" + sre, "spec.<<: unknown key"},
		"a member that does not exist":    {"clusterName: c\ndefault: deny\nrules: [{name: a, match: change.knd == 'x', decision: deny}]", "undefined field 'knd'"},
		"a comparison of types":           {"clusterName: c\ndefault: deny\nrules: [{name: a, match: change.kind == 1, decision: deny}]", "no matching overload"},
		"an answer that is not yes or no": {"clusterName: c\ndefault: deny\nrules: [{name: a, match: change.kind, decision: deny}]", "the answer is string, want bool"},
		"an answer of any type":           {"clusterName: c\ndefault: deny\nrules: [{name: a, match: 'change.fields[0].new', decision: deny}]", "the answer is dyn, want bool"},
		"a bad regular expression":        {"clusterName: c\ndefault: deny\nrules: [{name: a, match: 'change.name.matches(\"(\")', decision: deny}]", "invalid matches argument"},
		"an expression that costs much":   {"clusterName: c\ndefault: deny\nrules: [{name: a, match: 'change.fields.exists(a, change.fields.exists(b, a.path + b.path == \"x\"))', decision: deny}]", "could cost too much"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := policy.Parse(spec(test.members))
			assert.ErrorContains(t, err, test.want)
			assert.Assert(t, p == nil)
		})
	}
}

func TestWhatIsNotOneYAMLDocumentIsRefused(t *testing.T) {
	for name, source := range map[string]string{
		"nothing":       "",
		"a comment":     "# nothing\n",
		"two documents": string(spec("clusterName: c\ndefault: deny")) + "---\n{}\n",
		"bad YAML":      "a: [",
		"a list":        "[]",
		"another kind":  strings.Replace(string(spec("clusterName: c\ndefault: deny")), "kind: Policy", "kind: Pod", 1),
		"too large":     strings.Repeat("#", 300<<10),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policy.Parse([]byte(source))
			assert.Assert(t, err != nil)
		})
	}
}

func FuzzParseNeverPanics(f *testing.F) {
	f.Add(string(spec("clusterName: c\ndefault: deny")))
	f.Add(policy.Default("prod", "prod", policy.Roles{Approvers: policy.Subjects{Groups: []string{"sre"}}}))
	f.Add("a: &a [*a]")
	f.Fuzz(func(t *testing.T, source string) {
		p, err := policy.Parse([]byte(source))
		if (p == nil) == (err == nil) {
			t.Fatalf("policy %v with error %v", p, err)
		}
	})
}
