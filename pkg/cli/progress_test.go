package cli

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"
)

// screen is written to from elsewhere.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *screen) shows(t *testing.T, text string) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if strings.Contains(s.String(), text) {
			return poll.Success()
		}
		return poll.Continue("it shows %q", s)
	}, poll.WithDelay(time.Millisecond))
}

func TestProgressOnATerminalIsOneLineThatGoes(t *testing.T) {
	out := &screen{}
	progress := Streams{ErrOut: out, Progress: ProgressTicks{First: time.Millisecond, Every: time.Millisecond, InPlace: true}}.StartProgress("dry run")
	progress.Report(3, 10)
	out.shows(t, "\r\x1b[Kdry run: 3 of 10")
	progress.Report(7, 10)
	out.shows(t, "\r\x1b[Kdry run: 7 of 10")
	progress.Done()
	assert.Assert(t, strings.HasSuffix(out.String(), "of 10\r\x1b[K"), "%q", out)
	assert.Assert(t, !strings.Contains(out.String(), "\n"))
}

func TestProgressInALogIsALineNowAndThen(t *testing.T) {
	out := &screen{}
	progress := Streams{ErrOut: out, Progress: ProgressTicks{First: time.Millisecond, Every: time.Hour}}.StartProgress("dry run")
	progress.Report(3, 10)
	out.shows(t, "dry run: 3 of 10\n")
	progress.Report(7, 10)
	progress.Done()
	assert.Equal(t, out.String(), "dry run: 3 of 10\n")
}

func TestWorkThatIsDoneInTimeShowsNoProgress(t *testing.T) {
	for _, ticks := range []ProgressTicks{{}, {First: time.Hour, Every: time.Hour}, {First: time.Hour, Every: time.Hour, InPlace: true}} {
		out := &screen{}
		progress := Streams{ErrOut: out, Progress: ticks}.StartProgress("dry run")
		progress.Report(3, 10)
		progress.Done()
		assert.Equal(t, out.String(), "")
	}
}
