package manifest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/changeward/changeward/state"
)

// IsSecret says whether an object is a core Secret.
func IsSecret(content map[string]any) bool {
	return text(content, "apiVersion") == "v1" && text(content, "kind") == "Secret"
}

// Masker replaces the values of Secrets where objects enter. Two values have
// one tag only if they are equal, stand at one place of one object, and were
// masked with one key.
type Masker struct {
	KeyID      string // first 8 hex digits of sha256("changeward key id" ‖ Key)
	Key        []byte // of the HMAC
	ClusterUID string // of namespace kube-system
	Unbound    bool   // the key dies with this process: nothing can be bound by it
	// Hidden are fields of other objects that hold the value of a Secret, as
	// paths of keys; see AnyEntry and Hide.
	Hidden map[Key][][]string
}

// NewMasker makes a Masker. unbound says that key is not the digest key of an
// install, but one made for this run.
func NewMasker(key []byte, clusterUID string, unbound bool) Masker {
	sum := sha256.Sum256(append([]byte("changeward key id"), key...))
	return Masker{KeyID: hex.EncodeToString(sum[:4]), Key: key, ClusterUID: clusterUID, Unbound: unbound}
}

// Object is a deep copy of an object. In a core Secret every value of data is
// a state.Masked; stringData is folded into data, where it wins; so are fields
// that no Secret has, last-applied, and annotations and labels that hold a
// value. versions are other states of the same object (LIVE, MERGED), whose
// values are looked for, too. Whether it is a Secret is told by apiVersion and
// kind, which the caller fills with what the server returned.
func (m Masker) Object(content map[string]any, versions ...map[string]any) map[string]any {
	out, _ := DeepCopy(content).(map[string]any)
	if !IsSecret(content) {
		return out
	}
	place := Object{Content: content}
	values := secretValues(append(versions, content)...)
	if metadata, ok := out["metadata"].(map[string]any); ok {
		m.maskTexts(place, metadata, "annotations", values)
		m.maskTexts(place, metadata, "labels", values)
	}
	for key, value := range out {
		if _, done := value.(state.Masked); !done && !fieldOfSecret(key) {
			out[key] = m.mask(place, Child("", key), fmt.Append(nil, value))
		}
	}
	data, whole := m.maskData(place, content)
	delete(out, "stringData")
	if whole != nil {
		out["data"] = *whole
	} else if _, has := content["data"]; has || len(data) > 0 {
		out["data"] = data
	}
	return out
}

// fieldOfSecret knows the fields of a Secret. What stands in any other, such as
// "stringdata", is a value in the wrong place: nobody checks hooks, or Secrets
// whose namespace is yet to come.
func fieldOfSecret(key string) bool {
	return slices.Contains([]string{"apiVersion", "kind", "metadata", "type", "immutable", "data", "stringData"}, key)
}

// maskData masks data and stringData; whole stands for both where one of them
// is no mapping.
func (m Masker) maskData(place Object, content map[string]any) (data map[string]any, whole *state.Masked) {
	data = map[string]any{}
	for _, field := range []string{"data", "stringData"} {
		members, ok := content[field].(map[string]any)
		if !ok && content[field] != nil {
			masked := m.mask(place, "data", fmt.Append(nil, content[field]))
			return nil, &masked
		}
		for key, value := range members {
			if masked, done := value.(state.Masked); done {
				data[key] = masked
				continue
			}
			data[key] = m.mask(place, Child("data", key), secretBytes(field, value))
		}
	}
	return data, nil
}

// maskTexts masks the annotations or labels that hold a value.
func (m Masker) maskTexts(place Object, metadata map[string]any, field string, values [][]byte) {
	texts, _ := metadata[field].(map[string]any)
	for key, value := range texts {
		text, ok := value.(string)
		if !ok {
			continue
		}
		// Words that steer or name stay readable, even where one equals a value.
		shortest := 1
		if field == "labels" || IsControl(key) {
			shortest = 12
		}
		if lastApplied(key) || repeats(text, values, shortest) {
			texts[key] = m.mask(place, Child("metadata."+field, key), []byte(text))
		}
	}
}

func (m Masker) mask(place Object, path string, value []byte) state.Masked {
	input, err := state.Canonical([]string{m.ClusterUID, "", "Secret", strings.ToValidUTF8(place.Namespace(), "\ufffd"),
		strings.ToValidUTF8(place.Name(), "\ufffd"), path, base64.StdEncoding.EncodeToString(value)})
	if err != nil { // valid UTF-8 always has a form
		panic(err)
	}
	mac := hmac.New(sha256.New, m.Key)
	mac.Write(input)
	return state.Masked{Tag: m.KeyID + ":" + hex.EncodeToString(mac.Sum(nil))[:32], Unbound: m.Unbound}
}

// secretBytes are the bytes of a value of data (base64) or stringData.
func secretBytes(field string, value any) []byte {
	text, ok := value.(string)
	switch {
	case value == nil:
		return nil
	case !ok:
		return fmt.Append(nil, value)
	case field == "stringData":
		return []byte(text)
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return []byte(text) // the server will refuse it
	}
	return decoded
}

// secretValues are all values of the given Secrets.
func secretValues(contents ...map[string]any) [][]byte {
	var values [][]byte
	for _, content := range contents {
		for _, field := range []string{"data", "stringData"} {
			members, _ := content[field].(map[string]any)
			for _, value := range members {
				if _, done := value.(state.Masked); !done {
					values = append(values, secretBytes(field, value))
				}
			}
		}
	}
	return values
}

// DeepCopy is a value of decoded JSON that shares no mapping or list with it.
func DeepCopy(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for key, member := range out {
			out[key] = DeepCopy(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, entry := range v {
			out[i] = DeepCopy(entry)
		}
		return out
	default:
		return value
	}
}
