package trail_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

// In files of any style, an update has the result that it should, and keeps the text of steps and calls that stay.
func TestRandomUpdatesKeepWhatIsEqual(t *testing.T) {
	t.Parallel()
	kept := uint64(0)
	for seed := range tries(400) {
		b := &builder{rand.New(rand.NewPCG(seed, 3))}
		u := b.update()
		w := &writer{builder: b, classifier: u.classifier, steps: make([]bool, len(steps(u.file)))}
		in := w.file(u.file)
		out, err := trail.Update("f", in, []string{u.classifier}, u.recorded, u.overwrite)
		if err != nil {
			t.Fatalf("seed %d: %v\nin:\n%s", seed, err, in)
		}
		if diff := gocmp.Diff(u.want, parse(t, "out", out), anyOrder, ignoreName); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s\nin:\n%s\nout:\n%s", seed, diff, in, out)
		}
		rest := string(out)
		for _, text := range u.keptTexts(w) {
			_, after, ok := strings.Cut(rest, text)
			if !ok {
				t.Fatalf("seed %d: changed\n%s\nin:\n%s\nout:\n%s", seed, text, in, out)
			}
			rest = after
			kept++
		}
		for _, overwrite := range []trail.Overwrite{u.overwrite, trail.OverwriteAll} {
			again, err := trail.Update("f", out, []string{u.classifier}, u.recorded, overwrite)
			if err != nil || !bytes.Equal(again, out) {
				t.Fatalf("seed %d: updated again: %v\n%s\nwas:\n%s", seed, err, again, out)
			}
		}
	}
	if kept < tries(500) {
		t.Errorf("only %d steps and calls were kept", kept)
	}
}

// randomUpdate is an update with its result.
type randomUpdate struct {
	file, recorded, want *trail.File
	classifier           string
	overwrite            trail.Overwrite
	sources              []int // for each step of want, the index of the file's step, -1 for a new one
}

func (b *builder) update() *randomUpdate {
	u := &randomUpdate{file: b.file(), classifier: pick(b, "android", "ios"), overwrite: pick(b, trail.OverwriteNothing, trail.OverwriteAll)}
	u.file.Config.ID, u.file.Config.Memory = "random", nil
	for i := range u.file.Steps {
		if s := &u.file.Steps[i]; s.Kind != trail.KindTools {
			s.Text = fmt.Sprint(i, " ", s.Text)
		}
	}
	u.recorded = &trail.File{List: u.file.List}
	want := *u.file
	u.want = &want
	if head := u.file.Trailhead; head != nil {
		recorded, wanted := b.rerecord(*head, u.key(), u.classifier)
		u.recorded.Trailhead, u.want.Trailhead = &recorded, &wanted
	}
	u.want.Steps = nil
	for i, s := range u.file.Steps {
		u.insert(b)
		if u.overwrite == trail.OverwriteAll && b.IntN(4) == 0 {
			continue
		}
		recorded, wanted := b.rerecord(s, u.key(), u.classifier)
		u.add(recorded, wanted, i)
	}
	u.insert(b)
	return u
}

func (u *randomUpdate) key() string {
	if u.file.List {
		return ""
	}
	return u.classifier
}

func (u *randomUpdate) add(recorded, want trail.Step, source int) {
	u.recorded.Steps = append(u.recorded.Steps, recorded)
	u.want.Steps = append(u.want.Steps, want)
	u.sources = append(u.sources, source)
}

// insert may record a step that the file lacks.
func (u *randomUpdate) insert(b *builder) {
	for range max(0, b.IntN(5)-3) {
		s := b.step(u.file.List)
		s.Text = fmt.Sprint("new ", len(u.recorded.Steps), " ", s.Text)
		want := s
		want.Recording = slices.DeleteFunc(slices.Clone(s.Recording),
			func(r trail.ClassifierRecording) bool { return r.Classifier != u.key() })
		u.add(s, want, -1)
	}
}

// rerecord returns a step as it is recorded anew, some of its calls changed, and the step that the file then has.
func (b *builder) rerecord(s trail.Step, key, classifier string) (recorded, want trail.Step) {
	recorded, want = s, s
	recorded.Recording = nil
	if !s.Recordable || s.Kind != trail.KindTools && b.IntN(4) == 0 {
		return recorded, want
	}
	old, _ := s.Lookup([]string{classifier})
	calls := []trail.Call{}
	for _, c := range old {
		if b.IntN(4) == 0 {
			calls = append(calls, b.calls()...)
		}
		switch b.IntN(6) {
		case 0:
			continue
		case 1:
			c.SaveAs = pick(b, "", "changed")
		case 2:
			c.Args = b.mapping(2, b.text)
		}
		calls = append(calls, c)
	}
	recorded.Recording = trail.Recording{{Classifier: key, Calls: calls}}
	want.Recording = slices.DeleteFunc(slices.Clone(s.Recording),
		func(r trail.ClassifierRecording) bool { return r.Classifier == key })
	want.Recording = append(want.Recording, recorded.Recording[0])
	return recorded, want
}

// keptTexts returns the texts that the update keeps, in the order of the file: of the steps that are the same, and of
// the calls that are the same at the start and the end of the other steps.
func (u *randomUpdate) keptTexts(w *writer) []string {
	var out []string
	head := len(w.stepTexts) - len(u.file.Steps)
	for i, source := range u.sources {
		if source < 0 {
			continue
		}
		have, want := u.file.Steps[source], u.want.Steps[i]
		if u.overwrite == trail.OverwriteAll && have.Kind == trail.KindTools {
			continue // without text, another one may be kept
		}
		if gocmp.Equal(have, want, anyOrder) {
			out = append(out, w.stepTexts[head+source])
			continue
		}
		texts := w.callTexts[head+source]
		if len(texts) == 0 {
			continue
		}
		old, _ := have.Lookup([]string{u.key()})
		calls, _ := want.Lookup([]string{u.key()})
		n := 0
		for n < min(len(old), len(calls)) && gocmp.Equal(old[n], calls[n], anyOrder) {
			out = append(out, texts[n])
			n++
		}
		m := 0
		for n+m < min(len(old), len(calls)) && gocmp.Equal(old[len(old)-1-m], calls[len(calls)-1-m], anyOrder) {
			m++
		}
		out = append(out, texts[len(old)-m:]...)
	}
	return out
}
