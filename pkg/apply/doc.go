// Package apply is the one package that writes desired state to a cluster, and
// the only one that can make a client for that: New.
//
// Enter at Run.Do with the tasks of a plan that a gate has allowed. It records
// that it starts; writes object by object, in the order of Sort, each with the
// uid and resourceVersion that were planned, so that whatever moved meanwhile
// is planned again, and written only if its change is the same; records each
// result; and stops at the first object that cannot be written. What is left,
// the next run of the same plan finds. Client.Wait then waits until workloads
// run.
package apply
