package main

import (
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/render"
)

func (s shop) compared(t *testing.T, id string, code int) render.VerifyResult {
	t.Helper()
	var result render.VerifyResult
	s.as("ci").run(t, "verify", id, "-o", "json").exits(t, code).json(t, &result)
	return result
}

func TestVerifyTellsWhatIsNotAsApprovedAndWhoWroteIt(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	change := s.granted(t)
	before := len(s.request(t, change.ID).Outcomes)
	assert.Equal(t, s.compared(t, change.ID, 3).Result, "")
	assert.Equal(t, len(s.request(t, change.ID).Outcomes), before, "what is not applied yet is no divergence")

	s.applies(t, s.as("bob")).exits(t, 0)
	assert.Equal(t, s.compared(t, change.ID, 0).Result, "applied")
	s.apply(t, "other", `{apiVersion: v1, kind: ConfigMap, metadata: {name: shop-config, namespace: NS, labels: {touched: "yes"}}}`)
	assert.Equal(t, s.compared(t, change.ID, 0).Result, "applied", "what it did not touch is nobody's business")
	written := len(s.request(t, change.ID).Outcomes)

	s.apply(t, "kubectl-edit", s.config("maybe"))
	result := s.compared(t, change.ID, 3)
	assert.Equal(t, result.Result, "diverged")
	assert.Equal(t, result.Objects[0].Differences[0].Path, "data.feature_new_cart")
	assert.Equal(t, result.Objects[0].Differences[0].Want, "true")
	assert.Equal(t, result.Objects[0].Differences[0].Have, "maybe")
	assert.Equal(t, result.Objects[0].Differences[0].Manager, "kubectl-edit")
	assert.Assert(t, result.Objects[0].Differences[0].Time != "")
	s.as("ci").run(t, "verify", change.ID).exits(t, 3).prints(t, `data.feature_new_cart: want "true", is "maybe", by kubectl-edit at `)
	request := s.request(t, change.ID)
	assert.Equal(t, request.Status, "diverged")
	assert.Equal(t, len(request.Outcomes), written+1, "the same finding is recorded once")
	assert.DeepEqual(t, request.Outcomes[written].Objects[0].Fields, []string{"data.feature_new_cart"})

	s.apply(t, "changeward", s.config("true"))
	assert.Equal(t, s.compared(t, change.ID, 0).Change.Status, "applied")
	s.remove(t)
	assert.Equal(t, s.compared(t, change.ID, 3).Objects[0].Differences[0].Message, "it is not there")
}

func TestVerifyComparesSecretsWithoutTheirValues(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.write(t, "shop.yaml", `{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: NS}, stringData: {password: marker-1}}`)
	change := *s.judged(t, "ci", 2, "--direct").Change
	s.as("alice").run(t, "approve", change.ID, "--yes").exits(t, 0)
	s.apply(t, "changeward", `{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: NS}, stringData: {password: marker-1}}`)
	assert.Equal(t, s.compared(t, change.ID, 0).Result, "applied")
	s.apply(t, "changeward", `{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: NS}, stringData: {password: marker-2}}`)
	assert.Equal(t, s.compared(t, change.ID, 3).Objects[0].Differences[0].Path, "data.password")
}

func TestARollbackPutsBackWhatWasChangedAndNothingElse(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	s.write(t, "shop.yaml", s.config("true")+`  added: "1"
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: banner, namespace: NS}, data: {text: sale}}
---
{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: NS}, stringData: {password: marker-new}}
`)
	s.apply(t, "changeward", `{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: NS}, stringData: {password: marker-old}}`)
	change := s.granted(t)
	s.applies(t, s.as("bob")).exits(t, 0)
	s.apply(t, "other", `{apiVersion: v1, kind: ConfigMap, metadata: {name: shop-config, namespace: NS}, data: {since: "then"}}`)

	lost := "does not come back: " + s.namespace + "/Secret/db: the old value of data.password is not kept"
	asked := s.as("bob").run(t, "rollback", change.ID).exits(t, 2).tells(t, lost, "then run the rollback again")
	back := idOf(t, asked)
	assert.Assert(t, back != change.ID)
	assert.Equal(t, s.request(t, back).Scope, s.request(t, change.ID).Scope)
	assert.Equal(t, s.request(t, back).Reason, "roll back "+change.ID)
	hash := s.request(t, back).Hash
	s.as("alice").run(t, "approve", back, "--yes", "--confirm", hash[len(hash)-4:]).exits(t, 0)
	s.as("bob").run(t, "rollback", change.ID).exits(t, 0).prints(t, "applied: 2 written")

	data := s.live(t).Data
	assert.DeepEqual(t, data, map[string]string{"currency": "EUR", "feature_new_cart": "false", "since": "then"})
	_, err := s.Client(kubetest.Admin).CoreV1().ConfigMaps(s.namespace).Get(t.Context(), "banner", metav1.GetOptions{})
	assert.ErrorContains(t, err, "not found")
	s.as("bob").run(t, "rollback", change.ID).exits(t, 0).prints(t, "nothing to change")
	assert.Equal(t, s.request(t, back).Status, "applied")
}
