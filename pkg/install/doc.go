// Package install sets changeward up in a cluster, looks after it, and takes
// it down again. It is one of the few packages that write to a cluster.
//
// Prepare observes and returns a Plan, whose Steps are shown before anyone is
// asked; Plan.Apply carries it out: namespaces, the admission fence, roles and
// bindings, a wait until the fence answers, the key Secrets, and last the
// records (epoch, the admin's key, first policy). Every step makes only what
// is missing, so a half-finished install is finished by running it again.
// Export prints all but keys and records, for Git; a Plan with Options.Finish
// makes those for objects that Git applied. PrepareUninstall goes the other way.
//
// Attest tells in one run whether the fence stands, Doctor what is wrong with
// an install and how to mend it, GateTooPowerful whether an identity could
// take the fence down. CreateToken makes a service account for a robot,
// SyncBindings keeps the role bindings in step with the people a policy names.
package install
