//go:build !noserver

package main

import (
	"flag"

	"go.etcd.io/etcd/pkg/v3/flags"
	"go.etcd.io/etcd/server/v3/embed"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func linkedEtcd() func([]string) error { return runEtcd }

// runEtcd takes the flags of the etcd binary, as far as embed knows them.
func runEtcd(args []string) error {
	config := embed.NewConfig()
	set := flag.NewFlagSet(etcd, flag.ContinueOnError)
	config.AddFlags(set)
	if err := set.Parse(args); err != nil {
		return err
	}
	config.ListenClientUrls = flags.UniqueURLsFromFlag(set, "listen-client-urls")
	config.AdvertiseClientUrls = flags.UniqueURLsFromFlag(set, "advertise-client-urls")
	config.ListenPeerUrls = flags.UniqueURLsFromFlag(set, "listen-peer-urls")
	config.AdvertisePeerUrls = flags.UniqueURLsFromFlag(set, "initial-advertise-peer-urls")
	server, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	return <-server.Err()
}

func linkedAPIServer() func([]string) error {
	return func(args []string) error {
		command := apiserver.NewAPIServerCommand()
		command.SetArgs(args)
		return command.Execute()
	}
}
