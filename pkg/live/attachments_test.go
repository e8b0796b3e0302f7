package live_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// TestPicturesOfASessionThatEnds makes calls that return pictures and one that may end the session: pictures are limited
// also where the screen cannot be looked at any more.
func TestPicturesOfASessionThatEnds(t *testing.T) {
	t.Parallel()
	const limited = "not shown: an answer has at most 4 pictures"
	const unknown = "withheld: it is not known whether the screen shows a secret"
	for _, c := range []struct {
		name    string
		buttons []string
		last    string
		later   bool
		want    []string
	}{
		{"five pictures", []string{"Photo"}, "Photo", false, []string{"picture", "picture", "picture", "picture", limited}},
		{"the screen is looked at later", []string{"Photo"}, "Photo", true, []string{"picture", "picture", "picture", "picture", limited}},
		{"a secret is shown", []string{"Photo", "PIN 98761234"}, "Photo", false, slices.Repeat([]string{"withheld: the screen shows a secret"}, 5)},
		{"the session ends", []string{"Photo", "Crash", "PIN 98761234"}, "Crash", false, slices.Repeat([]string{unknown}, 4)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := open(t, func(o *live.Options) { o.Agent = !c.later })
			f.app.set(c.buttons...)
			r := live.StepRequest{Text: "Take photos", Kind: trail.KindStep, Pictures: true, LookLater: c.later}
			for _, button := range append(slices.Repeat([]string{"Photo"}, 4), c.last) {
				r.Calls = append(r.Calls, call("tap", "text", button))
			}
			var got []string
			for _, made := range f.request(r).Calls {
				for _, a := range made.Attachments {
					what := a.Note
					if a.Picture != nil {
						what = "picture"
					}
					got = append(got, what)
					if hasFile := a.File != ""; hasFile == strings.HasPrefix(a.Note, "withheld") {
						t.Errorf("%s, kept in %q", what, a.File)
					}
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if ended := f.Err() != nil; ended != (c.last == "Crash") {
				t.Errorf("the session: %v", f.Err())
			}
		})
	}
}

func TestPathOfAPictureWithSecretIsLeftOut(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.app.set("Photo")
	calls := []trail.Call{{Tool: "tap", Args: map[string]any{"text": "Photo", "nodeSelector": map[string]any{"text": "{{PIN}}"}}}}
	report := f.request(live.StepRequest{Text: "Take a photo", Kind: trail.KindStep, Calls: calls, Pictures: true})
	a := report.Calls[0].Attachments
	if len(a) != 1 || a[0].File != "" || a[0].Picture != nil || a[0].Note != "withheld, because it may show a secret" {
		t.Errorf("%+v", report.Calls)
	}
}
