package main

import (
	"context"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// remove puts the server so far away: a proxy holds all bytes back for half of
// the time that a round trip takes, in each direction. It returns a kubeconfig
// that leads there.
func (c *cluster) remove(ctx context.Context, roundTrip time.Duration) (string, error) {
	config, err := clientcmd.LoadFromFile(c.kubeconfig)
	if err != nil {
		return "", err
	}
	server, err := url.Parse(c.config.Host)
	if err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go connectFar(near, server.Host, roundTrip/2)
		}
	}()
	for _, cluster := range config.Clusters {
		cluster.Server = "https://" + listener.Addr().String()
	}
	path := filepath.Join(c.dir, "far.kubeconfig")
	return path, clientcmd.WriteToFile(*config, path)
}

func connectFar(near net.Conn, server string, delay time.Duration) {
	far, err := net.Dial("tcp", server)
	if err != nil {
		_ = near.Close()
		return
	}
	go carry(far, near, delay)
	carry(near, far, delay)
}

// parcel is what was sent at once, and when it is to arrive.
type parcel struct {
	due   time.Time
	bytes []byte
}

// carry moves what comes from one side to the other, each byte after the delay.
func carry(to io.WriteCloser, from io.Reader, delay time.Duration) {
	under := make(chan parcel, 1024)
	go func() {
		defer close(under)
		for {
			buffer := make([]byte, 32<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				under <- parcel{time.Now().Add(delay), buffer[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range under {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.bytes); err != nil {
			break
		}
	}
	_ = to.Close()
	for range under { // so that the reader ends
	}
}
