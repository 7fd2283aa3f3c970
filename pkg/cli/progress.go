package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Progress says how far work has come, once it takes longer than a second: on
// a terminal in one line, which goes when the work ends; else, as in the log of
// a pipeline, in a line now and then.
type Progress struct {
	mutex       sync.Mutex
	out         io.Writer
	what        string
	inPlace     bool
	done, total int
	shown       bool
	stop        chan struct{}
}

// ProgressTicks are the pauses between two lines of progress.
type ProgressTicks struct {
	// First is how long work may take before it is worth a line; 0 shows none.
	First time.Duration
	// Every is the pause after that.
	Every time.Duration
	// InPlace writes each line over the one before.
	InPlace bool
}

// StartProgress begins a piece of work.
func (s Streams) StartProgress(what string) *Progress {
	p := &Progress{out: s.ErrOut, what: what, inPlace: s.Progress.InPlace, stop: make(chan struct{})}
	if s.Progress.First > 0 {
		go p.run(s.Progress)
	}
	return p
}

func (p *Progress) run(ticks ProgressTicks) {
	timer := time.NewTimer(ticks.First)
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-timer.C:
			if p.show() {
				timer.Reset(ticks.Every)
			} else {
				timer.Reset(ticks.First)
			}
		}
	}
}

// show says whether there was something to show.
func (p *Progress) show() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	select {
	case <-p.stop:
		return false
	default:
	}
	if p.done == p.total { // not begun, or all but over
		return false
	}
	form := "%s: %d of %d\n"
	if p.inPlace {
		form = "\r\x1b[K%s: %d of %d"
	}
	p.shown = true
	_, _ = fmt.Fprintf(p.out, form, p.what, p.done, p.total)
	return true
}

// Report says that done of total are done. It may be called from anywhere.
func (p *Progress) Report(done, total int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done, p.total = done, total
}

// Done ends the work, and takes the line of a terminal away.
func (p *Progress) Done() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	close(p.stop)
	if p.shown && p.inPlace {
		_, _ = io.WriteString(p.out, "\r\x1b[K")
	}
}
