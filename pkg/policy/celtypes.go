package policy

import (
	"slices"

	"github.com/google/cel-go/common/types"
)

// Variables of expressions.
const (
	varTarget   = "target"
	varPlan     = "plan"
	varChange   = "change"
	varProposer = "proposer"
	varAuthor   = "author"
)

// celTypes declares what expressions see, so that change.knd does not compile.
// The values behind are plain maps: only the checker needs the types.
type celTypes struct {
	*types.Registry
	structs map[string]map[string]*types.Type
}

func newTypes() (*celTypes, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	text, texts := types.StringType, types.NewListType(types.StringType)
	return &celTypes{Registry: registry, structs: map[string]map[string]*types.Type{
		"Target": {"cluster": text, "applier": text},
		"Plan": {"size": types.IntType, "reversible": types.BoolType, "operations": texts, "risks": texts,
			"revision": text, "scope": text},
		"Change": {"operation": text, "group": text, "version": text, "kind": text, "namespace": text, "name": text,
			"env": text, "owner": text, "lane": text, "reversible": types.BoolType, "unverified": types.BoolType,
			"risks": texts, "fields": types.NewListType(types.NewObjectType("Field"))},
		"Field":  {"path": text, "old": types.DynType, "new": types.DynType},
		"Person": {"username": text, "groups": texts},
	}}, nil
}

func (t *celTypes) variables() map[string]*types.Type {
	return map[string]*types.Type{
		varTarget: types.NewObjectType("Target"), varPlan: types.NewObjectType("Plan"),
		varChange: types.NewObjectType("Change"), varProposer: types.NewObjectType("Person"),
		varAuthor: types.NewObjectType("Person"),
	}
}

// FindStructType implements types.Provider.
func (t *celTypes) FindStructType(name string) (*types.Type, bool) {
	if _, ours := t.structs[name]; ours {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return t.Registry.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (t *celTypes) FindStructFieldNames(name string) ([]string, bool) {
	members, ours := t.structs[name]
	if !ours {
		return t.Registry.FindStructFieldNames(name)
	}
	names := make([]string, 0, len(members))
	for member := range members {
		names = append(names, member)
	}
	slices.Sort(names)
	return names, true
}

// FindStructFieldType implements types.Provider.
func (t *celTypes) FindStructFieldType(name, member string) (*types.FieldType, bool) {
	members, ours := t.structs[name]
	if !ours {
		return t.Registry.FindStructFieldType(name, member)
	}
	declared, found := members[member]
	if !found {
		return nil, false
	}
	return &types.FieldType{Type: declared}, true
}
