package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progressAfter is how long work may take before it is worth a line.
const progressAfter = time.Second

// Progress is one line on a terminal that says how far work has come. It
// appears when the work takes longer than a second, and goes when it ends.
type Progress struct {
	mutex   sync.Mutex
	out     io.Writer
	what    string
	started time.Time
	shown   bool
}

// StartProgress begins a piece of work; on anything but a terminal nothing
// is ever shown.
func (s Streams) StartProgress(what string) *Progress {
	p := &Progress{what: what, started: time.Now()}
	if s.Progress {
		p.out = s.ErrOut
	}
	return p
}

// Report says that done of total are done. It may be called from anywhere.
func (p *Progress) Report(done, total int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.out == nil || time.Since(p.started) < progressAfter {
		return
	}
	p.shown = true
	_, _ = fmt.Fprintf(p.out, "\r\x1b[K%s: %d of %d", p.what, done, total)
}

// Done takes the line away.
func (p *Progress) Done() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.shown {
		_, _ = io.WriteString(p.out, "\r\x1b[K")
	}
	p.out = nil
}
