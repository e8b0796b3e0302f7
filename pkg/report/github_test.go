package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/event"
)

func TestAnnotationsOfGitHubActions(t *testing.T) {
	t.Parallel()
	a := NewAnnotations(func(file string) string { return "shop/" + file })
	finish := func(e event.TrailFinished) { a.Handle(event.Record{Event: e}) }
	finish(event.TrailFinished{File: "ok.trail.yaml", Outcome: event.Passed})
	finish(event.TrailFinished{
		File: "a,b.trail.yaml", Title: "Pay: 100%", Device: "phone", Outcome: event.Failed, Line: 7, Step: 2, StepText: "Pay",
		Reason: "no\r\n::set-output name=x::\x1b[31my", Hint: "look",
	})
	finish(event.TrailFinished{File: "c.trail.yaml", Outcome: event.Passed, Flaky: true, Attempts: 2})
	for i := range 2 * maxAnnotations {
		finish(event.TrailFinished{File: fmt.Sprint(i), Outcome: event.Error, Reason: strings.Repeat("x", 2*maxAnnotation)})
	}
	var out bytes.Buffer
	if err := a.Write(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != maxAnnotations+1 {
		t.Fatalf("%d lines", len(lines))
	}
	const first = "::error file=shop/a%2Cb.trail.yaml,line=7,title=Pay%3A 100%25 [phone]::step 2: Pay%0Ano%0A"
	if !strings.HasPrefix(lines[0], first) || !strings.HasSuffix(lines[0], "y%0Alook") || strings.ContainsAny(lines[0], "\r\x1b") {
		t.Errorf("%q", lines[0])
	}
	if want := "::warning file=shop/c.trail.yaml,line=1,title=c.trail.yaml::flaky: passed on attempt 2"; lines[maxAnnotations] != want {
		t.Errorf("%q, want %q", lines[maxAnnotations], want)
	}
	if n := len(lines[1]); n > maxAnnotation+200 {
		t.Errorf("a line of %d bytes", n)
	}
}
