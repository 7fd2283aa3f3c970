package diff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

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

// UnmarshalJSON reads what MarshalJSON writes and refuses everything else: an
// unknown action, a member too many or too few. Numbers stay exact, as
// json.Number.
func (t *Transition) UnmarshalJSON(data []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return fmt.Errorf("transition: %w", err)
	}
	var out Transition
	want := 4
	for name, into := range map[string]any{"path": &out.Path, "action": &out.Action} {
		if err := json.Unmarshal(members[name], into); err != nil {
			return fmt.Errorf("transition %s: %w", name, err)
		}
	}
	values := map[string]*any{"old": &out.Old, "new": &out.New}
	switch out.Action {
	case Add:
		want, values = 3, map[string]*any{"new": &out.New}
	case Remove:
		want, values = 3, map[string]*any{"old": &out.Old}
	case Change, Order:
	default:
		return fmt.Errorf("transition: unknown action %q", out.Action)
	}
	if len(members) != want {
		return errors.New("transition: members do not fit the action")
	}
	for name, into := range values {
		if err := exact(members[name], into); err != nil {
			return fmt.Errorf("transition %s: %w", name, err)
		}
	}
	*t = out
	return nil
}

func exact(data json.RawMessage, into *any) error {
	if data == nil {
		return errors.New("missing")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(into)
}
