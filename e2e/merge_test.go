//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shardedProject has seven trails: trail 2 fails, the others pass.
func shardedProject(t *testing.T) *project {
	t.Helper()
	files := map[string]string{"trailblaze.yaml": noisyProject}
	for i := range 7 {
		files[fmt.Sprintf("trails/%d.trail.yaml", i)] = webTrail(fmt.Sprintf("echo: { text: I am %d }", i))
	}
	files["trails/2.trail.yaml"] = webTrail("echo: { text: I am 2 }", "fail: {}")
	return newProject(t, files)
}

// shards replays some of three shards and returns their exit codes.
func (p *project) shards(t *testing.T, which ...int) []int {
	t.Helper()
	var codes []int
	for _, i := range which {
		codes = append(codes, p.run("run", "--shard", fmt.Sprintf("%d/3", i)).code)
	}
	return codes
}

// cases are the names of the test cases of a JUnit report that follows the schema, in order, and how it ended.
func (p *project) cases(t *testing.T, file string) (names []string, tests, failures, errs int) {
	t.Helper()
	path := filepath.Join(p.dir, file)
	if out, err := exec.Command("xmllint", "--noout", "--nonet", "--schema", "../pkg/report/testdata/junit.xsd", path).CombinedOutput(); err != nil {
		t.Errorf("%v: run make deps?\n%s", err, out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Cases []struct {
				Name string `xml:"name,attr"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(data, &suites); err != nil {
		t.Fatal(err)
	}
	for _, s := range suites.Suites {
		for _, c := range s.Cases {
			names = append(names, c.Name)
		}
	}
	return names, suites.Tests, suites.Failures, suites.Errors
}

func all7() []string { return []string{"0", "1", "2", "3", "4", "5", "6"} }

func TestMergeShards(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	if got := p.shards(t, 1, 2, 3); !cmp.Equal(got, []int{0, 0, 1}) { // 0 3 6, 1 4, 2 5
		t.Errorf("exit codes %v", got)
	}
	r := p.run("report", "merge", "--junit", "build/junit.xml", "--html", "build/page", "--durations", "durations.json")
	r.want(t, 1, "✗ 2 (failed)\n  trails/2.trail.yaml:", "JUnit: build/junit.xml\n", "HTML: build/page/index.html\n", "1 failed, 6 passed in ")
	if r.stderr != "" {
		t.Errorf("stderr: %s", r.stderr)
	}
	names, tests, failures, errs := p.cases(t, "build/junit.xml")
	if diff := cmp.Diff(all7(), names); diff != "" || tests != 7 || failures != 1 || errs != 0 {
		t.Errorf("%d tests, %d failures, %d errors (-want +got):\n%s", tests, failures, errs, diff)
	}
	if xml := p.read(t, "build/junit.xml"); strings.Count(xml, `<property name="shard" value="1/3">`) != 3 {
		t.Errorf("the suites do not say which shard they are of:\n%s", xml)
	}
	page := p.page(t, "build/page")
	for _, want := range []string{"1 of 7 trails did not pass", "exit code 1", "trails/0.trail.yaml", "trails/6.trail.yaml", "I am 5", "Server log"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	var d struct{ Trails map[string]int64 }
	if err := json.Unmarshal([]byte(p.read(t, "durations.json")), &d); err != nil || len(d.Trails) != 7 || d.Trails["trails/0.trail.yaml"] == 0 {
		t.Errorf("durations %v, %v", d, err)
	}
	var again []string // whose shard a trail is now depends on how long it took
	for i := range 3 {
		r := p.run("run", "--json", "--shard", fmt.Sprintf("%d/3", i+1), "--durations", "durations.json")
		for _, e := range ofType(r.events(t), "trail.finished") {
			again = append(again, fmt.Sprint(e["title"]))
		}
	}
	slices.Sort(again)
	if diff := cmp.Diff(all7(), again); diff != "" {
		t.Errorf("cut by durations (-want +got):\n%s", diff)
	}
	p.run("report", "merge").want(t, 1, "1 failed, 6 passed")
}

// TestDryRunLeavesResultsOfShards: it replays nothing.
func TestDryRunLeavesResultsOfShards(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	p.run("run", "--shard", "1/1").want(t, 1)
	p.run("run", "--shard", "1/1", "--dry-run").want(t, 0)
	p.run("report", "merge").want(t, 1, "1 failed")
}

func TestMergedReportsContainTrailsNotRun(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	p.shards(t, 1, 2)
	p.run("run", "--shard", "3/3", "--fail-fast").want(t, 1, "1 failed, 1 not run")
	p.run("report", "merge", "--junit", "junit.xml").want(t, 1, "1 failed, 5 passed, 1 not run")
	names, tests, failures, errs := p.cases(t, "junit.xml")
	if diff := cmp.Diff(all7(), names); diff != "" || tests != 7 || failures != 1 || errs != 0 {
		t.Errorf("%d tests, %d failures, %d errors (-want +got):\n%s", tests, failures, errs, diff)
	}
	p.run("report", "merge", "--json").want(t, 1, `"file":"trails/5.trail.yaml"`)
}

func TestMergedResultsAsJSON(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	p.shards(t, 1, 3)
	r := p.run("report", "merge", "logs", "--json")
	r.want(t, 2)
	var v struct {
		Passed, Failed, ExitCode, Trails int
		Shards                           []struct {
			File, Shard              string
			Passed, ExitCode, Trails int
			Ended                    bool
		}
		Problems []string
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || r.stderr != "" {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	if v.Passed != 4 || v.Failed != 1 || v.ExitCode != 2 || v.Trails != 5 || len(v.Shards) != 2 || len(v.Problems) != 1 {
		t.Errorf("got %+v", v)
	}
	if s := v.Shards[1]; s.File != "logs/results-3-of-3.ndjson" || s.Shard != "3/3" || s.Passed != 1 || s.ExitCode != 1 || s.Trails != 2 || !s.Ended {
		t.Errorf("shard %+v", s)
	}
}

func TestEmptyShardPasses(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject, "trails/a.trail.yaml": webTrail("echo: {}")})
	p.run("run", "--shard", "3/3").wantOutput(t, 0, "fewer trails than shards, and shard 3/3 has none", "no trails")
	p.run("run", "--shard", "2/3", "--last-failed").wantErr(t, 0, "none of these trails failed")
	p.run("run", "--shard", "1/3").want(t, 0, "1 passed")
	p.run("run", "--shard", "2/3").want(t, 0)
	p.run("report", "merge").want(t, 0, "1 passed in ")
	p.run("run", "--shard", "2/3", "--tags", "none").want(t, 4)
}

func TestInvalidShardFlags(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	for _, shard := range []string{"0/3", "4/3", "x", "1"} {
		p.run("run", "--shard", shard).wantErr(t, 3, "--shard", "write --shard 2/3 for the second of three")
	}
	p.run("run", "--durations", "durations.json").wantErr(t, 3, "--durations has no effect without --shard")
	p.run("run", "--shard", "1/2", "--durations", "none.json").wantErr(t, 3, "none.json does not exist")
	if _, err := os.Stat(filepath.Join(p.dir, "logs")); err == nil {
		t.Error("trails were run")
	}
	p.write("file", "")
	p.write("trailblaze.yaml", strings.ReplaceAll(p.read(t, "trailblaze.yaml"), "target: app", "target: app\nlogsDir: file/logs"))
	p.run("run", "--shard", "1/2").wantErr(t, 2, "write the results of the shard")
}

func TestRunStoresDurationsForShards(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	remembered := func() map[string]int64 {
		t.Helper()
		var d struct{ Trails map[string]int64 }
		if err := json.Unmarshal([]byte(p.read(t, "logs/durations.json")), &d); err != nil {
			t.Fatal(err)
		}
		return d.Trails
	}
	p.run("run", "--dry-run").want(t, 0)
	if _, err := os.Stat(filepath.Join(p.dir, "logs", "durations.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a dry run took its time: %v", err)
	}
	p.runIn(filepath.Join(p.dir, "trails"), "run", "0.trail.yaml", "1.trail.yaml").want(t, 0)
	p.run("run", filepath.Join(p.dir, "trails", "2.trail.yaml")).want(t, 1)
	want := []string{"trails/0.trail.yaml", "trails/1.trail.yaml", "trails/2.trail.yaml"}
	if got := slices.Sorted(maps.Keys(remembered())); !cmp.Equal(want, got) {
		t.Errorf("remembered are %q, want %q", got, want)
	}

	p.write("logs/durations.json", `{"version": 1, "trails": {"trails/6.trail.yaml": 600000}}`)
	p.write("other.json", `{"version": 1, "trails": {"trails/6.trail.yaml": 6, "trails/0.trail.yaml": 6000000, "trails/1.trail.yaml": 8}}`)
	ran := func(args ...string) []string {
		t.Helper()
		var names []string
		for _, e := range ofType(p.run(append([]string{"run", "--json"}, args...)...).events(t), "trail.finished") {
			name, _ := e["title"].(string)
			names = append(names, name)
		}
		return names
	}
	if got := ran("--shard", "1/2", "--durations", "other.json"); !cmp.Equal(got, []string{"0"}) {
		t.Errorf("the first of two has %q, want the long one alone", got)
	}
	if got := remembered(); len(got) != 1 {
		t.Errorf("a shard remembers %v: the next one would be cut by something else", got)
	}
	p.write("logs/durations.json", "{")
	p.run("run", "--shard", "1/3").wantErr(t, 0, "warning: trails are divided by their number", "durations.json does not hold durations")
	p.run("run", "trails/0.trail.yaml").want(t, 0)
	if got := remembered(); len(got) != 1 || got["trails/0.trail.yaml"] == 0 {
		t.Errorf("in place of a file that is broken: %v", got)
	}
}

func TestMergeReportsAllThatIsMissing(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	p.shards(t, 1, 2, 3)
	copyTo := func(name, to string) { p.write(to, p.read(t, "logs/"+name)) }
	for i := range 3 {
		copyTo(fmt.Sprintf("results-%d-of-3.ndjson", i+1), fmt.Sprintf("all/%d/results-%d-of-3.ndjson", i, i+1))
		if i != 1 {
			copyTo(fmt.Sprintf("results-%d-of-3.ndjson", i+1), fmt.Sprintf("two/%d/results-%d-of-3.ndjson", i, i+1))
		}
	}
	p.run("report", "merge", "all").want(t, 1, "1 failed, 6 passed")
	p.run("report", "merge", "all", "logs/results-1-of-3.ndjson").wantOutput(t, 2, "shard 1/3 has two files", "1 failed, 6 passed")
	p.run("report", "merge", "two").wantOutput(t, 2, "1 of 3 shards is missing: shard 2", "1 failed, 4 passed")
	reports := []string{"--junit", "junit.xml", "--html", "page"}
	p.run(append([]string{"report", "merge", "all/0"}, reports...)...).wantOutput(t, 2, "2 of 3 shards are missing", "3 passed")
	p.wantMergeProblems(t, 3, "2 of 3 shards are missing: shards 2-3")
	p.run("report", "merge", "logs/results-1-of-3.ndjson", "all/0/../../logs/results-1-of-3.ndjson").wantOutput(t, 2, "2 of 3 shards are missing: shards 2-3", "3 passed")

	p.write("durations.json", `{"version": 1, "trails": {"trails/6.trail.yaml": 600000, "trails/0.trail.yaml": 1}}`)
	p.run("run", "--shard", "2/3", "--durations", "durations.json")
	copyTo("results-2-of-3.ndjson", "two/1/results-2-of-3.ndjson")
	r := p.run(append([]string{"report", "merge", "two"}, reports...)...)
	p.wantMergeProblems(t, 7, "these shards do not belong to one run")
	r.wantErr(t, 2, "these shards do not belong to one run", "1, 3 of 3: two/0/results-1-of-3.ndjson, two/2/results-3-of-3.ndjson", "give every shard the same")

	half := p.read(t, "all/1/results-2-of-3.ndjson")
	half = half[:strings.Index(half, `"type":"run.finished"`)-7]
	p.write("all/1/results-2-of-3.ndjson", half+"{\"v\":")
	p.write("all/2/results-3-of-3.ndjson", "")
	p.run("report", "merge", "all").wantOutput(t, 2, "2-of-3.ndjson: the run did not finish", "1 line of the file cannot be read",
		"results-3-of-3.ndjson: the run ended before its first trail", "1 of 3 shards is missing: shard 3", "5 passed")
	p.run(append([]string{"report", "merge", "all/2"}, reports...)...).wantOutput(t, 2, "the run ended before its first trail", "no trails")
	p.wantMergeProblems(t, 0, "the run ended before its first trail")
}

// wantMergeProblems checks the reports of a merge of trails with one more result, the problem.
func (p *project) wantMergeProblems(t *testing.T, trails int, problem string) {
	t.Helper()
	names, tests, _, errs := p.cases(t, "junit.xml")
	if !slices.Contains(names, "trailblaze report merge") || tests != trails+1 || errs != 1 || !strings.Contains(p.read(t, "junit.xml"), problem) {
		t.Errorf("%d tests, %d errors: %q\n%s", tests, errs, names, p.read(t, "junit.xml"))
	}
	page := p.page(t, "page")
	if strings.Contains(page, `<h1 class="good">`) || strings.Contains(page, "not run</span>") || !strings.Contains(page, problem) {
		t.Errorf("the page does not say %q", problem)
	}
}

func TestResultsAreRedacted(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	p.write("trails/0.trail.yaml", webTrail("echo: { text: I am 0 }", "fail: {}"))
	p.run("run", "--shard", "1/1", "--secret", "S=I am 0").want(t, 1)
	if text := p.read(t, "logs/results-1-of-1.ndjson"); strings.Contains(text, "I am 0") || !strings.Contains(text, "{{S}}") {
		t.Error("the results have a secret")
	}
	p.run("report", "merge", "--html", "out").want(t, 1)
	if page := p.page(t, "out"); strings.Contains(page, "I am 0") || !strings.Contains(page, "{{S}}") {
		t.Error("the page has a secret")
	}
}

func TestFailedStartRemovesEarlierResults(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	for name, broken := range map[string]func() result{
		"the project": func() result {
			p.write("trailblaze.yaml", "mcpServers: [")
			defer p.write("trailblaze.yaml", noisyProject)
			return p.run("run", "--shard", "3/3")
		},
		"a key of it": func() result {
			p.write("trailblaze.yaml", noisyProject+"wrong: 1\n")
			defer p.write("trailblaze.yaml", noisyProject)
			return p.run("run", "--shard", "3/3")
		},
		"a flag":   func() result { return p.run("run", "--shard", "3/3", "--secret", "THERE_IS_NONE") },
		"the list": func() result { return p.run("run", "--shard", "3/3", "trails/none.trail.yaml") },
	} {
		p.shards(t, 1, 2, 3)
		if r := broken(); r.code < 3 {
			t.Errorf("%s: exit code %d", name, r.code)
		}
		p.run("report", "merge").wantErr(t, 2, "1 of 3 shards is missing: shard 3")
	}
}

func TestMergeReplacesOnlyReports(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	p.shards(t, 1, 2, 3)
	for _, text := range []string{`{"name": "shop", "version": "1.0.0"}`, `{"version": 1}`, "hello", "{"} {
		p.write("package.json", text)
		p.run("report", "merge", "--junit", "junit.xml", "--durations", "package.json").wantErr(t, 3, "--durations package.json already exists", "choose another file")
		if got := p.read(t, "package.json"); got != text {
			t.Errorf("%s was replaced by %s", text, got)
		}
		if got := p.read(t, "junit.xml"); !strings.Contains(got, `tests="1" failures="0" errors="1"`) {
			t.Errorf("the report of the merge says\n%s", got)
		}
	}
	p.run("report", "merge", "--durations", "trails").wantErr(t, 3, "--durations trails already exists")
	p.write("empty.json", "")
	p.run("report", "merge", "--durations", "empty.json").want(t, 1, "6 passed")
}

func TestMergeOfOtherFilesIsMisuse(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	p.write("empty/file", "")
	p.run("report", "merge").wantErr(t, 3, "logs")
	p.run("report", "merge", "nowhere", "empty", "trails/0.trail.yaml", "--html", "out").wantErr(t, 3,
		"nowhere", "empty contains no results-*-of-*.ndjson", "trails/0.trail.yaml has no events", "the output of `run --json`")
	if page := p.page(t, "out"); !strings.Contains(page, "nothing was merged") || !strings.Contains(page, "empty contains no results") {
		t.Error("the page of an earlier merge would stay")
	}
	p.runIn(t.TempDir(), "report", "merge").wantErr(t, 3, "no project")
}

func TestMergeOutputOfJSON(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	p.write("build/one.ndjson", p.run("run", "trails/0.trail.yaml", "--json").stdout)
	p.write("build/two.ndjson", p.run("run", "trails/2.trail.yaml", "trails/1.trail.yaml", "--json").stdout)
	p.run("report", "merge", "build/one.ndjson", "build/two.ndjson", "--html", "out", "--junit", "out/junit.xml").want(t, 1, "1 failed, 2 passed")
	if page := p.page(t, "out"); !strings.Contains(page, "Server log") || !strings.Contains(page, "1 of 3 trails did not pass") {
		t.Error("the page has no evidence of the sessions")
	}
	outside := t.TempDir()
	p.runIn(outside, "report", "merge", filepath.Join(p.dir, "build", "one.ndjson"), "--durations", "d.json").want(t, 0, "1 passed")
	if text, err := os.ReadFile(filepath.Join(outside, "d.json")); err != nil || !strings.Contains(string(text), `"trails/0.trail.yaml"`) {
		t.Errorf("%s, %v", text, err)
	}
	p.write("build/both.ndjson", p.read(t, "build/one.ndjson")+p.read(t, "build/two.ndjson"))
	p.run("report", "merge", "build/both.ndjson").wantOutput(t, 2, "the file has 2 runs", "1 failed, 2 passed")
}

// TestMergeKilledShard kills a shard while its second trail waits.
func TestMergeKilledShard(t *testing.T) {
	t.Parallel()
	p := shardedProject(t)
	p.write("trails/3.trail.yaml", webTrail("wait: { seconds: 600 }"))
	p.shards(t, 2, 3)
	c := p.command("run", "--shard", "1/3", "--junit", "half.xml")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.dir, "logs", "results-1-of-3.ndjson")
	waiting := false
	for deadline := time.Now().Add(time.Minute); !waiting && time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		text, _ := os.ReadFile(file) // it is there soon
		waiting = bytes.Contains(text, []byte(`"tool":"wait"`))
	}
	err := errors.Join(c.Process.Kill())
	if waitErr := c.Wait(); err != nil || waitErr == nil || !waiting {
		t.Fatalf("%v, %v, waiting %v\n%s", err, waitErr, waiting, &out)
	}
	r := p.run("report", "merge", "--junit", "junit.xml", "--html", "page", "--durations", "d.json")
	r.wantOutput(t, 2, "results-1-of-3.ndjson: the run did not finish", "✗ 3 (error)\n", "the run ended before this trail did", "1 failed, 1 error, 4 passed, 1 not run in ")
	names, tests, failures, errs := p.cases(t, "junit.xml")
	if diff := cmp.Diff([]string{"trailblaze report merge", "0", "1", "2", "3", "4", "5"}, names); diff != "" || tests != 7 || failures != 1 || errs != 2 {
		t.Errorf("%d tests, %d failures, %d errors (-want +got):\n%s", tests, failures, errs, diff)
	}
	if page := p.page(t, "page"); !strings.Contains(page, "3 of 7 trails did not pass") || !strings.Contains(page, "1 not run") {
		t.Error("the page says nothing of it")
	}
	if text := p.read(t, "d.json"); strings.Contains(text, "trails/3.trail.yaml") || !strings.Contains(text, "trails/0.trail.yaml") {
		t.Errorf("durations %s", text)
	}
	p.run("doctor") // and ends what the killed one left
}
