package diff

import "encoding/json"

// Action of a transition.
type Action string

// The actions. Order is the key sequence of list entries, old and new.
const (
	Add    Action = "add"
	Change Action = "change"
	Remove Action = "remove"
	Order  Action = "order"
)

// Transition is one field that differs: where, how, from what to what. Values
// are decoded JSON, with state.Masked in place of Secret values.
type Transition struct {
	Path   string
	Action Action
	Old    any // absent for Add
	New    any // absent for Remove
}

// MarshalJSON writes path, action, and the values that the action has.
func (t Transition) MarshalJSON() ([]byte, error) {
	out := map[string]any{"path": t.Path, "action": t.Action}
	if t.Action != Add {
		out["old"] = t.Old
	}
	if t.Action != Remove {
		out["new"] = t.New
	}
	return json.Marshal(out)
}
