// Package drift says of each direct change whether Git has it.
//
// Enter at Judge, with a change that was written, the live object, and what its
// owner applied last. The proof that Git has a change is the owner's own desired
// object, of the revision that it applied since, and never who holds a field.
// Foreign finds what people's tools changed past changeward, by managed fields:
// hints, unless Git has the same.
package drift
