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
