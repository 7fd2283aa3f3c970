package fidelity_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/dryrun"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/manifest"
)

// exports are what an exported Service may carry, one at a time. UID and
// VERSION are those of LIVE.
func exports() []string {
	return []string{
		`status: {loadBalancer: {}}`,
		`metadata: {creationTimestamp: "2020-01-01T00:00:00Z"}`,
		`metadata: {generation: 7}`,
		`metadata: {selfLink: /x}`,
		`metadata: {managedFields: [{manager: x, operation: Update, apiVersion: v1, fieldsType: FieldsV1, time: "2020-01-01T00:00:00Z", fieldsV1: {"f:spec": {}}}]}`,
		`metadata: {managedFields: []}`,
		`metadata: {uid: 00000000-0000-4000-8000-000000000000}`,
		`metadata: {uid: UID}`,
		`metadata: {resourceVersion: "1"}`,
		`metadata: {deletionTimestamp: "2020-01-01T00:00:00Z"}`,
	}
}

func TestAnExportedObjectFailsWhereItsApplierWouldSendWhatTheServerRefuses(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: NAME, namespace: NS}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"
	text := func(name, export string) string {
		body := strings.Replace(service, "metadata: {", strings.TrimSuffix(export, "}")+", ", 1)
		if strings.HasPrefix(export, "status") {
			body = service + export + "\n"
		}
		return strings.NewReplacer("NAME", name, "NS", namespace).Replace(body)
	}
	for name, applier := range map[string]dryrun.Applier{"client": dryrun.KubectlClient("", false), "server": dryrun.KubectlServer("", false)} {
		flags := []string{"--server-side=" + map[string]string{"client": "false", "server": "true"}[name]}
		for i, export := range exports() {
			there, absent := name+"-there-"+string(rune('a'+i)), name+"-absent-"+string(rune('a'+i))
			kubectlApply(t, text(there, `metadata: {labels: {}}`), flags...)
			uid := kubectl(t, "get", "service", there, "-n", namespace, "-o", "jsonpath={.metadata.uid}").Stdout()
			for _, object := range []string{text(there, strings.Replace(export, "UID", uid, 1)), text(absent, strings.Replace(export, "UID", uid, 1))} {
				prove(t, applier, object, real(t, object, flags...))
			}
		}
	}
	proveFlux(t, apps(), text("flux-absent", exports()[4]))
	assert.DeepEqual(t, answer(t, dryrun.Changeward(false), namespace, text("direct", exports()[6])), []string{
		"+ NS/Service/direct (create)", "  note: dropped what the server keeps: metadata.uid"})
}

func TestTheExportedCaseIsUnchangedForChangewardAndAnErrorForAllOthers(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	kubetest.Shared(t).Apply(t, kubetest.Admin, dryrun.Manager, inCase(t, "B32-exported-object.live.yaml", namespace))
	text := inCase(t, "B32-exported-object.yaml", namespace)
	lines := answer(t, dryrun.Changeward(false), namespace, text)
	assert.Equal(t, lines[0], "= NS/Service/b32 (none)")
	assert.Assert(t, strings.Contains(lines[1], "dropped what the server keeps: status, metadata.managedFields"), lines[1])
	assert.Assert(t, strings.Contains(lines[2], "the lock that metadata.resourceVersion 1 asked for is dropped"), lines[2])
	prove(t, dryrun.KubectlClient("", false), text, real(t, text))
	prove(t, dryrun.KubectlServer("", true), text, real(t, text, "--server-side", "--force-conflicts"))
	proveFlux(t, apps(), text)
}

func TestASecretThatKubectlRefusesIsRefusedBeforeItIsPlanned(t *testing.T) {
	namespace := kubetest.Shared(t).Namespace(t)
	for _, document := range strings.Split(inCase(t, "B42-invalid-secret.yaml", namespace), "\n---\n") {
		_, problems := manifest.Parse("f", []byte(document))
		failed := try(t, document, "apply", "-f", "-").ExitCode != 0
		assert.Equal(t, len(problems) > 0, failed, "%s: %v", document, problems)
	}
}
