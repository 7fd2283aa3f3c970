package soak_test

import (
	"fmt"
	"os"
	"strings"
)

// A set has objects of several kinds in a namespace of its own, NS: version 1
// is what is live, version 2 what is planned.

// documents are those of a file beside this one.
func documents(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	return strings.Split(string(text), "---\n")
}

// manySettings are so many ConfigMaps that LIVE is read by a list.
func manySettings() string {
	var out strings.Builder
	for i := range 14 {
		value := "same"
		if i%5 == 0 {
			value = "«old|new»"
		}
		fmt.Fprintf(&out, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: many-%02d, namespace: NS}\ndata: {k: %q}\n", i, value)
	}
	return out.String()
}

// sets is how many manifest sets there are.
const sets = 20

// manifests are those of a set, in version 1 or 2.
func manifests(set int, namespace string, version int) string {
	all, fresh := documents("sets.yaml"), documents("arriving.yaml")
	chosen := []string{}
	for _, step := range []int{0, 1, 3, 6, 10} {
		chosen = append(chosen, all[(set+step)%len(all)])
	}
	text := strings.Join(chosen, "---\n")
	if set%4 == 3 {
		text += manySettings()
	}
	text = render(text, version)
	if version == 2 && set%2 == 0 {
		text += "---\n" + fresh[set/2%len(fresh)]
	}
	return strings.ReplaceAll(text, "NS", namespace)
}

func render(text string, version int) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "«")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		choice, after, _ := strings.Cut(rest, "»")
		old, now, _ := strings.Cut(choice, "|")
		if version == 1 {
			now = old
		}
		out.WriteString(now)
		text = after
	}
}
