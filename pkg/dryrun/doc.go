// Package dryrun asks the API server what would happen: it is the only way in
// which changeward looks at a cluster while planning, and it cannot change
// one. Its transport refuses every mutating request without dryRun=All.
//
// Enter at New. The order of steps: New; Cluster, ServerVersion and Whoami say
// whom one talks to; Kinds reads what the server serves, once per run;
// manifest.Resolve uses its Scope; Observe answers for each object of the set
// with LIVE, MERGED, and what admission adds, or with the reason why it could
// not be planned. plan.Build takes it from there.
//
// Secret values are masked, and error texts redacted, before they leave this
// package. Only the requests themselves carry the real values.
package dryrun
