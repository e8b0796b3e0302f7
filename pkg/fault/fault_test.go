package fault_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestExitCodesOfKinds(t *testing.T) {
	t.Parallel()
	for kind, want := range map[fault.Kind]int{
		fault.Misuse: 3, fault.Config: 3, fault.Trail: 3, fault.Scope: 3, fault.Unavailable: 3, fault.NothingMatched: 4,
		fault.Registration: 2, fault.Runtime: 2, fault.Server: 2, fault.Device: 2, fault.IO: 2, fault.Crashed: 2, fault.Bug: 2,
		fault.CallTimeout: 2, fault.Timeout: 124, fault.Interrupted: 130, fault.Terminated: 143,
	} {
		if got := fault.ExitCode(fmt.Errorf("around: %w", fault.New(kind, "", "x"))); got != want {
			t.Errorf("%s: exit code %d, want %d", kind, got, want)
		}
	}
	if fault.ExitCode(nil) != 0 || fault.ExitCode(io.EOF) != 2 || fault.KindOf(io.EOF) != fault.Bug {
		t.Error("want 0 for no error, and 2 and Bug for an error without a kind")
	}
	if got := fault.ExitCode(fault.Problems{{Kind: fault.Trail, File: "f"}}); got != 3 {
		t.Errorf("problems: exit code %d, want 3", got)
	}
}

func TestWorst(t *testing.T) {
	t.Parallel()
	order := []int{0, 4, 1, 3, 2, 124, 130, 143}
	for i, low := range order {
		for _, high := range order[i:] {
			if fault.Worst(low, high) != high || fault.Worst(high, low) != high {
				t.Errorf("want %d for %d and %d", high, low, high)
			}
		}
	}
	if got := fault.ExitCode(errors.Join(fault.New(fault.Config, "", "x"), fault.New(fault.Crashed, "", "y"))); got != 2 {
		t.Errorf("joined: exit code %d, want 2", got)
	}
}

func TestNearestNames(t *testing.T) {
	t.Parallel()
	names := []string{"assertVisible", "generateTestUser", "inputText", "tap", "swipe"}
	for name, want := range map[string][]string{
		"generateTestUsr": {"generateTestUser"}, "GENERATETESTUSER": {"generateTestUser"}, "tpa": {"tap"}, "inputtext": {"inputText"},
		"completelyElse": {}, "": {},
	} {
		if diff := cmp.Diff(want, fault.Nearest(name, names)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
	for name, want := range map[string]string{
		"input":     `did you mean "inputText"?`,
		"ASSERT":    `did you mean "assertVisible"?`,
		"inputTxt":  `did you mean "inputText"?`,
		"inputText": `did you mean "inputText"?`,
	} {
		if got := fault.DidYouMean(name, names); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := fault.DidYouMean("zzzzzzzz", names); got != "known: assertVisible, generateTestUser, inputText, tap, swipe" {
		t.Errorf("nothing near: %q", got)
	}
	const listed = "`list` lists them"
	for name, want := range map[string]string{
		"tpa": `did you mean "tap"? ` + listed, "zzzzzzzz": "known: " + strings.Join(names, ", ") + "; " + listed,
	} {
		if got := fault.DidYouMeanListed(name, names, listed); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := fault.DidYouMeanListed("tap", nil, listed); got != listed {
		t.Errorf("no candidates: %q", got)
	}
	if got := fault.Nearest(strings.Repeat("é", 1<<16), names); len(got) != 0 {
		t.Errorf("nearest to a very long name: %v", got)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	problems := fault.Problems{
		{File: "b.yaml", Line: 1, Column: 2, Message: "last"},
		{File: "a.yaml", Line: 2, Column: 1, Message: "second"},
		{File: "a.yaml", Message: "whole file"},
		{File: "a.yaml", Line: 2, Column: 9, Message: "third"},
	}
	problems.Sort()
	want := "a.yaml: whole file\na.yaml:2:1: second\na.yaml:2:9: third\nb.yaml:1:2: last"
	if got := problems.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if fault.Problems(nil).Err() != nil {
		t.Error("Err of no problems is not nil")
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	const unreported = "this looks like a bug in trailblaze; please report it"
	one, other, none := fault.New(fault.Server, "one", "x"), fault.New(fault.Bug, "other", "x"), fault.New(fault.Crashed, "", "x")
	problem := fault.Problem{File: "f", Hint: "its own"}
	for name, tt := range map[string]struct {
		err  error
		want []string
	}{
		"no error":         {nil, nil},
		"a fault":          {one, []string{"one"}},
		"wrapped":          {fmt.Errorf("around: %w", one), []string{"one"}},
		"without a hint":   {none, nil},
		"joined":           {errors.Join(one, errors.Join(none, fmt.Errorf("around: %w", other), one)), []string{"one", "other"}},
		"another error":    {io.EOF, []string{unreported}},
		"a bug":            {errors.Join(fault.New(fault.Bug, "", "x"), one), []string{unreported, "one"}},
		"a problem":        {fault.Problems{problem}, []string{"its own"}},
		"several problems": {fault.Problems{problem, problem}, nil},
	} {
		if diff := cmp.Diff(tt.want, fault.Hints(tt.err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
