// Package approval says which requirements the decisions of people meet. It is
// pure: the gate reads the records and verifies the signatures, Count judges.
package approval
