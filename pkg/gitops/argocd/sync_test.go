package argocd_test

import (
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/gitops/argocd"
)

const commitID = "d95732fdd61be3c8fb7c4d5a592599980181dcc6"

// syncing is an Application whose operation is in a state.
func syncing(t *testing.T, more string) *argocd.Application {
	t.Helper()
	text := "metadata: {name: shop, namespace: argocd}\nspec: {destination: {namespace: shop}}\n" + strings.ReplaceAll(more, "COMMIT", commitID)
	var object map[string]any
	assert.NilError(t, yaml.Unmarshal([]byte(text), &object))
	a, err := argocd.ReadApplication(object)
	assert.NilError(t, err)
	return a
}

func running(rest string) string {
	return "operation: {sync: {}}\nstatus: {operationState: {phase: Running, startedAt: \"2026-11-30T12:00:00Z\", operation: {sync: {}}" + rest + "}}\n"
}

func TestASyncThatIsUnderWaySaysWhatItIsOf(t *testing.T) {
	sources, err := syncing(t, running(", syncResult: {revision: COMMIT, source: {repoURL: https://f/r, path: a, directory: {recurse: true}}}")).Rendered()
	assert.NilError(t, err)
	assert.Equal(t, len(sources), 1)
	s := sources[0]
	assert.Assert(t, s.RepoURL == "https://f/r" && s.Path == "a" && s.Revision == commitID && s.Recurse && len(s.Special) == 0, "%+v", s)
	sources, err = syncing(t, running(", syncResult: {revisions: [COMMIT, COMMIT], sources: [{repoURL: https://f/r, path: a, helm: {releaseName: x}}, {repoURL: https://f/s, ref: values}]}")).Rendered()
	assert.NilError(t, err)
	assert.DeepEqual(t, sources[0].Special, []string{"helm"})
	assert.DeepEqual(t, sources[1].Special, []string{"ref"})
}

func TestASyncThatHasNotSettledIsWaitedFor(t *testing.T) {
	for name, more := range map[string]string{
		"asked for":                        "operation: {sync: {}}\n",
		"asked for after another":          "operation: {sync: {}}\nstatus: {operationState: {phase: Succeeded, finishedAt: \"2026-11-30T12:00:00Z\", operation: {sync: {}}}}\n",
		"begun":                            running(""),
		"begun, with the name of a branch": running(", syncResult: {revision: main, source: {repoURL: https://f/r, path: a}}"),
		"one of two":                       running(", syncResult: {revisions: [COMMIT], sources: [{repoURL: https://f/r, path: a}, {repoURL: https://f/s, path: b}]}"),
	} {
		_, err := syncing(t, more).Rendered()
		assert.Assert(t, errors.Is(err, argocd.ErrUnsettled), "%s: %v", name, err)
	}
}

func TestWhatCannotBeGatedIsRefusedWithTheReason(t *testing.T) {
	const settled = ", syncResult: {revision: COMMIT, source: {repoURL: https://f/r, path: a}}"
	for more, why := range map[string]string{
		"": "no sync of it is under way",
		"status: {operationState: {phase: Failed, operation: {sync: {}}}}\n":                                                            "the last one ended: Failed",
		running(", finishedAt: \"2026-11-30T12:00:01Z\"" + settled):                                                                     "waits to be tried again",
		strings.Replace(running(settled), "operation: {sync: {}},", "operation: {sync: {manifests: [x]}},", 1):                          "operation.sync.manifests",
		strings.Replace(running(settled), "operation: {sync: {}},", "operation: {sync: {resources: [{kind: ConfigMap, name: x}]}},", 1): "operation.sync.resources",
	} {
		_, err := syncing(t, more).Rendered()
		assert.ErrorContains(t, err, why, more)
		assert.Assert(t, !errors.Is(err, argocd.ErrUnsettled))
	}
}

func TestOneRepositoryHasManyAddresses(t *testing.T) {
	const one = "https://forge.example.com/team/config"
	for _, same := range []string{one, one + ".git", one + "/", "https://Forge.example.com/Team/config", "git@forge.example.com:team/config.git",
		"ssh://git@forge.example.com:22/team/config", "http://user@forge.example.com/team/config"} {
		assert.Assert(t, argocd.SameRepository(one, same), same)
	}
	for _, other := range []string{"", "https://forge.example.com/team/other", "https://forge.example.com:8443/team/config", "https://other.example.com/team/config"} {
		assert.Assert(t, !argocd.SameRepository(one, other), other)
	}
}
