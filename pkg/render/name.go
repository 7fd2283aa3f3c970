package render

import (
	"slices"
	"strings"

	"github.com/changeward/changeward/pkg/manifest"
)

// Object names an object for people: namespace/Kind/name, with the group
// behind the kind where it is not one that Kubernetes itself serves:
// shop/Deployment/web, shop/Certificate.cert-manager.io/web.
func Object(key manifest.Key) string {
	if builtin(key.Group) {
		key.Group = ""
	}
	return Escape(key.String())
}

// builtin groups have no dot, which the group of a CRD must have, or are
// listed here.
func builtin(group string) bool {
	return !strings.Contains(group, ".") || slices.Contains([]string{
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io",
		"authentication.k8s.io", "authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io",
		"discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io", "networking.k8s.io",
		"node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
	}, group)
}
