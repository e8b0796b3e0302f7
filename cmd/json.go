package cmd

import (
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/report"
)

// writeJSON writes one JSON value to stdout.
func (p *program) writeJSON(v any) error { return report.JSON(p.Stdout, v) }

// list returns s, or an empty slice for nil: JSON then has [] and not null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// count returns a number with its noun, in the plural unless the number is 1: "1 file", "2 files".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
