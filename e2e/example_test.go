//go:build unix

package e2e_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

const shop = "../testdata/projects/shop"

// exampleProject is the example where it lies, because its packages are installed there; only what it leaves goes
// elsewhere. Python is on its PATH besides the programs.
func exampleProject(t *testing.T, programs ...string) *project {
	t.Helper()
	for _, needed := range []string{"node_modules", "bin/ledger"} {
		if _, err := os.Stat(filepath.Join(shop, needed)); err != nil {
			t.Fatalf("%v: run make deps", err)
		}
	}
	p := newProject(t, nil)
	p.dir, _ = filepath.Abs(shop)
	p.env = append(p.env, "PATH="+bin(t, append(programs, "python3")...))
	return p
}

// TestDemoNeedsNoRuntime runs every trail on the embedded engine, and those of the storefront on two devices. A short
// run replays few here.
func TestExamplePassesOnEveryRuntime(t *testing.T) {
	t.Parallel()
	two := []string{"trails/shop/checkout.trail.yaml", "trails/backoffice/catalogue.trail.yaml"}
	for name, tc := range map[string]struct {
		programs, trails []string
		passed, skipped  float64
	}{
		"bun":         {[]string{bunPath}, nil, 18, 2},
		"node+tsx":    {[]string{"node"}, two, 2, 0},
		"node+bundle": {[]string{"node"}, two, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			switch {
			case !testing.Short():
			case name == "bun":
				tc.trails, tc.passed, tc.skipped = two, 2, 0
			default:
				tc.trails, tc.passed = two[:1], 1
			}
			p := exampleProject(t, tc.programs...)
			if name == "node+bundle" {
				p.withoutLoader()
			}
			p.env = append(p.env, "HTTP_PROXY=http://127.0.0.1:9", "http_proxy=http://127.0.0.1:9") // not used for this machine
			r := p.run(append([]string{"run", "--json"}, tc.trails...)...)
			r.want(t, 0, "runs on "+name+":")
			done := ofType(r.events(t), "run.finished")
			if len(done) != 1 || done[0]["passed"] != tc.passed || done[0]["skipped"] != tc.skipped {
				t.Errorf("run.finished: %v", done)
			}
			spawntest.NoSurvivors(t, p.marker)
		})
	}
}

func TestRuntimeOfExample(t *testing.T) {
	t.Parallel()
	p := exampleProject(t, "node", bunPath)
	p.runsOn(t, "bun")
	p.runsOn(t, "node+tsx", "--runtime", "node")
	p.runsOn(t, "embedded", "--runtime", "embedded")
	p.env = append(p.env, "PATH="+bin(t))
	p.runsOn(t, "embedded")
}

// runsOn fails the test unless doctor reports that a script of the example runs on a runtime.
func (p *project) runsOn(t *testing.T, runtime string, flags ...string) {
	t.Helper()
	r := p.runWith(nil, append([]string{"doctor", "--json"}, flags...)...) // without devices: it starts no browser
	if got := doctorChecks(t, r)["server ./tools/http.ts"]; got.Status != "ok" || !strings.HasPrefix(got.Detail, runtime) {
		t.Errorf("http.ts runs on %+v, want %s", got, runtime)
	}
}

// withoutLoader makes of the example a copy whose packages have no loader that teaches node TypeScript.
func (p *project) withoutLoader() {
	p.t.Helper()
	source, copied := p.dir, p.t.TempDir()
	p.dir = filepath.Join(copied, "testdata/projects/shop")
	p.packages(".", filepath.Join(source, "node_modules"), false)
	var problems []error
	for _, dir := range []string{"tools", "pages", "trails", "trailblaze-config", "bin"} {
		problems = append(problems, os.CopyFS(filepath.Join(p.dir, dir), os.DirFS(filepath.Join(source, dir))))
	}
	for _, file := range []string{"trailblaze.yaml", "package.json"} {
		text, err := os.ReadFile(filepath.Join(source, file))
		p.write(file, string(text))
		problems = append(problems, err)
	}
	problems = append(problems, os.Symlink(filepath.Join(source, "../../../sdks"), filepath.Join(copied, "sdks"))) // prices.py imports from there
	if err := errors.Join(problems...); err != nil {
		p.t.Fatal(err)
	}
}

// embeddedShop is locked by a test that replays the example on the embedded engine: the first one bundles the scripts for all.
var embeddedShop sync.Mutex

// programFile writes a script that is the program, for scripts that start it.
func (p *project) programFile() string {
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	program := filepath.Join(p.t.TempDir(), "trailblaze")
	if err := spawntest.WriteProgram(program, []byte("#!/bin/sh\nE2E_MAIN=1 "+p.marker+" exec '"+self+"' \"$@\"\n")); err != nil {
		p.t.Fatal(err)
	}
	return program
}

// Where no browser can be started, the demo replays the other trails, says why in a line, and passes.
func TestDemoWithoutBrowser(t *testing.T) {
	t.Parallel()
	p := exampleProject(t)
	reports := filepath.Join(t.TempDir(), "reports")
	c := exec.Command("../.ci/demo", p.programFile(), reports)
	c.Env = append(os.Environ(), "TRAILBLAZE_BROWSER=/missing/browser")
	out, err := c.CombinedOutput()
	const said = "make demo: the trails in a browser are left out: the browser \"/missing/browser\" of --browser or TRAILBLAZE_BROWSER was not found\n"
	if text := string(out); err != nil || strings.Count(text, said) != 1 || !strings.Contains(text, "\n13 passed, 2 skipped in ") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(reports, "index.html")); err != nil {
		t.Error(err)
	}
	spawntest.NoSurvivors(t, p.marker)
}

// A program that fails for another reason is not taken for a machine without a browser.
func TestDemoFailsWithTheProgram(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "trailblaze")
	if err := spawntest.WriteProgram(program, []byte("#!/bin/sh\necho 'trailblaze: error: unknown command' >&2\nexit 3\n")); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("../.ci/demo", program, filepath.Join(t.TempDir(), "reports")).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "unknown command") || strings.Contains(string(out), "left out: unknown") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The whole demo, by the script that make demo-no-runtime runs. A short run replays one of the trails in a browser, and
// uses the bundles of other tests.
func TestDemoNeedsNoRuntime(t *testing.T) {
	t.Parallel()
	p := exampleProject(t) // what the script needs is there
	program := p.programFile()
	args := []string{program}
	if testing.Short() {
		args = append(args, "trails/storefront/buy-a-mug.trail.yaml")
	}
	c := exec.Command("../.ci/no-runtime", args...)
	if testing.Short() {
		embeddedShop.Lock()
		defer embeddedShop.Unlock()
		c.Env = append(os.Environ(), "TRAILBLAZE_CACHE_DIR="+filepath.Dir(bundles))
	}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	spawntest.NoSurvivors(t, p.marker)
}

// TestExampleOnOtherDevices uses the embedded engine, which takes half the time of a process for each server. Its cases
// are replayed one after another, because the first one bundles the scripts for all. A short run replays only trails
// that do other things there than on Android.
func TestExampleOnOtherDevices(t *testing.T) { //nolint:tparallel // see above
	t.Parallel()
	embeddedShop.Lock()
	defer embeddedShop.Unlock()
	const trails = "trails/shop/"
	for name, tc := range map[string]struct{ device, trails, short []string }{
		"ios": {
			[]string{"--platform", "ios"},
			[]string{trails},
			[]string{trails + "apple-pay.trail.yaml", trails + "delivery-day.trail.yaml", trails + "reorder-recorded.trail.yaml"},
		},
		"android-phone": {[]string{"--classifier", "android-phone"}, []string{trails}, []string{trails + "sign-in"}},
		"web":           {[]string{"--platform", "web"}, []string{trails}, []string{trails + "reorder-recorded.trail.yaml"}},
		"phone":         {[]string{"--device", "phone"}, []string{"trails/storefront/any-screen.trail.yaml"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && tc.short != nil {
				tc.trails = tc.short
			}
			p := exampleProject(t)
			p.run(slices.Concat([]string{"run"}, tc.device, tc.trails)...).want(t, 0)
		})
	}
	exampleProject(t).run("check").want(t, 0, "0 problems, 0 warnings")
}

func TestExampleListsItsTools(t *testing.T) {
	t.Parallel()
	for target, want := range map[string][]string{
		"shop":       {"checkout", "addToCart", "openShop", "placeOrder", "refillCart", "reorder", "thankYou", "./tools/checkout.ts"},
		"backoffice": {"priceStatistics", "vatReport", "prices"},
		"storefront": {"startShop", "putIntoCart", "web_click", "./tools/shopping.ts"},
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			p := exampleProject(t, bunPath)
			p.run("toolbox", "list", "--target", target, "--platform", "web").want(t, 0, want...)
		})
	}
}

// A short run makes them on bun.
func TestSingleCallsOfExample(t *testing.T) {
	t.Parallel()
	onBoth(t, "call on ", func(t *testing.T, runtime string) {
		for _, tc := range []struct {
			args []string
			code int
			want string
		}{
			{[]string{"thankYou", "total=12.50", "--memory", "email=ada@example.com"}, 0, "Thank you, ada@example.com, for 12.50 EUR."},
			{[]string{"addToCart", "sku=mug"}, 1, "the shop is closed; call openShop first"},
			{[]string{"vatReport", "percent=19", "--target", "backoffice", "--platform", "web"}, 1, "call seedCatalog first"},
		} {
			p := exampleProject(t, runtime)
			p.run(append([]string{"tool"}, tc.args...)...).wantOutput(t, tc.code, tc.want)
			spawntest.NoSurvivors(t, p.marker)
		}
	})
}

func TestRecordingOfExampleIsUpToDate(t *testing.T) {
	t.Parallel()
	const trails = "trails/shop/"
	kept, err := os.ReadFile(filepath.Join(shop, trails, "reorder-recorded.trail.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p := exampleProject(t, bunPath)
	file := filepath.Join(t.TempDir(), "recorded.trail.yaml")
	stale := bytes.ReplaceAll(kept, []byte("sku: mug"), []byte("sku: tee"))
	if err := os.WriteFile(file, stale, 0o644); err != nil || bytes.Equal(stale, kept) {
		t.Fatal(err, "nothing was made stale")
	}
	for _, platform := range []string{"android", "ios", "web"} {
		p.run("run", trails+"reorder.trail.yaml", "--platform", platform, "--record", file).want(t, 0)
	}
	got, err := os.ReadFile(file)
	if diff := cmp.Diff(string(kept), string(got)); err != nil || diff != "" {
		t.Errorf("recorded again (%v): -want +got:\n%s", err, diff)
	}
}

// The code in a guide is in a file of the example that the guide names, line by line, except for indentation.
func TestGuidesQuoteExample(t *testing.T) {
	t.Parallel()
	program := regexp.MustCompile("(?ms)^ *```(?:ts|js|go|python)\n(.*?)^ *```$")
	link := regexp.MustCompile(`\]\(\.\./testdata/projects/shop/(tools/[^)]+)\)`)
	for guide, blocks := range map[string]int{"writing-a-server": 10, "tools-that-call-tools": 3, "web-testing": 1} {
		t.Run(guide, func(t *testing.T) {
			t.Parallel()
			page, err := os.ReadFile(filepath.Join("..", "docs", guide+".md"))
			if err != nil {
				t.Fatal(err)
			}
			var sources []string
			for _, named := range link.FindAllSubmatch(page, -1) {
				source, err := os.ReadFile(filepath.Join(shop, string(named[1])))
				if err != nil {
					t.Fatal(err)
				}
				sources = append(sources, flush(string(source)))
			}
			quotes := program.FindAllSubmatch(page, -1)
			if len(quotes) < blocks {
				t.Errorf("%d blocks of code, want %d", len(quotes), blocks)
			}
			for _, quote := range quotes {
				for part := range strings.SplitSeq(flush(string(quote[1])), "\n\n") {
					if !slices.ContainsFunc(sources, func(source string) bool { return strings.Contains(source, "\n"+strings.Trim(part, "\n")+"\n") }) {
						t.Errorf("no file of the example that the guide names has\n%s", part)
					}
				}
			}
		})
	}
}

// flush takes the indentation out, and puts a line end before the first line.
func flush(code string) string {
	return "\n" + regexp.MustCompile(`(?m)^[ \t]+`).ReplaceAllString(code, "")
}
