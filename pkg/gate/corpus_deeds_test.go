package gate_test

import (
	"context"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/approval"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/state"
)

func TestFiveThousandJunkRecordsChangeNoVerdict(t *testing.T) {
	w := newWorld(t)
	p := flag("shop", "off", "on")
	id := w.run(p).Request.ID
	junk := func(kind state.Type, name string) {
		_, err := w.store.Create(context.Background(), state.Record{Type: kind, Name: name, Plan: state.PlanLabel(p.Hash), Scope: state.ScopeLabel("shop"),
			Data: map[string][]byte{state.DataEnvelope: []byte(`{"payload":"e30="}`)}, Claims: state.Claims{Actor: "mallory"}})
		assert.NilError(t, err)
	}
	for i := range 1250 {
		junk(state.TypeDecision, fmt.Sprintf("cw-decision-%012x", i))
		junk(state.TypeKey, fmt.Sprintf("cw-key-%012x", i))
		junk(state.TypePlan, state.NumberedName(state.TypePlan, i+2))
		junk(state.TypeAudit, state.NumberedName(state.TypeAudit, i+2))
	}
	again := w.run(p)
	assert.Equal(t, decision(again), state.VerdictApprovalRequired)
	assert.Equal(t, again.Request.ID, id)
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	assert.Equal(t, decision(w.run(p)), state.VerdictAllowed)
	assert.Equal(t, w.run(flag("shop", "off", "beta")).Request.Number, 1252)
}

// noise is text of this many bytes that gzip cannot make smaller.
func noise(size int) string {
	var text strings.Builder
	for block := sha512.Sum512(nil); text.Len() < size; block = sha512.Sum512(block[:]) {
		text.WriteString(base64.StdEncoding.EncodeToString(block[:]))
	}
	return text.String()[:size]
}

func TestALargePlanNeedsEveryChunkOfItsOwn(t *testing.T) {
	large := flag("shop", "off", noise(2<<20))
	bomb, err := state.Compress(make([]byte, state.MaxBody))
	assert.NilError(t, err)
	for name, tamper := range map[string]func(w *world, chunks []state.Record){
		"a chunk is missing": func(w *world, chunks []state.Record) { w.remove(state.TypeChunk, chunks[0].Name) },
		"two are swapped": func(w *world, chunks []state.Record) {
			for i, chunk := range chunks[:2] {
				w.rewrite(state.TypeChunk, chunk.Name, func(data map[string][]byte) { data[state.DataPart] = chunks[1-i].Data[state.DataPart] })
			}
		},
		"one is a bomb": func(w *world, chunks []state.Record) {
			w.rewrite(state.TypeChunk, chunks[0].Name, func(data map[string][]byte) { data[state.DataPart] = bomb })
		},
		"one is empty": func(w *world, chunks []state.Record) {
			w.rewrite(state.TypeChunk, chunks[0].Name, func(data map[string][]byte) { data[state.DataPart] = []byte{} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.run(large).Request.ID
			assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
			chunks, err := w.store.List(t.Context(), state.TypeChunk, state.Selector{})
			assert.NilError(t, err)
			assert.Assert(t, len(chunks) >= 2, "%d chunks", len(chunks))
			tamper(w, chunks)
			request, err := w.load().Find(id)
			assert.NilError(t, err)
			_, _, _, err = w.as(ci()).Stored(t.Context(), request)
			assert.ErrorContains(t, err, "chunk")
			assert.ErrorContains(t, w.decide(person("alice"), id, state.ActionReject), "chunk")
			result, err := w.as(ci()).Run(t.Context(), nil, gate.Input{Plan: large, Header: state.Plan{Scope: "shop"}})
			assert.NilError(t, err) // it was asked for anew, with chunks of its own
			assert.Equal(t, decision(result), state.VerdictApprovalRequired)
			assert.Equal(t, result.Request.Number, 2)
			assert.NilError(t, w.decide(person("alice"), result.Request.ID, state.ActionApprove))
			assert.Equal(t, decision(w.run(large)), state.VerdictAllowed)
		})
	}
}

func TestABackupThatWasRestoredBringsNoDecisionBack(t *testing.T) {
	w := newWorld(t)
	p := flag("shop", "off", "on")
	id := w.run(p).Request.ID
	assert.NilError(t, w.decide(alice(w), id, state.ActionApprove))
	assert.Equal(t, decision(w.run(p)), state.VerdictAllowed)
	backup := map[state.Type][]state.Record{}
	for _, kind := range state.Types() {
		list, err := w.store.List(t.Context(), kind, state.Selector{})
		assert.NilError(t, err)
		backup[kind] = list
	}
	w.now = w.now.Add(time.Hour)
	for _, kind := range []state.Type{state.TypeDecision, state.TypePlan, state.TypeAudit, state.TypeOutcome} {
		for _, record := range backup[kind] {
			w.remove(kind, record.Name)
			_, err := w.store.Create(t.Context(), record) // dated by the server, as any create
			assert.NilError(t, err)
		}
	}
	assert.Equal(t, decision(w.run(p)), state.VerdictApprovalRequired)
	request, err := w.load().Find(id)
	assert.NilError(t, err)
	assert.Equal(t, request.Status, gate.AwaitingApproval)
	assert.Equal(t, request.Decisions[0].Reason, approval.ClockSkew)
}

func TestWhatWouldWeakenChangewardAsksTheAdminsAlone(t *testing.T) {
	loose := strings.Replace(policyText, "default: approval", "default: allow", 1)
	loose = strings.Replace(loose, "match: change.env == \"prod\"\n    decision: approval\n    approvers: [{users: [alice], count: 1}]", "match: 'true'\n    decision: allow", 1)
	of := func(kind, version, name string, more map[string]any) map[string]any {
		content := map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name}}
		for key, value := range more {
			content[key] = value
		}
		return content
	}
	const rbac, admission = "rbac.authorization.k8s.io/v1", "admissionregistration.k8s.io/v1"
	rule := func(verb, resource string) map[string]any {
		return map[string]any{"rules": []any{map[string]any{"apiGroups": []any{"*"}, "resources": []any{resource}, "verbs": []any{verb}}}}
	}
	for name, content := range map[string]map[string]any{
		"its namespace":            of("Namespace", "v1", "changeward", nil),
		"the gates' namespace":     of("Namespace", "v1", "changeward-gate", nil),
		"its admission policy":     of("ValidatingAdmissionPolicy", admission, "changeward-records", nil),
		"its binding":              of("ValidatingAdmissionPolicyBinding", admission, "changeward-records", nil),
		"its role":                 of("ClusterRole", rbac, "changeward-approve", nil),
		"a grant to impersonate":   of("ClusterRole", rbac, "helper", rule("impersonate", "users")),
		"a grant to bind":          of("ClusterRole", rbac, "helper", rule("bind", "clusterroles")),
		"a grant to escalate":      of("ClusterRole", rbac, "helper", rule("escalate", "clusterroles")),
		"a grant to edit policies": of("ClusterRole", rbac, "helper", rule("patch", "validatingadmissionpolicybindings")),
		"a grant to mint tokens":   of("ClusterRole", rbac, "helper", rule("create", "serviceaccounts/token")),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.setPolicy(loose)
			result := w.run(create("shop", content))
			assert.Equal(t, decision(result), state.VerdictApprovalRequired)
			assert.Equal(t, len(needs(result)), 1)
			assert.DeepEqual(t, needs(result)[0].Who.Groups, []string{"admins"})
		})
	}
}
