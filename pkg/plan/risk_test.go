package plan_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// riskCase is one change; live "" is a create.
type riskCase struct {
	name, live, merged string
	change             func(*plan.Observation)
	want               string // "name: detail" a line
}

// riskyObject completes what a case leaves out: version, name, namespace.
func riskyObject(t *testing.T, text string) map[string]any {
	t.Helper()
	o := object(t, text)
	if o == nil {
		return nil
	}
	metadata, _ := o["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		o["metadata"] = metadata
	}
	if metadata["name"] == nil {
		metadata["name"] = "x"
	}
	if o["apiVersion"] == nil {
		o["apiVersion"] = "v1"
	}
	return o
}

func checkRisks(t *testing.T, cases []riskCase) {
	t.Helper()
	kinds := realListKinds(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			merged := riskyObject(t, c.merged)
			o := plan.Observation{
				Object: manifest.Object{Content: merged}, Live: riskyObject(t, c.live), Merged: merged,
				StatusSubresource: true, Applier: plan.Applier{Name: "changeward"},
			}
			o.Schema = kinds.of(o.Object)
			if c.change != nil {
				c.change(&o)
			}
			p := build(t, o)
			assert.Equal(t, len(p.Changes), 1, "%v", p.Failed)
			assert.Equal(t, riskText(p.Changes[0].Risks), c.want)
		})
	}
}

func riskText(risks []plan.Risk) string {
	var out []string
	for _, r := range risks {
		if r.Detail == "" {
			out = append(out, r.Name)
		} else {
			out = append(out, r.Name+": "+r.Detail)
		}
	}
	return strings.Join(out, "\n")
}

const (
	deploymentKind = `apiVersion: apps/v1, kind: Deployment`
	pinned         = `registry.example/a@sha256:0`
)

func podOf(spec string) string { return `{kind: Pod, spec: {` + spec + `}}` }

func templateOf(spec string) string {
	return `{` + deploymentKind + `, spec: {replicas: 3, template: {spec: {` + spec + `}}}}`
}

func TestRisksOfWorkloads(t *testing.T) {
	checkRisks(t, []riskCase{
		{name: "a new ConfigMap has none", merged: `{kind: ConfigMap, data: {privileged: "true"}}`},
		{name: "a changed one neither", live: `{kind: ConfigMap, data: {a: "1"}}`, merged: `{kind: ConfigMap, data: {a: "2"}}`},
		{name: "a pinned image is no risk in a new object", merged: podOf(`containers: [{name: c, image: "` + pinned + `"}]`)},
		{name: "an image without a digest", merged: podOf(`initContainers: [{name: c, image: "a:1"}]`), want: `image-unpinned: a:1`},
		{name: "another image rolls the Pods", live: templateOf(`containers: [{name: c, image: "a:1"}]`), merged: templateOf(`containers: [{name: c, image: "a:2"}]`),
			want: "restart: 3 pods\nimage: a:1 → a:2\nimage-unpinned: a:2"},
		{name: "a container that is added", live: templateOf(`containers: [{name: c, image: "a:1"}]`),
			merged: templateOf(`containers: [{name: c, image: "a:1"}, {name: d, image: "` + pinned + `", securityContext: {privileged: true}}]`),
			want:   "privileged: spec.template.spec.containers[name=\"d\"].securityContext.privileged = true\nrestart: 3 pods\nimage: " + pinned},
		{name: "only the order", live: templateOf(`initContainers: [{name: a}, {name: b}]`), merged: templateOf(`initContainers: [{name: b}, {name: a}]`),
			want: "restart: 3 pods"},
		{name: "a DaemonSet rolls on every node", live: `{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {spec: {a: 1}}}, status: {desiredNumberScheduled: 12}}`,
			merged: `{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {spec: {a: 2}}}}`, want: "restart: 12 pods"},
		{name: "a Job does not roll", live: `{apiVersion: batch/v1, kind: Job, spec: {template: {spec: {a: 1}}}}`,
			merged: `{apiVersion: batch/v1, kind: Job, spec: {template: {spec: {a: 2}}}}`},
		{name: "nothing will run", live: templateOf(``), merged: `{` + deploymentKind + `, spec: {replicas: 0, template: {spec: {}}}}`,
			want: "scale-to-zero: from 3"},
		{name: "fewer will", live: templateOf(``), merged: `{` + deploymentKind + `, spec: {replicas: 1, template: {spec: {}}}}`},
		{name: "a Service selects others", live: `{kind: Service, spec: {selector: {a: b}}}`, merged: `{kind: Service, spec: {selector: {a: c}}}`,
			want: "selector: spec.selector.a"},
		{name: "a service account", merged: podOf(`serviceAccountName: robot`), want: `rbac: runs as service account "robot"`},
		{name: "the default one", merged: podOf(`serviceAccountName: default`)},
		{name: "a volume of the node in a list that was there", live: podOf(`volumes: [{name: v, emptyDir: {}}]`),
			merged: podOf(`volumes: [{name: v, emptyDir: {}}, {name: w, hostPath: {path: /etc}}]`),
			want:   `privileged: spec.volumes[name="w"].hostPath.path = "/etc"`},
		{name: "root no longer refused", live: podOf(`securityContext: {runAsNonRoot: true}`), merged: podOf(`securityContext: {}`),
			want: `privileged: spec.securityContext.runAsNonRoot is no longer true`},
		{name: "a capability goes", live: podOf(`containers: [{name: c, securityContext: {capabilities: {add: [SYS_ADMIN, NET_RAW]}}}]`),
			merged: podOf(`containers: [{name: c, securityContext: {capabilities: {add: [NET_RAW]}}}]`)},
		{name: "admission opens the node", merged: podOf(`containers: [{name: c, image: "` + pinned + `"}]`), change: func(o *plan.Observation) {
			o.Admission = []plan.AdmissionValue{
				{Path: "spec.hostNetwork", Value: true}, {Path: `spec.containers[name="c"].image`, Value: "b"},
				{Path: "spec.nodeName", Mark: plan.MarkAssigned},
			}
		}, want: "privileged: spec.hostNetwork = true\nimage: b\nimage-unpinned: b"},
		{name: "a hook is judged by what it runs", merged: `{apiVersion: batch/v1, kind: Job, metadata: {annotations: {argocd.argoproj.io/hook: PreSync}}, spec: {template: {spec: {hostPID: true}}}}`,
			want: "privileged: spec.template.spec.hostPID = true\nhook: PreSync"},
		{name: "the server could not check it", merged: `{kind: ConfigMap}`, change: func(o *plan.Observation) { o.Unverified = "its namespace is new" },
			want: "unverified: its namespace is new"},
		{name: "a value is taken", live: `{kind: ConfigMap, data: {a: "1"}}`, merged: `{kind: ConfigMap, data: {a: "2"}}`, change: func(o *plan.Observation) {
			o.TakesOver = []plan.Takeover{{Manager: "z", Path: "data.a"}, {Manager: "b", Path: "data.b"}, {Manager: "z", Path: "data.c"}}
		}, want: "takes-over: from b, z"},
	})
}

func TestEveryWayToTheNodeIsPrivileged(t *testing.T) {
	var cases []riskCase
	for path, spec := range map[string]string{
		`spec.hostNetwork = true`: `hostNetwork: true`,
		`spec.hostPID = true`:     `hostPID: true`,
		`spec.hostIPC = true`:     `hostIPC: true`,
		`spec.containers[name="c"].securityContext.privileged = true`:               `containers: [{name: c, securityContext: {privileged: true}}]`,
		`spec.containers[name="c"].securityContext.allowPrivilegeEscalation = true`: `containers: [{name: c, securityContext: {allowPrivilegeEscalation: true}}]`,
		`spec.containers[name="c"].securityContext.capabilities.add[0] = "ALL"`:     `containers: [{name: c, securityContext: {capabilities: {add: [ALL, NET_BIND_SERVICE]}}}]`,
		`spec.containers[name="c"].securityContext.procMount = "Unmasked"`:          `containers: [{name: c, securityContext: {procMount: Unmasked}}]`,
		`spec.containers[name="c"].ports[0].hostPort = 80`:                          `containers: [{name: c, ports: [{hostPort: 80}]}]`,
		`spec.securityContext.runAsUser = 0`:                                        `securityContext: {runAsUser: 0}`,
		`spec.securityContext.runAsNonRoot = false`:                                 `securityContext: {runAsNonRoot: false}`,
		`spec.securityContext.seccompProfile.type = "Unconfined"`:                   `securityContext: {seccompProfile: {type: Unconfined}}`,
		`spec.securityContext.windowsOptions.hostProcess = true`:                    `securityContext: {windowsOptions: {hostProcess: true}}`,
		`spec.volumes[name="v"].hostPath.path = "/"`:                                `volumes: [{name: v, hostPath: {path: /}}]`,
	} {
		cases = append(cases, riskCase{name: path, merged: podOf(spec), want: "privileged: " + path})
	}
	for _, spec := range []string{`hostNetwork: false`, `securityContext: {runAsUser: 1000, runAsNonRoot: true}`,
		`containers: [{name: c, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]`} {
		cases = append(cases, riskCase{name: spec, merged: podOf(spec)})
	}
	checkRisks(t, cases)
}

func TestRisksOfTheCluster(t *testing.T) {
	webhook := `apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration`
	checkRisks(t, []riskCase{
		{name: "a webhook", merged: `{` + webhook + `}`, want: "webhook"},
		{name: "an API service", merged: `{apiVersion: apiregistration.k8s.io/v1, kind: APIService}`, want: "webhook: serves an API group"},
		{name: "a CRD", merged: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}`, want: "crd"},
		{name: "a Secret", merged: `{kind: Secret}`, want: "secret"},
		{name: "a ClusterIP Service", merged: `{kind: Service, spec: {type: ClusterIP, ports: [{port: 80}]}}`},
		{name: "a load balancer", merged: `{kind: Service, spec: {type: LoadBalancer}}`, want: `network: spec.type = "LoadBalancer"`},
		{name: "a port", live: `{kind: Service, spec: {ports: [{port: 80, protocol: TCP, targetPort: 1}]}}`, merged: `{kind: Service, spec: {ports: [{port: 80, protocol: TCP, targetPort: 2}]}}`,
			want: `network: spec.ports[port=80,protocol="TCP"].targetPort`},
		{name: "an Ingress", merged: `{apiVersion: networking.k8s.io/v1, kind: Ingress}`, want: "network"},
		{name: "a claim", merged: `{kind: PersistentVolumeClaim}`},
		{name: "a larger claim", live: `{kind: PersistentVolumeClaim, spec: {resources: {requests: {storage: 1Gi}}}}`,
			merged: `{kind: PersistentVolumeClaim, spec: {resources: {requests: {storage: 2Gi}}}}`, want: "storage: spec.resources.requests.storage"},
		{name: "a class", merged: `{apiVersion: storage.k8s.io/v1, kind: StorageClass}`, want: "storage"},
		{name: "another claim in a Pod", live: podOf(`volumes: [{name: v, persistentVolumeClaim: {claimName: a}}]`),
			merged: podOf(`volumes: [{name: v, persistentVolumeClaim: {claimName: b}}]`), want: `storage: spec.volumes[name="v"].persistentVolumeClaim.claimName`},
		{name: "an owner", live: `{kind: ConfigMap, data: {a: "1"}}`, merged: `{kind: ConfigMap, data: {a: "2"}}`, change: func(o *plan.Observation) {
			o.Owners = []plan.Owner{{Name: "application/argocd/shop", Applier: "argocd", Verified: true}, {Name: "kustomization/flux-system/ghost", Applier: "flux"}}
		}, want: "gitops-owned: application/argocd/shop, kustomization/flux-system/ghost (claimed, not verified)"},
		{name: "planned as its owner would, but not for it", live: `{kind: ConfigMap, data: {a: "1"}}`, merged: `{kind: ConfigMap, data: {a: "2"}}`, change: func(o *plan.Observation) {
			o.Applier.Name = "flux"
			o.Owners = []plan.Owner{{Name: "kustomization/flux-system/apps", Applier: "flux", Verified: true}}
		}, want: "gitops-owned: kustomization/flux-system/apps"},
		{name: "a claim in a manifest", merged: `{kind: ConfigMap, metadata: {labels: {kustomize.toolkit.fluxcd.io/name: payments}}}`,
			want: `gitops-owned: claims an owner: metadata.labels["kustomize.toolkit.fluxcd.io/name"] = "payments"`},
		{name: "the claim that Flux writes itself", merged: `{kind: ConfigMap, metadata: {labels: {kustomize.toolkit.fluxcd.io/name: payments}}}`,
			change: func(o *plan.Observation) { o.Applier = plan.Applier{Name: "flux", Manager: "kustomize-controller"} }},
	})
}

func TestRisksOfRights(t *testing.T) {
	role, binding := `apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole`, `apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding`
	ref := `roleRef: {kind: ClusterRole, name: view}`
	pods := `{apiGroups: [""], resources: [pods], verbs: [get, list]}`
	checkRisks(t, []riskCase{
		{name: "a role", merged: `{` + role + `, rules: [` + pods + `]}`, want: "rbac: grants get, list on pods"},
		{name: "a rule more", live: `{` + role + `, rules: [` + pods + `]}`, merged: `{` + role + `, rules: [` + pods + `, {apiGroups: [apps], resources: [deployments], verbs: [patch]}]}`,
			want: "rbac: grants patch on deployments (apps)"},
		{name: "a rule less", live: `{` + role + `, rules: [` + pods + `, ` + pods + `]}`, merged: `{` + role + `, rules: [` + pods + `]}`, want: "rbac"},
		{name: "a verb", live: `{` + role + `, rules: [` + pods + `]}`, merged: `{` + role + `, rules: [{apiGroups: [""], resources: [pods], verbs: [get, delete]}]}`,
			want: `rbac: rules[0].verbs[1] = "delete"`},
		{name: "any verb", live: `{` + role + `, rules: [` + pods + `]}`, merged: `{` + role + `, rules: [{apiGroups: [""], resources: [pods], verbs: ["*"]}]}`,
			want: "protected: rules[0].verbs[0] = \"*\"\nrbac: rules[0].verbs[0] = \"*\""},
		{name: "everything on Pods", merged: `{` + role + `, rules: [{resources: [pods], verbs: ["*"]}]}`, want: "rbac: grants * on pods"},
		{name: "everything", merged: `{` + role + `, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}`,
			want: "protected: grants * on * (*)\nrbac: grants * on * (*)"},
		{name: "impersonation", merged: `{` + role + `, rules: [{resources: [users], verbs: [impersonate]}]}`,
			want: "protected: grants impersonate on users\nrbac: grants impersonate on users"},
		{name: "admission policies", merged: `{` + role + `, rules: [{apiGroups: [admissionregistration.k8s.io], resources: [validatingadmissionpolicybindings], verbs: [get, patch]}]}`,
			want: "protected: grants get, patch on validatingadmissionpolicybindings (admissionregistration.k8s.io)\nrbac: grants get, patch on validatingadmissionpolicybindings (admissionregistration.k8s.io)"},
		{name: "to read them", merged: `{` + role + `, rules: [{apiGroups: [admissionregistration.k8s.io], resources: [validatingadmissionpolicybindings], verbs: [get]}]}`,
			want: "rbac: grants get on validatingadmissionpolicybindings (admissionregistration.k8s.io)"},
		{name: "tokens of anyone", merged: `{` + role + `, rules: [{apiGroups: [""], resources: [serviceaccounts/token], verbs: [create]}]}`,
			want: "protected: grants create on serviceaccounts/token\nrbac: grants create on serviceaccounts/token"},
		{name: "tokens of one namespace", merged: `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {namespace: shop}, rules: [{apiGroups: [""], resources: [serviceaccounts/token], verbs: [create]}]}`,
			want: "rbac: grants create on serviceaccounts/token"},
		{name: "to write whatever there is", merged: `{` + role + `, rules: [{apiGroups: ["*"], resources: ["*"], verbs: [patch]}]}`,
			want: "protected: grants patch on * (*)\nrbac: grants patch on * (*)"},
		{name: "to write all of a group", merged: `{` + role + `, rules: [{apiGroups: [apps], resources: ["*"], verbs: [patch]}]}`,
			want: "rbac: grants patch on * (apps)"},
		{name: "changeward's virtual verbs", merged: `{` + role + `, rules: [{apiGroups: [records.changeward.dev], resources: [policies], verbs: [administer]}]}`,
			want: "protected: grants administer on policies (records.changeward.dev)\nrbac: grants administer on policies (records.changeward.dev)"},
		{name: "a binding", merged: `{` + binding + `, ` + ref + `, subjects: [{kind: Group, name: dev}, {kind: ServiceAccount, name: a, namespace: ns}]}`,
			want: "rbac: grants ClusterRole view to Group dev, grants ClusterRole view to ServiceAccount ns/a"},
		{name: "a subject more", live: `{` + binding + `, ` + ref + `, subjects: [{kind: Group, name: dev}]}`,
			merged: `{` + binding + `, ` + ref + `, subjects: [{kind: Group, name: dev}, {kind: User, name: eve}]}`,
			want:   "rbac: grants ClusterRole view to User eve"},
		{name: "another subject", live: `{` + binding + `, ` + ref + `, subjects: [{kind: User, name: bob}]}`,
			merged: `{` + binding + `, ` + ref + `, subjects: [{kind: User, name: eve}]}`,
			want:   `rbac: grants ClusterRole view to "eve"`},
		{name: "cluster-admin", merged: `{` + binding + `, roleRef: {kind: ClusterRole, name: cluster-admin}, subjects: [{kind: User, name: bob}]}`,
			want: "protected: binds ClusterRole cluster-admin\nrbac: grants ClusterRole cluster-admin to User bob"},
		{name: "changeward's role", merged: `{` + binding + `, roleRef: {kind: ClusterRole, name: changeward-approve}, subjects: [{kind: User, name: bob}]}`,
			want: "protected: binds ClusterRole changeward-approve\nrbac: grants ClusterRole changeward-approve to User bob"},
	})
}

func TestWhatGuardsChangewardIsProtected(t *testing.T) {
	admission := `apiVersion: admissionregistration.k8s.io/v1, kind: `
	checkRisks(t, []riskCase{
		{name: "its namespace", merged: `{kind: Namespace, metadata: {name: changeward-gate}}`, want: "protected: changeward's namespace"},
		{name: "what is in it", merged: `{kind: ConfigMap, metadata: {namespace: changeward}}`, want: "protected: in changeward's namespace changeward"},
		{name: "any admission policy", merged: `{` + admission + `ValidatingAdmissionPolicy}`,
			want: "protected: admission policies never pass admission themselves\nwebhook"},
		{name: "its webhook", merged: `{` + admission + `MutatingWebhookConfiguration, metadata: {name: changeward-x}}`,
			want: "protected: changeward's webhook\nwebhook"},
		{name: "its roles", live: `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: changeward-plan}, rules: [{verbs: [get]}]}`,
			merged: `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: changeward-plan}, rules: []}`,
			want:   "protected: changeward's role\nrbac"},
		{name: "its virtual API group", merged: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x.records.changeward.dev}}`,
			want: "protected: changeward's API group\ncrd"},
		{name: "what is only named so", merged: `{kind: ConfigMap, metadata: {name: changeward-x}}`},
	})
}

func TestRisksOfOperationsThatOtherAppliersHave(t *testing.T) {
	p := readHashCase(t, "../../testdata/hashes/v1/delete.json").build(t, nil)
	assert.Equal(t, riskText(p.Changes[0].Risks), "delete\nprune")
	assert.Equal(t, riskText(p.Changes[1].Risks), "delete: deletes Namespace shop-old, which contains 0 objects of this plan and 3 others\nprune\nstorage: deletes 1 volume")
	p = readHashCase(t, "../../testdata/hashes/v1/replace.json").build(t, nil)
	assert.Equal(t, riskText(p.Changes[0].Risks), "replace\nimage-unpinned: registry.example/import:2")
}

func TestManyChangesAreARiskOfEach(t *testing.T) {
	p := build(t, deployments(75)...) // of each three one is unchanged
	assert.Equal(t, len(p.Changes), 50)
	assert.Assert(t, !strings.Contains(riskText(p.Risks()), plan.RiskMany))
	p = build(t, deployments(78)...)
	assert.Equal(t, riskText(p.Risks()), "restart: 26 changes\nimage: 26 changes\nimage-unpinned: 52 changes\nmany: 52 changes")
}

func TestSwappedEntriesRestartPods(t *testing.T) {
	merged, live := caseFile(t, "B68-order-only.yaml"), caseFile(t, "B68-order-only.live.yaml")
	o := plan.Observation{Object: manifest.Object{Content: merged}, Live: live, Merged: merged}
	o.Schema = realListKinds(t).of(o.Object)
	p := build(t, o)
	assert.Equal(t, plan.Text(p), `~ team-a/Deployment.apps/b68 (update)
     spec.template.spec.containers[name="c"].env (order): ["A","B"] → ["B","A"]
     spec.template.spec.initContainers (order): ["first","second"] → ["second","first"]
`)
	assert.Equal(t, p.Changes[0].Body.Transitions[0].Action, diff.Order)
	assert.Equal(t, riskText(p.Changes[0].Risks), "restart: 0 pods")
}

func TestWhatAdmissionTakesAwayIsShown(t *testing.T) {
	checkRisks(t, []riskCase{{name: "root refused no longer", merged: podOf(`securityContext: {runAsNonRoot: true}`), change: func(o *plan.Observation) {
		o.Admission = []plan.AdmissionValue{{Path: "spec.securityContext.runAsNonRoot"}}
	}, want: "privileged: spec.securityContext.runAsNonRoot is taken away by admission"}})
	for want, a := range map[string]plan.AdmissionValue{
		"taken away by admission: a":              {Path: "a"},
		"set by admission: a = [1]":               {Path: "a", Value: []any{int64(1)}},
		"a (assigned by the server)":              {Path: "a", Mark: plan.MarkAssigned},
		"a (set by admission, differs each time)": {Path: "a", Mark: plan.MarkDiffers},
	} {
		assert.Equal(t, plan.AdmissionText(a), want)
	}
}
