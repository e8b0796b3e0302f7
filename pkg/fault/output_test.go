package fault_test

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestWithoutOutput(t *testing.T) {
	t.Parallel()
	const log = "\n  log: /logs/a.log"
	for name, tc := range map[string]struct{ message, want string }{
		"nothing written": {"crashed" + log, "crashed" + log},
		"stderr": {
			"crashed\n  the process ran for 1s" + fault.StderrPart("one\n\n  on its stdout:\n  log: no") + log,
			"crashed\n  the process ran for 1s" + log,
		},
		"stderr and stdout": {
			"crashed" + fault.StderrPart("one") + fault.StdoutPart(", in place of the protocol", "two\nthree") + log, "crashed" + log,
		},
		"several programs": {
			"a" + fault.StderrPart("one") + log + "\nb" + fault.StderrPart("two") + log, "a" + log + "\nb" + log,
		},
		"at the end":    {"crashed" + log + fault.StderrPart("one"), "crashed" + log},
		"without a log": {"crashed" + fault.StderrPart("one"), "crashed\n  the end of its stderr:\n    one"},
	} {
		if got := fault.WithoutOutput(tc.message); got != tc.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, tc.want)
		}
	}
}

// TestWithoutOutputIsLinear has a message that looks like many parts, which a server can write.
func TestWithoutOutputIsLinear(t *testing.T) {
	t.Parallel()
	message := strings.Repeat("\n  on its stdout", 1<<18) + "\n  log: /logs/a.log"
	if got := fault.WithoutOutput(message); got != "\n  log: /logs/a.log" {
		t.Errorf("%d bytes are left", len(got))
	}
}
