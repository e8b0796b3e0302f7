package trail_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func sampleValues() *trail.Values {
	v := trail.NewValues(trail.Sources{
		Trail: map[string]any{
			"email": "a@example.com", "n": int64(1000000), "big": uint64(1 << 63), "price": 9.5, "ok": true, "nothing": nil,
			"cart": map[string]any{"items": []any{"pizza", int64(2)}, "html": "<b>"}, "dotted.name": "dot",
			"braces":     "{{email}} ${email}",
			"overridden": "trail", "password": "dummy", "snake_case-2": "s",
		},
		Memory:  map[string]string{"overridden": "flag", "zip": "0123"},
		Secrets: map[string]string{"password": "s3cret"},
		Args:    map[string]any{"count": int64(3), "list": []any{"x"}},
	})
	v.SetResult("user", `  {"name": "Ann", "id": 12345678901234567890, "ratio": 1.10, "tags": ["a", {"b": null}]}`+"\n",
		nil)
	v.SetResult("code", "123456", json.RawMessage(`{"code": 123456}`))
	v.SetResult("said", "Created Ann", json.RawMessage(`{"name": "Ann"}`))
	v.SetResult("plain", "not {json", nil)
	v.SetResult("empty", "", nil)
	return v
}

func TestInterpolateReplacesTokens(t *testing.T) {
	t.Parallel()
	user := map[string]any{
		"name": "Ann", "id": uint64(12345678901234567890), "ratio": json.Number("1.10"),
		"tags": []any{"a", map[string]any{"b": nil}},
	}
	for _, tt := range []struct {
		in   string
		want any
	}{
		// One token keeps the type.
		{"{{email}}", "a@example.com"},
		{"{{ email }}", "a@example.com"},
		{"{{\temail  }}", "a@example.com"},
		{"{{n}}", int64(1000000)},
		{"{{big}}", uint64(1 << 63)},
		{"{{price}}", 9.5},
		{"{{ok}}", true},
		{"{{nothing}}", nil},
		{"{{cart.items}}", []any{"pizza", int64(2)}},
		{"{{cart.items.1}}", int64(2)},
		{"{{dotted.name}}", "dot"},
		{"{{snake_case-2}}", "s"},
		{"{{args.count}}", int64(3)},
		{"{{args.list.0}}", "x"},
		{"${n}", int64(1000000)},
		{"{{user}}", user},
		{"{{user.name}}", "Ann"},
		{"{{user.id}}", uint64(12345678901234567890)},
		{"{{user.ratio}}", json.Number("1.10")},
		{"{{user.tags.1.b}}", nil},
		{"{{empty}}", ""},
		// A result that looks like a number stays text; its fields are those of the structured result.
		{"{{code}}", "123456"},
		{"{{code.code}}", int64(123456)},
		{"{{said}}", "Created Ann"},
		{"{{said.name}}", "Ann"},
		{"{{plain}}", "not {json"},
		// Later sources override earlier ones.
		{"{{overridden}}", "flag"},
		{"{{password}}", "s3cret"},
		{"{{zip}}", "0123"},
		// Inside a longer string everything is text.
		{" {{n}}", " 1000000"},
		{"{{email}}, {{ n }}; {{price}} {{ok}} {{nothing}}", "a@example.com, 1000000; 9.5 true null"},
		{"{{email}}{{email}}", "a@example.coma@example.com"},
		{"x {{cart}}", `x {"html":"<b>","items":["pizza",2]}`},
		{"x {{user}}", `x {"name": "Ann", "id": 12345678901234567890, "ratio": 1.10, "tags": ["a", {"b": null}]}`},
		{"{{user.ratio}} {{user.id}} {{user.tags}}", `1.10 12345678901234567890 ["a",{"b":null}]`},
		{"-{{empty}}-", "--"},
		{"${email}!", "a@example.com!"},
		{`CORP\${email}`, `CORP\a@example.com`},
		{"${ email }!", "a@example.com!"},
		{"${user.name}!", "Ann!"},
		// ${…} that is not known, or not a name, is JavaScript.
		{"`${x} ${a.b()} ${email2} ${user.nope} ${} ${`", "`${x} ${a.b()} ${email2} ${user.nope} ${} ${`"},
		{"$", "$"},
		{"$5 and {x} and }}", "$5 and {x} and }}"},
		// Escapes, neighbours, nesting.
		{`\{{email}}`, "{{email}}"},
		{`a \{{ b {{n}}`, "a {{ b 1000000"},
		{`\n \{ \\`, `\n \{ \\`},
		{"{{{n}}}", "{1000000}"},
		{"{{{{n}}}}", "{{1000000}}"},
		{"${{price}}", "$9.5"},
		{`{"user":{{n}}}`, `{"user":1000000}`},
		{"é{{n}}日", "é1000000日"},
		// Values are not searched for tokens again.
		{"{{braces}}", "{{email}} ${email}"},
		{"{{braces}}!", "{{email}} ${email}!"},
		{"{{plain}}}}", "not {json}}"},
	} {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			args := map[string]any{"{{email}}": []any{map[string]any{"${n}": tt.in}, tt.in, 7}}
			want := map[string]any{"{{email}}": []any{map[string]any{"${n}": tt.want}, tt.want, 7}}
			got, err := trail.Interpolate(args, sampleValues())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.in, args["{{email}}"].([]any)[1]); diff != "" {
				t.Errorf("the recorded arguments changed: %s", diff)
			}
		})
	}
}

func TestUnknownValuesNameKnownOnes(t *testing.T) {
	t.Parallel()
	v := trail.NewValues(trail.Sources{
		Trail: map[string]any{"email": "x", "zip": "y"}, Args: map[string]any{"count": 1},
		Secrets: map[string]string{"password": "s3cret"},
	})
	v.SetResult("user", `{"name":"Ann","tags":["a"]}`, nil)
	const known = "known: args.count, email, password, user, zip"
	definingHint := func(name string) string {
		return fmt.Sprintf("pass --memory %s=… or --secret %[1]s, or define it in the trail: under config: memory:, "+
			`or with saveAs in an earlier call; to mean the text itself, write \{{%[1]s}}; `, name) + known
	}
	for _, tt := range []struct {
		name, in, message, hint string
	}{
		{"misspelt", "{{emial}}", "unknown value {{emial}} in text", `did you mean "email"?; ` + known},
		{"nothing near", "a {{something}}", "unknown value {{something}} in text", definingHint("something")},
		{"argument", "{{args.cuont}}", "unknown value {{args.cuont}} in text", `did you mean "args.count"?; ` + known},
		{"arguments alone", "{{args}}", "unknown value {{args}} in text", definingHint("args")},
		{
			"unlike any argument", "{{args.of.another}}",
			"unknown value {{args.of.another}} in text", "declare it under config: args: and pass --arg of=…; " + known,
		},
		{"field", "{{user.nmae}}", `{{user.nmae}}: user has no field "nmae" in text`, `did you mean "name"?; ` + known},
		{
			"deep field", "{{user.tags.0.x}}", `{{user.tags.0.x}}: user.tags.0 is text and has no field "x" in text`,
			"only JSON objects and lists have fields; " + known,
		},
		{
			"position", "{{user.tags.1}}", `{{user.tags.1}}: user.tags has no entry "1"; it is a list of length 1 in text`,
			"entries are numbered from 0; " + known,
		},
		{
			"field of text", "{{email.x}}",
			`{{email.x}}: email is text and has no field "x" in text`, "only JSON objects and lists have fields; " + known,
		},
		{"end of path", "{{user.}}", `{{user.}}: user has no field "" in text`, "known: name, tags; " + known},
		{"two", "{{a1b2}} {{c3d4}}", "unknown value {{a1b2}} in text; unknown value {{c3d4}} in text", definingHint("a1b2")},
		{
			"no name", "{{}}", "{{}} contains no name in text",
			"write the name of a value: {{email}}; " + `write \{{ for literal braces; ` + known,
		},
		{"no end", "{{email", "{{ has no closing }} in text", `write \{{ for literal braces; ` + known},
		{"code", "{{a:{b:1}}}", `"{{a:{b:1}}" is not the name of a value in text`, `write \{{ for literal braces; ` + known},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := trail.Interpolate(map[string]any{"text": tt.in, "fine": "{{email}}"}, v)
			f := fault.As(err)
			if f == nil || f.Kind != fault.UnknownValue {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff([]string{tt.message, tt.hint}, []string{f.Message, f.Hint}); diff != "" {
				t.Errorf("message and hint (-want +got):\n%s", diff)
			}
			if strings.Contains(f.Hint+f.Message, "s3cret") {
				t.Error("a secret in the message")
			}
		})
	}
}

func TestUnknownValueHintsHowToDefineIt(t *testing.T) {
	t.Parallel()
	_, err := trail.Interpolate(map[string]any{"list": []any{map[string]any{"x": "{{email}}"}}},
		trail.NewValues(trail.Sources{}))
	f := fault.As(err)
	if f == nil || f.Message != "unknown value {{email}} in list.0.x" || !strings.Contains(f.Hint, "config: memory:") {
		t.Errorf("error %+v", f)
	}
}

func TestFieldsOfJSONText(t *testing.T) {
	t.Parallel()
	v := trail.NewValues(trail.Sources{Memory: map[string]string{"flag": `[1,2]`}})
	v.Apply(map[string]any{"o": `{"a": {"b": 1}}`, "n": "1", "broken": `{"a":`}, nil)
	v.SetResult("silent", "", json.RawMessage(`{"id": 7}`))
	v.SetResult("both", "done", json.RawMessage(`{"id": 8}`))
	got, err := trail.Interpolate(map[string]any{
		"field": "{{o.a.b}}", "whole": "{{o}}", "inside": "x {{o}}", "item": "{{flag.1}}", "n": "{{n}}",
		"broken": "{{broken}}",
		"silent": "{{silent}}", "silentID": "{{silent.id}}", "both": "{{both}}", "bothID": "{{both.id}}",
		"text": "{{silent}}!",
	}, v)
	want := map[string]any{
		"field": int64(1), "whole": `{"a": {"b": 1}}`, "inside": `x {"a": {"b": 1}}`, "item": int64(2), "n": "1",
		"broken": `{"a":`,
		"silent": map[string]any{"id": int64(7)}, "silentID": int64(7), "both": "done", "bothID": int64(8),
		"text": `{"id": 7}!`,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("arguments (-want +got):\n%s%v", diff, err)
	}
}

func TestArgumentsAreBounded(t *testing.T) {
	t.Parallel()
	tooLarge := []string{"{{a}} in v", "makes the arguments larger than 8 MiB"}
	for name, tt := range map[string]struct {
		v    any
		want []string // the begin and the end of the message
	}{
		"lists and maps": {
			[]any{"{{a}}", map[string]any{"{{a}}": "{{a}}"}},
			[]string{`the value "a" does not fit: it takes up to 64 MiB`, " MiB of 64 MiB left"},
		},
		"parts of texts": {"{{a}}{{a}}", tooLarge},
		"whole texts":    {slices.Repeat([]any{"{{a}}"}, 9), tooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := trail.NewValues(trail.Sources{Trail: map[string]any{"a": "xxxxxxxx"}})
			var err error
			for range 40 { // each multiplies the value
				var got map[string]any
				if got, err = trail.Interpolate(map[string]any{"v": tt.v}, v); err != nil {
					break
				}
				if err = v.Set("a", got["v"]); err != nil {
					break
				}
			}
			f := fault.As(err)
			if f == nil || !strings.HasPrefix(f.Message, tt.want[0]) || !strings.HasSuffix(f.Message, tt.want[1]) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestSnapshotHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	v := sampleValues()
	v.Set("password", "set by a tool")
	snapshot := v.Snapshot()
	if _, ok := snapshot["password"]; ok {
		t.Error("the snapshot has the name of a secret")
	}
	if text := fmt.Sprint(snapshot); strings.Contains(text, "s3cret") {
		t.Error("the snapshot holds a secret")
	}
	if got := snapshot["overridden"]; got != "flag" {
		t.Errorf("overridden is %v", got)
	}
	if got, _ := v.Get("password"); got != "s3cret" {
		t.Errorf("password is %v, the secret counts", got)
	}
	snapshot["email"] = "changed"
	if got, _ := v.Get("email"); got != "a@example.com" {
		t.Errorf("changing a snapshot changed the memory: %v", got)
	}
}

func TestMemoryChanges(t *testing.T) {
	t.Parallel()
	v := trail.NewValues(trail.Sources{Trail: map[string]any{"a": "1"}})
	v.Set("b", "2")
	v.Set("a", "3")
	v.Delete("b")
	v.Delete("never there")
	if got, ok := v.Get("a"); !ok || got != "3" {
		t.Errorf("a is %v, %v", got, ok)
	}
	if got, ok := v.Get("b"); ok {
		t.Errorf("b is %v after its deletion", got)
	}
	if diff := cmp.Diff([]string{"a"}, v.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestValuesMayBeSharedByGoroutines(t *testing.T) {
	t.Parallel()
	v := sampleValues()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 100 {
				v.Set(fmt.Sprint("name", i), i)
				v.SetResult("user", `{"name":"Ann"}`, nil)
				if _, err := trail.Interpolate(map[string]any{"x": "{{user.name}} {{email}}"}, v); err != nil {
					t.Error(err)
				}
				v.Snapshot()
				v.Names()
				v.Delete(fmt.Sprint("name", i))
			}
		})
	}
	group.Wait()
}

func TestHasTokenFindsEveryToken(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value any
		want  bool
	}{
		{"plain", false},
		{"{{x}}", true},
		{"${x}", true},
		{"{x}", false},
		{7, false},
		{nil, false},
		{[]any{"a", "{{x}}"}, true},
		{map[string]any{"a": []any{map[string]any{"b": "${x}"}}}, true},
		{map[string]any{"{{x}}": "a"}, false},
	} {
		if got := trail.HasToken(tt.value); got != tt.want {
			t.Errorf("HasToken(%v) is %v", tt.value, got)
		}
	}
}

func TestTokenNamesAreThoseThatAreReplaced(t *testing.T) {
	t.Parallel()
	value := map[string]any{"{{key}}": []any{`\{{PIN}} PIN {{ user }} ${TOKEN_COUNT} {{{x}}}`, 7, "{{open"}}
	got := trail.TokenNames(value)
	if diff := cmp.Diff([]string{"key", "user", "TOKEN_COUNT", "x"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
