package forge

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/changeward/changeward/pkg/reconcile/fault"
)

// Kind is whose API a forge speaks.
type Kind string

// The kinds.
const (
	GitHub Kind = "github"
	GitLab Kind = "gitlab"
	Gitea  Kind = "gitea"
)

// Place is a repository on a forge.
type Place struct {
	Kind Kind
	// Web is the address of the forge, without a slash at its end; Path that of
	// the repository there, such as team/shop.
	Web, Path string
	// Token is the one to send; User goes with it where git sends both.
	Token, User string
	job         bool // the token is that of a job of GitLab CI
}

// Detect says where a remote is. The hosts of the three are known; flag says it
// of another one: a kind, or kind=address where the address of the forge cannot
// be seen from the remote's. getenv finds tokens. Nil stands for no forge that
// is known. The error is a *fault.Error: the flag is wrong, or the token of the
// forge is not set.
func Detect(remote, flag string, getenv func(name string) string) (*Place, error) {
	web, path, ok := split(remote)
	name, address, addressed := strings.Cut(flag, "=")
	p := &Place{Kind: Kind(name), Web: web, Path: path}
	switch {
	case flag == "":
		p.Kind, p.Web = known(web)
		if p.Kind == "" {
			return nil, nil
		}
	case p.Kind != GitHub && p.Kind != GitLab && p.Kind != Gitea:
		return nil, fault.New(fault.UnknownForge, "github, gitlab or gitea, also as gitea=https://git.example.com", "%q is no forge that is known", flag)
	case addressed:
		p.Web = strings.TrimSuffix(address, "/")
		if at, err := url.Parse(address); err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || at.User != nil {
			return nil, fault.New(fault.UnknownForge, "such as "+name+"=https://git.example.com", "the address of the forge must be https://HOST")
		}
		// A forge below a path has that in its remotes over HTTP, too.
		if below, found := strings.CutPrefix(web+"/"+path, p.Web+"/"); found {
			p.Path = below
		}
	}
	if !ok || strings.Count(p.Path, "/") < 1 {
		return nil, fault.New(fault.UnknownForge, "", "the remote names no repository of a forge, as https://HOST/OWNER/NAME does")
	}
	return p, p.token(getenv)
}

// split is a remote's URL as the address of its host on the web and the path
// there. SSH says nothing of the port that the web has.
func split(remote string) (web, path string, ok bool) {
	if at := regexp.MustCompile(`^(?:[^@/:]+@)?([^@/:]+):([^/].*|/[^/].*)$`).FindStringSubmatch(remote); at != nil {
		return "https://" + at[1], clean(at[2]), true
	}
	address, err := url.Parse(remote)
	if err != nil || address.Host == "" {
		return "", "", false
	}
	switch address.Scheme {
	case "https", "http":
		return address.Scheme + "://" + address.Host, clean(address.Path), true
	case "ssh", "git+ssh":
		return "https://" + address.Hostname(), clean(address.Path), true
	}
	return "", "", false
}

func clean(path string) string { return strings.TrimSuffix(strings.Trim(path, "/"), ".git") }

// known is the kind of a host that everyone knows, and its address.
func known(web string) (Kind, string) {
	switch strings.ToLower(web) {
	case "https://github.com", "https://ssh.github.com":
		return GitHub, "https://github.com"
	case "https://gitlab.com", "https://altssh.gitlab.com":
		return GitLab, "https://gitlab.com"
	case "https://gitea.com", "https://codeberg.org":
		return Gitea, strings.ToLower(web)
	}
	return "", ""
}

// token finds the token in the variables that the forge's own tools read.
func (p *Place) token(getenv func(string) string) error {
	names := map[Kind][]string{GitHub: {"GH_TOKEN", "GITHUB_TOKEN"}, GitLab: {"GITLAB_TOKEN", "CI_JOB_TOKEN"}, Gitea: {"GITEA_TOKEN"}}[p.Kind]
	for _, name := range names {
		if p.Token = getenv(name); p.Token != "" {
			p.job = name == "CI_JOB_TOKEN"
			break
		}
	}
	p.User = map[Kind]string{GitHub: "x-access-token", GitLab: "oauth2", Gitea: "oauth2"}[p.Kind]
	if p.job {
		p.User = "gitlab-ci-token"
	}
	if p.Token == "" {
		return fault.New(fault.NoToken, "set "+strings.Join(names, " or ")+" to a token that may write to the repository and open pull requests",
			"there is no token for %s", p.Web)
	}
	return nil
}
