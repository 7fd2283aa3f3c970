package dryrun_test

import (
	"context"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/plan"
)

func TestAnInvalidUpdateNamesItsFieldAndSparesItsSiblings(t *testing.T) {
	live(t, "B29-recreate")
	sibling := "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b29-sibling, namespace: team-a}}\n"
	assert.DeepEqual(t, planned(t, caseFile(t, "B29-recreate.yaml")+sibling), []string{
		"+ team-a/ConfigMap/b29-sibling (create)",
		"! team-a/Deployment.apps/b29 Invalid: spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
	})
}

func TestAnImmutableFieldIsNamedWithBothValuesAndNothingElse(t *testing.T) {
	live(t, "B36-job-immutable")
	for _, name := range []string{"B36-job-immutable", "B36-job-immutable-force", "B36-job-immutable-argo-force"} {
		assert.DeepEqual(t, planned(t, caseFile(t, name+".yaml")), []string{
			`! team-a/Job.batch/b36 Immutable: spec.template.spec: field is immutable (spec.template.spec.containers[name="c"].image: "registry.example/migrate:1" → "registry.example/migrate:2")`,
		})
	}
}

func TestValuesOfAnImmutableEnvironmentAreNotTold(t *testing.T) {
	job := func(value string) string {
		return strings.ReplaceAll(caseFile(t, "B36-job-immutable.live.yaml"), "{name: c,", "{name: c, env: [{name: A, value: "+value+"}],")
	}
	text := strings.NewReplacer("b36", "b36-env")
	cluster(t).Apply(t, kubetest.Admin, "changeward", text.Replace(job("CANARY-old")))
	assert.DeepEqual(t, planned(t, text.Replace(job("CANARY-new"))), []string{
		`! team-a/Job.batch/b36-env Immutable: spec.template.spec: field is immutable (spec.template.spec.containers[name="c"].env[name="A"].value)`,
	})
}

func TestAWebhookThatIsDownIsNamedAndGuardsNoOthers(t *testing.T) {
	live(t, "B38-webhook-dry-run")
	webhooks := cluster(t).Client(kubetest.Admin).AdmissionregistrationV1().ValidatingWebhookConfigurations()
	t.Cleanup(func() { _ = webhooks.Delete(context.Background(), "b38-legacy", metav1.DeleteOptions{}) })
	poll.WaitOn(t, func(poll.LogT) poll.Result { // the server takes a moment to call it
		if lines := planned(t, caseFile(t, "B38-webhook-dry-run.yaml")); !strings.HasPrefix(lines[len(lines)-1], "! ") {
			return poll.Continue("%v", lines)
		}
		return poll.Success()
	})
	lines := planned(t, caseFile(t, "B38-webhook-dry-run.yaml"))
	assert.Equal(t, lines[0], "+ team-a/ConfigMap/b38-free (create)")
	assert.Assert(t, strings.HasPrefix(lines[1], "! team-a/ConfigMap/b38-guarded Admission: "), lines[1])
	assert.Assert(t, strings.Contains(lines[1], `"b38.legacy.example.com"`), lines[1])
}

func TestAWebhookThatKnowsNoDryRunIsAnErrorNeverAWrite(t *testing.T) {
	const answer = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"BadRequest","code":400,
		"message":"admission webhook \"b38.legacy.example.com\" does not support dry run"}`
	config := cluster(t).Config(kubetest.Admin)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method != http.MethodPatch {
				return next.RoundTrip(request)
			}
			return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(answer)), Request: request}, nil
		})
	})
	lines, _ := observation{config: config}.plan(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b38-legacy, namespace: team-a}}")
	assert.DeepEqual(t, lines, []string{
		`! team-a/ConfigMap/b38-legacy Admission: admission webhook "b38.legacy.example.com" does not support dry run`,
	})
}

func TestOneForbiddenObjectHidesNoOther(t *testing.T) {
	live(t, "B39-rbac-forbidden")
	config := cluster(t).Config(kubetest.Admin)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:team-a:planner"}
	lines, _ := observation{config: config}.plan(t, caseFile(t, "B39-rbac-forbidden.yaml"))
	assert.Equal(t, len(lines), 3, "%v", lines)
	assert.Equal(t, lines[0], "+ team-a/ConfigMap/b39-ok (create)")
	for _, word := range []string{"Secret/b39-secret Forbidden", "cannot patch", `"secrets"`, "system:serviceaccount:team-a:planner"} {
		assert.Assert(t, strings.Contains(lines[1], word), "%q lacks %q", lines[1], word)
	}
	for _, word := range []string{"ClusterRole.rbac.authorization.k8s.io/b39-escalates Forbidden", "attempting to grant RBAC permissions not currently held"} {
		assert.Assert(t, strings.Contains(lines[2], word), "%q lacks %q", lines[2], word)
	}
}

func TestEachLimitOfSizeHasItsOwnError(t *testing.T) {
	generate := func(size string) string {
		script := filepath.Join("..", "..", "testdata", "cases", "gen-B41-large-configmap.sh")
		text, err := exec.CommandContext(t.Context(), "sh", script, size).Output()
		assert.NilError(t, err)
		return string(text)
	}
	assert.DeepEqual(t, planned(t, generate("400000")), []string{"+ team-a/ConfigMap/b41-400000 (create)"})
	for size, limit := range map[string]string{"1200000": "may not be more than 1048576 bytes", "3200000": "limit is 3145728"} {
		lines := planned(t, generate(size))
		assert.Assert(t, strings.HasPrefix(lines[0], "! team-a/ConfigMap/b41-"+size+" TooLarge: "), lines[0])
		assert.Assert(t, strings.Contains(lines[0], limit), lines[0])
		assert.Assert(t, len(lines[0]) < 500, "%d bytes", len(lines[0]))
	}
}

func TestAFieldThatNoSchemaHasIsInvalid(t *testing.T) {
	assert.DeepEqual(t, planned(t, `
apiVersion: v1
kind: ConfigMap
metadata: {name: typo, namespace: team-a}
dada: {k: v}
`), []string{"! team-a/ConfigMap/typo Invalid: dada: field not declared in schema"})
}

func TestAVersionThatIsNotServedNamesThoseThatAre(t *testing.T) {
	assert.DeepEqual(t, planned(t, "{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: old, namespace: team-a}}"), []string{
		"! team-a/Deployment.apps/old UnknownKind: the server does not serve Deployment in version v1beta1, but in v1",
	})
}

func TestAServerThatIsGoneIsUnreadableForEachObject(t *testing.T) {
	seen := observation{config: goneAfterDiscovery(t)}.observe(t, caseFile(t, "B65-generated-values.yaml"))
	for _, one := range seen {
		assert.Equal(t, one.Failure.Reason, plan.ReasonUnreadable)
		assert.Assert(t, one.Merged == nil)
	}
}
