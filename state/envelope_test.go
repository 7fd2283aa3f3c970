package state

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const (
	testHash   = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	testChange = "c_9dd33d8939b8"
)

func testDecision() Decision {
	return Decision{Action: ActionApprove, ClusterUID: "uid-1", Number: 3, Person: Person{Username: "alice"}, Time: "2026-03-01T10:00:00Z"}
}

func testStatement(t testing.TB) []byte {
	t.Helper()
	payload, err := NewStatement(TypeDecision, testChange, testHash, testDecision())
	assert.NilError(t, err)
	return payload
}

func TestAStatementNamesItsSubject(t *testing.T) {
	assert.Equal(t, string(testStatement(t)), `{"_type":"https://in-toto.io/Statement/v1",`+
		`"predicate":{"action":"approve","clusterUID":"uid-1","number":3,"person":{"username":"alice"},"time":"2026-03-01T10:00:00Z"},`+
		`"predicateType":"https://changeward.dev/decision/v1",`+
		`"subject":[{"digest":{"sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},"name":"c_9dd33d8939b8"}]}`)
	var read Decision
	name, hash, err := ParseStatement(TypeDecision, testStatement(t), &read)
	assert.NilError(t, err)
	assert.Equal(t, name, testChange)
	assert.Equal(t, hash, testHash)
	assert.DeepEqual(t, read, testDecision())
}

func TestAStatementAboutItselfHasItsPredicateAsSubject(t *testing.T) {
	predicate := Policy{Source: "x", Version: 1}
	payload, err := NewStatement(TypePolicy, "", "", predicate)
	assert.NilError(t, err)
	var read Policy
	name, hash, err := ParseStatement(TypePolicy, payload, &read)
	assert.NilError(t, err)
	want, err := DigestOf(predicate)
	assert.NilError(t, err)
	assert.Equal(t, name, "policy")
	assert.Equal(t, hash, want)
}

func TestAStatementIsNotMadeForASubjectItCannotHave(t *testing.T) {
	for _, test := range []struct {
		kind       Type
		name, hash string
	}{
		{TypeDecision, "", ""},
		{TypeDecision, testChange, ""},
		{TypeDecision, testChange, Hex(testHash)},
		{TypeDecision, "decision", testHash},
		{TypePlan, "c_9DD33D8939B8", testHash},
		{TypePolicy, testChange, testHash},
		{TypePolicy, "policy", testHash},
	} {
		_, err := NewStatement(test.kind, test.name, test.hash, map[string]any{})
		assert.Assert(t, err != nil, "%v", test)
	}
}

func TestAStatementOfAnotherTypeVersionOrSubjectIsRefused(t *testing.T) {
	good := string(testStatement(t))
	for name, payload := range map[string]string{
		"another statement version": strings.Replace(good, "Statement/v1", "Statement/v2", 1),
		"another predicate version": strings.Replace(good, "decision/v1", "decision/v2", 1),
		"another record type":       strings.Replace(good, "decision/v1", "review/v1", 1),
		"no subject":                good[:strings.Index(good, `[{"digest"`)] + "[]}",
		"subject without a digest":  strings.Replace(good, `{"sha256":"`+Hex(testHash)+`"}`, `{}`, 1),
		"another hash algorithm":    strings.Replace(good, `"sha256":`, `"sha512":`, 1),
		"upper-case digest":         strings.Replace(good, "9f86d0", "9F86D0", 1),
		"short digest":              strings.Replace(good, "9f86d0", "9f86d", 1),
		"subject that is the type":  strings.Replace(good, testChange, "decision", 1),
		"unknown action key":        strings.Replace(good, `"action"`, `"act"`, 1),
		"unknown key of subject":    strings.Replace(good, `"name":"c_`, `"mark":"","name":"c_`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Assert(t, payload != good)
			_, _, err := ParseStatement(TypeDecision, []byte(payload), &Decision{})
			assert.Assert(t, err != nil, payload)
		})
	}
	_, _, err := ParseStatement(TypeDecision, []byte(strings.Replace(good, "decision/v1", "decision/v9", 1)), &Decision{})
	assert.ErrorContains(t, err, `"https://changeward.dev/decision/v9"`)
}

func TestAnEnvelopeHasOneSignatureAndOneForm(t *testing.T) {
	one := Signature{KeyID: "SHA256:x", Sig: []byte("sig")}
	encode := func(e Envelope) string {
		data, err := Canonical(e)
		assert.NilError(t, err)
		return string(data)
	}
	good := encode(Envelope{Payload: []byte("{}"), PayloadType: PayloadType, Signatures: []Signature{one}})
	_, err := ParseEnvelope([]byte(good))
	assert.NilError(t, err)
	for name, data := range map[string]string{
		"no signature":         encode(Envelope{Payload: []byte("{}"), PayloadType: PayloadType, Signatures: []Signature{}}),
		"two signatures":       encode(Envelope{Payload: []byte("{}"), PayloadType: PayloadType, Signatures: []Signature{one, one}}),
		"another payload type": strings.Replace(good, "in-toto", "other", 1),
		"loose base64":         strings.Replace(good, `"e30="`, `"e31="`, 1),
		"line in base64":       strings.Replace(good, `"e30="`, `"e3\n0="`, 1),
		"certificate beside":   strings.Replace(good, `"keyid"`, `"cert":"","keyid"`, 1),
	} {
		_, err := ParseEnvelope([]byte(data))
		assert.Assert(t, err != nil, name)
	}
}

func TestThePAEIsThatOfDSSE(t *testing.T) {
	// The example of the DSSE specification.
	assert.Equal(t, string(PAE("http://example.com/HelloWorld", []byte("hello world"))),
		"DSSEv1 29 http://example.com/HelloWorld 11 hello world")
}

func FuzzAnEnvelopeThatParsesEncodesToTheSameBytes(f *testing.F) {
	good, err := Canonical(Envelope{Payload: testStatement(f), PayloadType: PayloadType, Signatures: []Signature{{KeyID: "k", Sig: []byte("s")}}})
	assert.NilError(f, err)
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ParseEnvelope(data)
		if err != nil {
			return
		}
		again, err := Canonical(e)
		assert.NilError(t, err)
		assert.Equal(t, string(again), string(data))
	})
}

func FuzzAStatementThatParsesEncodesToTheSameBytes(f *testing.F) {
	f.Add(testStatement(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		var read Decision
		name, hash, err := ParseStatement(TypeDecision, data, &read)
		if err != nil {
			return
		}
		again, err := NewStatement(TypeDecision, name, hash, read)
		assert.NilError(t, err)
		assert.Equal(t, string(again), string(data))
	})
}
