package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// Canonical writes a JSON value in the one form that digests and signatures
// are made over: object keys sorted by their bytes, no white space, integers
// as they are (64 bits, never through a double), strings byte for byte with
// only the escapes that JSON demands, no HTML escapes. It takes anything that
// encoding/json takes. Invalid UTF-8 is an error: it has no JSON form.
func Canonical(value any) ([]byte, error) {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	tree, err := decodeTree(raw.Bytes())
	if err != nil {
		return nil, err
	}
	return appendValue(nil, tree)
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
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	tree, err := decodeValue(decoder)
	if err != nil {
		return nil, fmt.Errorf("strict JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("strict JSON: data behind the value")
	}
	return tree, nil
}

func decodeValue(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	switch {
	case !ok:
		return token, nil
	case delim == '{':
		return decodeObject(decoder)
	default:
		return decodeArray(decoder)
	}
}

func decodeObject(decoder *json.Decoder) (any, error) {
	object := map[string]any{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("duplicate key %q", key)
		}
		if object[key], err = decodeValue(decoder); err != nil {
			return nil, err
		}
	}
	_, err := decoder.Token()
	return object, err
}

func decodeArray(decoder *json.Decoder) (any, error) {
	array := []any{}
	for decoder.More() {
		value, err := decodeValue(decoder)
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	_, err := decoder.Token()
	return array, err
}

func appendValue(out []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(out, "null"...), nil
	case bool:
		return fmt.Appendf(out, "%t", v), nil
	case json.Number:
		return append(out, v.String()...), nil
	case string:
		return appendString(out, v), nil
	case []any:
		return appendArray(out, v)
	case map[string]any:
		return appendObject(out, v)
	default:
		return nil, fmt.Errorf("canonical JSON: unexpected %T", value)
	}
}

func appendArray(out []byte, array []any) ([]byte, error) {
	out = append(out, '[')
	for i, value := range array {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendValue(out, value); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func appendObject(out []byte, object map[string]any) ([]byte, error) {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	out = append(out, '{')
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, key), ':')
		var err error
		if out, err = appendValue(out, object[key]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// appendString escapes what RFC 8259 demands and nothing else.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for _, b := range []byte(s) {
		switch {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b < 0x20:
			out = fmt.Appendf(out, "\\u%04x", b)
		default:
			out = append(out, b)
		}
	}
	return append(out, '"')
}
