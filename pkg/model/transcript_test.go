package model_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/testdata/fakeserver/encodings"
	"github.com/trailblaze/trailblaze/testdata/models"
)

// fake is a model that answers with one call, or fails.
type fake struct{ err error }

func (f fake) Ask(_ context.Context, r model.Request) (model.Answer, model.Usage, error) {
	if f.err != nil {
		return model.Answer{}, model.Usage{Attempts: 5}, f.err
	}
	args := `{"ref":"e35","text":"of step ` + r.Task.Step + `"}`
	return model.Answer{End: model.Called, Calls: []model.Call{{Name: "web_type", Args: json.RawMessage(args)}}},
		model.Usage{Uncached: 1000, Output: 10, Attempts: 2}, nil
}

func elements(named string) func(string) string {
	return func(ref string) string { return map[string]string{"e35": named, "e36": `button "Buy"`}[ref] }
}

func step(step string) model.Request {
	r := request()
	r.Task.Step, r.Element = step, elements(`textbox "City"`)
	return r
}

func TestTranscriptsShowWhatWasSent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "llm")
	var finished []model.Exchange
	recorder := &model.Recorder{
		Model: fake{}, Name: "test/scripted", Dir: dir, Price: &model.Price{Input: 3, Output: 15},
		Finished: func(x model.Exchange) { finished = append(finished, x) },
	}
	for _, s := range []string{"1", "2"} {
		if _, _, err := recorder.Ask(t.Context(), step(s)); err != nil {
			t.Fatal(err)
		}
	}
	again := &model.Recorder{Model: fake{err: fault.New(fault.Quota, "", "all spent")}, Name: "test/scripted", Dir: dir}
	if _, _, err := again.Ask(t.Context(), step("3")); fault.KindOf(err) != fault.Quota {
		t.Error(err)
	}
	var x model.Exchange
	read(t, filepath.Join(dir, "002.json"), &x)
	cost := 0.00315
	want := model.Exchange{
		N: 2, Task: step("2").Task, Model: "test/scripted", StartedAt: x.StartedAt, DurationMs: x.DurationMs, Attempts: 2,
		System: "RULES", Tools: step("2").Tools, Blocks: step("2").Blocks,
		Answer:   &model.Answer{End: model.Called, Calls: []model.Call{{Name: "web_type", Args: json.RawMessage(`{"ref":"e35","text":"of step 2"}`)}}},
		Elements: map[string]string{"e35": `textbox "City"`}, Usage: model.Usage{Uncached: 1000, Output: 10}, Cost: &cost,
	}
	compact := cmp.Transformer("compact", func(raw json.RawMessage) any {
		var v any
		_ = json.Unmarshal(raw, &v)
		return v
	})
	if diff := cmp.Diff(want, x, compact); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
	if len(finished) != 2 || finished[1].File != filepath.Join(dir, "002.json") || finished[1].N != 2 {
		t.Errorf("told of %+v", finished)
	}
	read(t, filepath.Join(dir, "003.json"), &x) // the second recorder goes on
	if x.N != 3 || x.Error != "all spent" || x.Attempts != 5 {
		t.Errorf("transcript is %+v", x)
	}
}

func read(t *testing.T, path string, to any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, string(data), to)
}

// record writes the transcripts of two steps below a folder of sessions.
func record(t *testing.T) (sessions string) {
	t.Helper()
	sessions = t.TempDir()
	recorder := &model.Recorder{Model: fake{}, Name: "test/scripted", Dir: filepath.Join(sessions, "2026-11-26_a", "llm")}
	for _, s := range []string{"1", "2", "1"} {
		if _, _, err := recorder.Ask(t.Context(), step(s)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("2026-11-26_a", filepath.Join(sessions, "latest")); err != nil {
		t.Fatal(err)
	}
	return sessions
}

func TestReplayAnswersByTrailStepAndKind(t *testing.T) {
	t.Parallel()
	sessions := record(t)
	for _, dir := range []string{sessions, filepath.Join(sessions, "2026-11-26_a"), filepath.Join(sessions, "2026-11-26_a", "llm")} {
		replay, err := model.NewReplay(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"2", "1", "1"} {
			answer, usage, err := replay.Ask(t.Context(), step(s))
			if err != nil || !strings.Contains(string(answer.Calls[0].Args), "of step "+s) || usage != (model.Usage{}) {
				t.Errorf("%s: %+v, %+v, %v", s, answer, usage, err)
			}
		}
		_, _, err = replay.Ask(t.Context(), step("1"))
		if fault.KindOf(err) != fault.Transcript || !strings.Contains(err.Error(), "no further answer for step 1 of trails/a.trail.yaml") {
			t.Error(err)
		}
	}
}

func TestReplayNoticesAnotherScreen(t *testing.T) {
	t.Parallel()
	for named, fits := range map[string]bool{`textbox  "City"`: true, `textbox "Country"`: false, `button "City"`: false, "": false} {
		replay, err := model.NewReplay(record(t))
		if err != nil {
			t.Fatal(err)
		}
		r := step("1")
		r.Element = elements(named)
		if _, _, err := replay.Ask(t.Context(), r); (err == nil) != fits || !fits && fault.KindOf(err) != fault.Transcript {
			t.Errorf("%s: %v", named, err)
		}
	}
}

func TestReplayUsesTheReferencesOfItsSession(t *testing.T) {
	t.Parallel()
	replay, err := model.NewReplay(record(t))
	if err != nil {
		t.Fatal(err)
	}
	r := step("1")
	r.Element = elements("")
	r.Reference = func(element string) string { return map[string]string{`textbox "City"`: "e7"}[element] }
	answer, _, err := replay.Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range answer.Calls {
		if strings.Contains(string(c.Args), "e35") {
			t.Errorf("%s %s", c.Name, c.Args)
		}
	}
	if !strings.Contains(string(answer.Calls[0].Args), `"ref":"e7"`) {
		t.Errorf("%s", answer.Calls[0].Args)
	}
}

func TestReplayOfWhatIsNotTranscripts(t *testing.T) {
	t.Parallel()
	empty, odd := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(odd, "001.json"), []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]fault.Kind{empty: fault.Misuse, filepath.Join(empty, "x"): fault.Misuse, odd: fault.Transcript} {
		if _, err := model.NewReplay(dir); fault.KindOf(err) != want {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestTranscriptThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, usage, err := (&model.Recorder{Model: fake{}, Dir: filepath.Join(file, "llm")}).Ask(t.Context(), step("1"))
	if fault.KindOf(err) != fault.IO || usage.Uncached == 0 {
		t.Errorf("%+v, %v", usage, err)
	}
}

func TestSecretsAreInNoRequestAndNoTranscript(t *testing.T) {
	t.Parallel()
	const secret = `hunter2 "&ü/+geheim`
	hide := redact.New(map[string]string{"PASSWORD": secret}).Text
	for protocol := range protocols() {
		for name, encoded := range encodings.Of(secret) {
			t.Run(name+" by "+string(protocol), func(t *testing.T) {
				t.Parallel()
				s := &models.Server{Policy: models.Script(models.Reply{Text: "I saw " + encoded, Calls: []models.Call{click(encoded)}})}
				dir := t.TempDir()
				c := serve(t, s, protocol, func(o *model.Options) { o.Redact = hide })
				recorder := &model.Recorder{Model: c, Name: c.Name(), Dir: dir, Redact: hide}
				r := request()
				r.System, r.Blocks[1].Text, r.Tools[0].Description = "R "+encoded, "- "+encoded, encoded
				r.Tools[1].Schema = json.RawMessage(`{"type":"object","properties":{"a":{"description":` + quoted(encoded) + `}}}`)
				if _, _, err := recorder.Ask(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				transcript, err := os.ReadFile(filepath.Join(dir, "001.json"))
				if err != nil {
					t.Fatal(err)
				}
				for where, text := range map[string]string{"request": s.Received()[0].Body, "transcript": string(transcript)} {
					for how, form := range encodings.Of(secret) {
						if strings.Contains(text, form) || strings.Contains(text, strings.Trim(quoted(form), `"`)) {
							t.Errorf("the %s contains the secret, %s:\n%s", where, how, text)
						}
					}
					if !strings.Contains(text, "{{PASSWORD}}") {
						t.Errorf("the %s does not contain its name:\n%s", where, text)
					}
				}
			})
		}
	}
}

func quoted(s string) string {
	data, _ := json.Marshal(s) // a string is always encoded
	return string(data)
}

func TestErrorsDoNotShowTheKey(t *testing.T) {
	t.Parallel()
	s := &models.Server{Policy: models.Script(models.Reply{}), Check: func(models.Prompt) string { return "your key " + key + " is odd" }}
	c := serve(t, s, model.OpenAIChat, func(o *model.Options) { o.Redact = redact.New(map[string]string{"TEST_KEY": key}).Text })
	_, _, err := c.Ask(t.Context(), request())
	if err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "your key {{TEST_KEY}} is odd") {
		t.Error(err)
	}
	if body := s.Received()[0].Body; strings.Contains(body, key) || strings.Contains(body, base64.StdEncoding.EncodeToString([]byte(key))) {
		t.Error("the key is in the body")
	}
}
