// Package audit proves afterwards what the gate let pass, and on whose word. It
// is pure: pkg/gate reads the records and checks each signature by itself, and
// hands over Facts.
//
// Enter at Verify, which walks the chain of entries and looks for what is
// missing, edited, reordered or unproven; at NewReport, which says who approved
// what, with what went around the gate first; and at Log. WriteBundle and
// ReadBundle keep all records of an install in one file, whose Store serves the
// same verbs without a cluster. An archive takes these steps: Archivable
// chooses what may go, NewCheckpoint says so in the chain, Archived lists the
// records that may then be deleted.
package audit
