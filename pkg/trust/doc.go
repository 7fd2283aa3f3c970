// Package trust tells from records alone who holds which key, and which
// versions of policy, roster and epoch count. It never writes.
//
// Enter at Open, which verifies every record by itself. Then Epochs says which
// epochs count, so that the caller can compare the live admission fence with
// them; and Read, given what that comparison found, replays all records in the
// order in which the server created them: a key record is judged by the policy
// of its time, a policy version by the keys of its time.
//
// A version that nobody entitled by the version before has signed counts for
// nothing, and is named: who can write a record must not be able to stop every
// gate. One that is signed by who was entitled, and does not follow the version
// before, is an error: something is missing.
//
// What people sign holds whatever became of the admission fence. What only the
// API server vouched for (a first key, membership of a group) is in doubt where
// the fence may have been down: Entry.Doubt and Book.Unvouched say so.
package trust
