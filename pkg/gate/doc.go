// Package gate is the use case: it reads the records of an install, judges a
// plan, counts what people decided, records what changed, and answers.
//
// Enter at Gate. Load reads and verifies all records into a Ledger. Run takes a
// plan through these steps: judge it under the policy in force; note approved
// plans of its scope that are done; find its change request, or take a number
// for one; count the decisions on it; append an audit entry if the verdict is
// another than before; answer. Decide stores a person's approval or rejection,
// Enroll a person's key, SetPolicy a new policy version.
//
// Every error means: not allowed. What is "allowed" is decided anew by each run
// from the plan at hand; records only say what people signed.
package gate
