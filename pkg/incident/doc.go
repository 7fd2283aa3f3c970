// Package incident is the incident as a state machine over signed records: owners
// of GitOps are suspended, people change their objects, Git follows, and the
// owners run again.
//
// Enter at Replay, which tells from the records which incidents there are, and at
// New, whose client suspends and resumes. To start: Client.Observe, Undoing,
// then the record, then Client.Suspend of each, parents first. To end: Order,
// then Client.Resume of each, then the record. Every step may be done again.
package incident
