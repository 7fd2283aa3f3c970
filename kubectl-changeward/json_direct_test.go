package main

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestTheVerbsOfTheDirectLaneAnswerWithOneDocumentOfThePublishedSchema(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	bob := s.as("bob")
	s.applies(t, bob, "-o", "json").exits(t, 2).is(t, "ApplyResult")
	change := s.granted(t)
	bob.run(t, "verify", change.ID, "-o", "json").exits(t, 3).is(t, "VerifyResult")
	s.applies(t, bob, "-o", "json", change.ID).exits(t, 0).is(t, "ApplyResult")
	s.applies(t, bob, "-o", "json").exits(t, 0).is(t, "ApplyResult")
	s.applies(t, bob, "-o", "json", "c_0123456789ab").exits(t, 1).is(t, "Error")
	bob.run(t, "verify", change.ID, "-o", "json").exits(t, 0).is(t, "VerifyResult")
	bob.run(t, "verify", "c_0123456789ab", "-o", "json").exits(t, 1).is(t, "Error")

	old := s.repository(t, map[string]string{"shop.yaml": s.config("false")})
	list := bob.run(t, "drift", "-n", s.namespace, "-o", "json").exits(t, 3).is(t, "Drift")
	assert.Equal(t, len(list["changes"].([]any)), 1)
	bob.run(t, "drift", "--max-age", "soon", "-o", "json").exits(t, 1).is(t, "Error")
	s.reconciles(t, old, change.ID, "--dry-run", "-o", "json").exits(t, 0).is(t, "ReconcileResult")
	s.reconciles(t, old, "c_0123456789ab", "-o", "json").exits(t, 1).is(t, "Error")
	s.reconciles(t, old, change.ID, "-o", "json").exits(t, 0).is(t, "ReconcileResult")
	bob.run(t, "drift", "-n", s.namespace, "--k8s-dir", old, "-o", "json", "--settle").exits(t, 0).is(t, "Drift")
	bob.run(t, "rollback", change.ID, "-o", "json").exits(t, 2).is(t, "ApplyResult")
	bob.run(t, "rollback", "c_0123456789ab", "-o", "json").exits(t, 1).is(t, "Error")
}

func TestDriftComparesSecretsWithoutTheirValues(t *testing.T) {
	t.Parallel()
	s := shared(t).open(t)
	secret := `{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: NS}, data: {password: bWFya2VyLTE=}}`
	s.changed(t, s.yaml(secret))
	git := s.repository(t, map[string]string{"db.yaml": secret})
	assert.Equal(t, s.drifts(t, 0, "--k8s-dir", git).Changes[0].State, "reconciled")
	other := s.repository(t, map[string]string{"db.yaml": `{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: NS}, data: {password: bWFya2VyLTI=}}`})
	assert.Equal(t, s.drifts(t, 3, "--k8s-dir", other).Changes[0].State, "unreconciled")
	assert.Equal(t, s.drifts(t, 3).Changes[0].State, "unreconciled")
}

func TestWhetherASecretDriftedIsNotKnownToWhoMayNotReadIt(t *testing.T) {
	s := own(t).open(t)
	s.changed(t, s.yaml(`{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: NS}, data: {password: bWFya2VyLTE=}}`))
	s.as("carol").run(t, "drift", "-n", s.namespace).exits(t, 3).prints(t, "you may read neither Secrets nor the key that compares their values")
}
