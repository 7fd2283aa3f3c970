package dryrun

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// warnings gathers the server's warnings about one object.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

type warningsKey struct{}

// withWarnings makes the warnings of requests under the context go to w.
func withWarnings(ctx context.Context, w *warnings) context.Context {
	return context.WithValue(ctx, warningsKey{}, w)
}

// sorted is each warning once.
func (w *warnings) sorted() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.texts)
	return slices.Compact(w.texts)
}

// warn adds what a library said, line by line, to the warnings about the
// object under this context.
func warn(ctx context.Context, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "warning: "))
		warningCollector{}.HandleWarningHeaderWithContext(ctx, 299, "", line)
	}
}

// warningCollector hands a warning to the object that its request was about.
// Without one it is dropped: nothing is printed past the caller's streams.
type warningCollector struct{}

func (warningCollector) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	w, ok := ctx.Value(warningsKey{}).(*warnings)
	if !ok || code != 299 || text == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}
