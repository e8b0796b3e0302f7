package trail_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestNewRecordedFile(t *testing.T) {
	t.Parallel()
	file := parse(t, "f.yaml", []byte(`
config:
  title: Buy
  memory: { a: 1, b: 2 }
  args: { n: { type: integer, default: 3 }, s: { type: string }, kept: { type: boolean } }
trailhead: { step: go, recording: { android: [ launch: {} ] } }
trail:
  - step: one
    recording: { android: [ tap: { n: "{{args.n}}" } ], ios: [] }
    maxRetries: 2
  - verify: two
    recording: { android: [ look: {} ] }
  - step: three
    recordable: false
  - step: four
    recording: { android-phone: [ tap: {} ] }
`))
	tap := trail.Call{Tool: "tap", Args: map[string]any{"n": "{{args.n}}"}, SaveAs: "x"}
	steps := []trail.StepRecording{
		{Recorded: true},
		{Recorded: true, Calls: []trail.Call{tap, tap}},
		{},
		{Recorded: true, Calls: []trail.Call{tap}},
	}
	out, err := trail.Format(trail.NewRecordedFile(file, "android-phone", steps, map[string]any{"b": "x", "c": nil},
		map[string]any{"n": int64(7), "s": "text", "other": 1}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `config:
  title: Buy
  memory:
    a: 1
    b: x
    c: null
  args:
    kept:
      type: boolean
    "n":
      type: integer
      default: 7
    s:
      type: string
      default: text
trailhead:
  step: go
  recording:
    android-phone: []
trail:
  - step: one
    recording:
      android-phone:
        - tap:
            "n": "{{args.n}}"
          saveAs: x
        - tap:
            "n": "{{args.n}}"
          saveAs: x
    maxRetries: 2
  - verify: two
  - step: three
    recordable: false
  - step: four
`
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A list of calls without a recording must not become a no-op.
func TestNewRecordingOfListWithoutCalls(t *testing.T) {
	t.Parallel()
	file := parse(t, "f.yaml", []byte("- tools:\n  - tap: {}\n- tools:\n  - look: {}\n- tools: []\n"))
	recorded := trail.NewRecordedFile(file, "android", []trail.StepRecording{
		{},
		{Recorded: true, Calls: file.Steps[1].Recording[0].Calls},
	}, nil, nil)
	out, err := trail.Format(recorded)
	if err != nil {
		t.Fatal(err)
	}
	const want = `- prompts:
    - step: What was not recorded
- tools:
    - look: {}
- prompts:
    - step: What was not recorded
`
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The recording of a recording is the same file, and recording leaves the trail alone.
func TestRandomRecordingsRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range tries(150) {
		b := &builder{rand.New(rand.NewPCG(seed, 3))}
		file, same := b.file(), (&builder{rand.New(rand.NewPCG(seed, 3))}).file()
		records := b.records(file, "ios")
		memory := b.mapping(2, b.name)
		once, err := trail.Format(trail.NewRecordedFile(file, "ios", records, memory, nil))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(same, file, sameFile); diff != "" {
			t.Errorf("seed %d: the trail changed:\n%s", seed, diff)
		}
		again := parse(t, "again", once)
		var replayed []trail.StepRecording
		for _, s := range steps(again) {
			calls, found := s.Lookup([]string{"ios"})
			replayed = append(replayed, trail.StepRecording{Calls: calls, Recorded: found})
		}
		twice, err := trail.Format(trail.NewRecordedFile(again, "ios", replayed, memory, nil))
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("seed %d: %v\n%s\nbecame\n%s", seed, err, once, twice)
		}
	}
}

func TestRandomAppendsChangeNothingElse(t *testing.T) {
	t.Parallel()
	for seed := range tries(100) {
		b := &builder{rand.New(rand.NewPCG(seed, 4))}
		file := b.file()
		file.Config.ID = "random"
		w := &writer{builder: b, steps: make([]bool, len(steps(file)))}
		in, step := w.file(file), b.step(file.List)
		out, err := trail.Append("f", in, step, trail.Config{})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, in)
		}
		file.Steps = append(file.Steps, step)
		if diff := cmp.Diff(file, parse(t, "out", out), anyOrder, ignoreName); diff != "" {
			t.Errorf("seed %d (-want +got):\n%s\nin:\n%s\nout:\n%s", seed, diff, in, out)
		}
		same := 0
		for same < len(in) && in[same] == out[same] {
			same++
		}
		rest := bytes.TrimPrefix(in[same:], []byte(" []")) // of a trail that had no steps
		if !bytes.HasSuffix(out[same:], rest) {
			t.Errorf("seed %d: changed elsewhere\nin:\n%s\nout:\n%s", seed, in, out)
		}
	}
}

// Escaped text is restored; only ${known} cannot be escaped.
func TestEscapedTextIsRestored(t *testing.T) {
	t.Parallel()
	values := trail.NewValues(trail.Sources{Trail: map[string]any{"x": "value"}})
	for _, text := range []string{
		"", "{{x}}", "{{ x }} and {{y", `\{{x}}`, `\\{{x}}`, "{{{x}}}", "{{{{x}}}}", "}}", "{",
		"${y}", "$", "${{x}}", "a\n{{\n",
	} {
		value := map[string]any{"text": text, "list": []any{text, int64(1), nil}, "map": map[string]any{"{{key}}": text}}
		got, err := trail.Interpolate(trail.Escape(value).(map[string]any), values)
		if diff := cmp.Diff(value, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
}
