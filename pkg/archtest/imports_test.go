package archtest

import (
	"slices"
	"strings"
	"testing"
)

// layers lists every package, lowest layer first. A package may import those of
// its own layer and of layers below; tests may import anything.
func layers() [][]string {
	return [][]string{
		{"state"},
		{"pkg/manifest", "pkg/diff"},
		{"pkg/plan", "pkg/policy", "pkg/approval", "pkg/audit", "pkg/reconcile/edit"},
		{"pkg/manifest/files", "pkg/manifest/git", "pkg/gitops", "pkg/gitops/argocd", "pkg/gitops/flux", "pkg/gitops/flux/build", "pkg/dryrun", "pkg/sign", "pkg/trust",
			"state/cluster", "state/dir", "state/statetest", "pkg/install/admission",
			"pkg/reconcile/fault", "pkg/reconcile/repo", "pkg/reconcile/forge"},
		{"pkg/render", "pkg/gate", "pkg/incident", "pkg/reconcile", "pkg/reconcile/publish", "pkg/drift", "pkg/apply", "pkg/install"},
		{"pkg/cli"},
		{"kubectl-changeward", "flux-changeward"},
		{"pkg/kubetest"}, // nothing that ships imports it
	}
}

func layer(name string) int {
	return slices.IndexFunc(layers(), func(names []string) bool { return slices.Contains(names, name) })
}

func TestImportsPointDownOnly(t *testing.T) {
	for _, p := range packages(t) {
		at := layer(p.name())
		if at < 0 && len(p.GoFiles) > 0 {
			t.Errorf("%s has no place in layers(): give it one, here and in docs/dev.md", p.name())
			continue
		}
		for _, path := range p.Imports {
			target, ours := strings.CutPrefix(path, module+"/")
			if ours && layer(target) > at {
				t.Errorf("%s imports %s, which lies above it", p.name(), target)
			}
		}
	}
}

// A pure package takes values and returns values, so that the same inputs give
// the same plan, hash and verdict everywhere, and tables can test it.
func pure(name string) bool {
	return slices.Contains([]string{"state", "pkg/manifest", "pkg/diff", "pkg/plan", "pkg/policy", "pkg/approval", "pkg/audit", "pkg/reconcile/edit"}, name)
}

func TestPurePackagesPullInNoClientNetworkOrProcess(t *testing.T) {
	for _, p := range packages(t) {
		if !pure(p.name()) {
			continue
		}
		for _, path := range p.Deps {
			if path == "os/exec" || path == "net/http" || strings.HasPrefix(path, "k8s.io/client-go") {
				t.Errorf("%s depends on %s", p.name(), path)
			}
		}
	}
}

func TestPurePackagesReadNoClockFileOrEnvironment(t *testing.T) {
	for _, s := range sources(t) {
		if !pure(s.pkg) {
			continue
		}
		for _, line := range s.uses("time", "Now", "Since", "Until", "After", "Tick", "NewTimer", "NewTicker", "Sleep", "AfterFunc") {
			t.Errorf("%s:%d reads the clock", s.path, line)
		}
		for _, path := range []string{"os", "math/rand", "math/rand/v2", "crypto/rand"} {
			if s.imported(path) != "" {
				t.Errorf("%s imports %s", s.path, path)
			}
		}
	}
}

func TestStateNeedsOnlyTheStandardLibrary(t *testing.T) {
	for _, p := range packages(t) {
		if p.name() != "state" {
			continue
		}
		for _, path := range p.Deps {
			if strings.Contains(strings.Split(path, "/")[0], ".") && !strings.HasPrefix(path, module) {
				t.Errorf("state depends on %s", path)
			}
		}
	}
}

// Who cannot make a client cannot write. The others are few and named: dryrun
// (its transport refuses a write that is no dry run), the writers, and cli,
// which hands clients to them.
func TestOnlyNamedPackagesMakeClients(t *testing.T) {
	named := []string{"pkg/dryrun", "pkg/apply", "pkg/incident", "pkg/install", "pkg/gitops", "pkg/gitops/argocd",
		"pkg/gitops/flux", "state/cluster", "pkg/cli", "pkg/kubetest"}
	clients := []string{"k8s.io/client-go/kubernetes", "k8s.io/client-go/dynamic", "k8s.io/client-go/rest", "k8s.io/client-go/metadata"}
	for _, p := range packages(t) {
		if slices.Contains(named, p.name()) {
			continue
		}
		for _, path := range p.Imports {
			makes := func(client string) bool { return path == client || strings.HasPrefix(path, client+"/") }
			if slices.ContainsFunc(clients, makes) {
				t.Errorf("%s imports %s; only %s may", p.name(), path, strings.Join(named, ", "))
			}
		}
	}
}

// The guard is worth something only if every request of a plan passes it: one
// HTTP client, made and wrapped in one place, from which all others are made.
func TestEveryClientOfDryrunIsMadeFromTheGuardedOne(t *testing.T) {
	guarded := 0
	for _, s := range sources(t) {
		if s.pkg != "pkg/dryrun" {
			continue
		}
		guarded += len(s.uses("k8s.io/client-go/rest", "HTTPClientFor"))
		for _, path := range s.imports() {
			for _, line := range s.uses(path, "NewForConfig", "NewForConfigOrDie", "NewDiscoveryClientForConfig",
				"NewDiscoveryClientForConfigOrDie", "RESTClientFor", "TransportFor", "DefaultClient") {
				t.Errorf("%s:%d makes a client without the guard", s.path, line)
			}
		}
	}
	if guarded > 1 {
		t.Errorf("pkg/dryrun makes %d HTTP clients", guarded)
	}
}

// Desired state is written by clients of pkg/apply alone: they are made there, in
// one place, and only cli asks for one.
func TestOnlyCliAsksForAClientThatApplies(t *testing.T) {
	made := 0
	for _, s := range sources(t) {
		for _, line := range s.uses(module+"/pkg/apply", "New") {
			if s.pkg != "pkg/cli" {
				t.Errorf("%s:%d makes a client that writes", s.path, line)
			}
		}
		if s.pkg == "pkg/apply" {
			made += len(s.uses("k8s.io/client-go/rest", "UnversionedRESTClientFor", "RESTClientFor", "HTTPClientFor")) +
				len(s.uses("k8s.io/client-go/dynamic", "NewForConfig"))
		}
	}
	if made != 1 {
		t.Errorf("pkg/apply makes a client in %d places", made)
	}
}
