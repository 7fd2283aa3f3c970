package main

import (
	"fmt"
	"time"
)

// result is what all contenders took for one size.
type result struct {
	size int
	away time.Duration // what a round trip takes longer
	cost map[string]cost
}

// label is the first column of all tables.
func label(size int, away time.Duration) string {
	if away == 0 {
		return fmt.Sprint(size)
	}
	return fmt.Sprintf("%d, %s away", size, away)
}

// target is one figure to reach, and whether it was.
type target struct {
	objects, text, measured string
	reached                 bool
}

// String is a row of the table.
func (t target) String() string {
	return fmt.Sprintf("| %s | %s | %s | %s |", t.objects, t.text, t.measured, map[bool]string{true: "reached", false: "**missed**"}[t.reached])
}

func targets(results []result) []target {
	var all []target
	for _, r := range results {
		all = append(all, r.targets()...)
	}
	for i := 1; i < len(results); i++ {
		a, b := results[i-1], results[i]
		if a.size < 1000 || a.away != b.away { // the fixed part would show
			continue
		}
		more, longer := float64(b.size)/float64(a.size), ratio(b.cost[ours], a.cost[ours])
		all = append(all, target{label(b.size, b.away), fmt.Sprintf("time grows with the number of objects: at most %.1f × that of %d (the floor: %.1f ×)",
			1.06*more, a.size, ratio(b.cost[bare], a.cost[bare])),
			fmt.Sprintf("%.1f ×", longer), longer <= 1.06*more})
	}
	return all
}

func (r result) targets() []target {
	plan, floor := r.cost[ours], r.cost[bare]
	objects := label(r.size, r.away)
	var all []target
	add := func(text, measured string, reached bool) { all = append(all, target{objects, text, measured, reached}) }
	if r.size >= 1000 {
		add("at most 1.3 × the time of the floor", fmt.Sprintf("%.2f ×", ratio(plan, floor)), ratio(plan, floor) <= 1.3)
		each := float64(plan.requests) / float64(r.size)
		add("at most 1.05 requests an object", fmt.Sprintf("%.3f", each), each <= 1.05)
	}
	if r.size == 1000 {
		for _, other := range []string{theirs, theirs16, theirsFiles} {
			times := ratio(r.cost[other], plan)
			add(fmt.Sprintf("at least 5 × faster than %s (the floor: %.1f ×)", other, ratio(r.cost[other], floor)), fmt.Sprintf("%.1f ×", times), times >= 5)
		}
	}
	over, bound := (plan.peakKB-floor.peakKB)/1024, int64(60+8*r.size/1024)
	add(fmt.Sprintf("at most %d MB more than the floor at its peak", bound), fmt.Sprintf("%d MB", over), over <= bound)
	return all
}

func ratio(a, b cost) float64 { return a.wall.Seconds() / b.wall.Seconds() }
