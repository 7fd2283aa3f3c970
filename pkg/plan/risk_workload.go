package plan

import (
	"fmt"
	"strings"
)

// privilegedRisks finds what Pod security's baseline forbids, and running as
// root.
func privilegedRisks(f facts) []Risk {
	var out []Risk
	for _, l := range f.set {
		if privileged(l) {
			out = append(out, named(RiskPrivileged, l))
		}
	}
	for _, a := range f.Body.Admission { // without value and mark: taken away
		if a.Value == nil && a.Mark == "" && ends(plainOf(a.Path), "securityContext.runAsNonRoot") {
			out = append(out, Risk{Name: RiskPrivileged, Detail: a.Path + " is taken away by admission"})
		}
	}
	for _, l := range f.gone {
		if ends(l.plain, "securityContext.runAsNonRoot") && l.value == true && f.Body.Operation == Update {
			out = append(out, Risk{Name: RiskPrivileged, Detail: l.path + " is no longer true"})
		}
	}
	return out
}

// privileged looks at one value. One that differs from run to run may be any.
func privileged(l leaf) bool {
	ends := func(suffix string) bool { return ends(l.plain, suffix) }
	is := func(grave bool) bool { return grave || IsDiffers(l.value) }
	switch {
	case ends("hostNetwork"), ends("hostPID"), ends("hostIPC"),
		ends("securityContext.privileged"), ends("securityContext.allowPrivilegeEscalation"),
		ends("windowsOptions.hostProcess"):
		return is(l.value == true)
	case ends("securityContext.runAsUser"), ends("windowsOptions.runAsUser"):
		return is(jsonOf(l.value) == "0")
	case ends("securityContext.runAsNonRoot"):
		return is(l.value == false)
	case ends("seccompProfile.type"), ends("appArmorProfile.type"):
		return is(l.value == "Unconfined")
	case ends("securityContext.procMount"):
		return is(l.value == "Unmasked")
	case ends("capabilities.add"):
		return is(l.value != "NET_BIND_SERVICE") // what the restricted profile allows
	case ends("ports.hostPort"):
		return jsonOf(l.value) != "0"
	default:
		return ends("hostPath.path")
	}
}

// workloadRisks finds what runs otherwise: images, restarts, selectors, and
// nothing at all.
func workloadRisks(f facts) []Risk {
	var out []Risk
	for _, l := range f.set {
		if imageAt(l.plain) {
			out = append(out, f.imageRisks(l)...)
		}
	}
	if f.Body.Operation != Update {
		return out
	}
	for _, l := range f.set {
		if l.plain == "spec.replicas" && (jsonOf(l.value) == "0" || IsDiffers(l.value)) {
			out = append(out, Risk{Name: RiskScaleToZero, Detail: beforeReplicas(l.before)})
		}
	}
	for _, path := range f.touched("spec.selector") {
		out = append(out, Risk{Name: RiskSelector, Detail: path})
	}
	if f.rolls() {
		out = append(out, Risk{Name: RiskRestart, Detail: f.pods()})
	}
	return out
}

// imageRisks judges one image. In a new object it is no other image than
// before, unless admission put it there.
func (f facts) imageRisks(l leaf) []Risk {
	image, _ := l.value.(string)
	if IsDiffers(l.value) {
		image = DiffersText
	}
	var out []Risk
	if old, ok := l.before.(string); ok {
		out = append(out, Risk{Name: RiskImage, Detail: old + " → " + image})
	} else if f.Body.Operation == Update || l.assigned {
		out = append(out, Risk{Name: RiskImage, Detail: image})
	}
	if !strings.Contains(image, "@sha256:") {
		out = append(out, Risk{Name: RiskImageUnpinned, Detail: image})
	}
	return out
}

func imageAt(plain string) bool {
	return ends(plain, "containers.image") || ends(plain, "initContainers.image") ||
		ends(plain, "ephemeralContainers.image") || ends(plain, "volumes.image.reference")
}

func beforeReplicas(before any) string {
	if before == nil {
		return ""
	}
	return "from " + jsonOf(before)
}

// rolls says whether the Pod template changes of a kind that then replaces its
// Pods by itself.
func (f facts) rolls() bool {
	ours := f.is("apps", "Deployment", "StatefulSet", "DaemonSet") || f.is("argoproj.io", "Rollout")
	return ours && len(f.touched("spec.template")) > 0
}

// pods is how many will roll, "" where that is not known.
func (f facts) pods() string {
	from, members := f.merged, []string{"spec", "replicas"}
	if f.Body.Kind == "DaemonSet" {
		from, members = f.live, []string{"status", "desiredNumberScheduled"}
	}
	outer, _ := from[members[0]].(map[string]any)
	switch n := outer[members[1]].(type) {
	case int64:
		return plural(int(n), "pod")
	case float64:
		return fmt.Sprintf("%g pods", n)
	default:
		return ""
	}
}
