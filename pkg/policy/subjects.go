package policy

import (
	"slices"
	"strings"

	"github.com/changeward/changeward/state"
)

// Subjects are people, by group or name.
type Subjects struct {
	Groups []string `json:"groups,omitempty"`
	Users  []string `json:"users,omitempty"`
}

// Empty says that nobody is named.
func (s Subjects) Empty() bool { return len(s.Groups) == 0 && len(s.Users) == 0 }

// Includes says whether a person is named, by name or by one of the groups.
func (s Subjects) Includes(person state.Person) bool {
	if person.Username != "" && slices.Contains(s.Users, person.Username) {
		return true
	}
	return slices.ContainsFunc(person.Groups, func(g string) bool { return slices.Contains(s.Groups, g) })
}

// String is "group:sre, user:alice"; "nobody" when empty.
func (s Subjects) String() string {
	var names []string
	for _, group := range s.Groups {
		names = append(names, "group:"+group)
	}
	for _, user := range s.Users {
		names = append(names, "user:"+user)
	}
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, ", ")
}

// Union is everyone named by any of the subjects, sorted, each once.
func Union(all ...Subjects) Subjects {
	var out Subjects
	for _, s := range all {
		out.Groups = append(out.Groups, s.Groups...)
		out.Users = append(out.Users, s.Users...)
	}
	slices.Sort(out.Groups)
	slices.Sort(out.Users)
	out.Groups, out.Users = slices.Compact(out.Groups), slices.Compact(out.Users)
	return out
}

// Roles are the people a policy names, by the role that each needs.
type Roles struct {
	Proposers Subjects
	Approvers Subjects // of any rule, and of emergencies
	Auditors  Subjects
	Admins    Subjects
}

// Roles names everyone whom the policy gives a role, for role bindings.
func (p *Policy) Roles() Roles {
	return Roles{Proposers: Union(p.Proposers), Auditors: Union(p.Auditors), Admins: Union(p.Admins.Subjects),
		Approvers: Union(p.named(), p.Emergency.Subjects, p.Admins.Subjects)}
}

// named is every subject that a rule names: who may answer by default.
func (p *Policy) named() Subjects {
	var all []Subjects
	for _, rule := range p.Rules {
		for _, need := range rule.Approvers {
			all = append(all, need.Who)
		}
	}
	return Union(all...)
}

// Names says whether a name is the policy's cluster name or an alias of it.
func (p *Policy) Names(target string) bool {
	return target != "" && (target == p.ClusterName || slices.Contains(p.Aliases, target))
}
