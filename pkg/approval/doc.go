// Package approval says which requirements of a policy the decisions of people
// meet. It is pure: the gate reads the records and verifies their signatures,
// Count judges what they are worth.
//
// Enter at Count. Its steps: every record is checked on its own, in the order
// of check.go, and the first failure is its reason; approvals that their
// writers took back are left out; an eligible rejection vetoes; what is left
// is counted, people rather than records.
//
// One person may count for several requirements, once for each: a requirement
// says which view is wanted, and someone may hold two. Who wants two people
// asks for a count of two.
package approval
