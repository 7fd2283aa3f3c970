package state

import "encoding/json"

// Masked stands in an object for a value that must never leave: the value of
// a Secret. It compares equal when the values were equal.
type Masked struct {
	// Tag is "<key id>:<hex>", the keyed HMAC of the value at its place.
	Tag string
	// Unbound says that the tag was made with a key that dies with this
	// process, since the digest key could not be read: such a value cannot be
	// bound by a hash.
	Unbound bool
}

// MarshalJSON gives the form that is hashed: {"hmac": tag}, or
// {"mark": "unbound"}.
func (m Masked) MarshalJSON() ([]byte, error) {
	if m.Unbound {
		return []byte(`{"mark":"unbound"}`), nil
	}
	return json.Marshal(map[string]string{"hmac": m.Tag})
}
