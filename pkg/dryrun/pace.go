package dryrun

import (
	"context"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// pace is how many objects are observed at once: as many as the caller wants,
// until the server says that it is too much (429). Then there are half as many,
// and with each answer that the server gives again, slowly more. How long an answer takes says nothing: a webhook may be slow at its
// leisure.
//
// Workers wait, not requests, whose time is limited.
type pace struct {
	mu      sync.Mutex
	busy    int
	limit   float64
	lowered time.Time
	changed chan struct{} // closed when a worker may go on
}

func newPace() *pace { return &pace{limit: math.Inf(1), changed: make(chan struct{})} }

// do works once it is its turn. The error is that of a context that ended.
func (p *pace) do(ctx context.Context, work func()) error {
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.leave()
	work()
	return ctx.Err()
}

func (p *pace) enter(ctx context.Context) error {
	for {
		p.mu.Lock()
		mine, changed := float64(p.busy) < math.Floor(p.limit) && ctx.Err() == nil, p.changed
		if mine {
			p.busy++
		}
		p.mu.Unlock()
		if mine {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (p *pace) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	p.wake()
}

func (p *pace) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// answered learns from an answer to a request. Of many that were sent before
// the number was last lowered, none lowers it once more.
func (p *pace) answered(sent time.Time, code int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case code != http.StatusTooManyRequests:
		before := math.Floor(p.limit)
		if p.limit += 1 / p.limit; math.Floor(p.limit) > before {
			p.wake()
		}
	case sent.After(p.lowered):
		p.limit = max(1, min(p.limit, float64(p.busy))/2)
		p.lowered = time.Now()
	}
}

// A request that the server refuses as too many is sent again, so often.
const patience = 40

// paced tells a pace of all answers, and sends again what the server refuses
// as too much. The client would do so ten times, and all that were refused at
// once would come back at once.
type paced struct {
	next http.RoundTripper
	pace *pace
}

// RoundTrip passes the request on until the server does not refuse it.
func (p *paced) RoundTrip(request *http.Request) (*http.Response, error) {
	for tries := 1; ; tries++ {
		sent := time.Now()
		response, err := p.next.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		p.pace.answered(sent, response.StatusCode)
		if response.StatusCode != http.StatusTooManyRequests {
			return response, nil
		}
		again, ok := anew(request)
		if !ok || tries == patience {
			response.Header.Del("Retry-After") // which would make the client try, too
			return response, nil
		}
		_ = response.Body.Close()
		select {
		case <-request.Context().Done():
			return nil, request.Context().Err()
		case <-time.After(after(response)):
		}
		request = again
	}
}

// WrappedRoundTripper lets client-go find the transport inside.
func (p *paced) WrappedRoundTripper() http.RoundTripper { return p.next }

// anew is a request with its body to be read once more.
func anew(request *http.Request) (*http.Request, bool) {
	again := request.Clone(request.Context())
	if request.Body == nil || request.Body == http.NoBody {
		return again, true
	}
	if request.GetBody == nil {
		return nil, false
	}
	body, err := request.GetBody()
	again.Body = body
	return again, err == nil
}

// after is the time that the server asks to wait, or a second, and up to half as
// much again.
func after(response *http.Response) time.Duration {
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		seconds = 1
	}
	return time.Duration((1 + rand.Float64()/2) * float64(seconds) * float64(time.Second))
}
