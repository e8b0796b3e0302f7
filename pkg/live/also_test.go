package live_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
)

const (
	signIn = "trail:\n  - step: In # kept\n    recording:\n      web:\n        - launchApp: {}\n        - tap: { text: Login } # broken\n      android:\n        - tap: {text: Login}\n"
	// otherSignIn has the same call, written in another way, twice.
	otherSignIn = "# mine\ntrail:\n- step: Other\n  recording:\n    web:\n    - launchApp: {}\n    - tap: {\"text\": 'Login'}\n" +
		"      timeout: 5s\n    - tap:\n        text: Login # again\n    - tap: {text: Logout}\n"
)

// repaired is a session in which the call of trails/a.trail.yaml was repaired, beside other trails of the project. The
// replays of trails in failing do not pass.
func repaired(t *testing.T, failing ...string) *fixture {
	t.Helper()
	return repairedWith(t, func(*live.Options) {}, failing...)
}

func repairedWith(t *testing.T, change func(*live.Options), failing ...string) *fixture {
	t.Helper()
	var f *fixture
	f = open(t, func(o *live.Options) {
		change(o)
		o.Replay = func(_ context.Context, path string, contents map[string][]byte, _ map[string]string) (live.Replayed, error) {
			f.replayed = append(f.replayed, f.relative(path))
			f.contents = append(f.contents, contents)
			for _, name := range failing {
				if f.relative(path) == name {
					return live.Replayed{Outcome: event.Failed, Reason: "98761234 is not shown"}, nil
				}
			}
			return live.Replayed{Outcome: event.Passed}, nil
		}
	})
	for name, data := range map[string]string{
		"trails/a.trail.yaml":       signIn,
		"trails/b.trail.yaml":       otherSignIn,
		"trails/more/c.trail.yaml":  "trail:\n  - use: shared/in.yaml\n",
		"trails/more/d.trail.yaml":  "trail:\n  - use: shared/in.yaml\n  - step: D\n    recording:\n      web:\n        - tap: {text: Login}\n",
		"shared/in.yaml":            signIn,
		"shared/unused.yaml":        signIn,
		"trails/other.trail.yaml":   strings.Replace(signIn, "text: Login }", "text: Log in }", 1),
		"trails/skip.trail.yaml":    "config:\n  skip: always\n" + signIn,
		"trails/broken.trail.yaml":  signIn + "  - stepp: no\n",
		"trails/android.trail.yaml": "trail:\n  - step: In\n    recording:\n      android:\n        - tap: {text: Login}\n",
		"logs/x/a.trail.yaml":       signIn,
	} {
		f.write(name, data)
	}
	r := live.TrailRequest{File: "trails/a.trail.yaml", Keep: true}
	if report, err := f.RunTrail(t.Context(), r); err != nil || report.Tool != "tap" {
		t.Fatalf("%+v, %v", report, err)
	}
	f.step("In", call("tap", "text", "Sign in"))
	return f
}

func (f *fixture) relative(path string) string {
	rel, err := filepath.Rel(f.root, path)
	if err != nil {
		f.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

// inFiles returns in short what a report says of other files.
func inFiles(all []live.AlsoReport) (out []string) {
	for _, f := range all {
		text := f.File
		if f.Written {
			text += " written"
		}
		if f.Reason != "" {
			text += ": " + f.Reason
		}
		out = append(out, strings.Repeat("+", f.Calls)+" "+text)
	}
	return out
}

func TestSaveOffersARepairToOtherTrails(t *testing.T) {
	t.Parallel()
	f := repaired(t)
	saved := f.save(live.SaveRequest{File: "trails/a.trail.yaml"})
	want := []string{"+ shared/in.yaml", "++ trails/b.trail.yaml", "+ trails/more/d.trail.yaml"}
	if diff := cmp.Diff(want, inFiles(saved.Also)); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	if f.read("trails/b.trail.yaml") != otherSignIn || len(f.replayed) != 1 {
		t.Errorf("replayed %q, b is\n%s", f.replayed, f.read("trails/b.trail.yaml"))
	}
	saved = f.save(live.SaveRequest{File: "trails/a.trail.yaml", Also: true})
	want = []string{"+ shared/in.yaml written", "++ trails/b.trail.yaml written", "+ trails/more/d.trail.yaml written"}
	if diff := cmp.Diff(want, inFiles(saved.Also)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{
		"trails/a.trail.yaml":      strings.Replace(signIn, "text: Login }", "text: Sign in }", 1),
		"shared/in.yaml":           strings.Replace(signIn, "text: Login }", "text: Sign in }", 1),
		"trails/b.trail.yaml":      strings.NewReplacer("'Login'", "Sign in", "text: Login #", "text: Sign in #").Replace(otherSignIn),
		"trails/more/d.trail.yaml": "trail:\n  - use: shared/in.yaml\n  - step: D\n    recording:\n      web:\n        - tap: {text: Sign in}\n",
		"shared/unused.yaml":       signIn, "logs/x/a.trail.yaml": signIn,
	} {
		if diff := cmp.Diff(want, f.read(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	replays := strings.Join(f.replayed[2:], " ")
	if replays != "trails/b.trail.yaml trails/more/c.trail.yaml trails/more/d.trail.yaml" {
		t.Errorf("replayed %s", replays)
	}
	if last := f.contents[len(f.contents)-1]; len(last) != 2 || !strings.Contains(string(last[filepath.Join(f.root, "shared", "in.yaml")]), "Sign in") {
		t.Errorf("d was replayed with %q", last)
	}
	if saved = f.save(live.SaveRequest{File: "trails/a.trail.yaml", Also: true}); len(saved.Also) > 0 {
		t.Errorf("offered again: %+v", saved.Also)
	}
}

func TestOtherTrailsThatFailAreNotChanged(t *testing.T) {
	t.Parallel()
	f := repaired(t, "trails/more/c.trail.yaml")
	saved := f.save(live.SaveRequest{File: "trails/a.trail.yaml", Also: true})
	want := []string{
		"+ shared/in.yaml: the replay of trails/more/c.trail.yaml with it failed: {{PIN}} is not shown",
		"++ trails/b.trail.yaml written", "+ trails/more/d.trail.yaml: shared/in.yaml is not changed",
	}
	if diff := cmp.Diff(want, inFiles(saved.Also)); diff != "" || !saved.Written {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f.read("shared/in.yaml") != signIn || strings.Contains(f.read("trails/more/d.trail.yaml"), "Sign in") {
		t.Errorf("written:\n%s\n%s", f.read("shared/in.yaml"), f.read("trails/more/d.trail.yaml"))
	}
	if _, err := f.Save(t.Context(), live.SaveRequest{File: "trails/a.trail.yaml", Also: true, NoReplay: true}); fault.KindOf(err) != fault.InvalidArguments {
		t.Errorf("without a replay: %v", err)
	}
	f = repaired(t)
	f.write("trails/b.trail.yaml", strings.Replace(otherSignIn, "- tap: {text: Logout}", "- web_evaluate: {}", 1))
	saved = f.save(live.SaveRequest{File: "trails/a.trail.yaml", Also: true})
	if got := inFiles(saved.Also)[1]; !strings.Contains(got, "not allowed for agents") || len(f.replayed) != 3 {
		t.Errorf("%s, replayed %q", got, f.replayed)
	}
}

// What was written stays reported when the other trails cannot be replayed.
func TestOtherTrailsThatCannotBeReplayedAreNamed(t *testing.T) {
	t.Parallel()
	resets := 0
	f := repairedWith(t, func(o *live.Options) {
		o.Reset = func(context.Context) error {
			if resets++; resets > 1 {
				return fault.New(fault.Server, "", "no database")
			}
			return nil
		}
	})
	saved := f.save(live.SaveRequest{File: "trails/a.trail.yaml", Also: true})
	const why = ": the app could not be reset for the replay: no database"
	want := []string{"+ shared/in.yaml" + why, "++ trails/b.trail.yaml" + why, "+ trails/more/d.trail.yaml" + why}
	if diff := cmp.Diff(want, inFiles(saved.Also)); diff != "" || !saved.Written || resets != 2 || !strings.Contains(f.read("trails/a.trail.yaml"), "Sign in") {
		t.Errorf("written %t (-want +got):\n%s", saved.Written, diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f = repairedWith(t, func(o *live.Options) {
		o.Reset = func(context.Context) error {
			if len(f.replayed) > 0 {
				cancel()
			}
			return ctx.Err()
		}
	})
	saved, err := f.Save(ctx, live.SaveRequest{File: "trails/a.trail.yaml", Also: true})
	if err != nil || !saved.Written || len(saved.Also) != 3 || saved.Also[1].Written || !strings.Contains(saved.Also[1].Reason, "canceled") {
		t.Errorf("cancelled: %v, %+v", err, saved)
	}
}

// A trail that another one uses is replayed by itself, too.
func TestTrailThatIsUsedIsReplayedByItself(t *testing.T) {
	t.Parallel()
	f := repaired(t, "trails/n.trail.yaml")
	f.write("trails/m.trail.yaml", "trail:\n  - use: n.trail.yaml\n")
	f.write("trails/n.trail.yaml", signIn)
	f.save(live.SaveRequest{File: "trails/a.trail.yaml", Also: true})
	if !slices.Contains(f.replayed, "trails/n.trail.yaml") || f.read("trails/n.trail.yaml") != signIn {
		t.Errorf("replayed %q, n is\n%s", f.replayed, f.read("trails/n.trail.yaml"))
	}
}

func TestRepairOfSeveralCallsIsOffered(t *testing.T) {
	t.Parallel()
	f := repaired(t)
	if _, err := f.Edit(t.Context(), live.Edit{Drop: "1.2"}); err != nil {
		t.Fatal(err)
	}
	f.step("In", call("tap", "text", "Menu"))
	f.app.set("Menu", "Sign in")
	f.step("In", call("tap", "text", "Menu"), call("tap", "text", "Sign in"))
	saved := f.save(live.SaveRequest{File: "trails/a.trail.yaml", Also: true})
	if len(saved.Also) != 3 || !strings.Contains(f.read("trails/more/d.trail.yaml"), "- tap: {text: Menu}\n        - tap:") &&
		strings.Count(f.read("trails/more/d.trail.yaml"), "tap") != 2 {
		t.Errorf("%q\n%s", inFiles(saved.Also), f.read("trails/more/d.trail.yaml"))
	}
}
