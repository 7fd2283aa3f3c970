package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"
)

func decodeValue(decoder *json.Decoder, depth int) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	switch {
	case !ok:
		return token, nil
	case depth >= maxDepth:
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	case delim == '{':
		return decodeObject(decoder, depth+1)
	default:
		return decodeArray(decoder, depth+1)
	}
}

func decodeObject(decoder *json.Decoder, depth int) (any, error) {
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
		if object[key], err = decodeValue(decoder, depth); err != nil {
			return nil, err
		}
	}
	_, err := decoder.Token()
	return object, err
}

func decodeArray(decoder *json.Decoder, depth int) (any, error) {
	array := []any{}
	for decoder.More() {
		value, err := decodeValue(decoder, depth)
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	_, err := decoder.Token()
	return array, err
}

func appendValue(out []byte, value any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("canonical JSON: nested deeper than %d", maxDepth)
	}
	switch v := value.(type) {
	case nil:
		return append(out, "null"...), nil
	case json.Number:
		return appendNumber(out, v)
	case string:
		return appendString(out, v)
	case []any:
		return appendArray(out, v, depth+1)
	case map[string]any:
		return appendObject(out, v, depth+1)
	case bool:
		return fmt.Appendf(out, "%t", v), nil
	default:
		return appendOther(out, v, depth)
	}
}

// appendOther takes a value through encoding/json, which replaces invalid
// UTF-8 without a word; so that is looked for first.
func appendOther(out []byte, value any, depth int) ([]byte, error) {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil { // finds cycles, too
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	if !validText(reflect.ValueOf(value)) {
		return nil, errors.New("canonical JSON: invalid UTF-8")
	}
	tree, err := decodeTree(raw.Bytes())
	if err != nil {
		return nil, err
	}
	return appendValue(out, tree, depth)
}

// validText says whether every string in a value is valid UTF-8. Byte slices
// are left out: they become base64, or are raw JSON, which decodeTree checks.
func validText(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || validText(v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			if !validText(field) {
				return false
			}
		}
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if !validText(entry.Key()) || !validText(entry.Value()) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := 0; v.Type().Elem().Kind() != reflect.Uint8 && i < v.Len(); i++ {
			if !validText(v.Index(i)) {
				return false
			}
		}
	}
	return true
}

func appendNumber(out []byte, number json.Number) ([]byte, error) {
	literal, err := json.Marshal(number) // refuses what is no number
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return append(out, literal...), nil
}

func appendArray(out []byte, array []any, depth int) ([]byte, error) {
	if array == nil {
		return append(out, "null"...), nil
	}
	out = append(out, '[')
	for i, value := range array {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendValue(out, value, depth); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func appendObject(out []byte, object map[string]any, depth int) ([]byte, error) {
	if object == nil {
		return append(out, "null"...), nil
	}
	out = append(out, '{')
	for i, key := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendString(out, key); err != nil {
			return nil, err
		}
		if out, err = appendValue(append(out, ':'), object[key], depth); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// appendString escapes what RFC 8259 demands and nothing else.
func appendString(out []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, errors.New("canonical JSON: invalid UTF-8")
	}
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
	return append(out, '"'), nil
}
