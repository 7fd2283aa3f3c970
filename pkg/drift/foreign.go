package drift

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// Foreign are the changes that people's tools made to an object that an owner
// keeps, one a manager, by who holds its fields. Where what the owner applied
// last is known, what it sets to the same value is left out.
func Foreign(key manifest.Key, version string, live plan.Sight, git *Applied) []Change {
	changes := map[string]*Change{}
	for _, path := range slices.Sorted(maps.Keys(live.Holders)) {
		holder := live.Holders[path]
		if !byHand(holder.Manager) || bookkeeping(path) || hasParts(live, path) || git.sets(key, path, live.Object) {
			continue
		}
		c := changes[holder.Manager]
		if c == nil {
			c = &Change{Key: key, Version: version, Operation: plan.Update, Owner: git.Owner, Revision: git.Revision, State: Unreconciled,
				Manager: holder.Manager, Why: "changed past changeward, by " + holder.Manager}
			if git.Unknown != "" {
				c.Why += "; whether Git has it is not known: " + git.Unknown
			}
			changes[holder.Manager] = c
		}
		if holder.Time.After(c.Since) {
			c.Since = holder.Time
		}
		c.Fields = append(c.Fields, Field{Path: path, State: Unreconciled, Why: "since " + holder.Time.Format(time.RFC3339)})
	}
	out := make([]Change, 0, len(changes))
	for _, c := range changes {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Manager, b.Manager) })
	return out
}

// byHand says that a field manager is a tool that people change objects with.
func byHand(manager string) bool {
	name, _, _ := strings.Cut(manager, " ") // (subresource …)
	tools := []string{"k9s", "lens", "node-fetch", "openlens", "headlamp", "dashboard", "octant", "mozilla"}
	return strings.HasPrefix(name, "kubectl") || slices.Contains(tools, strings.ToLower(name))
}

// bookkeeping is what tools write for themselves.
func bookkeeping(path string) bool {
	return path == `metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`
}

// sets says that the owner's desired object has the live value at a path.
func (a *Applied) sets(key manifest.Key, path string, live map[string]any) bool {
	want, has := diff.At(a.Objects[key], path)
	have, there := diff.At(live, path)
	return has && there && diff.Equal(want, have)
}

// hasParts says that a path is that of an entry or mapping whose members are
// held one by one, and so are listed themselves.
func hasParts(live plan.Sight, path string) bool {
	for other := range live.Holders {
		if len(other) > len(path) && strings.HasPrefix(other, path) && (other[len(path)] == '.' || other[len(path)] == '[') {
			return true
		}
	}
	return false
}
