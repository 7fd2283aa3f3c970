package install_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/changeward/changeward/pkg/install"
	"github.com/changeward/changeward/pkg/kubetest"
	"github.com/changeward/changeward/pkg/policy"
)

// tableRow is one row of the table of roles in docs/trust.md.
type tableRow struct {
	role, namespace, group, resource, name string
	verbs                                  []string
}

// documented reads the rows of the roles that are about records.
func documented(t *testing.T) []tableRow {
	t.Helper()
	page, err := os.ReadFile("../../docs/trust.md")
	assert.NilError(t, err)
	var rows []tableRow
	for line := range strings.SplitSeq(string(page), "\n") {
		cells := strings.Split(strings.ReplaceAll(line, "`", ""), " | ")
		if len(cells) != 4 || !strings.HasPrefix(cells[0], "| changeward-") || !strings.HasPrefix(cells[1], "changeward") {
			continue
		}
		verbs := strings.Split(strings.TrimSuffix(cells[3], " |"), ", ")
		resource, names, _ := strings.Cut(cells[2], " ")
		resource, group, _ := strings.Cut(resource, ".")
		for name := range strings.SplitSeq(names, ", ") {
			rows = append(rows, tableRow{strings.TrimPrefix(cells[0], "| "), cells[1], group, resource, name, verbs})
		}
	}
	assert.Assert(t, len(rows) >= 13, "%v", rows)
	return rows
}

// everyVerb is what any role gives or could give.
func everyVerb() []string {
	return []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "administer", "purge"}
}

// holds says whether the table gives one of the roles a verb.
func holds(rows []tableRow, roles []string, what authorizationv1.ResourceAttributes) bool {
	return slices.ContainsFunc(rows, func(r tableRow) bool {
		return slices.Contains(roles, r.role) && r.namespace == what.Namespace && r.group == what.Group && r.resource == what.Resource &&
			(r.name == "" || r.name == what.Name) && slices.Contains(r.verbs, what.Verb)
	})
}

func TestTheServerGivesEachUserExactlyTheVerbsOfTheTableOfRoles(t *testing.T) {
	c := kubetest.Start(t, "alice:sre", "bob:dev", "rita:audit", "ada:platform", "eve")
	o := options(t, c)
	o.People.Admins = policy.Subjects{Groups: []string{"platform"}, Users: []string{o.Caller.Username}}
	o.Scope = []string{c.Namespace(t)} // the planning rights hold there, not over records
	o.People.Auditors = policy.Subjects{Groups: []string{"audit"}}
	mustInstall(t, c, o)
	awaitRight(t, c.Config("rita"), authorizationv1.ResourceAttributes{Namespace: install.Namespace, Verb: "list", Resource: "secrets"})
	approver := tokenConfig(t, c, install.TokenOptions{Name: "bot", Role: install.TokenApprove, Duration: hour})
	rows := documented(t)
	for name, who := range map[string]struct {
		config *rest.Config
		roles  []string
	}{
		"an approver":                   {c.Config("alice"), []string{install.RoleApprove}},
		"a person who proposes":         {c.Config("bob"), []string{install.RolePropose, install.RoleEnroll}},
		"an auditor":                    {c.Config("rita"), []string{install.RoleAudit}},
		"an admin":                      {c.Config("ada"), []string{install.RoleAdmin, install.RoleApprove}},
		"a gate":                        {gateToken(t, c, "ci", o.Scope...), []string{install.RolePropose, install.RoleGate}},
		"a robot that approves":         {approver, []string{install.RoleApprove}},
		"somebody whom no policy names": {c.Config("eve"), nil},
	} {
		t.Run(name, func(t *testing.T) { compareRights(t, kubernetes.NewForConfigOrDie(who.config), rows, who.roles) })
	}
}

func compareRights(t *testing.T, client kubernetes.Interface, rows []tableRow, roles []string) {
	for _, what := range []authorizationv1.ResourceAttributes{
		{Namespace: install.Namespace, Resource: "secrets"},
		{Namespace: install.Namespace, Resource: "configmaps"},
		{Namespace: install.Namespace, Group: "changeward.dev", Resource: "records"},
		{Namespace: install.Namespace, Resource: "serviceaccounts"},
		{Namespace: install.NamespaceGate, Resource: "secrets", Name: install.GateKeySecret},
		{Namespace: install.NamespaceGate, Resource: "secrets", Name: install.DigestKeySecret},
		{Namespace: install.NamespaceGate, Resource: "secrets"},
		{Namespace: install.NamespaceGate, Resource: "configmaps"},
		{Namespace: install.NamespaceApprovers, Resource: "secrets"},
	} {
		for _, what.Verb = range everyVerb() {
			review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &what}}, metav1.CreateOptions{})
			assert.NilError(t, err)
			assert.Equal(t, review.Status.Allowed, holds(rows, roles, what), "%s %s.%s %s in %s", what.Verb, what.Resource, what.Group, what.Name, what.Namespace)
		}
	}
}
