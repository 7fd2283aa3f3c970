package cli

import (
	"fmt"
	"strings"

	"github.com/changeward/changeward/pkg/policy"
)

// ParseSubjects reads people as flags name them: group:sre, user:alice, several
// separated by commas.
func ParseSubjects(flag string, values []string) (policy.Subjects, error) {
	var who policy.Subjects
	for _, value := range values {
		kind, name, _ := strings.Cut(value, ":")
		switch {
		case kind == "group" && name != "":
			who.Groups = append(who.Groups, name)
		case kind == "user" && name != "":
			who.Users = append(who.Users, name)
		default:
			return who, Usage(fmt.Sprintf("--%s %s: want group:NAME or user:NAME", flag, value))
		}
	}
	return who, nil
}
