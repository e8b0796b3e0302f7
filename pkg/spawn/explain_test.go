//go:build unix

package spawn

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// timeless replaces durations, which differ from run to run.
func timeless(text string) string {
	return regexp.MustCompile(`[\d.]+m?s\b`).ReplaceAllString(text, "<time>")
}

func TestExplainAddsWhatTheProcessWroteAndHowItEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, shell, message, hint, want, wantHint string }{
		{
			"exit at start", "echo starting; echo no database >&2; exit 3", "initialize: EOF", "",
			"initialize: EOF\n  the process exited with code 3 after <time>\n  the end of its stderr:\n    no database", "",
		},
		{
			"signal", `kill -ABRT $$`, "call of buy", "",
			"call of buy\n  the process was killed by signal ABRT after <time>", "",
		},
		{
			"in the cause already", "exit 3", "exited with code 3 during initialize", "",
			"exited with code 3 during initialize\n  the process ran for <time>", "",
		},
		{
			"no output", "exit 0", "initialize: EOF", "my hint", "initialize: EOF\n  the process exited with code 0 after <time>", "my hint",
		},
		{
			"several lines", "echo one >&2; echo >&2; echo two >&2; exit 1", "broken", "",
			"broken\n  the process exited with code 1 after <time>\n  the end of its stderr:\n    one\n    \n    two", "",
		},
		{
			"hint from the message of a runtime", "echo \"error: Cannot find package 'zod' from '/nowhere/at/all/x.ts'\" >&2; echo 'Bun v1' >&2; exit 1", "broken", "",
			"broken\n  the process exited with code 1 after <time>\n  the end of its stderr:\n" +
				"    error: Cannot find package 'zod' from '/nowhere/at/all/x.ts'\n    Bun v1",
			`the package zod is not installed; run "bun add zod" in /nowhere/at/all`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, nil, Spec{Command: "sh", Args: []string{"-c", c.shell}, Dir: t.TempDir()})
			p.waitDone()
			cause := fault.New(fault.Server, c.hint, "%s", c.message)
			cause.Details = map[string]any{"mine": 1}
			before := *cause
			e := p.Explain(cause)
			if diff := cmp.Diff(c.want, timeless(e.Message)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if e.Hint != c.wantHint || e.Kind != fault.Server || e.Details["mine"] != 1 {
				t.Errorf("hint %q, kind %s, details %v", e.Hint, e.Kind, e.Details)
			}
			if diff := cmp.Diff(before, *cause); diff != "" {
				t.Errorf("the cause was changed:\n%s", diff)
			}
		})
	}
}

func TestExplainAddsDetails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := launch(t, nil, Spec{Command: "sh", Args: []string{"-c", "echo oh >&2; exit 3"}, Dir: dir})
	c.waitDone()
	want := map[string]any{"command": c.argv, "dir": dir, "pid": c.backend.pid(), "exit": 3, "stderr": "oh"}
	if diff := cmp.Diff(want, c.Explain(fault.New(fault.Crashed, "", "x")).Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	killed := launch(t, nil, Spec{Command: "sh", Args: []string{"-c", "kill -SEGV $$"}, Dir: dir})
	killed.waitDone()
	details := killed.Explain(fault.New(fault.Crashed, "", "x")).Details
	if _, exit := details["exit"]; exit || details["signal"] != "SEGV" {
		t.Errorf("details %v", details)
	}
}

func TestExplainHasStateOfProcess(t *testing.T) {
	t.Parallel()
	c := start(t, "echo")
	c.echoes()
	got := timeless(c.Explain(fault.New(fault.CallTimeout, "", "no answer")).Message)
	if diff := cmp.Diff("no answer\n  the process has been running for <time>", got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	c.mustStop()
	got = timeless(c.Explain(fault.New(fault.CallTimeout, "", "no answer")).Message)
	if diff := cmp.Diff("no answer\n  the process was stopped after <time>\n  the end of its stderr:\n    cleaned up", got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}
