// Package plan turns what the server answered into the changes that people
// approve. It is pure: observations in, a plan with its hash out.
//
// Enter at Build. Each Observation becomes a hook, a create, an update, an
// unchanged object or a failure; what LIVE and MERGED differ in becomes
// transitions (pkg/diff), the Body of each change gets its digest, the Header
// over all digests the hash. What is not hashed is derived from the bodies:
// risks (risk.go) and reversibility (reversible.go).
//
// Encode writes the bytes that are stored and shown to who decides; Decode
// reads them back, and believes none of them before every digest and the hash
// are computed again. Text is the form that tests compare.
package plan
