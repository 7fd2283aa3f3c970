package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/changeward/changeward/pkg/drift"
)

// DriftMetrics is drift in the text format of Prometheus: one gauge an object,
// and how many stand how.
func DriftMetrics(d *Drifted) string {
	var out strings.Builder
	out.WriteString("# HELP changeward_direct_change_age_seconds Age of a change made past Git.\n# TYPE changeward_direct_change_age_seconds gauge\n")
	counts := map[drift.State]int{}
	for _, c := range d.Changes {
		counts[c.State]++
		id := ""
		if c.Request != nil {
			id = c.Request.ID
		}
		labels := [][2]string{{"change", id}, {"group", c.Key.Group}, {"kind", c.Key.Kind}, {"name", c.Key.Name}, {"namespace", c.Key.Namespace},
			{"manager", c.Manager}, {"operation", string(c.Operation)}, {"owner", c.Owner}, {"state", string(c.State)}}
		var parts []string
		for _, label := range labels {
			parts = append(parts, label[0]+`="`+metricValue(label[1])+`"`)
		}
		fmt.Fprintf(&out, "changeward_direct_change_age_seconds{%s} %d\n", strings.Join(parts, ","), int64(d.Now.Sub(c.Since).Seconds()))
	}
	out.WriteString("# HELP changeward_direct_changes Objects changed past Git, by state.\n# TYPE changeward_direct_changes gauge\n")
	for _, state := range []drift.State{drift.Unreconciled, drift.Reconciled, drift.Reverted} {
		fmt.Fprintf(&out, "changeward_direct_changes{state=%s} %d\n", strconv.Quote(string(state)), counts[state])
	}
	return out.String()
}

// metricValue escapes a label value as the text format wants it; what could
// steer a terminal is escaped first.
func metricValue(text string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(Escape(text))
}
