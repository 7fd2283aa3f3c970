package render

import (
	"fmt"
	"strings"

	"github.com/changeward/changeward/pkg/install"
)

// Kinds of documents about an install.
const (
	KindInstallResult   = "InstallResult"
	KindUninstallResult = "UninstallResult"
	KindDoctorReport    = "DoctorReport"
	KindToken           = "Token"
)

// StepsResult answers `install -o json` and `uninstall -o json`: what was
// done, in order.
type StepsResult struct {
	Type
	Steps []install.Step `json:"steps"`
}

// DoctorReport answers `doctor -o json`.
type DoctorReport struct {
	Type
	Healthy bool            `json:"healthy"`
	Checks  []install.Check `json:"checks"`
}

// Token answers `token create -o json`. Kubeconfig is left out where it went
// to a file.
type Token struct {
	Type
	Account    string `json:"account"`
	Expires    string `json:"expires"`
	Kubeconfig string `json:"kubeconfig,omitempty"`
	File       string `json:"file,omitempty"`
}

// TokenDocument is the JSON form of a token.
func TokenDocument(t install.Token, file string) Token {
	document := Token{Type: Head(KindToken), Account: t.Account, Expires: stamp(t.Expires), File: file}
	if file == "" {
		document.Kubeconfig = string(t.Kubeconfig)
	}
	return document
}

// Steps is what will be done, or was, a line each. Steps that keep what is
// there are counted only.
func (s Style) Steps(steps []install.Step) string {
	l := &lines{style: s}
	kept := 0
	for _, step := range steps {
		if step.Action == install.ActionKeep {
			kept++
			continue
		}
		l.step(step)
	}
	if kept > 0 {
		l.line(faint, "= "+count(kept, "object is", "objects are")+" there already")
	}
	return l.out.String()
}

func (l *lines) step(step install.Step) {
	sign, colour := "  ", plain
	switch step.Action {
	case install.ActionCreate:
		sign, colour = "+ ", green
	case install.ActionUpdate:
		sign, colour = "~ ", yellow
	case install.ActionDelete:
		sign, colour = "- ", red
	}
	text := fmt.Sprintf("%s %s", step.Action, step.Object)
	if step.Detail != "" {
		text += " (" + step.Detail + ")"
	}
	l.line(colour, sign+Escape(text))
}

// Report is what the doctor found, faults first.
func (s Style) Report(checks []install.Check) string {
	l := &lines{style: s}
	for _, status := range []string{install.StatusFail, install.StatusWarn, install.StatusOK} {
		for _, check := range checks {
			if check.Status == status {
				l.check(check)
			}
		}
	}
	return l.out.String()
}

func (l *lines) check(c install.Check) {
	colour := map[string]string{install.StatusFail: red, install.StatusWarn: yellow, install.StatusOK: green}[c.Status]
	first, rest, _ := strings.Cut(EscapeBlock(c.Message), "\n")
	l.line(colour, fmt.Sprintf("%-4s  %s: %s", Escape(c.Status), Escape(c.Name), first))
	for line := range strings.Lines(rest) {
		l.line(plain, "      "+strings.TrimSuffix(line, "\n"))
	}
	if c.Fix != "" {
		l.line(plain, "      fix: "+Escape(c.Fix))
	}
}
