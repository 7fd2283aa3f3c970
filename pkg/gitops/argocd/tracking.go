package argocd

import (
	"strings"

	"github.com/changeward/changeward/pkg/manifest"
)

// Claim is an Application that an object names as its owner.
type Claim struct {
	Instance string // NAME, or NAMESPACE_NAME
	Self     bool   // it names this very object; else the mark was copied from another
}

// Namespace and name of the Application; the namespace is the install's where
// the claim names none.
func (c Claim) Application(s Settings) (namespace, name string) {
	if namespace, name, found := strings.Cut(c.Instance, "_"); found {
		return namespace, name
	}
	return s.Namespace, c.Instance
}

// Claim is what an object says about its Application, by the method that the
// install uses. A label alone proves nothing where annotations are used.
func (s Settings) Claim(o manifest.Object) (Claim, bool) {
	if s.Method == "label" {
		instance := o.Labels()[s.Label]
		return Claim{Instance: instance, Self: true}, instance != ""
	}
	annotations := o.Annotations()
	instance, of, valid := parseTrackingID(annotations[trackingID])
	if !valid || s.InstallationID != "" && annotations[installationID] != s.InstallationID {
		return Claim{}, false
	}
	key := o.Key()
	if key.Namespace == "" {
		of.Namespace = "" // of a cluster-wide object it is the Application's
	}
	return Claim{Instance: instance, Self: of == key}, true
}

// parseTrackingID reads NAME:GROUP/KIND:NAMESPACE/NAME.
func parseTrackingID(id string) (instance string, of manifest.Key, valid bool) {
	parts := strings.SplitN(id, ":", 3)
	if len(parts) != 3 {
		return "", of, false
	}
	kind, name := strings.Split(parts[1], "/"), strings.Split(parts[2], "/")
	if len(kind) != 2 || len(name) != 2 {
		return "", of, false
	}
	return parts[0], manifest.Key{Group: kind[0], Kind: kind[1], Namespace: name[0], Name: name[1]}, parts[0] != ""
}

// TrackingID is the annotation that Argo CD sets on an object of the
// Application, by method annotation; namespace is the object's, or the
// Application's default.
func (a *Application) TrackingID(k manifest.Key, s Settings) (annotation, value string) {
	if k.Namespace == "" {
		k.Namespace = a.DefaultNamespace
	}
	return trackingID, a.InstanceName(s) + ":" + k.Group + "/" + k.Kind + ":" + k.Namespace + "/" + k.Name
}

// LabelValue is the instance name as a label beside the annotation holds it:
// cut to what a label may have.
func (a *Application) LabelValue(s Settings) string {
	const most = 63
	name := a.InstanceName(s)
	if len(name) <= most {
		return name
	}
	return strings.TrimRight(name[:most], "-_.")
}
