//go:build unix

package e2e_test

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/trailblaze/trailblaze/cmd"
)

// docBlock is a fenced block of a page.
type docBlock struct {
	lang, text string
	line       int
	// file is the name in a comment in the first line, such as trailblaze.yaml.
	file string
}

// docCommand is a command of a page.
type docCommand struct {
	// text is what a shell reads, with the lines of a here-document.
	text string
	line int
	// output is what the page shows below the command.
	output string
}

// name is the first line of a command, without a comment.
func (c docCommand) name() string {
	first, _, _ := strings.Cut(c.text, "\n")
	return regexp.MustCompile(`\s+#.*`).ReplaceAllString(first, "")
}

var (
	fence     = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$")
	blockFile = regexp.MustCompile(`^(?:#|//) ([\w./-]+\.(?:yaml|ts|py))\n`)
	codeSpan  = regexp.MustCompile("`((?:trailblaze|make) [^`]+)`")
	// commandLine is a command of trailblaze in a line of a shell, of YAML or of a sentence.
	commandLine   = regexp.MustCompile(`(?:^|[a-z]+: |exec |&& |npx )trailblaze ([^&|;>#]*)`)
	isTrail       = regexp.MustCompile(`(?m)^(trail:|- prompts:)`)
	isProjectFile = regexp.MustCompile(`^(trailblaze\.yaml|trailblaze-config/.*|.*trail\.yaml)$`)
	referredFile  = regexp.MustCompile(`(?:script|use): (?:\./)?([\w./-]+)`)
	variable      = regexp.MustCompile(`[^$]\$\{(\w+)`)
	exampleFile   = regexp.MustCompile(`\]\(\.\./(testdata/[\w/.-]+\.(?:ts|py|go))\)`)
	makeTarget    = regexp.MustCompile(`(?:^|&& )make ([a-z-]+)`)
)

// userPages are the pages whose commands are executed.
func userPages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("pages: %q, %v", pages, err)
	}
	return append(pages, "../README.md", "../CONTRIBUTING.md", "../SECURITY.md", "../npm/README.md",
		"../sdks/python/README.md", "../sdks/typescript/README.md", "../testdata/projects/shop/README.md")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// docBlocks returns the text of a page and its blocks.
func docBlocks(t *testing.T, page string) (text string, blocks []docBlock) {
	t.Helper()
	text = read(t, page)
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		b := docBlock{lang: text[m[2]:m[3]], text: text[m[4]:m[5]], line: 2 + strings.Count(text[:m[0]], "\n")}
		if file := blockFile.FindStringSubmatch(b.text); file != nil {
			b.file = file[1]
		}
		blocks = append(blocks, b)
	}
	return text, blocks
}

// commands returns the commands of a block of a shell, in their order.
func (b docBlock) commands() (commands []docCommand) {
	shows, end := b.lang == "console", ""
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		last := len(commands) - 1
		command, prompt := strings.CutPrefix(line, "$ ")
		switch {
		case b.lang != "sh" && !shows:
			return nil
		case end != "":
			commands[last].text += "\n" + line
			if line == end {
				end = ""
			}
		case shows && !prompt:
			commands[last].output += line + "\n"
		case command != "":
			commands = append(commands, docCommand{text: command, line: b.line + i})
			if here := regexp.MustCompile(`<<'(\w+)'`).FindStringSubmatch(command); here != nil {
				end = here[1]
			}
		}
	}
	return commands
}

// TestEveryCommandOfDocsIsExecuted fails for a command that no test executes, and for one that trailblaze does not
// accept, also in a sentence or in the configuration of a CI.
func TestEveryCommandOfDocsIsExecuted(t *testing.T) {
	t.Parallel()
	makefile, excused := read(t, "../Makefile"), map[string]bool{}
	for _, page := range userPages(t) {
		text, blocks := docBlocks(t, page)
		_, executed := executedPages[strings.TrimPrefix(page, "../")]
		prose := fence.ReplaceAllStringFunc(text, blankLines)
		for _, m := range codeSpan.FindAllStringSubmatchIndex(prose, -1) {
			at := fmt.Sprintf("%s:%d", page, 1+strings.Count(prose[:m[0]], "\n"))
			checkCommands(t, at, makefile, oneLine(prose[m[2]:m[3]]))
		}
		for _, b := range blocks {
			at := fmt.Sprintf("%s:%d", page, b.line)
			if b.lang != "sh" && b.lang != "console" && regexp.MustCompile(`(?m)^(\$ |trailblaze |make )`).MatchString(b.text) {
				t.Errorf("%s: a block with commands is not marked as sh or console", at)
			}
			if b.lang == "yaml" {
				checkYAML(t, at, makefile, b)
			}
			for _, c := range b.commands() {
				at := fmt.Sprintf("%s:%d", page, c.line)
				checkCommands(t, at, makefile, c.name())
				if notExecuted[c.name()] != "" {
					excused[c.name()] = true
				} else if !executed {
					t.Errorf("%s: no test executes %q: add the page to executedPages, or the command to notExecuted", at, c.name())
				}
			}
		}
	}
	for name := range notExecuted {
		if !excused[name] {
			t.Errorf("notExecuted has %q, which no page has", name)
		}
	}
}

// blankLines replaces everything but line ends by spaces.
func blankLines(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}

// checkYAML checks that a block is valid YAML, and the commands in it.
func checkYAML(t *testing.T, at, makefile string, b docBlock) {
	t.Helper()
	var v any
	if err := yaml.UnmarshalWithOptions([]byte(b.text), &v, yaml.Strict()); err != nil {
		t.Errorf("%s: %v", at, err)
	}
	text := regexp.MustCompile(`\[trailblaze, .*\]`).ReplaceAllStringFunc(b.text, func(list string) string {
		return strings.NewReplacer(",", "", "[", "", "]", "").Replace(list)
	})
	for line := range strings.Lines(text) {
		checkCommands(t, at, makefile, strings.TrimSpace(line))
	}
}

// checkCommands parses every command line of trailblaze in a line, as trailblaze does, and looks for the targets of
// make.
func checkCommands(t *testing.T, at, makefile, line string) {
	t.Helper()
	for _, m := range makeTarget.FindAllStringSubmatch(line, -1) {
		if !strings.Contains(makefile, "\n"+m[1]+":") {
			t.Errorf("%s: the Makefile has no target %s", at, m[1])
		}
	}
	for _, m := range commandLine.FindAllStringSubmatch(line, -1) {
		if err := parseCommand(shellWords(t, m[1])); err != nil {
			t.Errorf("%s: %s: %v", at, m[0], err)
		}
	}
}

func parseCommand(args []string) error {
	root := cmd.Commands()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	command, rest, err := root.Find(args)
	if err == nil {
		err = command.ParseFlags(rest)
	}
	if err == nil {
		err = command.ValidateArgs(command.Flags().Args())
	}
	if err == nil && command.HasSubCommands() && !command.Runnable() && command.Flags().NArg() > 0 {
		err = fmt.Errorf("unknown command %q", command.Flags().Arg(0))
	}
	return err
}

// docShell is a shell in which the commands of a page are executed.
type docShell struct {
	*project
	// replace has what a page names, and what is used in its place, by turns.
	replace []string
	refs    references
	check   func() // at the end, if not nil
	close   func()
	input   io.Writer
	output  *bufio.Reader
}

// startShell starts the shell in the folder of the project. The program trailblaze is on its PATH.
func (s *docShell) startShell(t *testing.T) {
	t.Helper()
	programs, no := t.TempDir(), filepath.Join(bin(t, "false"), "false")
	// Without adb, doctor starts no adb server.
	for name, target := range map[string]string{"trailblaze": self(t), "adb": no} {
		if err := os.Symlink(target, filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	path := os.Getenv("PATH")
	for _, kv := range s.env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = value
		}
	}
	c := exec.Command("sh")
	c.Dir, c.Env = s.dir, append(slices.Clone(s.env), "E2E_MAIN=1", "PATH="+programs+":"+path+":/usr/bin:/bin")
	input, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = c.Stdout
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.close = sync.OnceFunc(func() {
		_ = input.Close()
		_, _ = io.Copy(io.Discard, output)
		if err := c.Wait(); err != nil {
			t.Errorf("the shell: %v", err)
		}
	})
	t.Cleanup(s.close)
	s.input, s.output, s.refs = input, bufio.NewReader(output), references{}
}

// execute runs a command in the shell, and compares its output with that in the page.
func (s *docShell) execute(t *testing.T, page string, c docCommand) {
	t.Helper()
	const end = "<exit code>"
	text := strings.NewReplacer(s.replace...).Replace(s.refs.replace(c.text))
	if _, err := fmt.Fprintf(s.input, "{ %s\n} </dev/null 2>&1; echo \"%s $?\"\n", text, end); err != nil {
		t.Fatalf("%s:%d: %v", page, c.line, err)
	}
	var output, code string
	for code == "" {
		line, err := s.output.ReadString('\n')
		if err != nil {
			t.Fatalf("%s:%d: %s: %v\n%s%s", page, c.line, c.name(), err, output, line)
		}
		before, after, _ := strings.Cut(line, end)
		output, code = output+before, strings.TrimSpace(after)
	}
	output = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(output, "127.0.0.1:PORT")
	fails := strings.Contains(c.output, "error:") || strings.Contains(c.output, " failed at ") || strings.Contains(c.output, " failed in ")
	if (code != "0") != fails {
		t.Fatalf("%s:%d: %s: exit code %s\n%s", page, c.line, c.name(), code, output)
	}
	lines := strings.Split(output, "\n")
	for expected := range strings.SplitSeq(strings.TrimSpace(c.output), "\n") {
		if !s.refs.find(lines, expected) {
			t.Errorf("%s:%d: %s: no line %q in\n%s", page, c.line, c.name(), expected, output)
		}
	}
}

// TestCommandsOfDocs executes the commands of each page in a shell, in their order. A short run executes few pages.
func TestCommandsOfDocs(t *testing.T) {
	t.Parallel()
	for page, how := range executedPages {
		if testing.Short() && !how.short {
			continue
		}
		t.Run(strings.TrimSuffix(strings.ReplaceAll(page, "/", "_"), ".md"), func(t *testing.T) {
			t.Parallel()
			s := how.setUp(t)
			if err := os.MkdirAll(s.sessionsDir(), 0o700); err != nil {
				t.Fatal(err)
			}
			s.endSessions(t)
			s.startShell(t)
			_, blocks := docBlocks(t, "../"+page)
			for _, b := range blocks {
				if slices.Contains(how.files, b.file) {
					s.write(b.file, strings.NewReplacer(s.replace...).Replace(b.text))
				}
				for _, c := range b.commands() {
					if notExecuted[c.name()] == "" {
						s.execute(t, page, c)
					}
				}
			}
			s.close()
			if s.check != nil {
				s.check()
			}
		})
	}
}

// references are the references of a run by those in a page. Which element has which number depends on how often the
// page was rendered.
type references map[string]string

// find reports whether a line of a page is one of the output, apart from its reference, and remembers that.
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

// TestFilesOfDocsAreValid checks each trail and project file that the docs show, with what the file refers to, if no
// command of the page uses it.
func TestFilesOfDocsAreValid(t *testing.T) {
	t.Parallel()
	files := 0
	for _, page := range userPages(t) {
		_, blocks := docBlocks(t, page)
		for _, b := range blocks {
			name := b.file
			if isTrail.MatchString(b.text) {
				name = cmp.Or(name, "trails/shown.trail.yaml")
			}
			used := slices.Contains(executedPages[strings.TrimPrefix(page, "../")].files, name)
			if b.lang != "yaml" || used || !isProjectFile.MatchString(name) {
				continue
			}
			files++
			p := newProject(t, map[string]string{
				"trailblaze.yaml": "target: app\nplatform: web\nmcpServers: [{ name: team, command: team-tools }]\n", name: b.text,
			})
			for _, m := range referredFile.FindAllStringSubmatch(b.text, -1) {
				p.write(m[1], "config: { args: { user: {} } }\n"+webTrail("wait: {}"))
			}
			for _, m := range variable.FindAllStringSubmatch(b.text, -1) {
				p.env = append(p.env, m[1]+"=https://example.com")
			}
			if r := p.run("check", "--memory", "email=ada@example.com", "--secret", "password=apples"); r.code != 0 {
				t.Errorf("%s:%d: %s\n%s%s", page, b.line, name, r.stdout, r.stderr)
			}
		}
	}
	if files < 30 {
		t.Errorf("only %d files are found", files)
	}
}

// TestCodeOfDocsIsThatOfExamples looks for each paragraph of code in the files to which its page links.
func TestCodeOfDocsIsThatOfExamples(t *testing.T) {
	t.Parallel()
	found := 0
	for _, page := range userPages(t) {
		text, blocks := docBlocks(t, page)
		var linked strings.Builder
		for _, m := range exampleFile.FindAllStringSubmatch(text, -1) {
			linked.WriteString(oneLine(read(t, "../"+m[1])))
		}
		for _, b := range blocks {
			if linked.Len() == 0 || !slices.Contains([]string{"ts", "python", "go"}, b.lang) {
				continue
			}
			for paragraph := range strings.SplitSeq(b.text, "\n\n") {
				if found++; !strings.Contains(linked.String(), oneLine(paragraph)) {
					t.Errorf("%s:%d: no file to which the page links has\n%s", page, b.line, paragraph)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d paragraphs are found", found)
	}
}

// oneLine replaces spaces and line ends by single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
