// Package policy judges a plan by the rules of one install: which changes are
// allowed, which need whose approval, which are denied. It is pure: no client,
// no clock.
//
// Enter at Parse, then Policy.Judge (or Explain, which also says why, or Test,
// which runs written cases). Parsing goes: strict YAML with the line of every
// problem (read.go), keys into a Policy (parse.go), checks that span keys
// (check.go), CEL expressions compiled, type-checked and their cost estimated
// (cel.go). Judging goes: what the expressions see (view.go), every rule tried
// on every change (decide.go), then the plan as a whole: freezes, delete
// limits, requirements that add up (judge.go).
package policy
