package main

// Secrets in every place where one can stand, in a plan that is complete.

// liveByKubectl is what kubectl has applied the old way, so that LIVE carries
// an annotation with all values.
const liveByKubectl = `
apiVersion: v1
kind: Secret
metadata: {name: by-kubectl, namespace: {{ns}}}
data: {kept: {{b "kubectl data"}}, lines: {{lines "kubectl lines"}}}
stringData: {more: '{{v "kubectl stringData"}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: conflict, namespace: {{ns}}}
data: {password: {{b "conflict live"}}}
`

// liveByUs is what changeward has applied before.
const liveByUs = `
apiVersion: v1
kind: Secret
metadata: {name: changed, namespace: {{ns}}}
data: {password: {{b "changed old"}}, removed: {{b "removed"}}, pin: MDAwMA==}
---
apiVersion: v1
kind: Secret
metadata: {name: same, namespace: {{ns}}, annotations: {copy: '{{v "same"}}'}}
data: {password: {{b "same"}}}
---
apiVersion: v1
kind: Secret
metadata: {name: immutable, namespace: {{ns}}}
immutable: true
data: {password: {{b "immutable old"}}}
`

// liveByStrangers is what others have added to that.
const liveByStrangers = `
apiVersion: v1
kind: Secret
metadata: {name: changed, namespace: {{ns}}, annotations: {stranger.example/copy: 'was {{v "changed old"}}, base64 {{b "changed old"}}'}}
data: {stranger: {{b "strangers data"}}}
`

// completeSet is what can be planned.
const completeSet = `
apiVersion: v1
kind: Secret
metadata: {name: changed, namespace: {{ns}}}
data: {password: {{b "changed new"}}, pin: {{pin}}}
---
apiVersion: v1
kind: Secret
metadata: {name: same, namespace: {{ns}}, annotations: {copy: '{{v "same"}}'}}
data: {password: {{b "same"}}}
---
apiVersion: v1
kind: Secret
metadata: {name: by-kubectl, namespace: {{ns}}}
data: {kept: {{b "kubectl data"}}, added: {{b "kubectl added"}}}
---
apiVersion: v1
kind: Secret
metadata:
  name: created
  namespace: {{ns}}
  labels: {copy: '{{word "label"}}'}
  annotations:
    copy: 'the password is {{v "create stringData"}}'
    encoded: '{{b "create data"}}'
    kubectl.kubernetes.io/last-applied-configuration: '{"data":{"password":"{{v "last-applied"}}"}}'
data: {password: {{b "create data"}}, lines: {{lines "create lines"}}, binary: {{binary "create binary"}}, pin: {{pin}}}
stringData:
  text: '{{v "create stringData"}}'
  url: '{{url "create url"}}'
  label: '{{word "label"}}'
  pin: "4711"
---
apiVersion: v1
kind: Secret
metadata: {name: docker, namespace: {{ns}}}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: '{"auths":{"registry.example":{"password":"{{v "docker"}}"}}}'}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Secret
  metadata: {name: in-list, namespace: {{ns}}}
  stringData: {password: '{{v "in a List"}}'}
---
apiVersion: v1
kind: SecretList
items:
- metadata: {name: in-typed-list, namespace: {{ns}}}
  stringData: {password: '{{v "in a SecretList"}}'}
---
apiVersion: v1
kind: Secret
metadata:
  name: hook
  namespace: {{ns}}
  annotations: {argocd.argoproj.io/hook: PreSync, copy: '{{v "hook stringData"}}'}
data: {password: {{b "hook data"}}, pin: {{pin}}}
stringData: {password: '{{v "hook stringData"}}'}
stringdata: {password: '{{v "hook in a wrong field"}}'}
---
apiVersion: v1
kind: Secret
metadata: {generateName: hook-, namespace: {{ns}}, annotations: {helm.sh/hook: pre-install}}
stringData: {password: '{{v "Helm hook"}}'}
---
apiVersion: v1
kind: Namespace
metadata: {name: new-{{ns}}}
---
apiVersion: v1
kind: Secret
metadata: {name: arrives, namespace: new-{{ns}}, annotations: {copy: '{{v "arrives"}}'}}
stringData: {password: '{{v "arrives"}}', pin: "4711"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: bystander, namespace: {{ns}}}
data: {visible: "this is no secret"}
`

// kustomizations: the first can be built.
const generator = `
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: {{ns}}
secretGenerator:
- name: generated
  literals: ['password={{v "generated literal"}}', 'pin=4711']
  files: [key.pem]
  envs: [values.env]
`

// refusedSets cannot be planned: each makes the server, a parser, or kustomize
// say something about a Secret.
func refusedSets() map[string]string {
	return map[string]string{
		"conflict": `
apiVersion: v1
kind: Secret
metadata: {name: conflict, namespace: {{ns}}}
data: {password: {{b "conflict new"}}}
`,
		"immutable": `
apiVersion: v1
kind: Secret
metadata: {name: immutable, namespace: {{ns}}}
immutable: true
data: {password: {{b "immutable new"}}}
`,
		"invalid": `
apiVersion: v1
kind: Secret
metadata: {name: wrong-type, namespace: {{ns}}, annotations: {copy: '{{v "invalid"}}'}}
stringData: {pin: 4711, password: '{{v "invalid"}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: wrong-base64, namespace: {{ns}}}
data: {password: '{{v "not base64"}}!', other: {{b "beside what is not base64"}}}
---
apiVersion: v1
kind: Secret
metadata: {name: no-mapping, namespace: {{ns}}}
data: '{{v "data is no mapping"}}'
---
apiVersion: v1
kind: Secret
metadata: {name: a-list, namespace: {{ns}}}
stringData: ['{{v "data is a list"}}', 4711]
---
apiVersion: v1
kind: Secret
metadata: {name: nested, namespace: {{ns}}}
stringData: {password: {deep: '{{v "data is deep"}}'}}
---
apiVersion: v1
kind: Secret
metadata: {name: 'Not_A_Name', namespace: {{ns}}}
stringData: {password: '{{v "wrong name"}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: wrong-key, namespace: {{ns}}}
stringData: {'not a key!': '{{v "wrong key"}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: wrong-label, namespace: {{ns}}, labels: {copy: '{{v "wrong label"}}'}}
stringData: {password: '{{v "wrong label"}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: wrong-field, namespace: {{ns}}}
stringdata: {password: '{{v "wrong field"}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: no-docker, namespace: {{ns}}}
type: kubernetes.io/dockerconfigjson
stringData: {.dockerconfigjson: '{{v "no docker config"}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: nowhere, namespace: no-such-namespace}
stringData: {password: '{{v "no namespace"}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: twice, namespace: {{ns}}}
stringData: {password: '{{v "twice, first"}}'}
---
apiVersion: v1
kind: Secret
metadata: {name: twice, namespace: {{ns}}}
stringData: {password: '{{v "twice, second"}}'}
`,
		"arrives": `
apiVersion: v1
kind: Namespace
metadata: {name: newer-{{ns}}}
---
apiVersion: v1
kind: Secret
metadata: {name: arrives, namespace: newer-{{ns}}}
stringData: {password: '{{v "arrives, too"}}'}
dta: {password: '{{v "arrives in a wrong field"}}'}
`,
		"denied": `
apiVersion: v1
kind: Secret
metadata: {name: denied, namespace: {{ns}}, labels: {secret-test: deny}}
stringData: {password: '{{v "denied by a policy"}}', pin: "4711"}
`,
		"an alias":        "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: {{ns}}}\nstringData: {password: *{{word \"an alias\"}} }\n",
		"a tag":           "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: {{ns}}}\nstringData: {password: !{{word \"a tag\"}} y}\n",
		"a binary":        "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: {{ns}}}\ndata: {password: !!binary {{b \"a binary\"}} }\n",
		"wrong YAML":      "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: {{ns}}}\nstringData:\n  password: '{{v \"wrong YAML\"}}\n other: x\n",
		"wrong indent":    "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: {{ns}}}\nstringData:\n  password: {{v \"wrong indent\"}}\n   other: {{v \"wrong indent, too\"}}: z\n",
		"a duplicate key": "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: {{ns}}}\nstringData: {a: '{{v \"duplicate, first\"}}', a: '{{v \"duplicate, second\"}}'}\n",
		"wrong JSON":      `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x","namespace":"{{ns}}"},"stringData":{"a":"{{v "wrong JSON"}}" "b"}}`,
		"no kind":         "apiVersion: v1\nkindd: Secret\nmetadata: {name: x, namespace: {{ns}}}\nstringData: {a: '{{v \"no kind\"}}'}\n",
	}
}

// refusedKustomizations are generators that kustomize refuses.
func refusedKustomizations() map[string]string {
	return map[string]string{
		"no literal":  "secretGenerator:\n- {name: g, literals: ['{{v \"literal without a name\"}}']}\n",
		"two of them": "secretGenerator:\n- {name: g, literals: ['a={{v \"literal given twice\"}}', 'a={{v \"literal given twice, again\"}}']}\n",
		"wrong key":   "secretGenerator:\n- {name: g, literals: ['not a key={{v \"literal with a wrong name\"}}']}\n",
		"wrong YAML":  "secretGenerator:\n- {name: g, literals: ['a={{v \"literal in wrong YAML\"}}'\n",
		"wrong field": "secretGenerator:\n- {name: g, literal: ['a={{v \"literal in a wrong field\"}}']}\n",
		"wrong type":  "secretGenerator:\n- {name: g, literals: {a: '{{v \"literal in a mapping\"}}'}}\n",
		"wrong env":   "secretGenerator:\n- {name: g, envs: [wrong.env]}\n",
		"no file":     "secretGenerator:\n- {name: g, files: ['a=missing']}\n",
	}
}

// gossips are admission policies that repeat what they see in a Secret.
const gossips = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: gossip-{{ns}}}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [secrets]}]}
  validations:
  - expression: "!has(object.data)"
    messageExpression: "'I saw ' + object.data.map(k, k + '=' + string(object.data[k])).join(', ')"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: gossip-warn-{{ns}}}
spec:
  policyName: gossip-{{ns}}
  validationActions: [Warn]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: {{ns}}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: gossip-deny-{{ns}}}
spec:
  policyName: gossip-{{ns}}
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: {{ns}}}}, objectSelector: {matchLabels: {secret-test: deny}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: copycat-{{ns}}}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [secrets]}]}
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: "Object{metadata: Object.metadata{annotations: {'copycat.example/first': has(object.data.password) ? string(object.data.password) : 'none'}}}"
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: copycat-{{ns}}}
spec:
  policyName: copycat-{{ns}}
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: {{ns}}}}}
`
