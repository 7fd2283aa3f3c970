package manifest

import (
	"fmt"
	"slices"
	"strings"
)

const (
	argoHook = "argocd.argoproj.io/hook"
	helmHook = "helm.sh/hook"
)

// Hook says whether Argo CD or Helm would run an object as a hook instead of
// keeping it, and in which phases: Argo CD's words where its annotation is
// set, else Helm's. It reads annotations as Argo CD does: any value but a lone
// Skip makes a hook, also one that names no known phase, which is then never
// applied. Warnings say what a person should know about the annotation; they
// may come without a hook.
func Hook(o Object) (phases []string, warnings []string, isHook bool) {
	annotations := o.Annotations()
	argo, isArgo := annotations[argoHook]
	helm, isHelm := annotations[helmHook]
	switch {
	case isArgo:
		return argoPhases(argo, helm)
	case isHelm && strings.TrimSpace(helm) == "crd-install":
		return nil, []string{helmHook + ": crd-install is no hook for Argo CD; Helm 3 and later skip the object"}, false
	case isHelm:
		phases, unknown := sift(commaList(strings.ToLower(helm)), helmPhases())
		return phases, unknownPhases(helmHook, helm, phases, unknown), true
	default:
		return nil, nil, false
	}
}

// argoPhases reads Argo CD's annotation; where it names no phase that Argo CD
// knows, Helm's counts. Skip beside phases means nothing.
func argoPhases(argo, helm string) (phases []string, warnings []string, isHook bool) {
	values := commaList(argo)
	phases, unknown := sift(values, []string{"PreSync", "Sync", "PostSync", "SyncFail", "PreDelete", "PostDelete"})
	if len(phases) == 0 && slices.Contains(values, "Skip") {
		return nil, []string{argoHook + ": Skip: Argo CD never applies this object"}, false
	}
	unknown = slices.DeleteFunc(unknown, func(phase string) bool { return phase == "Skip" })
	warnings = unknownPhases(argoHook, argo, phases, unknown)
	if len(phases) == 0 {
		phases, _ = sift(commaList(helm), helmPhases())
	}
	return phases, warnings, true
}

func helmPhases() []string {
	return []string{"pre-install", "post-install", "pre-upgrade", "post-upgrade", "pre-delete", "post-delete",
		"pre-rollback", "post-rollback", "test", "test-success"}
}

func unknownPhases(annotation, value string, phases, unknown []string) []string {
	switch {
	case len(unknown) > 0:
		return []string{fmt.Sprintf("unknown hook phase %q in %s", strings.Join(unknown, ","), annotation)}
	case len(phases) == 0:
		return []string{fmt.Sprintf("unknown hook phase %q in %s", value, annotation)}
	default:
		return nil
	}
}

// commaList reads a comma list: trimmed, without empty entries and repetitions.
func commaList(value string) []string {
	var out []string
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	return out
}

// sift parts values into those that are known and those that are not.
func sift(values, all []string) (known, unknown []string) {
	for _, value := range values {
		if slices.Contains(all, value) {
			known = append(known, value)
		} else {
			unknown = append(unknown, value)
		}
	}
	return known, unknown
}
