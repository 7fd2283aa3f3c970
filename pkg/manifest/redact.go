package manifest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// withheld is what Redact says where a text may repeat a value.
const withheld = "the server's text about this Secret may repeat values and is withheld"

// Redact makes a server's error text about an object safe to show. Texts about
// other objects than core Secrets are returned as they are. For a Secret only
// texts of a form that never repeats values are kept; of all others what
// remains is the cause, where it is a known one, the fields, and the admission
// webhook or policy that refused.
func Redact(text string, object map[string]any) string {
	if !IsSecret(object) {
		return text
	}
	if harmless(text) && !repeats(text, secretValues(object), 4) {
		return text
	}
	parts := []string{withheld}
	for _, cause := range []string{"field is immutable", "illegal base64 data", "expected string", "cannot unmarshal", "Required value", "Too long",
		"valid config key", "exceeded quota", "unknown field", "field not declared in schema", "RFC 1123", "metadata.labels", "failed calling webhook", "denied the request", "denied request", "is forbidden", "not found"} {
		if strings.Contains(text, cause) {
			parts = append(parts, cause)
			break
		}
	}
	if fields := named(text, object); len(fields) > 0 {
		parts = append(parts, "fields: "+strings.Join(fields, ", "))
	}
	for _, pattern := range []string{`admission webhook "[a-z0-9.-]+"`, `failed calling webhook "[a-z0-9.-]+"`, `ValidatingAdmissionPolicy '[a-z0-9.-]+'`} {
		if by := regexp.MustCompile(pattern).FindString(text); by != "" {
			parts = append(parts, by)
			break
		}
	}
	return strings.Join(parts, "; ")
}

// harmless says whether a text has one of the forms that the server (or the
// client, for transport errors) builds without looking at values.
func harmless(text string) bool {
	for _, pattern := range []string{
		`^(secrets|namespaces) "[^"]*" (not found|already exists)$`,
		`^secrets "[^"]*" is forbidden: User "[^"]*" cannot [a-z]+ resource "secrets" in API group "" (in the namespace "[^"]*"|at the cluster scope)`,
		`^secrets "[^"]*" is forbidden: exceeded quota: `,
		`^Operation cannot be fulfilled on secrets "[^"]*": the object has been modified; `,
		`^Apply failed with [0-9]+ conflicts?: `,
		`^(Get|Post|Put|Patch|Delete) "https?://`,
	} {
		if regexp.MustCompile(pattern).MatchString(text) {
			return true
		}
	}
	return false
}

// named are the fields of a Secret that a text names.
func named(text string, object map[string]any) []string {
	var fields []string
	for _, field := range []string{"data", "stringData"} {
		members, _ := object[field].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(members)) {
			if names(text, field, key) || field == "stringData" && names(text, "data", key) {
				fields = append(fields, Child(field, key))
			}
		}
	}
	return fields
}

// names says whether a text names a member of a field.
func names(text, field, key string) bool {
	return strings.Contains(text, field+"."+key) || strings.Contains(text, field+"["+key+"]") ||
		strings.Contains(text, fmt.Sprintf("%s[%q]", field, key))
}

// lastApplied says whether an annotation holds the whole object as some
// applier sent it.
func lastApplied(key string) bool {
	_, name, _ := strings.Cut(key, "/")
	return strings.HasPrefix(name, "last-applied") || key == "kapp.k14s.io/original" || key == "objectset.rio.cattle.io/applied"
}

// repeats says whether a text holds one of the values in any of the usual
// encodings. Values shorter than shortest bytes do not count; of those shorter
// than four only one that is the whole text does.
func repeats(text string, values [][]byte, shortest int) bool {
	for _, value := range values {
		value = bytes.TrimSpace(value)
		if len(value) < max(shortest, 1) || len(value) > len(text) { // no encoding is shorter
			continue
		}
		for _, form := range encodings(value) {
			if text == form || len(value) >= 4 && strings.Contains(text, form) {
				return true
			}
		}
	}
	return false
}

func encodings(value []byte) []string {
	raw := string(value)
	inJSON, err := json.Marshal(raw)
	if err != nil { // a string always has a form
		panic(err)
	}
	inCanonical := quote(raw)
	inBase64, inHex := base64.StdEncoding.EncodeToString(value), hex.EncodeToString(value)
	return []string{raw, string(inJSON[1 : len(inJSON)-1]), inCanonical[1 : len(inCanonical)-1],
		inBase64, strings.TrimRight(inBase64, "="), base64.RawURLEncoding.EncodeToString(value),
		inHex, strings.ToUpper(inHex), url.QueryEscape(raw), url.PathEscape(raw)}
}
