package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const adminUser = "admin"

// user is a person with a client certificate.
type user struct {
	name   string
	groups []string
}

// parseUser splits at the first colon only: group names may contain colons.
func parseUser(text string, before []user) (user, error) {
	name, groups, _ := strings.Cut(text, ":")
	u := user{name: name}
	for _, group := range strings.Split(groups, ",") {
		if group != "" {
			u.groups = append(u.groups, group)
		}
	}
	taken := func(other user) bool { return other.name == name }
	if name == "" || name == adminUser || slices.ContainsFunc(before, taken) {
		return u, fmt.Errorf("user name %q is empty, %q, or given twice", name, adminUser)
	}
	return u, nil
}

// writeKubeconfig gives each user a context of the same name; the first one is
// current. The file appears whole or not at all.
func writeKubeconfig(path, server string, ca *authority, users ...user) error {
	config := api.NewConfig()
	config.Clusters["controlplane"] = &api.Cluster{Server: server, CertificateAuthorityData: ca.certPEM}
	config.CurrentContext = users[0].name
	for _, u := range users {
		cert, key, err := ca.client(u)
		if err != nil {
			return fmt.Errorf("certificate of %s: %w", u.name, err)
		}
		config.AuthInfos[u.name] = &api.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
		config.Contexts[u.name] = &api.Context{Cluster: "controlplane", AuthInfo: u.name}
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
