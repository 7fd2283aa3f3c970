// Package reconcile brings Git in line with a direct change: it finds what in a
// directory sets each changed field, edits that in place, and proves it.
//
// Enter at Bring, with the directory and the changes that it should have. The
// order of steps: find the one manifest or kustomization that defines an
// object; for each field try the sources that may set it, the nearest first
// (what an overlay has of its own before a new patch in it, and never a base);
// render again after each try, and keep only one after which the field has its
// value and nothing else has moved. All of that happens in memory. Result.Write
// then replaces the files, each at once, or none.
//
// What cannot be brought in line so is a Refusal that says why and what to do.
// Values of Secrets are never written.
package reconcile
