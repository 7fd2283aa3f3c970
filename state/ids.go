package state

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Hex is the part of a "sha256:…" digest behind the colon.
func Hex(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

// PlanID is the display id of a plan: p_ and the first 12 hex digits of its
// hash. It is a prefix for people; decisions bind to the full hash.
func PlanID(hash string) string { return "p_" + short(Hex(hash), 12) }

// ChangeID is the display id of a change request: c_ and the first 12 hex
// digits of sha256(canonical([cluster UID, plan hash, number])).
func ChangeID(clusterUID, hash string, number int) string {
	digest, err := DigestOf([]any{clusterUID, hash, number})
	if err != nil { // strings and an integer always have a form
		panic(err)
	}
	return "c_" + Hex(digest)[:12]
}

// ScopeLabel is the label value of a scope: 12 hex digits of its SHA-256.
func ScopeLabel(scope string) string {
	sum := sha256.Sum256([]byte(scope))
	return hex.EncodeToString(sum[:])[:12]
}

// PlanLabel is the label value of a plan hash: its first 40 hex digits, since
// a label takes 63 characters.
func PlanLabel(hash string) string { return short(Hex(hash), 40) }

// NumberedName is the name of a record that carries a number: cw-plan-000003,
// cw-policy-000007, cw-audit-0000000042. Creating it takes the number.
func NumberedName(t Type, number int) string {
	if t == TypeAudit {
		return fmt.Sprintf("cw-%s-%010d", t, number)
	}
	return fmt.Sprintf("cw-%s-%06d", t, number)
}

// OutcomeName is the name of the n-th outcome of a request.
func OutcomeName(number, n int) string { return fmt.Sprintf("cw-outcome-%06d-%d", number, n) }

// ContentName is the name of a record that is named by its content: the first
// 12 hex digits of the SHA-256 of the decoded payload.
func ContentName(t Type, payload []byte) string {
	return fmt.Sprintf("cw-%s-%s", t, Hex(Digest(payload))[:12])
}

// ChunkName is the name of the chunk with this digest.
func ChunkName(digest string) string { return "cw-chunk-" + short(Hex(digest), 40) }

func short(s string, n int) string { return s[:min(n, len(s))] }
