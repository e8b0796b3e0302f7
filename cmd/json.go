package cmd

import "github.com/trailblaze/trailblaze/pkg/report"

// writeJSON writes one JSON value to stdout.
func (a *app) writeJSON(v any) error { return report.JSON(a.Stdout, v) }

// list is never nil, so that JSON has [] and not null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
