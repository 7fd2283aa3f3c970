package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Names of risks: named findings about a change, gravest first. They are API:
// in JSON output and in policies, and never renamed.
const (
	// RiskProtected: changeward's own objects and fences, admission policies,
	// and rights that reach around them (impersonate, bind, escalate).
	RiskProtected = "protected"
	// RiskDelete: an object is deleted.
	RiskDelete = "delete"
	// RiskPrune: it is deleted since it left the manifests.
	RiskPrune = "prune"
	// RiskReplace: an object is deleted and created anew.
	RiskReplace = "replace"
	// RiskPrivileged: a container gets nearer to its node.
	RiskPrivileged = "privileged"
	// RiskRBAC: rights change, or who acts with them.
	RiskRBAC = "rbac"
	// RiskWebhook: what the API server asks, or forwards requests to, changes.
	RiskWebhook = "webhook"
	// RiskCRD: the definition of a kind changes, and with it every object of it.
	RiskCRD = "crd"
	// RiskStorage: volumes, claims, classes or their reclaim change.
	RiskStorage = "storage"
	// RiskTakesOver: a value is taken from another manager.
	RiskTakesOver = "takes-over"
	// RiskGitOpsOwned: the object belongs to Argo CD, Flux or Helm, and the
	// applier is another.
	RiskGitOpsOwned = "gitops-owned"
	// RiskHook: something runs that is not compared with live objects.
	RiskHook = "hook"
	// RiskSecret: a Secret changes; its values are not shown.
	RiskSecret = "secret"
	// RiskNetwork: what can be reached, or from where, changes.
	RiskNetwork = "network"
	// RiskScaleToZero: nothing of it will run.
	RiskScaleToZero = "scale-to-zero"
	// RiskSelector: which objects are selected changes.
	RiskSelector = "selector"
	// RiskRestart: Pods roll; the detail says how many, where that is known.
	RiskRestart = "restart"
	// RiskImage: another image runs.
	RiskImage = "image"
	// RiskImageUnpinned: an image without a digest may be another one tomorrow.
	RiskImageUnpinned = "image-unpinned"
	// RiskUnverified: the server could not check the change.
	RiskUnverified = "unverified"
	// RiskMany: the plan has more changes than people read with care.
	RiskMany = "many"
)

// ManyChanges is the number of changes above which a plan has RiskMany.
const ManyChanges = 50

// RiskNames lists every name, gravest first: the order in which a change has
// its risks.
func RiskNames() []string {
	return []string{RiskProtected, RiskDelete, RiskPrune, RiskReplace, RiskPrivileged, RiskRBAC, RiskWebhook,
		RiskCRD, RiskStorage, RiskTakesOver, RiskGitOpsOwned, RiskHook, RiskSecret, RiskNetwork,
		RiskScaleToZero, RiskSelector, RiskRestart, RiskImage, RiskImageUnpinned, RiskUnverified, RiskMany}
}

// Risks are those of all changes, one of a name, gravest first; the detail is
// how many changes have it.
func (p *Plan) Risks() []Risk {
	count := map[string]int{}
	for _, c := range p.Changes {
		for _, r := range c.Risks {
			count[r.Name]++
		}
	}
	var out []Risk
	for _, name := range RiskNames() {
		if count[name] > 0 {
			out = append(out, Risk{Name: name, Detail: plural(count[name], "change")})
		}
	}
	return out
}

// risksOf finds the risks of one change out of total. Some are seen in LIVE or
// MERGED only (owner, number of Pods): those are known while a plan is built,
// not when it is read from its bytes.
func risksOf(s subject, prune bool, total int) []Risk {
	f := factsOf(s)
	found := slices.Concat(
		operationRisks(s.Change, prune), protectedRisks(f), privilegedRisks(f), rbacRisks(f),
		clusterRisks(f), storageRisks(f), ownerRisks(f), networkRisks(f), workloadRisks(f),
	)
	if total > ManyChanges {
		found = append(found, Risk{Name: RiskMany, Detail: plural(total, "change") + " in one plan"})
	}
	return merged(found)
}

func operationRisks(c Change, prune bool) []Risk {
	var out []Risk
	switch b := c.Body; b.Operation {
	case Delete:
		out = append(out, Risk{Name: RiskDelete, Detail: deletionDetail(b)})
		if prune {
			out = append(out, Risk{Name: RiskPrune})
		}
	case Replace:
		out = append(out, Risk{Name: RiskReplace})
	case Hook:
		out = append(out, Risk{Name: RiskHook, Detail: strings.Join(b.Phases, ", ")})
	}
	if managers := losers(c.Body.TakesOver); len(managers) > 0 {
		out = append(out, Risk{Name: RiskTakesOver, Detail: "from " + listed(managers)})
	}
	if c.Unverified != "" {
		out = append(out, Risk{Name: RiskUnverified, Detail: c.Unverified})
	}
	return out
}

func losers(fields []Takeover) []string {
	names := map[string]bool{}
	for _, f := range fields {
		names[f.Manager] = true
	}
	return sortedKeys(names)
}

// merged makes one risk of those with one name, in the order of RiskNames.
func merged(found []Risk) []Risk {
	var out []Risk
	for _, name := range RiskNames() {
		var details []string
		there := false
		for _, r := range found {
			if r.Name != name {
				continue
			}
			there = true
			if r.Detail != "" && !slices.Contains(details, r.Detail) {
				details = append(details, r.Detail)
			}
		}
		if there {
			out = append(out, Risk{Name: name, Detail: listed(details)})
		}
	}
	return out
}

// listed names the first few, and how many more there are.
func listed(items []string) string {
	const most = 5
	if len(items) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
	}
	return strings.Join(items, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
