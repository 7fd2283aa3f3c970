package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Now implements state.Store: the Date header of the API server's answer to a
// cheap request, whatever that answer is. Its grain is one second.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.clock, nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("time of the API server: %w", err)
	}
	response, err := s.http.Do(request)
	if err != nil {
		return time.Time{}, fmt.Errorf("time of the API server: %w", err)
	}
	if err := response.Body.Close(); err != nil {
		return time.Time{}, fmt.Errorf("time of the API server: %w", err)
	}
	date := response.Header.Get("Date")
	if date == "" {
		return time.Time{}, errors.New("time of the API server: its answer has no Date header")
	}
	now, err := http.ParseTime(date)
	if err != nil {
		return time.Time{}, fmt.Errorf("time of the API server: %w", err)
	}
	return now.UTC(), nil
}
