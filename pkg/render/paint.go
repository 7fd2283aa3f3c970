package render

import "strings"

// Colours of the terminal (SGR parameters).
const (
	plain  = ""
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "36"
)

// Style says how text is set. The zero value is what a pipe or a CI log gets.
type Style struct {
	// Color allows terminal colours; the caller has looked at NO_COLOR.
	Color bool
	// Full shows everything: hooks with their content, and values of any size.
	// Who is about to sign must see all.
	Full bool
	// Program is how people call this binary, for commands to copy; "" is
	// "kubectl changeward".
	Program string
}

func (s Style) paint(colour, text string) string {
	if !s.Color || colour == plain || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func (s Style) program() string {
	if s.Program == "" {
		return "kubectl changeward"
	}
	return s.Program
}

// lines collects output line by line. What it is given is escaped already;
// line breaks up what CI would take for a command.
type lines struct {
	out   strings.Builder
	style Style
}

func (l *lines) line(colour, text string) {
	l.out.WriteString(l.style.paint(colour, guardLine(text)))
	l.out.WriteByte('\n')
}

// block writes escaped text of several lines, indented, and cut where it is
// long and not everything was asked for.
func (l *lines) block(colour, indent, text string) {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	shown := all
	if !l.style.Full && len(all) > maxLines {
		shown = all[:maxLines]
	}
	for _, line := range shown {
		l.line(colour, indent+l.style.cut(line, line))
	}
	if rest := len(all) - len(shown); rest > 0 {
		l.line(faint, indent+"… "+count(rest, "more line", "more lines")+" (shown by -o json and by approve)")
	}
}
