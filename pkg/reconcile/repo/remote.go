package repo

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/changeward/changeward/pkg/reconcile/fault"
)

// Remote is where the branch of the work tree comes from.
type Remote struct {
	// Name is as `git remote` has it, URL where pushes go; that may hold
	// credentials, so it is not for people.
	Name, URL string
	// Base is the branch there that the one of the work tree follows.
	Base string
	repo *Repo
	git  git
}

// Remote is the remote that the branch follows, else the only one, else origin.
// The error is a *fault.Error where there is none of these.
func (r *Repo) Remote(ctx context.Context) (*Remote, error) {
	m := &Remote{Base: r.Branch, repo: r, git: r.git}
	name, follows, err := r.git.answer(ctx, "config", "--get", "branch."+r.Branch+".remote")
	if err != nil {
		return nil, err
	}
	if follows && name != "." {
		m.Name = name
		upstream, ok, err := r.git.answer(ctx, "config", "--get", "branch."+r.Branch+".merge")
		if err != nil {
			return nil, err
		}
		if ok {
			m.Base = strings.TrimPrefix(upstream, "refs/heads/")
		}
	} else if m.Name, err = r.onlyRemote(ctx); err != nil {
		return nil, err
	}
	m.URL, err = r.git.line(ctx, "remote", "get-url", "--push", m.Name)
	if err != nil {
		return nil, refused(err, fault.NoRemote, "", "branch "+r.Branch+" follows "+m.Name)
	}
	return m, nil
}

func (r *Repo) onlyRemote(ctx context.Context) (string, error) {
	out, err := r.git.run(ctx, "remote")
	if err != nil {
		return "", err
	}
	all := strings.Fields(out)
	switch {
	case len(all) == 0:
		return "", fault.New(fault.NoRemote, "add one with `git remote add`; without --pr the commit stays local", "%s has no remote to push to", r.Root)
	case len(all) == 1:
		return all[0], nil
	case slices.Contains(all, "origin"):
		return "origin", nil
	}
	return "", fault.New(fault.NoRemote, "`git branch --set-upstream-to REMOTE/BRANCH` says which", "branch %s follows none of the remotes %s", r.Branch, strings.Join(all, ", "))
}

// Authorize has git send user and token to the host of URL, if that is spoken to
// over HTTP, and ask nobody else for credentials. They are in the environment of
// git alone: in no argument, no file. The URL's host alone gets them.
func (m *Remote) Authorize(user, token string) {
	address, err := url.Parse(m.URL)
	if err != nil || address.Scheme != "https" && address.Scheme != "http" {
		return
	}
	key := "http." + address.Scheme + "://" + address.Host + "/.extraHeader"
	header := "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+token))
	m.git = m.git.configured([2]string{key, ""}, // forget what the configuration has: two such headers are refused
		[2]string{key, header}, [2]string{"credential.helper", ""}).with("GIT_ASKPASS=", "GIT_TERMINAL_PROMPT=0")
}

// configured is git with settings beside those that its environment has.
func (g git) configured(settings ...[2]string) git {
	count := 0
	for _, entry := range g.env {
		if value, ok := strings.CutPrefix(entry, "GIT_CONFIG_COUNT="); ok {
			count, _ = strconv.Atoi(value)
		}
	}
	var env []string
	for _, setting := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", count, setting[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count, setting[1]))
		count++
	}
	return g.with(append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", count))...)
}

// tips is where the base and a branch are on the remote, with their commits
// fetched; "" stands for none.
func (m *Remote) tips(ctx context.Context, branch string) (base, topic string, err error) {
	baseRef, topicRef := "refs/heads/"+m.Base, "refs/heads/"+branch
	out, err := m.git.run(ctx, "ls-remote", "--", m.Name, baseRef, topicRef)
	if err != nil {
		return "", "", m.fault(err)
	}
	fetch := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-recurse-submodules", "--", m.Name}
	for line := range strings.Lines(out) {
		hash, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		switch ref {
		case baseRef:
			base = hash
		case topicRef:
			topic = hash
		default:
			continue
		}
		fetch = append(fetch, ref)
	}
	if base == "" {
		return "", "", fault.New(fault.Unpushed, "push it first", "branch %s is not on %s", m.Base, m.Name)
	}
	_, err = m.git.run(ctx, fetch...)
	return base, topic, m.fault(err)
}
