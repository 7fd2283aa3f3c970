package plan

import (
	"slices"
	"strings"
)

// clusterRisks finds changes of what the API server itself serves and asks,
// and of Secrets.
func clusterRisks(f facts) []Risk {
	switch {
	case f.Body.Group == "admissionregistration.k8s.io":
		return []Risk{{Name: RiskWebhook}}
	case f.is("apiregistration.k8s.io", "APIService"):
		return []Risk{{Name: RiskWebhook, Detail: "serves an API group"}}
	case f.is("apiextensions.k8s.io", "CustomResourceDefinition"):
		return []Risk{{Name: RiskCRD}}
	case f.is("", "Secret"):
		return []Risk{{Name: RiskSecret}}
	}
	return nil
}

// storageRisks finds what can lose or move data.
func storageRisks(f facts) []Risk {
	var out []Risk
	claim := f.is("", "PersistentVolumeClaim")
	kept := claim || f.is("", "PersistentVolume") || f.is("storage.k8s.io", "StorageClass", "CSIDriver", "VolumeAttributesClass") ||
		f.Body.Group == "snapshot.storage.k8s.io"
	if d := f.Body.Delete; d != nil && len(d.Volumes) > 0 {
		out = append(out, Risk{Name: RiskStorage, Detail: "deletes " + plural(len(d.Volumes), "volume")})
	}
	if kept && f.Body.Operation == Delete || kept && !claim && f.Body.Operation == Create {
		out = append(out, Risk{Name: RiskStorage})
	}
	for _, t := range f.Body.Transitions {
		plain := plainOf(t.Path)
		if kept && !under(plain, "metadata") || storageField(plain) || claimIn(plain, t.Old) || claimIn(plain, t.New) {
			out = append(out, Risk{Name: RiskStorage, Detail: t.Path})
		}
	}
	return out
}

// storageField says that a field decides over volumes, in any kind.
func storageField(plain string) bool {
	for _, key := range strings.Split(plain, ".") {
		switch key {
		case "storage", "storageClassName", "persistentVolumeReclaimPolicy", "reclaimPolicy", "deletionPolicy",
			"volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy":
			return true
		}
	}
	return false
}

// claimIn says that a value, or the place it has, is a Pod's use of a claim.
func claimIn(plain string, value any) bool {
	return slices.ContainsFunc(flatten(plain, plain, value), func(l leaf) bool {
		return strings.Contains(l.plain, "volumes.persistentVolumeClaim.")
	})
}

// networkRisks finds what changes who can reach whom.
func networkRisks(f facts) []Risk {
	b := f.Body
	policy := []string{"networking.k8s.io", "policy.networking.k8s.io", "gateway.networking.k8s.io", "networking.istio.io",
		"security.istio.io", "cilium.io", "crd.projectcalico.org", "projectcalico.org", "discovery.k8s.io"}
	switch {
	case slices.Contains(policy, b.Group), f.is("", "Endpoints"), f.is("extensions", "Ingress"):
		return []Risk{{Name: RiskNetwork}}
	case !f.is("", "Service"):
		return nil
	case b.Operation == Delete:
		return []Risk{{Name: RiskNetwork}}
	}
	var out []Risk
	for _, path := range f.touched("spec") {
		if !under(plainOf(path), "spec.selector") {
			out = append(out, Risk{Name: RiskNetwork, Detail: path})
		}
	}
	for _, l := range f.set {
		outside := l.plain == "spec.type" && l.value != "ClusterIP" || l.plain == "spec.externalIPs" || l.plain == "spec.externalName"
		if outside && b.Operation != Update {
			out = append(out, named(RiskNetwork, l))
		}
	}
	return out
}
