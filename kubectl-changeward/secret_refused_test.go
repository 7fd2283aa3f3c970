package main

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
