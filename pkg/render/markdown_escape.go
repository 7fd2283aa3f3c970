package render

import "strings"

// Code is data as an inline code span: nothing in it is read as Markdown,
// HTML, a mention, an issue number or a link. The fence is longer than any run
// of backticks inside.
func Code(s string) string {
	s = Escape(s)
	if s == "" {
		return "` `"
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.TrimSpace(s) != s {
		s = " " + s + " "
	}
	return fence + s + fence
}

// Fence is text of several lines as a fenced code block in a language ("" for
// none), with the same promise as Code. It ends with a line feed.
func Fence(language, s string) string {
	s = EscapeBlock(s)
	fence := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	return fence + language + "\n" + strings.TrimRight(s, "\n") + "\n" + fence + "\n"
}

func longestRun(s string, of rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if r != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
