package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Names of components; also those of the binaries in KUBEBUILDER_ASSETS.
const (
	etcd        = "etcd"
	apiServer   = "kube-apiserver"
	controllers = "kube-controller-manager"
)

// Files in the working directory of every component.
const (
	runDir     = "run"
	etcdData   = "etcd-data"
	etcdClient = "unix://etcd.sock"
	etcdPeer   = "unix://peer.sock"
)

// runComponent is the child's main: the component of this name, until its
// standard input ends.
func runComponent(args []string) error {
	name, args := args[0], args[1:]
	if path, ok := external(name); ok {
		return runExternal(name, path, args)
	}
	main := linked(name)
	if main == nil {
		return notBuilt(name)
	}
	go func() {
		waitForEOF()
		cleanUp(name)
		os.Exit(0)
	}()
	return main(args)
}

// runExternal runs a binary that knows nothing of our pipe.
func runExternal(name, path string, args []string) error {
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	ended, eof := make(chan error, 1), make(chan struct{})
	go func() { ended <- cmd.Wait() }()
	go func() { waitForEOF(); close(eof) }()
	select {
	case err := <-ended:
		return fmt.Errorf("%s ended (%v)", path, err)
	case <-eof:
		_ = cmd.Process.Kill()
		<-ended
		cleanUp(name)
		return nil
	}
}

func waitForEOF() { _, _ = io.Copy(io.Discard, os.Stdin) }

func cleanUp(name string) {
	if name == etcd {
		_ = os.RemoveAll(etcdData)
	}
}

// external finds a component in KUBEBUILDER_ASSETS, which must hold both etcd
// and kube-apiserver to count.
func external(name string) (string, bool) {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" || name == controllers {
		return "", false
	}
	for _, needed := range []string{etcd, apiServer} {
		if info, err := os.Stat(filepath.Join(assets, needed)); err != nil || info.IsDir() {
			return "", false
		}
	}
	return filepath.Join(assets, name), true
}

func available(name string) error {
	if _, ok := external(name); ok || linked(name) != nil {
		return nil
	}
	return notBuilt(name)
}

func notBuilt(name string) error {
	if name == controllers {
		return fmt.Errorf("%s is not in this binary: run `make controlplane CONTROLLERS=1`", name)
	}
	return fmt.Errorf("%s is not in this binary, and KUBEBUILDER_ASSETS (%q) names no folder with etcd and kube-apiserver: "+
		"set it, or unset it and run `make controlplane`", name, os.Getenv("KUBEBUILDER_ASSETS"))
}

// linked is the component's main, or nil where it was left out of the build.
func linked(name string) func(args []string) error {
	switch name {
	case etcd:
		return linkedEtcd()
	case apiServer:
		return linkedAPIServer()
	case controllers:
		return linkedControllers()
	}
	return nil
}
