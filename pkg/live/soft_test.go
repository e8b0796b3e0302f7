package live_test

import (
	"testing"

	"github.com/trailblaze/trailblaze/pkg/live"
)

// A replay that is kept stops at a call with soft, so that it can be repaired.
func TestKeptReplayStopsAtSoftCalls(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write("trails/a.trail.yaml", "trail:\n  - verify: V\n    recording:\n      web:\n        - launchApp: {}\n"+
		"        - assertVisible: {text: Helo}\n          soft: true\n        - assertVisible: {text: Hello}\n")
	report, err := f.RunTrail(t.Context(), live.TrailRequest{File: "trails/a.trail.yaml", Keep: true})
	if err != nil || report.Passed() || report.Line != 6 || !report.Check || len(report.Rest) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}
