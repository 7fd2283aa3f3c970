// Package render turns plans, verdicts and records into what people and
// machines read: text for terminals and CI logs, Markdown for pull requests,
// and the versioned JSON of docs/schema.
//
// Enter at Text (plans and verdicts for people), Markdown (pull-request
// comments) and JSON (documents for machines); the structs in document*.go are
// the JSON contract. Whatever comes from manifests, servers or records passes
// through Escape on its way out, in the order: escape, neutralise for the
// format, colour, write. Nothing here decides anything or touches a cluster.
package render
