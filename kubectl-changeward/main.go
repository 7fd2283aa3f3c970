// Command kubectl-changeward is the kubectl plugin: plans for Kubernetes
// changes, and approvals that bind to exactly that plan. Put it on PATH, and
// `kubectl changeward` finds it.
package main

import "github.com/changeward/changeward/pkg/cli"

func main() { cli.Main("kubectl changeward", newRoot) }
