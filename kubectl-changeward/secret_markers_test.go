package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"gotest.tools/v3/assert"
)

// pin is a value too short to be told from other digits, unless it stands
// alone.
const pin = "4711"

// markers are values that stand nowhere but in Secrets, by the place where
// each was planted.
type markers map[string]string

// value plants a marker. Its ends, 14 characters each, are its own.
func (m markers) value(place string) string { return m.shaped(place, "~") }

// shaped plants a marker that has something special in its middle.
func (m markers) shaped(place, middle string) string {
	sum := sha256.Sum256([]byte(place))
	word := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))
	m[place] = "Z" + word[:13] + middle + word[13:26] + "Z"
	return m[place]
}

// fill puts markers into a template: {{v "place"}} as it is, {{b "place"}} as
// base64, {{q}}, {{lines}} and {{binary}} with what is special quoted.
func (m markers) fill(t *testing.T, namespace, text string) string {
	t.Helper()
	encode := func(value string) string { return base64.StdEncoding.EncodeToString([]byte(value)) }
	parsed, err := template.New("").Funcs(template.FuncMap{
		"v": m.value,
		"b": func(place string) string { return encode(m.value(place)) },
		"lines": func(place string) string {
			return encode(m.shaped(place, "\n-----BEGIN KEY-----\n  \"quoted\": <&>\n"))
		},
		"binary": func(place string) string { return encode(m.shaped(place, "\x00\xff\xfe\x80\n")) },
		"url":    func(place string) string { return m.shaped(place, "%/?&=+ ü") },
		"word":   func(place string) string { return m.shaped(place, "x") },
		"ns":     func() string { return namespace },
		"pin":    func() string { return encode(pin) },
	}).Parse(text)
	assert.NilError(t, err)
	var out bytes.Buffer
	assert.NilError(t, parsed.Execute(&out, nil))
	return out.String()
}

// forms are what to look for: both ends of each marker and the whole, raw, as
// base64 at each of three offsets, as hex, in a URL, in JSON.
func (m markers) forms() map[string]string {
	forms := map[string]string{}
	for place, value := range m {
		for part, piece := range map[string]string{"the head of ": value[:12], "the tail of ": value[len(value)-12:], "": value} {
			name := part + place
			forms[piece] = name
			forms[hex.EncodeToString([]byte(piece))] = name + " in hex"
			forms[strings.ToUpper(hex.EncodeToString([]byte(piece)))] = name + " in hex"
			forms[url.QueryEscape(piece)] = name + " in a URL"
			forms[url.PathEscape(piece)] = name + " in a URL"
			forms[strings.Trim(text(piece), `"`)] = name + " in JSON"
			for offset := range 3 {
				for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
					forms[inner(encoding, piece, offset)] = name + " in base64"
				}
			}
		}
	}
	return forms
}

// inner is the part of an encoding that does not depend on what stands before
// and behind the piece.
func inner(encoding *base64.Encoding, piece string, offset int) string {
	padded := strings.Repeat("\x00", offset) + piece
	first := (offset*8 + 5) / 6
	last := len(padded) * 8 / 6
	return encoding.EncodeToString([]byte(padded + "\x00\x00"))[first:last]
}

// assertSilent looks for every form in every text.
func (m markers) assertSilent(t *testing.T, texts map[string]string) {
	t.Helper()
	forms := m.forms()
	alone := regexp.MustCompile(`(?m)(?:^|[^0-9A-Za-z+/_:.-])(?:` + pin + `|NDcxMQ(?:==)?|NDcxMQo=|34373131)(?:$|[^0-9A-Za-z+/_:-])`)
	for where, content := range texts {
		for form, name := range forms {
			if at := strings.Index(content, form); at >= 0 {
				t.Errorf("%s: %s: …%q…", where, name, content[max(0, at-80):min(len(content), at+80)])
			}
		}
		if at := alone.FindStringIndex(content); at != nil {
			t.Errorf("%s: the PIN: …%q…", where, content[max(0, at[0]-80):min(len(content), at[1]+80)])
		}
	}
}

func TestALeakWouldBeFoundInEveryForm(t *testing.T) {
	m := markers{}
	value := m.shaped("place", "%/\n ü")
	encoded := func(prefix string) string { return base64.StdEncoding.EncodeToString([]byte(prefix + value)) }
	inJSON, err := json.Marshal(map[string]string{"k": value})
	assert.NilError(t, err)
	for _, leak := range []string{value, encoded(""), encoded("a"), encoded("ab"), base64.RawURLEncoding.EncodeToString([]byte(value)),
		hex.EncodeToString([]byte("x" + value)), url.QueryEscape(value), url.PathEscape("?" + value), string(inJSON),
		base64.StdEncoding.EncodeToString(inJSON), fmt.Sprintf("%q", value), value[:13], value[len(value)-13:]} {
		found := false
		for form := range m.forms() {
			found = found || strings.Contains("before "+leak+" behind", form)
		}
		assert.Assert(t, found, leak)
	}
}
