package live_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

const greeted = "  - verify: Greeted\n    recording: { web: [ { assertVisible: { text: Hello } } ] } # kept\n"

// begun is what the file had when the texts of these tests were begun.
const begun = "trail:\n  - step: Open\n    recording:\n      ios: [ { launchApp: {} } ]\n      android: [ { launchApp: {} } ]\n" +
	"      web: [ { launchApp: {} } ]\n" + greeted

func TestSavesAGivenContent(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.step("Recorded, and not in the text", call("tap", "text", "Sign in"))
	f.request(live.StepRequest{Unrecorded: true, Kind: trail.KindStep, Calls: []trail.Call{call("tap", "text", "Sign in")}})
	content := "trail:\n" + launch + greeted
	r := live.SaveRequest{File: trailFile, Content: []byte(content)}
	saved, err := f.Save(t.Context(), r)
	if err != nil || !saved.Written || !saved.New || saved.Steps != 2 || len(saved.Warnings) > 0 || !strings.Contains(saved.Diff, "+  - step: Open") {
		t.Fatalf("%+v, %v", saved, err)
	}
	if f.read(trailFile) != content || f.replayed[0] != content {
		t.Errorf("saved %q, replayed %q", f.read(trailFile), f.replayed)
	}
	r.Base, r.Content, r.NoReplay = r.Content, []byte(strings.Replace(content, "Open", "Start", 1)), true
	saved, err = f.Save(t.Context(), r)
	if err != nil || !saved.Written || saved.New || !strings.Contains(f.read(trailFile), "replayed: false") || !strings.Contains(f.read(trailFile), "Start") {
		t.Fatalf("%+v, %v\n%s", saved, err, f.read(trailFile))
	}
	f.replay = live.Replayed{Outcome: event.Failed, Step: 2}
	r.Base, r.NoReplay = []byte(f.read(trailFile)), false
	if saved, err = f.Save(t.Context(), r); err != nil || saved.Written || saved.Replayed.Step != 2 || f.read(trailFile) != string(r.Base) {
		t.Errorf("%+v, %v", saved, err)
	}
}

func TestGivenContentDoesNotOverwriteWhatOthersWrote(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string // what it has; empty if it does not exist
		base []byte
		want string
	}{
		"it was changed": {begun + "# by somebody else\n", []byte(begun), "trails/a.trail.yaml was changed since its text was opened"},
		"it was made":    {begun, nil, "trails/a.trail.yaml exists already"},
		"it was deleted": {"", []byte(begun), "trails/a.trail.yaml was deleted since its text was opened"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			if c.file != "" {
				f.write(trailFile, c.file)
			}
			r := live.SaveRequest{File: trailFile, Content: []byte("trail:\n" + launch + greeted), Base: c.base, Overwrite: trail.OverwriteOwn}
			if saved, err := f.Save(t.Context(), r); err == nil || !strings.Contains(err.Error(), c.want) || len(f.replayed) > 0 {
				t.Errorf("%+v, %v", saved, err)
			}
			if data, _ := os.ReadFile(filepath.Join(f.root, trailFile)); string(data) != c.file {
				t.Errorf("saved %q", data)
			}
			r.Overwrite = trail.OverwriteAll
			if saved, err := f.Save(t.Context(), r); err != nil || !saved.Written || f.read(trailFile) != string(r.Content) {
				t.Errorf("%+v, %v", saved, err)
			}
		})
	}
}

func TestEmptyFileIsNotNone(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(trailFile, "")
	r := live.SaveRequest{File: trailFile, Content: []byte("trail:\n" + launch + greeted)}
	if saved, err := f.Save(t.Context(), r); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("%+v, %v", saved, err)
	}
	r.Base = []byte{}
	if saved, err := f.Save(t.Context(), r); err != nil || !saved.Written || saved.New {
		t.Errorf("%+v, %v", saved, err)
	}
}

func TestRefusesToSaveAGivenContent(t *testing.T) {
	t.Parallel()
	const verify = "  - verify: Greeted\n    recording: { web: [ { tap: { text: Hello } } ] }\n"
	for name, c := range map[string]struct{ file, content, want string }{
		"that does not parse":         {trailFile, "trail:\n  - stop: x\n", "trails/a.trail.yaml:2"},
		"without steps":               {trailFile, "trail: []\n", "the trail has no steps"},
		"that uses what is not there": {trailFile, "trail:\n  - use: no.yaml\n", `trail "no.yaml" does not exist`},
		"with a verify step that checks nothing": {
			trailFile, "trail:\n" + launch + verify, `step 2 "Greeted" is a verify step without a call that checks something`,
		},
		"with a step without a text": {trailFile, "trail:\n  - step: (no text yet)\n    recording: { web: [ { launchApp: {} } ] }\n", "step 1 has no text"},
		"with a secret":              {trailFile, "trail:\n  - step: Open 98761234\n    recording: { web: [ { launchApp: {} } ] }\n", "has the value of a secret"},
		"elsewhere":                  {"a.trail.yaml", "trail:\n" + launch, "only below trails"},
		"under another name":         {"trails/a.yaml", "trail:\n" + launch, "has another name"},
		"through a link":             {"trails/link/a.trail.yaml", "trail:\n" + launch, "is a symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.write("trails/other.trail.yaml", begun)
			if err := os.Symlink(t.TempDir(), filepath.Join(f.root, "trails", "link")); err != nil {
				t.Fatal(err)
			}
			saved, err := f.Save(t.Context(), live.SaveRequest{File: c.file, Content: []byte(c.content), Overwrite: trail.OverwriteAll})
			problems, _ := errors.AsType[fault.Problems](err)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(f.replayed) > 0 {
				t.Errorf("%+v, error %v, want %q", saved, err, c.want)
			}
			if len(problems) > 0 && problems[0].Snippet == "" {
				t.Errorf("no snippet: %+v", problems)
			}
		})
	}
	f := open(t)
	f.write(trailFile, "trail:\n"+launch+verify)
	r := live.SaveRequest{File: trailFile, Content: []byte("trail:\n" + launch + launch + verify), Base: []byte("trail:\n" + launch + verify)}
	if saved, err := f.Save(t.Context(), r); err != nil || !saved.Written {
		t.Errorf("a verify step that checked nothing before: %+v, %v", saved, err)
	}
	if _, err := f.Save(t.Context(), live.SaveRequest{File: trailFile, Base: []byte("x")}); err == nil {
		t.Error("base without content")
	}
}

func TestWarnsOfAGivenContent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to string // what is replaced in what was begun
		want     string // empty for no warning
	}{
		"nothing":                        {"# kept", "", ""},
		"a lost recording":               {"      ios: [ { launchApp: {} } ]\n", "", `the file has 1 recording for ios that the text lacks; the first is that of step "Open"`},
		"a reworded step":                {"Open", "Start", ""},
		"a step is gone":                 {begun[len("trail:\n"):strings.Index(begun, "  - verify")], launch, "1 recording for android"},
		"a step more":                    {greeted, greeted + "  - step: x\n    recording: { web: [ { tap: { text: Hello } } ] }\n", ""},
		"a changed check":                {"{ text: Hello }", "{ text: Bye }", `the check of verify "Greeted" changed`},
		"no verify step":                 {greeted, "", "the trail has no verify step"},
		"a position":                     {"{ text: Hello }", "{ nodeSelector: { web: { nthIndex: 2 } } }", "call 2.1, assertVisible, finds its element by its position (nthIndex: 2), which may change"},
		"a secret that a run needs":      {"{ text: Hello }", "{ text: \"{{PIN}}\" }", "the trail needs a secret: run it with --secret PIN"},
		"an action before the app opens": {"      web: [ { launchApp: {} } ]", "      web: [ { tap: { text: Sign in } } ]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.write(trailFile, begun)
			content := strings.Replace(begun, c.from, c.to, 1)
			saved, err := f.Save(t.Context(), live.SaveRequest{File: trailFile, Content: []byte(content), Base: []byte(begun)})
			if err != nil || !saved.Written {
				t.Fatalf("%+v, %v", saved, err)
			}
			isWanted := func(w string) bool { return strings.Contains(w, c.want) }
			if c.want == "" && len(saved.Warnings) > 0 || c.want != "" && !slices.ContainsFunc(saved.Warnings, isWanted) {
				t.Errorf("warnings %q, want %q", saved.Warnings, c.want)
			}
		})
	}
	f := open(t)
	saved, err := f.Save(t.Context(), live.SaveRequest{
		File: trailFile, Title: "Another", Content: []byte("trail:\n  - step: Tap\n    recording: { web: [ { tap: { text: Sign in } } ] }\n" + greeted),
	})
	for _, want := range []string{"the first call is tap; a trail begins with", "the title is that of the text"} {
		if err != nil || !slices.ContainsFunc(saved.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("%+v, %v, want %q", saved, err, want)
		}
	}
}
