package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const firstPolicy = `apiVersion: changeward.dev/v1alpha1
kind: Policy
spec:
  clusterName: $NAME
  # aliases: [other names that --target may use for this cluster]
  env: $ENV
  # envs: [{env: staging, namespaces: ["*-staging"]}]   # for a cluster with several
  # With enforce: false (here, or in a rule) the gate says what it would do,
  # records it, and lets everything pass.
  enforce: true
$ROLES
  # Every change is judged on its own: a matching deny always wins; otherwise
  # the first matching rule decides; otherwise default.
  rules:
  - name: no-volume-deletes
    match: change.operation == "delete" && change.kind == "PersistentVolumeClaim"
    decision: deny
    reason: volumes are deleted by the storage team
  - name: new-and-harmless
    match: change.operation == "create" && change.reversible && !change.unverified && change.risks.size() == 0
    decision: allow
  - name: $RULE
    match: $MATCH
    decision: approval
    approvers: [{$APPROVERS, count: 1}]
    reason: $REASON
  # What no rule decides needs one person of those whom a rule names.
  default: approval
  approvals: {expireAfter: 72h, notProposer: true, unknownAuthor: show, identity: both, enrollment: attested, requireReason: false}
  # An emergency approval meets every requirement, never a deny, and is listed
  # until another person has reviewed it.
  emergency: {$APPROVERS, review: 72h}
  # freezes:
  # - {name: year-end, from: 2026-12-20T00:00:00Z, to: 2027-01-03T00:00:00Z, except: {groups: [oncall]}}
`

// Default is the YAML text of the policy that an install sets first. name is
// the cluster's name; env its environment ("" takes the name); people must name
// approvers, the others may be empty. Whatever is given is quoted as YAML
// demands.
func Default(name, env string, people Roles) string {
	if env == "" {
		env = name
	}
	who := short(people.Approvers)
	return strings.NewReplacer(
		"$NAME", scalar(name), "$ENV", scalar(env), "$ROLES", roles(people),
		"$RULE", ruleName(env, who), "$MATCH", scalarOf(`change.env == `+quoted(env), plainText(env)),
		"$APPROVERS", flow(people.Approvers),
		"$REASON", scalarOf(longEnv(env)+" Kubernetes syncs need "+acronym(who)+" approval", plainText(env) && plainText(who)),
	).Replace(firstPolicy)
}

func roles(people Roles) string {
	lines := []string{}
	for _, role := range []struct {
		key string
		who Subjects
	}{{"proposers", people.Proposers}, {"admins", people.Admins}, {"auditors", people.Auditors}} {
		if role.who.Empty() {
			lines = append(lines, fmt.Sprintf("  # %s: {groups: [...], users: [...]}", role.key))
			continue
		}
		lines = append(lines, fmt.Sprintf("  %s: {%s}", role.key, flow(role.who)))
	}
	return strings.Join(lines, "\n")
}

// flow is subjects as the members of a flow mapping.
func flow(who Subjects) string {
	var members []string
	for _, list := range []struct {
		key   string
		names []string
	}{{"groups", who.Groups}, {"users", who.Users}} {
		if len(list.names) == 0 {
			continue
		}
		names := make([]string, len(list.names))
		for i, name := range list.names {
			names[i] = scalar(name)
		}
		members = append(members, list.key+": ["+strings.Join(names, ", ")+"]")
	}
	return strings.Join(members, ", ")
}

func scalar(text string) string { return scalarOf(text, plainText(text)) }

func scalarOf(text string, plain bool) string {
	if plain {
		return text
	}
	return quoted(text)
}

// quoted is a JSON string, which both YAML and CEL read.
func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil { // strings always have a form
		panic(err)
	}
	return string(data)
}

// plainText says that YAML reads the text as a string without quotes.
func plainText(text string) bool {
	switch strings.ToLower(text) {
	case "", "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return false
	}
	letter := text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z'
	return letter && bare(text) == text
}

// bare keeps what a rule's name may have.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(nameRunes, r) {
			return r
		}
		return '-'
	}, text)
}

const nameRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

func ruleName(env, who string) string { return bare(env + "-needs-" + who) }

// short is the one name of the approvers, if there is but one.
func short(who Subjects) string {
	if names := slices.Concat(who.Groups, who.Users); len(names) == 1 {
		return names[0]
	}
	return "someone"
}

// acronym writes a short group name as people say it: SRE.
func acronym(name string) string {
	if len(name) <= 3 {
		return strings.ToUpper(name)
	}
	return name
}

func longEnv(env string) string {
	if env == "prod" {
		return "production"
	}
	return env
}
