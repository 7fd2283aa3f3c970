package manifest_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/state"
)

const canary = "CANARY hunter2/+<&>\"é"

func masker() manifest.Masker { return manifest.NewMasker([]byte("key"), "uid-1", false) }

func secret(data, stringData, annotations map[string]any) map[string]any {
	out := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "shop", "name": "s"}}
	if annotations != nil {
		out["metadata"].(map[string]any)["annotations"] = annotations
	}
	if data != nil {
		out["data"] = data
	}
	if stringData != nil {
		out["stringData"] = stringData
	}
	return out
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func TestATagIsTheKeyedHashOfValueAndPlace(t *testing.T) {
	out := masker().Object(secret(map[string]any{"tls.crt": encoded("value")}, nil, nil))
	input := `["uid-1","","Secret","shop","s","data[\"tls.crt\"]","` + encoded("value") + `"]`
	mac := hmac.New(sha256.New, []byte("key"))
	mac.Write([]byte(input))
	id := sha256.Sum256([]byte("changeward key idkey"))
	want := state.Masked{Tag: hex.EncodeToString(id[:])[:8] + ":" + hex.EncodeToString(mac.Sum(nil))[:32]}
	assert.DeepEqual(t, out["data"], map[string]any{"tls.crt": want})
}

func TestEqualValuesHaveOneTagAndOthersHaveNot(t *testing.T) {
	tag := func(m manifest.Masker, content map[string]any) any {
		return m.Object(content)["data"].(map[string]any)["pin"]
	}
	base := tag(masker(), secret(map[string]any{"pin": encoded("4711")}, nil, nil))
	assert.Equal(t, tag(masker(), secret(map[string]any{"pin": encoded("4711") + "\n"}, nil, nil)), base, "another writing of the same bytes")
	assert.Equal(t, tag(masker(), secret(map[string]any{"pin": encoded("old")}, map[string]any{"pin": "4711"}, nil)), base, "stringData wins")
	other := secret(map[string]any{"pin": encoded("4711")}, nil, nil)
	other["metadata"].(map[string]any)["name"] = "t"
	for name, differs := range map[string]any{
		"value":   tag(masker(), secret(map[string]any{"pin": encoded("4712")}, nil, nil)),
		"object":  tag(masker(), other),
		"cluster": tag(manifest.NewMasker([]byte("key"), "uid-2", false), secret(map[string]any{"pin": encoded("4711")}, nil, nil)),
		"key":     tag(manifest.NewMasker([]byte("kez"), "uid-1", false), secret(map[string]any{"pin": encoded("4711")}, nil, nil)),
		"unbound": tag(manifest.NewMasker([]byte("key"), "uid-1", true), secret(map[string]any{"pin": encoded("4711")}, nil, nil)),
	} {
		assert.Assert(t, differs != base, name)
	}
}

func TestStringDataLeavesNoTrace(t *testing.T) {
	out := masker().Object(secret(nil, map[string]any{"a": "b"}, nil))
	_, has := out["stringData"]
	assert.Assert(t, !has)
	assert.Equal(t, len(out["data"].(map[string]any)), 1)
	out = masker().Object(secret(nil, map[string]any{}, nil))
	assert.DeepEqual(t, out, secret(nil, nil, nil))
}

func TestNoValueLeavesASecretInAnyUsualEncoding(t *testing.T) {
	quoted, err := json.Marshal(canary)
	assert.NilError(t, err)
	forms := map[string]any{
		"kubectl.kubernetes.io/last-applied-configuration": `{"data":{}}`,
		"raw": "it is " + canary + ".", "base64": encoded(canary), "in base64": "x" + encoded(canary+"\n") + "x", "hex": hex.EncodeToString([]byte(canary)),
		"url": url.QueryEscape(canary), "path": url.PathEscape(canary), "json": string(quoted), "plain": "kept", "helm.sh/hook": canary,
	}
	content := secret(map[string]any{"a": encoded(canary + "\n"), "nested": map[string]any{"x": canary}, "null": nil}, map[string]any{"b": canary, "pin": int64(4711)}, forms)
	before, err := json.Marshal(content)
	assert.NilError(t, err)
	out := masker().Object(content)
	after, err := json.Marshal(content)
	assert.NilError(t, err)
	assert.Equal(t, string(before), string(after), "the input is not changed")

	annotations := out["metadata"].(map[string]any)["annotations"].(map[string]any)
	for key, value := range annotations {
		_, masked := value.(state.Masked)
		assert.Equal(t, masked, key != "plain", key)
	}
	written, err := json.Marshal(out)
	assert.NilError(t, err)
	for _, leak := range []string{"hunter2", "4711", encoded(canary)[:20], hex.EncodeToString([]byte("hunter2"))} {
		assert.Assert(t, !strings.Contains(string(written), leak), leak)
	}
	assert.DeepEqual(t, masker().Object(out)["data"], out["data"]) // masking twice masks once
}

func TestAnAnnotationIsMaskedForTheValueOfAnyVersion(t *testing.T) {
	old := secret(map[string]any{"pw": encoded("hunter2")}, nil, map[string]any{"note": "was hunter2"})
	rotated := secret(map[string]any{"pw": encoded("newer")}, nil, map[string]any{"note": "was hunter2"})
	note := func(content map[string]any) any {
		return content["metadata"].(map[string]any)["annotations"].(map[string]any)["note"]
	}
	assert.Equal(t, note(masker().Object(rotated, old)), note(masker().Object(old, rotated)))
	_, masked := note(masker().Object(rotated, old)).(state.Masked)
	assert.Assert(t, masked)
}

func TestWordsThatSteerStayReadable(t *testing.T) {
	content := secret(map[string]any{"a": encoded("keep"), "b": encoded("web"), "c": encoded("")}, nil,
		map[string]any{"helm.sh/resource-policy": "keep", "team": "web", "note": "the web team"})
	content["metadata"].(map[string]any)["labels"] = map[string]any{"app": "keep"}
	metadata := masker().Object(content)["metadata"].(map[string]any)
	annotations := metadata["annotations"].(map[string]any)
	assert.Equal(t, annotations["helm.sh/resource-policy"], "keep")
	assert.Equal(t, annotations["note"], "the web team")
	assert.DeepEqual(t, metadata["labels"], map[string]any{"app": "keep"})
	_, masked := annotations["team"].(state.Masked)
	assert.Assert(t, masked, "a whole value is masked, however short")
}

func TestAMaskedHookIsStillAHook(t *testing.T) {
	content := secret(map[string]any{"a": encoded("a secret so long")}, nil, map[string]any{"argocd.argoproj.io/hook": "a secret so long"})
	_, warnings, isHook := manifest.Hook(manifest.Object{Content: masker().Object(content)})
	assert.Assert(t, isHook)
	assert.DeepEqual(t, warnings, []string{`unknown hook phase "(masked)" in argocd.argoproj.io/hook`})
}

func TestBinaryValuesAreMaskedLikeText(t *testing.T) {
	content := secret(map[string]any{"key": encoded("\xff\x00\xfe\x80\x81")}, nil, map[string]any{"note": "is " + encoded("\xff\x00\xfe\x80\x81")})
	_, masked := masker().Object(content)["metadata"].(map[string]any)["annotations"].(map[string]any)["note"].(state.Masked)
	assert.Assert(t, masked)
	assert.Equal(t, manifest.Redact("what \xff", content), "the server's text about this Secret may repeat values and is withheld")
}

func TestASecretOfTheWrongShapeIsMaskedWhole(t *testing.T) {
	content := secret(nil, nil, nil)
	content["data"] = []any{canary}
	written, err := json.Marshal(masker().Object(content))
	assert.NilError(t, err)
	assert.Assert(t, !strings.Contains(string(written), "hunter2"))
}

func TestAFieldThatNoSecretHasIsMaskedWhole(t *testing.T) {
	content := secret(map[string]any{"k": encoded("v")}, nil, nil)
	content["type"], content["immutable"] = "Opaque", true
	content["stringdata"] = map[string]any{"password": canary}
	masked := masker().Object(content)
	_, done := masked["stringdata"].(state.Masked)
	assert.Assert(t, done)
	assert.DeepEqual(t, masker().Object(masked), masked)
	delete(content, "stringdata")
	delete(masked, "stringdata")
	assert.DeepEqual(t, masker().Object(content), masked)
	assert.Equal(t, masked["type"], "Opaque")
}

func TestOtherKindsAreCopiedWhole(t *testing.T) {
	for _, apiVersion := range []string{"v1", "example.com/v1"} {
		content := secret(map[string]any{"a": []any{map[string]any{"b": int64(1)}}}, map[string]any{"c": "d"}, map[string]any{"kubectl.kubernetes.io/last-applied-configuration": "x"})
		content["apiVersion"] = apiVersion
		if apiVersion == "v1" {
			content["kind"] = "ConfigMap"
		}
		out := masker().Object(content)
		assert.DeepEqual(t, out, content)
		out["data"].(map[string]any)["a"].([]any)[0].(map[string]any)["b"] = "changed"
		assert.DeepEqual(t, content["data"], map[string]any{"a": []any{map[string]any{"b": int64(1)}}})
	}
}
