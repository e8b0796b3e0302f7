//go:build unix

package e2e_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reportProject has a trail that passes and one that fails; the failing one's title would be an element if it could.
func reportProject(t *testing.T) *project {
	t.Helper()
	return newProject(t, map[string]string{
		"trailblaze.yaml":        okProject,
		"trails/good.trail.yaml": webTrail("echo: { text: hello there }"),
		"trails/bad.trail.yaml":  "config: { title: \"<b>Bad</b>\" }\n" + webTrail("fail: {}"),
	})
}

func (p *project) page(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(p.dir, name, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestRunWritesHTMLReport(t *testing.T) {
	t.Parallel()
	p := reportProject(t)
	p.run("run", "--html", "build/page").want(t, 1, "HTML: build/page/index.html")
	page := p.page(t, "build/page")
	for _, want := range []string{"1 of 2 trails did not pass", "exit code 1", "&lt;b&gt;Bad&lt;/b&gt;", "trails/good.trail.yaml", "hello there"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	r := p.run("run", "--json", "--html", "build/page")
	r.want(t, 1)
	r.events(t) // and nothing else
	p.run("run", "trails/good.trail.yaml", "--secret", "S=hello there", "--html", "build/page").want(t, 0)
	if page := p.page(t, "build/page"); strings.Contains(page, "hello there") || !strings.Contains(page, "{{S}}") {
		t.Error("the page shows a secret")
	}
}

func TestUnwritableHTMLReportIsReportedBeforeRun(t *testing.T) {
	t.Parallel()
	p := reportProject(t)
	p.write("file", "")
	p.run("run", "--html", "file/page").wantErr(t, 3, "--html")
	if _, err := os.Stat(filepath.Join(p.dir, "logs")); err == nil {
		t.Error("the trails were run")
	}
	p.run("run", "trails/good.trail.yaml").want(t, 0)
	p.run("report", "--html", "file/page").wantErr(t, 3, "--html")
}

func TestReportWritesHTMLOfSessions(t *testing.T) {
	t.Parallel()
	p := reportProject(t)
	p.run("run").want(t, 1)
	bad, err := filepath.Glob(filepath.Join(p.dir, "logs", "bad_*"))
	if err != nil || len(bad) != 1 {
		t.Fatalf("sessions %q, %v", bad, err)
	}
	p.write("logs/empty/events.ndjson", "")
	p.write("logs/web-server.log", "")
	p.write("logs/results-1-of-1.ndjson", "")
	inLogs, err := filepath.Glob(filepath.Join(p.dir, "logs", "*")) // with durations.json and latest, too
	if err != nil || len(inLogs) != 8 {
		t.Fatalf("in logs are %q, %v", inLogs, err)
	}
	if err := os.CopyFS(filepath.Join(p.dir, "downloaded"), os.DirFS(filepath.Join(p.dir, "logs"))); err != nil {
		t.Fatal(err)
	}
	downloadedLatest := filepath.Join(p.dir, "downloaded", "latest")
	if err := errors.Join(os.Remove(downloadedLatest), os.CopyFS(downloadedLatest, os.DirFS(bad[0]))); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args     []string
		headline string
		sessions float64
	}{
		"the latest":          {nil, "The trail passed", 1},
		"the latest by name":  {[]string{"latest"}, "The trail passed", 1},
		"one by name":         {[]string{filepath.Base(bad[0])}, "The trail did not pass", 1},
		"one by folder":       {[]string{bad[0]}, "The trail did not pass", 1},
		"all of a folder":     {[]string{"logs"}, "1 of 2 trails did not pass", 2},
		"no session twice":    {[]string{"logs", filepath.Base(bad[0])}, "1 of 2 trails did not pass", 2},
		"all in a folder":     {inLogs, "1 of 2 trails did not pass", 2},
		"beside an empty one": {[]string{"logs", "empty"}, "1 of 2 trails did not pass", 2},
		"a copy for latest":   {[]string{"downloaded"}, "1 of 2 trails did not pass", 2},
	} {
		p.run(append([]string{"report", "--html", "out"}, tt.args...)...).want(t, 0, filepath.Join("out", "index.html"))
		if page := p.page(t, "out"); !strings.Contains(page, "<title>"+tt.headline+" ") {
			t.Errorf("%s: the headline is not %q", name, tt.headline)
		}
		r := p.run(append([]string{"report", "--json", "--html", "out"}, tt.args...)...)
		r.want(t, 0)
		var v map[string]any
		if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || v["sessions"] != tt.sessions || v["html"] != filepath.Join("out", "index.html") {
			t.Errorf("%s: %v, %s", name, err, r.stdout)
		}
	}
	p.run("report", "logs", "--html", "out").wantErr(t, 0, "left out because they have no events: 1 session")
	for folder, headline := range map[string]string{bad[0]: "The trail did not pass", filepath.Join(bad[0], "failure"): "The trail did not pass"} {
		arg, err := filepath.Rel(folder, bad[0]) // . or ..
		if err != nil {
			t.Fatal(err)
		}
		p.write(filepath.Join("logs", filepath.Base(bad[0]), "failure", "note.txt"), "")
		p.runIn(folder, "report", arg, "--html", p.path("out")).want(t, 0)
		if page := p.page(t, "out"); !strings.Contains(page, "<title>"+headline+" ") {
			t.Errorf("%s: the headline is not %q", arg, headline)
		}
	}
	outside := t.TempDir()
	p.runIn(outside, "report", bad[0], "--html", "out").want(t, 0, "out")
}

func TestReportOfLiveSession(t *testing.T) {
	t.Parallel()
	p := sessionProject(t, "")
	p.start(t)
	p.run("tool", "echo", "text=hello there", "--session", "s1", "--step", "Greet").want(t, 0)
	p.run("session", "end").want(t, 0)
	p.run("report", "logs", "--html", "out").want(t, 0)
	page := p.page(t, "out")
	for _, want := range []string{"<title>1 session ", "Sessions", "<h3>" + filepath.Base(p.sessionFolder(t)) + "</h3>", "Greet", "hello there"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestReportFollowsLatestFile(t *testing.T) {
	t.Parallel()
	p := reportProject(t)
	p.run("run", "trails/good.trail.yaml").want(t, 0)
	latest := filepath.Join(p.dir, "logs", "latest")
	name, err := os.Readlink(latest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(latest); err != nil {
		t.Fatal(err)
	}
	p.write("logs/latest", name+"\n")
	p.run("report", "--html", "out").want(t, 0, "out")
}

func TestReportRejectsFoldersWithoutSession(t *testing.T) {
	t.Parallel()
	p := reportProject(t)
	p.run("report", "--html", "out").wantErr(t, 3, "logs contains no session", "`trailblaze run` writes one")
	p.run("run", "trails/good.trail.yaml").want(t, 0)
	p.write("logs/empty/events.ndjson", "")
	p.write("logs/torn/events.ndjson", "{\"v\":1,\"ty")
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"no page":          {[]string{"report"}, []string{"add --html DIR"}},
		"another name":     {[]string{"report", "god", "--html", "out"}, []string{`"god" is neither a session in logs nor a folder`, "latest"}},
		"the trail's name": {[]string{"report", "good", "--html", "out"}, []string{`"good" is neither a session in logs nor a folder`, "the last session of that trail is good_"}},
		"another folder":   {[]string{"report", "trails", "--html", "out"}, []string{"trails is not the folder of a session"}},
		"a file":           {[]string{"report", "trailblaze.yaml", "--html", "out"}, []string{"is a file"}},
		"a file, too":      {[]string{"report", "latest", "trailblaze.yaml", "--html", "out"}, []string{"is a file"}},
		"files in logs":    {[]string{"report", "logs/durations.json", "logs/.last-run.json", "--html", "out"}, []string{"is a file"}},
		"no events":        {[]string{"report", "empty", "--html", "out"}, []string{"has no events of a trail"}},
		"half a line":      {[]string{"report", "torn", "--html", "out"}, []string{"has no events of a trail"}},
		"several":          {[]string{"report", "nope", "empty", "--html", "out"}, []string{`"nope"`, "has no events of a trail"}},
	} {
		p.run(tt.args...).wantErr(t, 3, tt.want...)
		if _, err := os.Stat(filepath.Join(p.dir, "out")); err == nil {
			t.Errorf("%s: a page is there all the same", name)
		}
	}
	p.runIn(t.TempDir(), "report", "latest", "--html", "out").wantErr(t, 3, "no project")
}

func TestSessionsAreSortedByStartOfTrails(t *testing.T) {
	t.Parallel()
	p := reportProject(t)
	p.write("kept/.keep", "")
	var sessions []string
	for _, name := range []string{"good_20261121T091402Z_ffffffff", "good_20261121T091402Z_00000000", "good_20261121T091401Z_00000000"} {
		p.run("run", "trails/good.trail.yaml").want(t, 0)
		session, err := os.Readlink(filepath.Join(p.dir, "logs", "latest"))
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, session)
		if err := os.Rename(filepath.Join(p.dir, "logs", session), filepath.Join(p.dir, "kept", name)); err != nil {
			t.Fatal(err)
		}
	}
	p.run("report", "kept", "--html", "out").want(t, 0)
	page := p.page(t, "out")
	before := -1
	for _, name := range sessions {
		at := strings.Index(page, name)
		if at <= before {
			t.Errorf("%s stands at %d, not after %d", name, at, before)
		}
		before = at
	}
}

func TestReportsOfRefusedRunSayWhy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args  string
		files map[string]string
		code  int
		want  string
	}{
		"no trail":             {"run missing/*.trail.yaml", nil, 4, "missing/*.trail.yaml"},
		"no trail with a tag":  {"run --tags none", nil, 4, "no trail has any of the tags none"},
		"an unknown target":    {"run --target nope", nil, 3, `"nope"`},
		"an unknown flag":      {"run --bogus", nil, 3, "unknown flag: --bogus"},
		"flags that exclude":   {"run --watch --shard 1/2", nil, 3, "--shard and --watch cannot be used together"},
		"a secret that is not": {"run --secret NOT_SET_AT_ALL", nil, 3, "the environment variable is not set"},
		"an invalid project":   {"run", map[string]string{"trailblaze.yaml": "targt: app\n"}, 3, `unknown key "targt"`},
		"several to record":    {"run --record new.trail.yaml", nil, 3, "--record writes the recording of one trail"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := reportProject(t)
			p.run("run", "trails/good.trail.yaml", "--junit", "build/junit.xml", "--html", "build/page").want(t, 0)
			if !strings.Contains(p.read(t, "build/junit.xml"), `tests="1" failures="0" errors="0"`) {
				t.Fatal("the earlier report is not one of a success")
			}
			for name, text := range tc.files {
				p.write(name, text)
			}
			args := append(strings.Fields(tc.args), "--junit", "build/junit.xml", "--html=build/page")
			p.run(args...).wantErr(t, tc.code, tc.want)
			result{tc.code, p.read(t, "build/junit.xml"), ""}.want(t, tc.code, `tests="1" failures="0" errors="1"`, "the run did not start",
				strings.ReplaceAll(tc.want, `"`, "&#34;"))
			page := p.page(t, "build/page")
			if !strings.Contains(page, "did not start") || strings.Contains(page, "good.trail.yaml") {
				t.Error("the page is not about the run that did not start")
			}
		})
	}
}

func TestRefusedRunKeepsFileThatIsNoReport(t *testing.T) {
	t.Parallel()
	p := reportProject(t)
	p.write("site/index.html", "<h1>mine</h1>")
	p.run("run", "--html", "site", "--target", "nope").wantErr(t, 3, `"nope"`)
	same(t, "the page", "<h1>mine</h1>", p.read(t, "site/index.html"))
}
