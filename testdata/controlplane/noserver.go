//go:build noserver

package main

func linkedEtcd() func([]string) error { return nil }

func linkedAPIServer() func([]string) error { return nil }
