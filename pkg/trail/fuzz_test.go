package trail_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

func FuzzParse(f *testing.F) {
	for _, folder := range []string{"good", "bad"} {
		for _, data := range files(f, folder) {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, problems := trail.Parse("f.trail.yaml", data)
		if (file == nil) == (len(problems) == 0) {
			t.Fatalf("file %v with problems %v", file, problems)
		}
		if file != nil {
			checkRoundTrip(t, file)
		}
	})
}

func FuzzInterpolate(f *testing.F) {
	for _, text := range []string{
		"", "{{email}}", "a {{ email }} b", `\{{email}}`, "${email} ${x}", "{{{{email}}}}", "{{user.name}}", "{{", "}}", "${",
		"{{}}", `\`, "é{{email}}",
	} {
		f.Add(text)
	}
	values := trail.NewValues(trail.Sources{Trail: map[string]any{"email": "{{email}} ${email}"}})
	values.SetResult("user", `{"name":"{{email}}"}`, nil)
	f.Fuzz(func(t *testing.T, text string) {
		out, err := trail.Interpolate(map[string]any{"text": text}, values)
		if err == nil && !trail.HasToken(text) && out["text"] != text {
			t.Errorf("%q became %q", text, out["text"])
		}
		escaped := strings.ReplaceAll(text, "{{", `\{{`)
		out, err = trail.Interpolate(map[string]any{"text": escaped}, trail.NewValues(trail.Sources{}))
		if err != nil || out["text"] != text {
			t.Errorf("%q, escaped as %q, became %q: %v", text, escaped, out["text"], err)
		}
	})
}

// tries returns how many random files a test makes out of n: a third in a short run.
func tries(n uint64) uint64 {
	if testing.Short() {
		return n / 3
	}
	return n
}

// Files of every form that a program can build are written and read back unchanged.
func TestRandomFilesRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range tries(500) {
		b := &builder{rand.New(rand.NewPCG(seed, 0))}
		checkRoundTrip(t, b.file())
		if calls := b.calls(); len(calls) > 0 {
			step := trail.Step{Kind: trail.KindTools, Recordable: true, Recording: trail.Recording{{Calls: calls}}}
			checkRoundTrip(t, &trail.File{Name: "bare.trail.yaml", List: true, Bare: true, Steps: []trail.Step{step}})
		}
	}
}

type builder struct{ *rand.Rand }

func pick[T any](b *builder, from ...T) T { return from[b.IntN(len(from))] }

// some returns up to n items.
func some[T any](b *builder, n int, item func(i int) T) []T {
	var out []T
	for i := range b.IntN(n + 1) {
		out = append(out, item(i))
	}
	return out
}

func (b *builder) text() string {
	return pick(b, "plain", "two words", "a: b", "# no comment", "null", "1e3", "0123", "yes", "{{email}} ${x}",
		"line\nline\n", "a\n  b", " space ",
		"\t", "\x00\u2028😀", `"quoted" 'text' \n`, "- dash", "日本語", "*star", "!tag", "&and", "%x", "@at", "---\na", "<<")
}

func (b *builder) value(depth int) any {
	switch kind := b.IntN(9); {
	case kind == 0:
		return nil
	case kind == 1:
		return b.IntN(2) == 0
	case kind == 2:
		return int64(b.Uint64())
	case kind == 3:
		return uint64(1<<63) + b.Uint64()>>1
	case kind == 4:
		return b.NormFloat64() * pick(b, 1, 1e6, 1e300, 1e-300)
	case kind == 5 && depth > 0:
		return append([]any{}, some(b, 3, func(int) any { return b.value(depth - 1) })...)
	case kind == 6 && depth > 0:
		return b.mapping(depth-1, b.text)
	}
	return b.text()
}

func (b *builder) mapping(depth int, key func() string) map[string]any {
	out := map[string]any{}
	for range b.IntN(4) {
		out[key()] = b.value(depth)
	}
	return out
}

func (b *builder) name() string { return pick(b, "a", "email", "user_name", "x-1", "n", "on") }

func (b *builder) classifiers(n int) []string {
	all := []string{"android", "android-phone", "ios", "ios-ipad", "web"}
	b.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:b.IntN(n+1)]
}

func (b *builder) calls() []trail.Call {
	return some(b, 3, func(int) trail.Call {
		args := b.mapping(3, b.text)
		for key, value := range args {
			if trail.HasToken(value) { // a made-up token may be none that Parse accepts
				args[key] = "{{email}}"
			}
		}
		return trail.Call{
			Tool: pick(b, "tap", "web_click", "a tool: with\nodd name", "123"), Args: args,
			SaveAs: pick(b, "", "user"), Timeout: pick(b, 0, time.Second, 90*time.Second, 1500*time.Millisecond,
				time.Nanosecond),
		}
	})
}

func (b *builder) step(list bool) trail.Step {
	s := trail.Step{
		Kind: pick(b, trail.KindStep, trail.KindVerify), Text: "do " + b.text(), Recordable: b.IntN(4) > 0,
		MaxRetries: b.IntN(3),
	}
	switch {
	case !s.Recordable:
	case list && b.IntN(3) > 0:
		s.Recording = trail.Recording{{Calls: b.calls()}}
	case !list:
		for _, c := range b.classifiers(3) {
			s.Recording = append(s.Recording, trail.ClassifierRecording{Classifier: c, Calls: b.calls()})
		}
	}
	return s
}

func (b *builder) config(list bool) trail.Config {
	c := trail.Config{
		ID: b.text(), Title: b.text(), Description: b.text(), Priority: b.text(), Source: b.value(2), Target: b.text(),
		Context: b.text(),
		Tags:    some(b, 3, func(int) string { return pick(b, "smoke", "1", "no", "a b", "{{x}}") }),
	}
	if list {
		c.Driver, c.Platform = pick(b, "", "ios-axe"), pick(b, "", "ios")
	}
	drivers := map[string]string{
		"android": "revyl-android", "android-phone": "revyl-android", "ios": "ios-host",
		"ios-ipad": "ios-axe", "web": "playwright-native",
	}
	for _, classifier := range b.classifiers(2) {
		c.Devices = append(c.Devices, trail.DeviceDriver{Classifier: classifier, Driver: drivers[classifier]})
	}
	for _, classifier := range b.classifiers(2) {
		c.Skip = append(c.Skip, trail.SkipRule{Classifier: classifier, Reason: "as " + b.text()})
	}
	if b.IntN(4) == 0 {
		c.Skip = trail.Skip{{Reason: "as " + b.text()}}
	}
	if m := b.mapping(3, b.name); len(m) > 0 {
		c.Memory = m
	}
	if m := b.mapping(3, b.text); len(m) > 0 {
		c.Metadata = m
	}
	defaults := map[string]any{
		"string": b.text(), "integer": int64(7), "number": 0.5, "boolean": true, "array": []any{int64(1)},
		"object": map[string]any{"a": nil},
	}
	for range b.IntN(3) {
		if c.Args == nil {
			c.Args = map[string]trail.Arg{}
		}
		a := trail.Arg{
			Type: pick(b, slices.Sorted(maps.Keys(defaults))...), HasDefault: b.IntN(2) == 0,
			Description: pick(b, "", "what"),
		}
		if a.HasDefault {
			a.Default = defaults[a.Type]
		}
		c.Args[b.name()] = a
	}
	return c
}

func (b *builder) file() *trail.File {
	f := &trail.File{Name: "random.trail.yaml", List: b.IntN(2) == 0}
	if b.IntN(4) > 0 {
		f.Config = b.config(f.List)
	}
	if b.IntN(2) == 0 {
		head := b.step(f.List)
		head.Kind = trail.KindTrailhead
		f.Trailhead = &head
	}
	f.Steps = some(b, 6, func(int) trail.Step {
		if f.List && b.IntN(4) == 0 {
			return trail.Step{Kind: trail.KindTools, Recordable: true, Recording: trail.Recording{{Calls: b.calls()}}}
		}
		return b.step(f.List)
	})
	return f
}
