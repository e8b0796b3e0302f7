//go:build unix

package e2e_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shopCopy is the example in a folder of its own, with the trails that a test names.
func shopCopy(t *testing.T, trails ...string) *project {
	t.Helper()
	p := exampleProject(t, "node", bunPath)
	source := p.dir
	p.dir = t.TempDir()
	problems := []error{}
	for _, dir := range []string{"pages", "tools", "trailblaze-config"} {
		problems = append(problems, os.CopyFS(filepath.Join(p.dir, dir), os.DirFS(filepath.Join(source, dir))))
	}
	for _, link := range []string{"node_modules", "bin"} {
		problems = append(problems, os.Symlink(filepath.Join(source, link), filepath.Join(p.dir, link)))
	}
	for _, err := range problems {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range append(trails, "trailblaze.yaml", "package.json") {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		p.write(name, string(text))
	}
	return p
}

// brokenTrail is the trail that the guide repairs.
const brokenTrail = `config: { target: storefront, title: Broken, devices: { web: playwright-native } }
trail:
  - step: Open the shop
    recording:
      web:
        - startShop: {}
        - web_navigate: { url: "{{shopUrl}}" }
  - step: Open the cart # by its old name
    recording:
      web:
        - web_click: { nodeSelector: { web: { ariaRole: link, ariaNameRegex: Basket } } }
          timeout: 1s
  - verify: It is empty
    recording: { web: [ { web_verifyTextVisible: { text: "Your cart" } } ] }
`

// TestGuideToWritingTrails runs each command of the guide and compares its output with that in the guide.
func TestGuideToWritingTrails(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/write-a-trail.md")
	if err != nil {
		t.Fatal(err)
	}
	p := shopCopy(t)
	p.endSessions(t)
	p.write("trails/broken.trail.yaml", brokenTrail)
	commands, refs := 0, references{}
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for example := range strings.SplitSeq(strings.TrimPrefix(block[1], "$ "), "\n$ ") {
			line, want, _ := strings.Cut(strings.TrimSpace(example), "\n")
			words := shellWords(t, refs.replace(line))
			if words[0] == "export" {
				p.env = append(p.env, words[1])
				continue
			}
			commands++
			r := p.run(words[1:]...)
			output := regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(r.stdout+r.stderr, "127.0.0.1:PORT")
			fails := strings.Contains(want, "error:") || strings.Contains(want, " failed at ")
			if (r.code != 0) != fails {
				t.Fatalf("%s: exit code %d\n%s", line, r.code, output)
			}
			lines := strings.Split(output, "\n")
			for expected := range strings.SplitSeq(want, "\n") {
				if !refs.find(lines, expected) {
					t.Errorf("%s: no line %q in\n%s", line, expected, output)
				}
			}
		}
	}
	if commands < 20 {
		t.Errorf("only %d commands are found", commands)
	}
	repaired := strings.Replace(brokenTrail, "by its old name", "", 1)
	if saved := p.read(t, "trails/broken.trail.yaml"); !strings.Contains(saved, "# by its old name") || !strings.Contains(saved, "It is empty\n    recording: { web: [") || saved == repaired {
		t.Errorf("the repaired trail is\n%s", saved)
	}
	if saved := p.read(t, "trails/storefront/find-a-mug.trail.yaml"); strings.Contains(saved, "ref:") || !strings.Contains(saved, "{{shopUrl}}") {
		t.Errorf("the saved trail is\n%s", saved)
	}
}

// TestGettingStartedRecordsTrail runs the commands of the section about recording in the project of init.
func TestGettingStartedRecordsTrail(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/getting-started.md")
	if err != nil {
		t.Fatal(err)
	}
	p := newProject(t, nil)
	p.endSessions(t)
	p.run("init").want(t, 0)
	_, section, _ := strings.Cut(string(text), "## 4. ")
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(section)[1]
	for line := range strings.Lines(block) {
		line, _, _ = strings.Cut(line, "  #")
		p.run(shellWords(t, line)[1:]...).wantOutput(t, 0)
	}
	p.run("run", "trails/grace.trail.yaml").want(t, 0, "1 passed")
}

// references are the references of a run by those in the guide. Which element has which number depends on how often the
// page was rendered.
type references map[string]string

// find reports whether a line of the guide is one of the output, apart from its reference, and remembers that.
func (r references) find(lines []string, expected string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(expected)), "…", ".*")
	ref := regexp.MustCompile(`\[ref=(e\d+)`).FindStringSubmatch(expected)
	if ref != nil {
		pattern = strings.Replace(pattern, "ref="+ref[1], `ref=(e\d+)`, 1)
	}
	full := regexp.MustCompile(`^\s*` + pattern + `(?: \(was e\d+\))?$`)
	for _, line := range lines {
		if m := full.FindStringSubmatch(line); m != nil {
			if ref != nil {
				r[ref[1]] = m[1]
			}
			return true
		}
	}
	return false
}

// replace returns a command with the references of the run.
func (r references) replace(line string) string {
	return regexp.MustCompile(`\bref=e\d+`).ReplaceAllStringFunc(line, func(arg string) string {
		name := strings.TrimPrefix(arg, "ref=")
		return "ref=" + cmp.Or(r[name], name)
	})
}

// shellWords splits a line as a shell does, without anything but double and single quotes.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	for _, m := range regexp.MustCompile(`(?:[^\s"']|"[^"]*"|'[^']*')+`).FindAllString(line, -1) {
		words = append(words, strings.NewReplacer(`"`, "", `'`, "").Replace(m))
	}
	if len(words) == 0 {
		t.Fatal(fmt.Errorf("no words in %q", line))
	}
	return words
}
