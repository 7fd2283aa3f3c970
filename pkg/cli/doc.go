// Package cli is what both binaries share: streams, flag groups, targets, the
// way from flags to a Session, prompts, exit codes and hints.
//
// A main builds its commands with constructors that take Streams, and hands
// the root to Run, which returns the exit code. Inside of a verb the order is:
// flags (ClusterFlags, InputFlags, OutputFlag), Connect for a Session, the work
// itself in the packages below, Streams.Print for the result. Errors are
// returned; Explain gives them a reason, an exit code and hints, once, in Run.
package cli
