package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func twoProblems() fault.Problems {
	return fault.Problems{
		{Kind: fault.Trail, File: "a.trail.yaml", Line: 3, Column: 5, Message: `unknown key "stpe"`, Hint: `did you mean "step"?`, Snippet: "    3 | stpe: x\n      | ^\n"},
		{Kind: fault.Trail, File: "b.trail.yaml", Message: "is empty"},
	}
}

func startFailed() *fault.Error {
	return &fault.Error{
		Kind: fault.Server, Message: "start \"shop\": exit code 1\n  \x1b[31mCannot find module\x1b[0m", Hint: "run npm install\nin ./tools",
		Details: map[string]any{"server": "shop", "exit": 1},
	}
}

func errorCases() map[string]error {
	return map[string]error{
		"error-fault":        startFailed(),
		"error-without-hint": fault.New(fault.Timeout, "", "took too long"),
		"error-wrapped":      fmt.Errorf("read the project: %w", fault.New(fault.Config, "run trailblaze init", "no project")),
		"error-joined":       errors.Join(fault.New(fault.Misuse, "see help", "no such flag"), fmt.Errorf("x: %w", startFailed()), errors.Join(twoProblems())),
		"error-problem":      twoProblems()[:1],
		"error-problems":     twoProblems(),
		"error-bug":          fs.ErrClosed,
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	for name, err := range errorCases() {
		var out bytes.Buffer
		Error(&out, Style{}, err)
		golden(t, name, out.Bytes())
	}
	var out bytes.Buffer
	Error(&out, Style{Color: true}, twoProblems())
	golden(t, "error-color", out.Bytes())
}

func TestErrorJSON(t *testing.T) {
	t.Parallel()
	problems := `[{"file":"a.trail.yaml","line":3,"column":5,"message":"unknown key \"stpe\"","hint":"did you mean \"step\"?"}`
	both := problems + `,{"file":"b.trail.yaml","line":0,"column":0,"message":"is empty","hint":""}]`
	start := `{"kind":"server","message":"%sstart \"shop\": exit code 1\n  \u001b[31mCannot find module\u001b[0m","hint":"run npm install\nin ./tools","details":{"exit":1,"server":"shop"}}`
	const unreported = "this looks like a bug in trailblaze; please report it"
	want := map[string]string{
		"error-fault":        fmt.Sprintf(start, ""),
		"error-without-hint": `{"kind":"run timeout","message":"took too long","hint":"","details":{}}`,
		"error-wrapped":      `{"kind":"config","message":"read the project: no project","hint":"run trailblaze init","details":{}}`,
		"error-joined": `{"kind":"server","message":"no such flag\nx: start \"shop\": exit code 1\n  \u001b[31mCannot find module\u001b[0m\n` +
			`a.trail.yaml:3:5: unknown key \"stpe\"\nb.trail.yaml: is empty","hint":"see help\nrun npm install\nin ./tools","details":{"errors":[` +
			`{"kind":"misuse","message":"no such flag","hint":"see help","details":{}},` + fmt.Sprintf(start, "x: ") + `,` +
			`{"kind":"trail","message":"a.trail.yaml:3:5: unknown key \"stpe\"\nb.trail.yaml: is empty","hint":"","details":{"problems":` + both + `}}]}}`,
		"error-problem": `{"kind":"trail","message":"a.trail.yaml:3:5: unknown key \"stpe\"","hint":"did you mean \"step\"?","details":{"problems":` +
			problems + `]}}`,
		"error-problems": `{"kind":"trail","message":"a.trail.yaml:3:5: unknown key \"stpe\"\nb.trail.yaml: is empty","hint":"","details":{"problems":` + both + `}}`,
		"error-bug":      `{"kind":"bug","message":"file already closed","hint":"` + unreported + `","details":{}}`,
	}
	for name, err := range errorCases() {
		var out bytes.Buffer
		ErrorJSON(&out, err)
		if diff := cmp.Diff(`{"error":`+want[name]+"}\n", out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestErrorJSONOmitsDetailsThatCannotBeEncoded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	ErrorJSON(&out, &fault.Error{Kind: fault.Server, Message: "no", Details: map[string]any{"f": func() {}}})
	var got struct{ Error errorJSON }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Error.Message != "no" || !strings.Contains(fmt.Sprint(got.Error.Details), "func()") {
		t.Errorf("%v: %s", err, out.String())
	}
}
