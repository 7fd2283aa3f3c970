//go:build !nocontrollers

package main

import manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"

func linkedControllers() func([]string) error {
	return func(args []string) error {
		command := manager.NewControllerManagerCommand()
		command.SetArgs(args)
		return command.Execute()
	}
}
