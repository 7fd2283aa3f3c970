package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxDepth is how deep objects and arrays may be nested, as in encoding/json:
// deeper ones could exhaust the stack.
const maxDepth = 10000

// maxValues is how many values a JSON text may hold, which bounds the memory
// that reading it takes: some ten thousand large objects have two million.
const maxValues = 4 << 20

// Canonical writes a JSON value in the one form that digests and signatures
// are made over: object keys sorted by their bytes, no white space, integers
// as they are (64 bits, never through a double), strings byte for byte with
// only the escapes that JSON demands, no HTML escapes. It takes anything that
// encoding/json takes. Invalid UTF-8 is an error: it has no JSON form.
func Canonical(value any) ([]byte, error) {
	return appendValue(nil, value, 0)
}

// DecodeStrict reads canonical JSON into a struct and refuses everything else:
// unknown, duplicate or differently cased keys, trailing data, any form that
// Canonical would not write. So what is parsed is exactly what was signed.
func DecodeStrict(data []byte, into any) error {
	if _, err := decodeTree(data); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("strict JSON: %w", err)
	}
	again, err := Canonical(into)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, data) {
		return errors.New("strict JSON: not in canonical form")
	}
	return nil
}

// Digest is "sha256:" and the 64 hex digits of the SHA-256 of data.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// DigestOf is the Digest of the Canonical form of value.
func DigestOf(value any) (string, error) {
	data, err := Canonical(value)
	if err != nil {
		return "", err
	}
	return Digest(data), nil
}

// decodeTree reads one JSON value, numbers as json.Number, and refuses
// duplicate keys, invalid UTF-8 and anything behind the value.
func decodeTree(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("strict JSON: invalid UTF-8")
	}
	if crowded(data) {
		return nil, fmt.Errorf("strict JSON: more than %d values", maxValues)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	tree, err := decodeValue(decoder, 0)
	if err != nil {
		return nil, fmt.Errorf("strict JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("strict JSON: data behind the value")
	}
	return tree, nil
}

// crowded says whether a JSON text holds too many values, without reading it.
func crowded(data []byte) bool {
	if len(data) < maxValues {
		return false
	}
	values, quoted := 1, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':' || c == '[' || c == '{'):
			values++
		}
	}
	return values > maxValues
}
