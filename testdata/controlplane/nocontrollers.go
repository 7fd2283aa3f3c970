//go:build nocontrollers

package main

func linkedControllers() func([]string) error { return nil }
