//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/testdata/fakeserver/encodings"
)

// session is the folder of the newest session.
func (p *project) session(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(filepath.Join(p.dir, "logs", "latest"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// recording is what the newest session recorded.
func (p *project) recording(t *testing.T) string {
	t.Helper()
	return p.read(t, filepath.Join(p.session(t), "recording.trail.yaml"))
}

func (p *project) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(p.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (p *project) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.dir, name)
}

// recordedTools lists the tools that the newest recording calls.
func (p *project) recordedTools(t *testing.T) []string {
	t.Helper()
	text := p.recording(t)
	file, problems := trail.Parse("recording.trail.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, text)
	}
	var out []string
	for _, s := range file.Steps {
		for _, r := range s.Recording {
			for _, c := range r.Calls {
				out = append(out, c.Tool)
			}
		}
	}
	return out
}

// leaves lists the calls of a run that were not made within others, with their arguments.
func (r result) leaves(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, e := range ofType(r.events(t), "call.started") {
		args, err := json.Marshal(e["args"])
		if err != nil {
			t.Fatal(err)
		}
		if id, _ := e["call"].(string); !strings.Contains(id, ".") {
			out = append(out, fmt.Sprintf("%s %s", e["tool"], args))
		}
	}
	return out
}

const richTrail = `config:
  title: Rich
  memory: { who: Ann, cart: { items: [mug, cup] } }
  args: { count: { type: integer }, note: { type: string, default: none } }
trailhead:
  step: Begin
  recording:
    web: { echo: { text: "hello {{who}}" } }
    android: { echo: { text: only there } }
trail:
  - step: Delegate
    maxRetries: 2
    recording:
      android: [ { echo: {} } ]
      web:
        - delegate: { to: [ { tool: take, args: { value: '\{{cart.items}}' } }, { tool: echo, args: { text: 'for \{{who}}' } } ], remember: { found: "{{who}}: {{ cart.items.1 }}" } }
          saveAs: last
          timeout: 30s
        - echo: { text: "{{last}} {{found}} {{args.count}}" }
          timeout: 1m30s
  - verify: Ask
    recording:
      web:
        - ask: { tool: remember, args: { name: asked, value: yes it is } }
        - assertEquals: { expected: yes it is, actual: "{{asked}}" }
        - unrecorded: { text: "{{asked}}" }
  - step: Only what is never recorded
    recording: { web: [ { unrecorded: {} } ] }
  - step: Nothing
    recording: { web: [] }
  - step: Another's
    recordable: false
`

const richRecording = `config:
  title: Rich
  memory:
    cart:
      items:
        - mug
        - cup
    who: Bob
  args:
    count:
      type: integer
      default: 3
    note:
      type: string
      default: none
trailhead:
  step: Begin
  recording:
    web:
      - echo:
          text: "hello {{who}}"
trail:
  - step: Delegate
    recording:
      web:
        - rememberValue:
            name: found
            value: "Bob: cup"
        - take:
            value: "{{cart.items}}"
        - echo:
            text: "for {{who}}"
          saveAs: last
        - echo:
            text: "{{last}} {{found}} {{args.count}}"
          timeout: 1m30s
    maxRetries: 2
  - verify: Ask
    recording:
      web:
        - ask:
            args:
              name: asked
              value: yes it is
            tool: remember
        - assertEquals:
            actual: "{{asked}}"
            expected: yes it is
  - step: Only what is never recorded
  - step: Nothing
    recording:
      web: []
  - step: Another's
    recordable: false
`

func TestRecordingReplaysTheSameCalls(t *testing.T) {
	t.Parallel()
	p := teamProject(t, richTrail)
	r := p.run("run", "--json", "--unrecorded", "skip", "--memory", "who=Bob", "--arg", "count=3")
	r.want(t, 0, `tool "unrecorded" is not recordable; its call is left out`)
	same(t, "recording", richRecording, p.recording(t))
	recording := filepath.Join(p.session(t), "recording.trail.yaml")
	p.run("run", recording).want(t, 1, "step 4", "Only what is never recorded", "has no recording for this device")

	again := p.run("run", "--json", "--unrecorded", "skip", recording)
	again.want(t, 0)
	same(t, "calls of the replay", []string{
		`echo {"text":"hello Bob"}`, `rememberValue {"name":"found","value":"Bob: cup"}`, `take {"value":["mug","cup"]}`, `echo {"text":"for Bob"}`,
		`echo {"text":"for Bob Bob: cup 3"}`, `ask {"args":{"name":"asked","value":"yes it is"},"tool":"remember"}`,
		`assertEquals {"actual":"yes it is","expected":"yes it is"}`,
	}, again.leaves(t))
	same(t, "recording of the replay", richRecording, p.recording(t))
	p.run("check", recording).want(t, 0)
}

// TestRecordingIsRedacted has secrets from every source and in every encoding.
func TestRecordingIsRedacted(t *testing.T) {
	t.Parallel()
	const braces = "pa{{ss"
	forms := encodings.Of(secret)
	var calls strings.Builder
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		quoted, _ := json.Marshal("a " + forms[name] + " z")
		fmt.Fprintf(&calls, "        - echo: { text: %s }\n        - delegate: { to: [ { tool: echo, args: { text: %[1]s } } ], remember: { kept: %[1]s } }\n", quoted)
	}
	forms["with braces"], forms["with escaped braces"], forms["quoted with escaped braces"] = braces, `pa\{{ss`, `pa\\{{ss`
	plain, _ := json.Marshal(secret)
	p := teamProject(t, strings.NewReplacer("SECRET", string(plain), "CALLS", calls.String()).Replace(`config:
  title: SECRET
  description: pa{{ss
  context: SECRET
  tags: [SECRET]
  memory: { known: SECRET, deep: [ { known: SECRET } ] }
  args: { given: { type: string, description: SECRET }, usual: { type: string, default: SECRET } }
  metadata: { note: [SECRET] }
  skip: { ios: SECRET }
trailhead:
  step: SECRET
  recording: { web: { echo: { text: SECRET } } }
trail:
  - step: SECRET
    recording:
      web:
CALLS
  - verify: with tokens
    recording:
      web:
        - take: { value: [ "{{TOKEN}}", { deep: "x{{TOKEN}}y" }, { SECRET: 1 } ] }
          saveAs: taken
        - remember: { name: copy, value: "{{TOKEN}}" }
        - echo: { text: "{{copy}} {{args.given}}" }
        - ask: { tool: remember, args: { name: asked, value: SECRET } }
        - askAndDelegate: { question: { tool: remember, args: { name: more, value: "{{TOKEN}}" } }, to: [ { tool: echo, args: { text: '\{{more}} \{{TOKEN}}' } } ] }
        - assertEquals: { expected: SECRET, actual: '{{more}}' }
        - delegate: { to: [ { tool: echo, args: { text: 'pa\\{{ss' } } ], remember: { braces: 'pa\{{ss' } }
        - assertEquals: { expected: '{{BRACES}}', actual: '{{braces}}' }
`))
	given := []string{"run", "--json", "--secret", "TOKEN=" + secret, "--secret", "BRACES=" + braces, "--memory", "given=" + secret, "--arg", "given=" + secret}
	p.run(append(given, "--record", "new.trail.yaml")...).want(t, 0)
	recording := p.recording(t)
	noForm(t, "the recording", recording, forms)
	same(t, "the file of --record", recording, p.read(t, "new.trail.yaml"))
	for _, text := range []string{`text: "a {{TOKEN}} z"`, `value: "a {{TOKEN}} z"`, `step: "{{TOKEN}}"`, `title: "{{TOKEN}}"`, `expected: "{{TOKEN}}"`} {
		if !strings.Contains(recording, text) {
			t.Errorf("the recording lacks %s:\n%s", text, recording)
		}
	}
	p.run("run", "new.trail.yaml", "--json").want(t, 3, "argument usual (string) is missing")
	replay := []string{"run", "new.trail.yaml", "--json", "--arg", "given=" + secret, "--arg", "usual=" + secret}
	p.run(replay...).want(t, 1, "unknown value {{TOKEN}}")
	p.run(append(replay, "--secret", "TOKEN="+secret, "--secret", "BRACES="+braces)...).want(t, 0)
	same(t, "the recording of the replay", recording, p.recording(t))
	noFormBelow(t, filepath.Join(p.dir, "logs"), forms)
}

func TestRecordingHasSuccessfulCalls(t *testing.T) {
	t.Parallel()
	const head, body = "trail:\n", "\n    recording:\n      web:\n"
	for name, tc := range map[string]struct {
		trail string
		code  int
		want  string
	}{
		"until a step failed": {
			webTrail("echo: { text: one }", "echo: { text: two }\n        - fail: {}\n        - echo: { text: three }", "echo: { text: four }"), 1,
			head + "  - step: do it" + body + "        - echo:\n            text: one\n  - step: do it\n  - step: do it\n",
		},
		"until a server broke":     {webTrail("echo: {}", "crash: {}"), 2, head + "  - step: do it" + body + "        - echo: {}\n  - step: do it\n"},
		"until a tool said fatal":  {webTrail("echo: {}", "fatal: {}"), 2, head + "  - step: do it" + body + "        - echo: {}\n  - step: do it\n"},
		"until a delegate failed":  {webTrail("delegate: { to: [ { tool: echo }, { tool: fail } ] }"), 1, head + "  - step: do it\n"},
		"in the list shape":        {"- config: { id: legacy }\n- prompts:\n    - step: do it\n      recording: { tools: [ { echo: {} } ] }\n    - verify: it is done\n      recordable: false\n- tools:\n    - delegate: { to: [ { tool: echo, args: { text: x } } ] }\n", 0, "- config:\n    id: legacy\n- prompts:\n    - step: do it\n      recording:\n        tools:\n          - echo: {}\n    - verify: it is done\n      recordable: false\n- tools:\n    - echo:\n        text: x\n"},
		"of the device's own kind": {"trail:\n  - step: do it\n    recording: { web: [ { echo: {} } ], web-phone: [ { echo: { text: small } } ], ios: [] }\n  - step: and that\n    recording: { web: [ { echo: {} } ] }\n", 0, head + "  - step: do it\n    recording:\n      web-phone:\n        - echo:\n            text: small\n  - step: and that\n    recording:\n      web-phone:\n        - echo: {}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := teamProject(t, tc.trail)
			p.run("run", "--json", "--unrecorded", "skip", "--classifier", "web,phone").want(t, tc.code)
			want := strings.ReplaceAll(tc.want, "      web:\n", "      web-phone:\n")
			same(t, "recording", want, p.recording(t))
			if tc.code == 0 {
				p.run("run", "--unrecorded", "skip", "--classifier", "web,phone", filepath.Join(p.session(t), "recording.trail.yaml")).want(t, 0)
			}
		})
	}
}

func TestRecordingOfLastAttemptCounts(t *testing.T) {
	t.Parallel()
	p := teamProject(t, webTrail("echo: {}", "failFirst: {}"))
	r := p.run("run", "--json", "--retries", "2", "--record", "new.trail.yaml")
	r.want(t, 0, "written to new.trail.yaml")
	if strings.Contains(r.stdout, "is not written") {
		t.Errorf("the first attempt was taken for the last:\n%s", r.stdout)
	}
	same(t, "what was recorded", p.recording(t), p.read(t, "new.trail.yaml"))
	same(t, "the last attempt", []string{"echo", "failFirst"}, p.recordedTools(t))
	recordings, err := filepath.Glob(filepath.Join(p.dir, "logs", "a_*", "recording.trail.yaml"))
	if err != nil || len(recordings) != 2 {
		t.Errorf("%v: %q", err, recordings)
	}
}

// delegated is a trail whose calls for web are changed by a recording, with what must stay around them.
const delegated = `# The cart, as it was recorded in spring.
config: { title: "The cart", memory: { who: Ann } }   # who

trailhead:
    step: 'begin'
    recording: { web: { echo: { text: hi } }, ios: [] }
trail:
    - step: fill it   # to the brim
      recording:
          android:
              - echo: { text: "android's" }

          # what the web does
          web:
              - delegate: { to: [ { tool: echo, args: { text: 'a \{{who}}' } }, { tool: take, args: { value: [ 1, "1" ] } } ] }
          ios: [ ]

    - verify: nothing changes here
      recording: { web: [ { echo: { text: "same" } } ] }   # the same
    - step: "third"
      recording: { ios: [ { echo: {} } ], web: [ { sometimes: { to: [ { tool: echo } ] } } ] }
# the end
`

// recordedInto is delegated after a recording.
func recordedInto() string {
	return strings.NewReplacer(
		`              - delegate: { to: [ { tool: echo, args: { text: 'a \{{who}}' } }, { tool: take, args: { value: [ 1, "1" ] } } ] }`,
		"              - echo:\n                    text: \"a {{who}}\"\n              - take:\n                    value:\n                        - 1\n                        - \"1\"",
		"[ { sometimes: { to: [ { tool: echo } ] } } ]", "[{ echo: {} }]",
	).Replace(delegated)
}

func TestRecordReplacesOnlyCallsOfDevice(t *testing.T) {
	t.Parallel()
	crlf := strings.NewReplacer("\n", "\r\n")
	for name, tc := range map[string]struct{ before, after string }{
		"line feeds":            {delegated, recordedInto()},
		"carriage returns":      {crlf.Replace(delegated), crlf.Replace(recordedInto())},
		"a byte order mark":     {"\ufeff" + delegated, "\ufeff" + recordedInto()},
		"no end of line":        {strings.TrimSuffix(delegated, "\n"), strings.TrimSuffix(recordedInto(), "\n")},
		"nothing to be changed": {recordedInto(), recordedInto()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := teamProject(t, tc.before)
			p.write("other.trail.yaml", strings.ReplaceAll(tc.before, "spring", "autumn"))
			p.run("run", "--record", "other.trail.yaml").wantErr(t, 0, "written to other.trail.yaml")
			same(t, "another file with the same steps", strings.ReplaceAll(tc.after, "spring", "autumn"), p.read(t, "other.trail.yaml"))
			same(t, "the trail that ran", tc.before, p.read(t, "trails/a.trail.yaml"))
			p.run("run", "--record", "trails/a.trail.yaml").want(t, 0)
			same(t, "the trail itself", tc.after, p.read(t, "trails/a.trail.yaml"))
		})
	}
}

func TestRecordCreatesFileAndAddsDevices(t *testing.T) {
	t.Parallel()
	p := teamProject(t, webTrail("delegate: { to: [ { tool: echo, args: { text: hi } } ] }"))
	p.run("run", "--record", "new/and/deep/a.trail.yaml", "--classifier", "web,phone").want(t, 0)
	const phone = "trail:\n  - step: do it\n    recording:\n      web-phone:\n        - echo:\n            text: hi\n"
	same(t, "a new file", phone, p.read(t, "new/and/deep/a.trail.yaml"))
	p.run("run", "--record", "new/and/deep/a.trail.yaml").want(t, 0)
	same(t, "with another device", phone+"      web:\n        - echo:\n            text: hi\n", p.read(t, "new/and/deep/a.trail.yaml"))
	p.run("run", "new").want(t, 0)
}

func TestRecordKeepsFileModeAndFollowsLink(t *testing.T) {
	t.Parallel()
	p := teamProject(t, delegated)
	link := p.path("linked.trail.yaml")
	if err := os.Symlink("trails/a.trail.yaml", link); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.path("trails/a.trail.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.run("run", "--record", "linked.trail.yaml").want(t, 0)
	same(t, "the file", recordedInto(), p.read(t, "trails/a.trail.yaml"))
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if info, err := os.Stat(link); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	same(t, "files beside it", []string{"trails/a.trail.yaml"}, below(t, p.dir, "trails"))
}

// below lists the files below a folder.
func below(t *testing.T, root, folder string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(root, path)
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRecordErrorsBeforeServersStart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file, content string
		args          []string
		want          string
	}{
		"several trails":          {"new.trail.yaml", "", []string{"trails", "more"}, "--record writes the recording of one trail, and these are 2"},
		"several rows":            {"new.trail.yaml", "", []string{"trails", "--args-file", "rows.yaml"}, "these are 2"},
		"a dry run":               {"new.trail.yaml", "", []string{"trails", "--dry-run"}, "record"},
		"other steps":             {"old.trail.yaml", webTrail("echo: {}", "echo: {}"), nil, "old.trail.yaml does not have the recorded steps"},
		"another text":            {"old.trail.yaml", strings.Replace(webTrail("echo: {}"), "do it", "do that", 1), nil, `line 2 has step "do that", the recording has step "do it"`},
		"no trail":                {"old.trail.yaml", "target: app\n", nil, "old.trail.yaml:1:1"},
		"a file that is no YAML":  {"old.trail.yaml", "trail: [\n", nil, "old.trail.yaml:1:8"},
		"a file with a mistake":   {"old.trail.yaml", webTrail("echo: { text: '{{' }"), nil, "old.trail.yaml:5"},
		"a value nobody can name": {"new.trail.yaml", "", []string{"--memory", "1x=y"}, `--memory: \"1x\" is not a valid name`},
		"a folder":                {"trails", "", nil, "not a regular file"},
		"a folder that is a file": {"trailblaze.yaml/new.trail.yaml", "", nil, "not a directory"},
		"a place for nobody":      {"/proc/self/nowhere/new.trail.yaml", "", nil, "choose a --record file that can be read and written"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := teamProject(t, webTrail("echo: {}"))
			p.write("more/b.trail.yaml", webTrail("echo: {}"))
			p.write("rows.yaml", "- {}\n- {}\n")
			if tc.content != "" {
				p.write(tc.file, tc.content)
			}
			before := below(t, p.dir, ".")
			r := p.run(append([]string{"run", "--json", "--record", tc.file}, tc.args...)...)
			r.want(t, 3, tc.want)
			if strings.Contains(r.stdout, "server.started") || strings.Contains(r.stdout, "bug") {
				t.Errorf("want it refused before any server starts:\n%s", r.stdout)
			}
			same(t, "files", before, slices.DeleteFunc(below(t, p.dir, "."), func(name string) bool { return strings.HasPrefix(name, "logs/") }))
			if tc.content != "" {
				same(t, tc.file, tc.content, p.read(t, tc.file))
			}
		})
	}
}

func TestFailedTrailRecordsNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trail string
		code  int
	}{
		"failed":               {strings.Replace(delegated, `text: "same"`, `text: "{{nobody}}"`, 1), 1},
		"a server broke":       {strings.Replace(delegated, "sometimes: { to: [ { tool: echo } ] }", "crash: {}", 1), 2},
		"arguments do not fit": {strings.Replace(delegated, `text: "same"`, "text: 5", 1), 1},
		"needs an agent":       {strings.Replace(delegated, `recording: { web: [ { echo: { text: "same" } } ] }`, "recordable: false", 1), 1},
		"is skipped":           {strings.Replace(delegated, "config: { ", "config: { skip: later, ", 1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := teamProject(t, tc.trail)
			p.run("run", "--record", "trails/a.trail.yaml").wantErr(t, tc.code, "trails/a.trail.yaml is not written, because the trail did not pass")
			same(t, "the file", tc.trail, p.read(t, "trails/a.trail.yaml"))
			p.run("run", "--json", "--record", "new/a.trail.yaml").want(t, tc.code, "new/a.trail.yaml is not written")
			if _, err := os.Stat(p.path("new")); err == nil {
				t.Error("a folder was made")
			}
		})
	}
}

func TestInterruptedRunDoesNotChangeFile(t *testing.T) {
	t.Parallel()
	trail := strings.Replace(delegated, "sometimes: { to: [ { tool: echo } ] }", "hang: {}", 1)
	p := teamProject(t, trail)
	code, output := signalled(t, p.command("run", "--record", "trails/a.trail.yaml"), reached(t, p, "call"), syscall.SIGINT, false)
	if code != 130 || !strings.Contains(output, "trails/a.trail.yaml is not written") {
		t.Errorf("exit code %d\n%s", code, output)
	}
	same(t, "the file", trail, p.read(t, "trails/a.trail.yaml"))
	same(t, "files beside it", []string{"trails/a.trail.yaml"}, below(t, p.dir, "trails"))
	if recording := p.recording(t); !strings.Contains(recording, "a {{who}}") || strings.Contains(recording, "hang:") {
		t.Errorf("recording\n%s", recording)
	}
	spawntest.NoSurvivors(t, p.marker)
}

// generator writes trails that pass, with texts that make trouble.
type generator struct {
	*rand.Rand
	saved []string // names that calls have saved so far
}

// fragments are parts of texts: tokens, what looks like them, and what YAML, JSON or a terminal might read as something
// else.
var fragments = []string{
	"{{who}}", "{{ list.1 }}", "{{obj.deep.x}}", "{{obj}}", "{{TOKEN}}", " " + secret, `\{{`, `\{{who}}`, "}}", "{x", "${who}", "${x}", "${ ", "$", `\`, `\\`, ": ", " #",
	"\n", "\n\n", "\n  ", " \n", "\t", "\r\n", "\r", "- ", "---", "...", "'", `"`, "ä", "日本", "🙂", "\u2028", "\u0085", "\ufeff", "\u00a0", "\x07", "\x7f", "007", "1e3", "0x1F",
	"null", "~", "yes", "true", "&a", "*a", "!!str", "|", ">", "%", "@", "`", "?", "[", "]", ",", "<<", "=", " ", "  ", "word", "two words",
}

func (g *generator) pick(of []string) string { return of[g.IntN(len(of))] }

func (g *generator) text() string {
	var b strings.Builder
	for range g.IntN(6) {
		b.WriteString(g.pick(fragments))
		if len(g.saved) > 0 && g.IntN(8) == 0 {
			b.WriteString("{{" + g.pick(g.saved) + "}}")
		}
	}
	return b.String()
}

func (g *generator) value(depth int) any {
	switch n := g.IntN(12); {
	case n < 2 && depth > 0:
		list := make([]any, g.IntN(3))
		for i := range list {
			list[i] = g.value(depth - 1)
		}
		return list
	case n < 4 && depth > 0:
		object := map[string]any{}
		for range g.IntN(3) {
			object[strings.ReplaceAll(g.text(), secret, "")] = g.value(depth - 1)
		}
		return object
	case n < 7:
		return []any{nil, true, false, 0, -1, 42, 0.1, 12.5, -1e-7, 1e21, 3.0, uint64(18446744073709551615), json.Number("12345678901234567890.5")}[g.IntN(13)]
	case n < 9:
		return []any{"007", "1e3", "3", "3.0", "-0", "0x1F", "1_000", "null", "~", "true", "No", "2026-11-20", "12:30", "", " ", "\n"}[g.IntN(16)]
	}
	return g.text()
}

// call is one call as a trail has it; within one of delegates it has no saveAs.
func (g *generator) call(depth int) (tool string, args map[string]any) {
	text := map[string]any{"text": "t" + g.text()}
	switch n := g.IntN(14); {
	case n < 3:
		return "echo", text
	case n < 7:
		return "take", map[string]any{"value": g.value(3)}
	case n == 7:
		return "remember", map[string]any{"name": g.pick([]string{"kept", "who", "k.x"}), "value": "t" + g.text()}
	case n == 8:
		return "rememberValue", map[string]any{"name": g.pick([]string{"list2", "who2"}), "value": g.value(2)}
	case n == 9:
		v := g.value(2)
		return "assertEquals", map[string]any{"expected": v, "actual": v, "message": "m" + g.text()}
	case n == 10:
		return []string{"dumpMemory", "quiet"}[g.IntN(2)], map[string]any{}
	case n == 11:
		return "unrecorded", text
	}
	if depth == 0 {
		return "ask", map[string]any{"tool": "echo", "args": map[string]any{"text": "t" + g.text()}}
	}
	to := make([]any, g.IntN(4))
	for i := range to {
		tool, args := g.call(depth - 1)
		to[i] = map[string]any{"tool": tool, "args": trail.Escape(args)}
	}
	delegation := map[string]any{"to": to, "where": g.pick([]string{"structured", "text", "both"})}
	if g.IntN(2) == 0 {
		delegation["remember"] = map[string]any{"r" + g.pick([]string{"1", "2.x"}): g.text()}
	}
	return g.pick([]string{"delegate", "sometimes"}), delegation
}

func (g *generator) calls() []any {
	calls := []any{}
	for range g.IntN(5) {
		tool, args := g.call(2)
		call := map[string]any{tool: args}
		if g.IntN(3) == 0 && slices.Contains([]string{"echo", "take", "dumpMemory", "quiet"}, tool) {
			name := g.pick([]string{"s1", "s2", "s-3"})
			call["saveAs"] = name
			g.saved = append(g.saved, name)
		}
		if g.IntN(5) == 0 {
			call["timeout"] = g.pick([]string{"20s", "1m30s", "12500ms"})
		}
		calls = append(calls, call)
	}
	return calls
}

type object = map[string]any

// trail is a whole file of either shape, as JSON: that is YAML too.
func (g *generator) trail(t *testing.T) string {
	t.Helper()
	list := g.IntN(4) == 0
	config := object{
		"title":  "t" + g.text(),
		"memory": object{"who": "Ann: 'A' #1", "list": []any{1, "two\n", 3.5}, "obj": object{"deep": object{"x": "{{who}}"}}, "v": g.value(3)},
	}
	step := func(calls []any) object {
		recording := object{"web": calls, "ios": []any{object{"echo": object{}}}}
		if list {
			recording = object{"tools": calls}
		}
		return object{"step": "s" + g.text(), "recording": recording}
	}
	first := step(g.calls()) // in the order in which they run, because later calls use what earlier ones save
	steps := []any{step(g.calls()), step(g.calls())}
	last := []any{object{"dumpMemory": object{}}}
	var file any = object{"config": config, "trailhead": first, "trail": append(steps, step(g.calls()), step(last))}
	if list {
		file = []any{object{"config": config}, object{"trailhead": first}, object{"prompts": steps}, object{"tools": g.calls()}, object{"prompts": []any{step(last)}}}
	}
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\x7f", `\x7f`) + "\n" // YAML forbids this one as it is
}

// TestRecordingOfRecordingIsTheSame generates trails. A recording of one replays with the same calls, and what the
// replay records is the recording, byte for byte; so is what is written into the recording itself. A short run
// generates fewer.
func TestRecordingOfRecordingIsTheSame(t *testing.T) {
	t.Parallel()
	const first, lists = 1, 2 // in two runs, for two processors
	trails := uint64(30)
	if testing.Short() {
		trails = 10
	}
	for part := range lists {
		t.Run(fmt.Sprint("part ", part+1), func(t *testing.T) {
			t.Parallel()
			p := newProject(t, map[string]string{
				"trailblaze.yaml": strings.Replace(teamConfig(t), " }", ", env: { CALLS: calls } }", 1), "calls/.keep": "",
			})
			for seed := uint64(first + part); seed < first+trails; seed += lists {
				g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
				p.write(fmt.Sprintf("trails/s%d.trail.yaml", seed), g.trail(t))
			}
			fixedPoints(t, p)
		})
	}
}

// replayed is what a session left.
type replayed struct {
	recording string
	calls     []string // that were sent to the server and are of tools that are recorded
}

// fixedPoints runs all trails of a project, then their recordings, and then one of these into itself.
func fixedPoints(t *testing.T, p *project) {
	t.Helper()
	run := func(args ...string) map[string]replayed {
		r := p.run(append([]string{"run", "--json", "--unrecorded", "skip", "--secret", "TOKEN=" + secret}, args...)...)
		for _, e := range ofType(r.events(t), "trail.finished") {
			if e["outcome"] != "passed" {
				t.Errorf("%s: %s: %s", e["file"], e["outcome"], e["reason"])
			}
		}
		return p.sessions(t, r)
	}
	first := run("trails")
	for name, s := range first {
		p.write("again/"+name+".trail.yaml", s.recording)
	}
	second := run("again")
	for name, s := range first {
		same(t, name+": the recording of the recording", s.recording, second[name].recording)
		same(t, name+": the calls of the recording", s.calls, second[name].calls)
	}
	for _, name := range slices.Sorted(maps.Keys(first))[:2] {
		file := "again/" + name + ".trail.yaml"
		run(file, "--record", file)
		same(t, name+": the recording into itself", first[name].recording, p.read(t, file))
		file = "trails/" + name + ".trail.yaml"
		run(file, "--record", file)
		once := p.read(t, file)
		same(t, name+": the calls of the trail that was recorded into itself", first[name].calls, run(file, "--record", file)[name].calls)
		same(t, name+": the trail that was recorded into itself", once, p.read(t, file))
	}
	if t.Failed() {
		t.Log("the number of a trail is the seed of its generator")
	}
}

// sessions is what the sessions of a run left, by the name of their trail.
func (p *project) sessions(t *testing.T, r result) map[string]replayed {
	t.Helper()
	out := map[string]replayed{}
	for _, e := range ofType(r.events(t), "log") {
		if message, _ := e["message"].(string); strings.Contains(message, "cannot be written") {
			t.Errorf("%s: %s", e["trail"], e["message"])
		}
	}
	for _, e := range ofType(r.events(t), "trail.finished") {
		id, _ := e["session"].(string)
		name, _, ran := strings.Cut(id, "_")
		if !ran {
			continue
		}
		s := replayed{recording: p.read(t, "logs/"+id+"/recording.trail.yaml")}
		calls, err := os.ReadFile(p.path("calls/" + id))
		if err != nil && !os.IsNotExist(err) { // a trail may call built-in tools only
			t.Fatal(err)
		}
		for line := range strings.Lines(string(calls)) {
			if !strings.HasPrefix(line, `["delegate"`) && !strings.HasPrefix(line, `["sometimes"`) && !strings.HasPrefix(line, `["unrecorded"`) {
				s.calls = append(s.calls, line)
			}
		}
		out[name] = s
	}
	return out
}
