package build

import (
	"bytes"
	"encoding/base64"
	"errors"
	"regexp"

	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/changeward/changeward/pkg/gitops/flux"
)

// encrypted is why the values of an object are not known.
const encrypted = "it is encrypted with SOPS, and only Flux can decrypt it: what its values become is not known"

// seal leaves encrypted values as they are, in a form that a Secret may have,
// and says that they are. Without spec.decryption there is nothing that would
// decrypt them, and the controller refuses.
func (r *run) seal(resource *resource.Resource) (why string, err error) {
	if d := r.k.Spec.Decryption; d == nil || d.Provider != "sops" || resource.GetAnnotations()[flux.Group+"/decrypt"] == "disabled" {
		return "", nil
	}
	content, err := resource.Map()
	if err != nil {
		return "", err
	}
	if _, sops := content["sops"]; !sops {
		return r.sealedFiles(resource)
	}
	delete(content, "sops")
	if resource.GetKind() == "Secret" {
		data, _ := content["data"].(map[string]any)
		if data == nil {
			data = map[string]any{}
		}
		texts, _ := content["stringData"].(map[string]any)
		for _, members := range []map[string]any{data, texts} {
			for key, value := range members {
				text, _ := value.(string)
				data[key] = base64.StdEncoding.EncodeToString([]byte(text))
			}
		}
		delete(content, "stringData")
		content["data"] = data
	}
	text, err := yaml.Marshal(content)
	if err != nil {
		return "", err
	}
	json, err := yaml.YAMLToJSON(text)
	if err != nil {
		return "", err
	}
	return encrypted, resource.UnmarshalJSON(json)
}

// sealedFiles looks for whole files among the values of a Secret. Where the
// name depends on them, as a generator's does, nobody but Flux knows it.
func (r *run) sealedFiles(resource *resource.Resource) (why string, err error) {
	if resource.GetKind() != "Secret" {
		return "", nil
	}
	for _, value := range resource.GetDataMap() {
		data, err := base64.StdEncoding.DecodeString(value)
		if err != nil || !bytes.Contains(data, []byte("sops")) || !bytes.Contains(data, []byte("ENC[")) {
			continue
		}
		if regexp.MustCompile(`-[a-z0-9]{10}$`).MatchString(resource.GetName()) {
			return "", errors.New("Secret " + resource.GetName() + " is generated from a file that is encrypted with SOPS: the end of its name follows from " +
				"values that only Flux can decrypt (generatorOptions.disableNameSuffixHash makes the name plain)")
		}
		return encrypted, nil
	}
	return "", nil
}
