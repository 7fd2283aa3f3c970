package repo

import (
	"strings"
	"unicode"
)

// changeKey is the trailer by which commits of changeward's own are known.
const changeKey = "Changeward-Change"

// Message is that of a commit.
type Message struct {
	// Subject is one line.
	Subject string
	// Changes are the ids of the changes that are brought in line, at least one.
	Changes []string
	// Approvers, Reason and Ticket are those of the approvals; each may be empty.
	Approvers      []string
	Reason, Ticket string
}

// text is the message with its trailers, which `git interpret-trailers` reads.
// Each value is one line, so that none can add a trailer of its own.
func (m Message) text() string {
	var out strings.Builder
	out.WriteString(oneLine(m.Subject) + "\n\n")
	trailer := func(key, value string) {
		if value = oneLine(value); value != "" {
			out.WriteString(key + ": " + value + "\n")
		}
	}
	for _, id := range m.Changes {
		trailer(changeKey, id)
	}
	for _, name := range m.Approvers {
		trailer("Changeward-Approver", name)
	}
	trailer("Changeward-Reason", m.Reason)
	trailer("Changeward-Ticket", m.Ticket)
	return out.String()
}

// oneLine is a text with each run of spaces, line ends and control characters
// as one space.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
	}), " ")
}
