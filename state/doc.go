// Package state is the leaf of the tree: what a record is, on the wire and for
// years, the ids derived from it, and the canonical JSON under every digest
// and signature. It uses the standard library only, and decides nothing.
//
// Enter at Record and Store. A record is made in this order: a predicate (one
// of the structs in predicates.go), NewStatement, PAE, a signature over it
// (pkg/sign), an Envelope, Store.Create. It is read back the other way:
// Store.Get, ParseEnvelope, the signature, ParseStatement, which refuses all
// that is not byte for byte what Canonical would have written.
//
// A plan record carries a body, too: PackBody, Body.Describe (before the header
// is signed) and PutPlan write it, in chunks if it is large; GetBody reads it.
//
// state/cluster keeps records in the cluster as Secrets and ConfigMaps;
// state/dir keeps them in files; state/statetest is the suite both pass.
package state
