package edit

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// reshapeFlow takes parts out of a flow collection and puts new ones in.
func (e *editor) reshapeFlow(node *yaml.Node, parts []part, inserts []insert) {
	open, closing := e.body(node), e.end(node)-1
	if e.text[open] != '{' && e.text[open] != '[' {
		e.doubt(node.Line, "", "is a pair inside a list, written without brackets")
		e.never()
		return
	}
	colon, comma := e.separators(open, parts)
	var texts []string
	stays := false
	for _, p := range parts {
		stays = stays || !p.goes
	}
	for _, in := range inserts {
		text := e.flowInsert(in, parts, colon, comma)
		switch {
		case !stays:
			texts = append(texts, text)
		case in.after < 0:
			e.put(parts[0].start, parts[0].start, text+comma)
		default:
			e.put(parts[in.after].end, parts[in.after].end, comma+text)
		}
	}
	switch {
	case stays:
		e.removeFlow(parts)
	case len(texts) > 0 && len(parts) > 0:
		e.put(parts[0].start, parts[len(parts)-1].end, strings.Join(texts, comma))
	default:
		e.put(open+1, closing, strings.Join(texts, comma))
	}
}

// removeFlow removes the parts that go, each with one of the separators beside
// it.
func (e *editor) removeFlow(parts []part) {
	before := false // a part that stays
	for i, p := range parts {
		if !p.goes {
			before = true
			continue
		}
		start, end := p.start, p.end
		if before {
			start = parts[i-1].end
		} else {
			end = parts[i+1].start
		}
		if strings.Contains(string(e.text[start:p.start])+string(e.text[p.end:end]), "#") {
			e.doubt(e.lineOf(p.start)+1, "", "a comment stands beside what goes")
			e.never()
		}
		e.put(start, end, "")
	}
}

func (e *editor) flowInsert(in insert, parts []part, colon, comma string) string {
	text := in.raw
	if text == "" {
		text = e.style.flowText(in.value, colon, strings.ReplaceAll(comma, "\n", " "))
	}
	if strings.Contains(comma, "\n") && in.raw == "" {
		text = e.style.flowText(in.value, colon, ", ")
	}
	if !in.pair {
		return text
	}
	var like yaml.Style
	if len(parts) > 0 {
		like = quoteStyle(parts[0].key)
	}
	return e.style.stringText(in.key, like, true) + colon + text
}

// separators are those that a flow collection uses: those of its first parts,
// or what is usual; one part a line where it begins so.
func (e *editor) separators(open int, parts []part) (colon, comma string) {
	colon, comma = ": ", ", "
	if len(parts) == 0 {
		return colon, comma
	}
	if first := parts[0]; first.key != nil && !empty(first.value) {
		if text := string(e.text[e.end(first.key):e.pos(first.value)]); strings.TrimSpace(text) == ":" {
			colon = text
		}
	}
	lead := string(e.text[open+1 : parts[0].start])
	if len(parts) > 1 {
		if text := string(e.text[parts[0].end:parts[1].start]); strings.TrimSpace(text) == "," {
			return colon, text
		}
	}
	if i := strings.LastIndex(lead, "\n"); i >= 0 {
		comma = "," + lead[i:]
	}
	return colon, comma
}
