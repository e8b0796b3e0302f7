package workspace

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/redact"
)

func TestLongOutputIsNotCutWithinASecret(t *testing.T) {
	t.Parallel()
	redactor := redact.New(map[string]string{"PIN": "98761234"})
	before := strings.Repeat("x", maxExecOutput-4)
	r := execPassed(before+"98761234 and more", redactor)
	if r.Text != before || len(r.Notes) != 1 || r.Notes[0] != "only the first 1024 KiB of its output are kept" {
		t.Errorf("%d bytes, which end in %q; %q", len(r.Text), r.Text[len(r.Text)-8:], r.Notes)
	}
	if r := execPassed("98761234", redactor); r.Text != "98761234" || len(r.Notes) > 0 {
		t.Errorf("a short output is changed: %q %q", r.Text, r.Notes)
	}
}
