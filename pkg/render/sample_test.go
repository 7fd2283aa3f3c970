package render

import (
	"time"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
	"github.com/changeward/changeward/pkg/policy"
	"github.com/changeward/changeward/state"
)

const sampleHash = "sha256:f88610636592000000000000000000000000000000000000000000000000aaaa"

func serverSide() plan.HashedApplier {
	return plan.HashedApplier{Mode: plan.ModeServerSide, Manager: "changeward"}
}

func hookChange() plan.Change {
	return plan.Change{
		Body: plan.Body{Group: "batch", Version: "v1", Kind: "Job", Namespace: "shop", Name: "migrate-",
			Operation: plan.Hook, Applier: serverSide(), Phases: []string{"PreSync"},
			Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"generateName": "migrate-"}}},
		Digest: "sha256:01", Applier: "changeward", Reversible: true, Risks: []plan.Risk{{Name: "hook"}},
		Source: manifest.Source{File: "apps/shop/migrate.yaml", Line: 1},
	}
}

func flagChange() plan.Change {
	return plan.Change{
		Body: plan.Body{Version: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "shop-config",
			Operation: plan.Update, Applier: serverSide(), LiveUID: "uid-1",
			Transitions: []diff.Transition{{Path: "data.feature_new_cart", Action: diff.Change, Old: "false", New: "true"}}},
		Digest: "sha256:02", Applier: "changeward", Reversible: true,
		Source: manifest.Source{File: "apps/shop/config.yaml", Line: 12},
	}
}

// storyPlan is the plan of the README: a hook and a feature flag.
func storyPlan() *plan.Plan {
	return &plan.Plan{
		Header: plan.Header{Schema: plan.SchemaV1, Rules: 1, Cluster: plan.Cluster{Name: "prod-eu", UID: "cluster-uid"}},
		Hash:   sampleHash, Changes: []plan.Change{hookChange(), flagChange()},
		Unchanged:  []plan.Change{{Body: plan.Body{Version: "v1", Kind: "Service", Namespace: "shop", Name: "web", Operation: plan.None}}},
		Scope:      "apps/shop",
		Reversible: true, Namespaces: []string{"shop"},
	}
}

func storyView() PlanView {
	return PlanView{Plan: storyPlan(), Target: "cluster", Judged: []policy.ChangeJudgement{{Env: "prod"}, {Env: "prod"}}}
}

func storyRequest() gate.Request {
	return gate.Request{ID: "c_9dd33d8939b8", Number: 3, Hash: sampleHash, Status: gate.AwaitingApproval,
		Created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), SignedBy: "SHA256:gate",
		Header: state.Plan{Number: 3, Scope: "apps/shop", Proposer: state.Person{Username: "system:serviceaccount:ci:gate"},
			Author: &state.Author{Name: "bob", Claimed: true}, Revision: "4f1c", CI: "https://ci.example/run/7", Sources: []string{"apps/shop"}}}
}

// storyResult is the gate's first answer of the README.
func storyResult() *gate.Result {
	request := storyRequest()
	return &gate.Result{
		Plan: storyPlan(), PolicyVersion: 1, Enforced: true, Request: &request,
		Verdict: gate.Verdict{Decision: state.VerdictApprovalRequired,
			Reasons: []policy.Reason{{Reason: "ApprovalMissing", Message: "1 approval is missing"}},
			Requirements: []gate.Need{{Requirement: policy.Requirement{Rule: "prod-needs-sre", Who: policy.Subjects{Groups: []string{"sre"}},
				Count: 1, Message: "production Kubernetes syncs need SRE approval"}}}},
	}
}

func aliceApproves() approval.Checked {
	return approval.Checked{
		Decision: approval.Decision{Record: state.Record{Name: "cw-decision-abc"}, Fingerprint: "SHA256:alice",
			Predicate: state.Decision{Action: state.ActionApprove, Person: state.Person{Username: "alice", Groups: []string{"sre"}},
				Reason: "looked at it", Time: "2026-03-01T12:01:00Z"}},
		Counts: true, Signed: true, Attested: true, Expires: time.Date(2026, 3, 4, 12, 1, 0, 0, time.UTC),
	}
}

// richPlan has one of everything.
func richPlan() *plan.Plan {
	p := storyPlan()
	p.Header.Cluster.Name = ""
	p.Header.Unverified = []string{"/ConfigMap/shop/new"}
	p.Reversible = false
	p.Warnings = []string{"not repeated: 12 changes"}
	p.Changes = append(p.Changes,
		plan.Change{Body: plan.Body{Version: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "new", Operation: plan.Create,
			Applier: serverSide(), Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"on": "yes", "n": "1"}},
			Admission: []plan.AdmissionValue{{Path: "metadata.labels.team", Value: "a"}, {Path: "spec.clusterIP", Mark: "assigned"}, {Path: "x", Mark: "differs"}}},
			Unverified: "namespace is created by this plan", Reversible: true, Risks: []plan.Risk{{Name: "unverified"}}},
		plan.Change{Body: plan.Body{Version: "v1", Kind: "Secret", Namespace: "shop", Name: "db", Operation: plan.Update, Applier: serverSide(),
			Transitions: []diff.Transition{
				{Path: "data.password", Action: diff.Change, Old: state.Masked{Tag: "k:1"}, New: state.Masked{Tag: "k:2"}},
				{Path: "data.extra", Action: diff.Add, New: state.Masked{Unbound: true}}}},
			Why: "the old value is not kept", Risks: []plan.Risk{{Name: "secret"}}},
		plan.Change{Body: plan.Body{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "shop", Name: "web", Operation: plan.Update,
			Applier: plan.HashedApplier{Mode: plan.ModeClientSide, Manager: "kubectl", Force: true},
			Transitions: []diff.Transition{
				{Path: "spec.replicas", Action: diff.Remove, Old: int64(9007199254740993)},
				{Path: "spec.template.spec.containers", Action: diff.Order, Old: []any{"a", "b"}, New: []any{"b", "a"}},
				{Path: `metadata.annotations["x/y"]`, Action: diff.Change, Old: "one\ntwo\nthree\n", New: "one\n2\nthree"}},
			TakesOver: []plan.Takeover{{Manager: "kubectl-edit", Path: "spec.replicas"}}},
			Owner: "kustomization/flux-system/apps", Reversible: true, Notes: []string{"held by hpa"},
			Risks: []plan.Risk{{Name: "restart", Detail: "3 pods will roll"}, {Name: "takes-over"}}},
		plan.Change{Body: plan.Body{Group: "example.com", Version: "v1", Kind: "Widget", Name: "w", Operation: plan.Delete, Applier: serverSide(),
			Delete: &plan.Deletion{Propagation: "background", Contents: map[string]int{"Pod": 3, "PersistentVolumeClaim": 1}, Guards: map[string]string{"keep": "true"},
				Volumes: []string{"uid-9"}, Claims: []string{"db-0"}, Fields: map[string]any{"spec": map[string]any{"size": int64(3)}}}},
			Why: "deletes data", Risks: []plan.Risk{{Name: "delete"}, {Name: "prune"}}})
	p.Unchanged = append(p.Unchanged, plan.Change{Body: plan.Body{Version: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "kept", Operation: plan.None},
		Skipped: "not deleted, prune: disabled"})
	p.Failed = []plan.Failed{{Key: manifest.Key{Kind: "Secret", Namespace: "shop", Name: "x"}, Version: "v1",
		Source:  manifest.Source{File: "apps/shop/x.yaml", Line: 3},
		Failure: plan.Failure{Reason: "Conflict", Message: "another manager holds a field", Conflicts: []plan.Conflict{{Path: "data.a", Manager: "kubectl-edit", New: "v"}}}}}
	return p
}
