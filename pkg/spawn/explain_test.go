//go:build unix

package spawn

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// tidied replaces what differs from run to run.
func tidied(s *server, text string) string {
	text = strings.ReplaceAll(text, s.log, "<log>")
	return regexp.MustCompile(`[\d.]+m?s\b`).ReplaceAllString(text, "<time>")
}

func TestAnErrorIsExplainedByWhatTheProcessSaidAndHowItEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, shell, message, hint, want, wantHint string }{
		{
			"exit at start", "echo starting; echo no database >&2; exit 3", "initialize: EOF", "",
			"initialize: EOF\n  the process exited with code 3 after <time>\n  the end of its stderr:\n    no database\n" +
				"  on its stdout, in place of the protocol:\n    starting\n  log: <log>", "",
		},
		{
			"spoke before", `echo '{"jsonrpc":"2.0","method":"m"}'; echo stray; kill -ABRT $$`, "call of buy", "",
			"call of buy\n  the process was killed by signal ABRT after <time>\n  log: <log>", "",
		},
		{
			"said by the cause already", "exit 3", "exited with code 3 during initialize", "",
			"exited with code 3 during initialize\n  the process ran for <time>", "",
		},
		{
			"nothing said", "exit 0", "initialize: EOF", "my hint", "initialize: EOF\n  the process exited with code 0 after <time>", "my hint",
		},
		{
			"several lines", "echo one >&2; echo >&2; echo two >&2; exit 1", "broken", "",
			"broken\n  the process exited with code 1 after <time>\n  the end of its stderr:\n    one\n    \n    two\n  log: <log>", "",
		},
		{
			"hint from the words of a runtime", "echo \"error: Cannot find package 'zod' from '/nowhere/at/all/x.ts'\" >&2; echo 'Bun v1' >&2; exit 1", "broken", "",
			"broken\n  the process exited with code 1 after <time>\n  the end of its stderr:\n" +
				"    error: Cannot find package 'zod' from '/nowhere/at/all/x.ts'\n    Bun v1\n  log: <log>",
			`the package zod is not installed; run "bun add zod" in /nowhere/at/all`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := startSpec(t, Spec{Command: "sh", Args: []string{"-c", c.shell}, Dir: t.TempDir()})
			go func() { // so that what it says is read
				for {
					if _, err := s.conn.Read(t.Context()); err != nil {
						return
					}
				}
			}()
			s.waitDone()
			cause := fault.New(fault.Server, c.hint, "%s", c.message)
			cause.Details = map[string]any{"mine": 1}
			before := *cause
			e := s.Explain(cause)
			if diff := cmp.Diff(c.want, tidied(s, e.Message)); diff != "" {
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

func TestTheDetailsOfAnErrorAreFacts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startSpec(t, Spec{Command: "sh", Args: []string{"-c", "echo oh >&2; exit 3"}, Dir: dir})
	s.waitDone()
	want := map[string]any{
		"command": s.argv, "dir": dir, "pid": s.body.pid(), "exit": 3, "stderr": "oh", "log": s.log,
	}
	if diff := cmp.Diff(want, s.Explain(fault.New(fault.Crashed, "", "x")).Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	killed := startSpec(t, Spec{Command: "sh", Args: []string{"-c", "kill -SEGV $$"}, Dir: dir})
	killed.waitDone()
	details := killed.Explain(fault.New(fault.Crashed, "", "x")).Details
	if _, exit := details["exit"]; exit || details["signal"] != "SEGV" {
		t.Errorf("details %v", details)
	}
}

func TestAnErrorOfALivingServerSaysThatItRuns(t *testing.T) {
	t.Parallel()
	s := start(t, "polite")
	s.call("hello", "{}")
	got := tidied(s, s.Explain(fault.New(fault.CallTimeout, "", "no answer")).Message)
	if diff := cmp.Diff("no answer\n  the process has been running for <time>", got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	s.mustStop()
	got = tidied(s, s.Explain(fault.New(fault.CallTimeout, "", "no answer")).Message)
	if diff := cmp.Diff("no answer\n  the process was stopped after <time>\n  the end of its stderr:\n    cleaned up\n  log: <log>", got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}
