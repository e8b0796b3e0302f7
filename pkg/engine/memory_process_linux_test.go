//go:build !race

package engine

import (
	"strconv"
	"strings"
	"testing"
)

// peakFactor is by how much the memory of a process may exceed attackPeak.
const peakFactor = 1

// The system does not allocate memory above a limit, which ends a Go process. The race detector needs more memory than
// the limit.
func TestMemoryLimitHoldsInLimitedProcess(t *testing.T) {
	t.Parallel()
	const process = 128 << 20 // what the process itself needs, most of which Go maps in advance
	scripts := map[string]string{}
	for _, name := range []string{"invalid text", "nested gunzip", "bodies", "a long URL", "fill", "pending operations"} {
		scripts[name] = memoryAttacks()[name]
	}
	limit := strconv.Itoa(process + attackPeak)
	for name, report := range runAttacks(t, scripts, limitVariable+"="+limit) {
		if report.Exit != (Exit{}) && !strings.Contains(report.Exit.Panic, "out of memory") {
			t.Errorf("%s: exit %+v, stderr %s", name, report.Exit, report.Stderr)
		}
	}
}
