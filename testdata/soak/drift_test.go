package soak_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/changeward/changeward/pkg/diff"
	"github.com/changeward/changeward/pkg/gate"
	"github.com/changeward/changeward/pkg/manifest"
	"github.com/changeward/changeward/pkg/plan"
)

// drift is a field that an approved plan changes, and someone else has changed
// before.
type drift struct {
	key     manifest.Key
	thing   thing
	path    string
	manager string
}

// choose takes a field of the approved plan by chance.
func (s *scope) choose() drift {
	var all []drift
	for _, c := range s.plan.Changes {
		b := c.Body
		one := thingOf(manifest.Object{Content: map[string]any{"apiVersion": strings.TrimPrefix(b.Group+"/"+b.Version, "/"), "kind": b.Kind,
			"metadata": map[string]any{"name": b.Name, "namespace": b.Namespace}}})
		for _, t := range b.Transitions {
			if t.Action == diff.Change && !plan.IsDiffers(t.New) {
				all = append(all, drift{key: b.Key(), thing: one, path: t.Path})
			}
		}
	}
	d := all[rand.IntN(len(all))]
	d.manager = []string{"someone", "kubectl-edit"}[rand.IntN(2)]
	return d
}

func (d drift) String() string { return fmt.Sprintf("%s %s by %s", d.key, d.path, d.manager) }

// seed writes another value to LIVE.
func (d drift) seed(ctx context.Context, n *noise) error {
	client := n.client.Resource(d.thing.resource).Namespace(d.thing.namespace)
	for range 50 {
		live, err := client.Get(ctx, d.thing.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := d.change(live.Object); err != nil {
			return err
		}
		if _, err = client.Update(ctx, live, metav1.UpdateOptions{FieldManager: d.manager}); !apierrors.IsConflict(err) {
			return err
		}
	}
	return errors.New("others were always faster")
}

// change sets the field of an object to a value that neither version has.
func (d drift) change(object map[string]any) error {
	steps, _ := diff.ParsePath(d.path)
	last := steps[len(steps)-1]
	above := strings.TrimSuffix(strings.TrimSuffix(d.path, last.Key+last.Selector), ".")
	if last.Selector == "" && strings.HasSuffix(d.path, "]") {
		above = d.path[:strings.LastIndex(d.path, "[")]
	}
	parent, there := diff.At(object, above)
	members, ok := parent.(map[string]any)
	if !there || !ok || last.Selector != "" {
		return fmt.Errorf("cannot set %s", d.path)
	}
	members[last.Key] = d.other(members[last.Key])
	return nil
}

func (d drift) other(value any) any {
	switch v := value.(type) {
	case int64:
		return v + 10
	case []any:
		return append(slices.Clone(v), "watch")
	case string:
		switch {
		case d.thing.kind == "Secret":
			return "ZHJpZnQ="
		case strings.HasSuffix(d.path, "memory"):
			return "96Mi"
		case strings.HasSuffix(d.path, "schedule"):
			return "5 5 * * *"
		}
		return v + "x"
	}
	return value
}

// found says that the gate did not take the approval for a plan that is no
// longer the approved one; attributed, that it also names the field's object.
func (d drift) found(r *gate.Result) (found, attributed bool) {
	return r.Verdict.Decision != "allowed", slices.ContainsFunc(r.Stale, func(s gate.Stale) bool {
		return s.Cause == gate.CauseLive && s.Object == d.key
	})
}
