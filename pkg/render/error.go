package render

import "strings"

// Failure is an error as people read it, on stderr: one "error: " line per
// message, one "hint: " line per hint. Messages of several lines are indented.
func (s Style) Failure(messages, hints []string) string {
	l := &lines{style: s}
	for _, message := range messages {
		l.labelled(red, "error: ", message)
	}
	for _, hint := range hints {
		l.labelled(plain, "hint: ", hint)
	}
	return l.out.String()
}

func (l *lines) labelled(colour, label, text string) {
	first, rest, more := strings.Cut(EscapeBlock(text), "\n")
	l.line(colour, label+first)
	for more {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		l.line(colour, "  "+line)
	}
}
