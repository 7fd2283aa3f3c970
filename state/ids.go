package state

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Hex is the part of a "sha256:…" digest behind the colon.
func Hex(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

// IsDigest says whether s is a digest as Digest writes it.
func IsDigest(s string) bool {
	return strings.HasPrefix(s, "sha256:") && isHex(Hex(s), sha256.Size*2)
}

// IsChangeID says whether s is an id as ChangeID writes it.
func IsChangeID(s string) bool {
	return strings.HasPrefix(s, "c_") && isHex(s[2:], 12)
}

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

// NumberOf is the number in the name of a plan, policy, roster, epoch or audit
// record. ok is false unless NumberedName writes exactly that name: a number
// has one name, or it could be taken twice.
func NumberOf(t Type, name string) (number int, ok bool) {
	number, err := strconv.Atoi(strings.TrimPrefix(name, "cw-"+string(t)+"-"))
	return number, err == nil && number > 0 && NumberedName(t, number) == name
}

// LastNumber is the highest number among records of type t, 0 if there is
// none; records without a number in their name do not count.
func LastNumber(t Type, records []Record) int {
	last := 0
	for _, record := range records {
		if number, ok := NumberOf(t, record.Name); ok {
			last = max(last, number)
		}
	}
	return last
}

// OutcomeOf is the request's number and the sequence in the name of an outcome
// record. ok is false unless OutcomeName writes exactly that name.
func OutcomeOf(name string) (number, n int, ok bool) {
	first, second, _ := strings.Cut(strings.TrimPrefix(name, "cw-outcome-"), "-")
	number, err := strconv.Atoi(first)
	n, err2 := strconv.Atoi(second)
	return number, n, err == nil && err2 == nil && number > 0 && n > 0 && OutcomeName(number, n) == name
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

// ChunkNames are the names under which the plan with this envelope may keep the
// chunk with this digest, in order. Who may write records can take the first, as
// soon as they can foresee the plan. The second follows from the plan's signature,
// and tells nothing about those of the plan's other chunks.
func ChunkNames(digest string, envelope []byte) []string {
	return []string{ChunkName(digest), ChunkName(Digest([]byte(Digest(envelope) + digest)))}
}

func short(s string, n int) string { return s[:min(n, len(s))] }

func isHex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}

// FormatTime is how records write a time: RFC 3339, UTC, whole seconds.
func FormatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// ParseTime reads a time in exactly the form that FormatTime writes.
func ParseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("time: %w", err)
	}
	if FormatTime(t) != s {
		return time.Time{}, fmt.Errorf("time %q: not in UTC and whole seconds", s)
	}
	return t.UTC(), nil
}
