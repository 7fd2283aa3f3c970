package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Age reads how old something is: 90d, or as Go writes it, such as 36h.
func Age(text string) (time.Duration, error) {
	age, err := time.ParseDuration(text)
	if days, found := strings.CutSuffix(text, "d"); found {
		var n int
		n, err = strconv.Atoi(days)
		age = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || age <= 0 || age > 100*365*24*time.Hour {
		return 0, fmt.Errorf("%q is no age: want one such as 90d or 36h", text)
	}
	return age, nil
}

// Since reads an age, or a day such as 2026-11-30, or a time in RFC 3339, as a
// point in time. "" is the zero time.
func Since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	age, err := Age(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is neither an age, such as 90d or 36h, nor a day, such as 2026-11-30", text)
	}
	return now.Add(-age), nil
}
