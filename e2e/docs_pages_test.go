//go:build unix

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/testdata/models"
)

// notExecuted are the commands of the docs that no test executes, with the reason.
var notExecuted = map[string]string{
	"make test":  "the test is a part of it",
	"make lint":  "CI runs it",
	"make image": "needs Docker",
	`docker run --rm -v "$PWD:/work" trailblaze version`: "needs Docker",
	"kubectl apply -f trails.yaml":                       "needs Kubernetes",
	"kubectl apply -f report.yaml":                       "needs Kubernetes",
	"kubectl logs job/trails-report":                     "needs Kubernetes",
	untilJobEnds("trails"):                               "needs Kubernetes",
	untilJobEnds("trails-report"):                        "needs Kubernetes",
	"trailblaze run --watch":                             "runs until Ctrl-C; watch_test.go",
	"trailblaze run --watch trails/checkout":             "runs until Ctrl-C; watch_test.go",
	"trailblaze types --watch":                           "runs until Ctrl-C; types_test.go",
	"trailblaze run trails/search.trail.yaml --headed":   "needs a screen",
	"trailblaze studio":                                  "runs until Ctrl-C; studio_test.go",
	"trailblaze studio trails/greeting.trail.yaml":       "runs until Ctrl-C; studio_test.go",
	"trailblaze studio latest":                           "runs until Ctrl-C; studio_past_test.go",
	"trailblaze studio --port 4600 --no-open":            "runs until Ctrl-C; studio_test.go",
	"trailblaze session start --studio":                  "its URL differs each time; studio_session_test.go",
	`trailblaze tool web_navigate url=https://shop.example.com --step "Open the shop" --session s1`: "studio_session_test.go",
	"npm install @modelcontextprotocol/sdk zod":                                                     "needs the registry of npm",
	"npm ci":                                    "needs the registry of npm; make deps",
	"npm install --save-dev trailblaze":         "is not published yet",
	"npm install ./sdks/typescript zod":         "docs/getting-started.md has it with another path",
	"npx trailblaze init":                       "npm/npm_test.go",
	"npx trailblaze run":                        "npm/npm_test.go",
	"go build -o bin/ledger ./tools/ledger":     "make deps",
	"cat >> trailblaze.yaml <<'END'":            "sdks/python/readme_test.go",
	"trailblaze tool welcome name=Ada":          "sdks/python/readme_test.go",
	"make demo":                                 "TestExamplePassesOnEveryRuntime replays the same trails",
	"make demo-no-runtime":                      "TestDemoNeedsNoRuntime runs its script",
	"trailblaze run trails/storefront --headed": "needs a screen",
	"trailblaze run --watch trails/shop":        "runs until Ctrl-C; watch_test.go",
	`npm i -D appium-webdriveragent`:            "needs a Mac",
	`VERSION=$(node -p 'require("appium-webdriveragent/package.json").version')`:                                                              "needs a Mac",
	`curl -fLo wda.zip "https://github.com/appium/WebDriverAgent/releases/download/v$VERSION/WebDriverAgentRunner-Build-Sim-$(uname -m).zip"`: "needs a Mac",
	`unzip -q wda.zip -d wda-sim`:                                            "needs a Mac",
	`xcrun simctl boot "iPhone 16"`:                                          "needs a Mac",
	`xcrun simctl install booted wda-sim/WebDriverAgentRunner-Runner.app`:    "needs a Mac",
	`xcrun simctl launch booted com.facebook.WebDriverAgentRunner.xctrunner`: "needs a Mac",
	`open node_modules/appium-webdriveragent/WebDriverAgent.xcodeproj`:       "needs a Mac",
	`xcodebuild build-for-testing -project node_modules/appium-webdriveragent/WebDriverAgent.xcodeproj -scheme WebDriverAgentRunner -destination "id=$UDID" -derivedDataPath wda-build -allowProvisioningUpdates`: "needs a Mac",
	`trailblaze tool launchApp appId=com.apple.Preferences --platform ios`:                                                            "needs a Mac",
	"trailblaze explore 'Sign in as {{USER}} with {{PASSWORD}}' --save trails/sign-in.trail.yaml --memory USER=ada --secret PASSWORD": "explore_test.go signs in",
	"ollama pull qwen3":                        "needs Ollama",
	"OLLAMA_CONTEXT_LENGTH=16384 ollama serve": "needs Ollama",
	"trailblaze doctor --llm ollama/qwen3":     "needs Ollama",
	`sudo ios tunnel start`:                    "needs an iPhone",
	`ios image auto`:                           "needs an iPhone",
	`ios runwda --bundleid=com.yourname.WebDriverAgentRunner.xctrunner --testrunnerbundleid=com.yourname.WebDriverAgentRunner.xctrunner --xctestconfig=WebDriverAgentRunner.xctest`: "needs an iPhone",
	`ios forward 8100 8100`: "needs an iPhone",
}

func untilJobEnds(job string) string {
	return "until kubectl get job " + job +
		` -o 'jsonpath={.status.conditions[*].type}' | grep -Eqw 'Complete|Failed'; do sleep 5; done`
}

// executedPage is how the commands of a page are executed.
type executedPage struct {
	setUp func(*testing.T) *docShell
	// files are blocks of the page that are written into the project, each before the commands that follow it.
	files []string
	// short is for pages that a short run executes, too.
	short bool
}

var executedPages = map[string]executedPage{
	"README.md":                              {setUp: setUpClone},
	"CONTRIBUTING.md":                        {setUp: setUpClone},
	"docs/ci-sharding.md":                    {setUp: setUpShards},
	"docs/coding-agents.md":                  {setUp: setUpStarter},
	"docs/explore.md":                        {setUp: setUpExplore},
	"docs/getting-started.md":                {setUp: setUpPackages},
	"docs/install.md":                        {setUp: setUpPackages},
	"docs/iphone.md":                         {setUp: setUpIPhone},
	"docs/mobile-testing.md":                 {setUp: setUpPhones, files: []string{"trails/see-an-order.trail.yaml"}},
	"docs/models.md":                         {setUp: setUpModel, files: []string{"trailblaze.yaml"}, short: true},
	"docs/parallel-runs.md":                  {setUp: setUpStarter},
	"docs/recording.md":                      {setUp: setUpRecording},
	"docs/remote-servers.md":                 {setUp: setUpRemote, files: []string{"trailblaze.yaml"}},
	"docs/reports.md":                        {setUp: setUpReports},
	"docs/snapshot.md":                       {setUp: setUpSite},
	"docs/typed-calls.md":                    {setUp: setUpStarter},
	"docs/broken-recordings.md":              {setUp: setUpBroken},
	"docs/unrecorded-steps.md":               {setUp: setUpUnrecorded, files: []string{"trails/buy.trail.yaml"}},
	"docs/web-testing.md":                    {setUp: setUpSite, files: []string{"trails/search.trail.yaml"}},
	"docs/write-a-trail.md":                  {setUp: setUpAuthoring, files: []string{"trails/broken.trail.yaml"}, short: true},
	"docs/writing-a-server.md":               {setUp: setUpShop},
	"testdata/projects/shop/README.md":       {setUp: setUpExample},
	"docs/coming-from-the-jvm-trailblaze.md": {setUp: setUpBakery, short: true},
}

// shopCopy is the example in a folder of its own, with the trails that a test names.
func shopCopy(t *testing.T, trails ...string) *project {
	t.Helper()
	p := exampleProject(t, "node", bunPath)
	source := p.dir
	clone := t.TempDir()
	p.dir = filepath.Join(clone, "testdata/projects/shop")
	problems := []error{
		os.MkdirAll(p.dir, 0o755),
		os.Symlink(filepath.Join(source, "../../../sdks"), filepath.Join(clone, "sdks")), // prices.py imports from there
	}
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

func setUpShop(t *testing.T) *docShell {
	t.Helper()
	return &docShell{project: shopCopy(t, "trails/shop/values.trail.yaml")}
}

// setUpExample has those trails of the example that its page names, and one for two devices.
func setUpExample(t *testing.T) *docShell {
	t.Helper()
	return &docShell{project: shopCopy(t, "trails/shop/buy-two-mugs.trail.yaml", "trails/shop/express-order.trail.yaml",
		"trails/shop/reorder.trail.yaml", "trails/shop/reorder-recorded.trail.yaml", "trails/storefront/any-screen.trail.yaml")}
}

// setUpAuthoring checks the trails that the page saves.
func setUpAuthoring(t *testing.T) *docShell {
	t.Helper()
	s := setUpShop(t)
	s.check = func() { s.checkTrails(t) }
	return s
}

func (s *docShell) checkTrails(t *testing.T) {
	t.Helper()
	if saved := s.read(t, "trails/broken.trail.yaml"); !strings.Contains(saved, "# by its old name") ||
		!strings.Contains(saved, "It is empty\n    recording: { web: [") || strings.Contains(saved, "Basket") {
		t.Errorf("the repaired trail is\n%s", saved)
	}
	saved := s.read(t, "trails/storefront/find-a-mug.trail.yaml")
	if strings.Contains(saved, "ref:") || !strings.Contains(saved, "{{shopUrl}}") {
		t.Errorf("the saved trail is\n%s", saved)
	}
}

// setUpClone is a clone in the folder trailblaze of the home folder. Its make build makes a script that starts the
// program of the test.
func setUpClone(t *testing.T) *docShell {
	t.Helper()
	p := newProject(t, map[string]string{
		"trailblaze/program":  "#!/bin/sh\nexec " + self(t) + " \"$@\"\n",
		"trailblaze/Makefile": "build:\n\tmkdir -p bin && install -m 755 program bin/trailblaze\n",
	})
	p.env = append(p.env, "HOME="+p.dir)
	p.dir = p.path("trailblaze")
	return &docShell{project: p}
}

// setUpPackages is a clone from which packages are made and installed. The registry of npm has only zod.
func setUpPackages(t *testing.T) *docShell {
	t.Helper()
	s := setUpClone(t)
	for _, name := range []string{".ci", "npm", "pkg", "go.mod", "go.sum", "LICENSE"} {
		source, err := filepath.Abs(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		s.link(source, name)
	}
	copySources(t, "../sdks", s.path("sdks"))
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output() // they are below HOME by default
	if err != nil {
		t.Fatal(err)
	}
	goCaches := strings.Fields(string(caches))
	s.env = append(s.env, "GOCACHE="+goCaches[0], "GOMODCACHE="+goCaches[1], "npm_config_registry="+registryOf(t, "zod"),
		"npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false",
		"PIP_TARGET="+s.path("python"), "PIP_NO_INDEX=1")
	arch := strings.Replace(runtime.GOARCH, "amd64", "x64", 1) // as node names it
	s.replace = []string{
		"linux_amd64", runtime.GOOS + "_" + runtime.GOARCH, "linux/amd64", runtime.GOOS + "/" + runtime.GOARCH,
		"linux-x64", runtime.GOOS + "-" + arch,
	}
	return s
}

// copySources copies a folder without installed packages.
func copySources(t *testing.T, source, target string) {
	t.Helper()
	err := filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "node_modules" {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		to := filepath.Join(target, strings.TrimPrefix(path, source))
		return errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, 0o644))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// registryOf serves an installed npm package as the registry of npm does.
func registryOf(t *testing.T, name string) string {
	t.Helper()
	dir, out := filepath.Join("../testdata/servers/node_modules", name), t.TempDir()
	manifest := map[string]any{}
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err == nil {
		err = json.Unmarshal(data, &manifest)
	}
	if err == nil {
		err = exec.Command("npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", out, dir).Run()
	}
	if err != nil {
		t.Fatalf("%v: run make deps", err)
	}
	version := fmt.Sprint(manifest["version"])
	return serveSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/" + name:
			manifest["dist"] = map[string]any{"tarball": "http://" + r.Host + "/archive"}
			_ = json.NewEncoder(w).Encode(map[string]any{
				"name": name, "dist-tags": map[string]any{"latest": version}, "versions": map[string]any{version: manifest},
			})
		case "/archive":
			http.ServeFile(w, r, filepath.Join(out, name+"-"+version+".tgz"))
		default:
			http.NotFound(w, r)
		}
	}))
}

// setUpStarter is the project of init, with two devices and a trail of an agent.
func setUpStarter(t *testing.T) *docShell {
	t.Helper()
	p := newProject(t, nil)
	p.run("init").want(t, 0)
	p.write("trailblaze.yaml", p.read(t, "trailblaze.yaml")+"devices: { desktop: {}, phone: { viewport: 390x844 } }\n")
	p.write("trails/sign-in.trail.yaml", webTrail("assertEquals: { actual: 1, expected: 1 }"))
	return &docShell{project: p}
}

// setUpShards has the results of two of three shards in results.
func setUpShards(t *testing.T) *docShell {
	t.Helper()
	s := setUpStarter(t)
	s.run("run", "--shard", "1/3").wantOutput(t, 0)
	s.run("run", "--shard", "3/3").wantOutput(t, 0)
	s.link("logs", "results")
	return s
}

func (p *project) link(target, name string) {
	p.t.Helper()
	if err := os.Symlink(target, p.path(name)); err != nil {
		p.t.Fatal(err)
	}
}

// setUpReports has earlier sessions, and a name for the folder with the results of the shards.
func setUpReports(t *testing.T) *docShell {
	t.Helper()
	s := setUpStarter(t)
	s.run("run").wantOutput(t, 0)
	s.link("logs", "results")
	const session = "logs/checkout_20261121T091402Z_0f1e2d3c"
	latest, err := filepath.EvalSymlinks(s.path("logs/latest"))
	if err == nil {
		source := os.DirFS(latest)
		err = errors.Join(os.CopyFS(s.path(session), source), os.CopyFS(s.path("other-logs/one"), source))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// setUpRecording has the tool generateTestUser.
func setUpRecording(t *testing.T) *docShell {
	t.Helper()
	s := setUpStarter(t)
	server := strings.NewReplacer(
		"greet:", "generateTestUser:", "name: {", "plan: {", `["name"]`, `["plan"]`, "({ name }) =>", "({ plan }) =>",
		"{ greeting: `Hello, ${name}!`, letters: name.length }", `{ email: "user-1@example.com", plan }`,
	).Replace(s.read(t, "tools/greetings.mjs"))
	s.write("tools/users.mjs", server)
	s.write("trailblaze.yaml", strings.Replace(s.read(t, "trailblaze.yaml"), "greetings.mjs", "users.mjs", 1))
	trail := webTrail("generateTestUser: { plan: pro }")
	s.write("checkout.trail.yaml", strings.Replace(trail, "web:", "android-phone:", 1))
	s.run("run", "trails/sign-in.trail.yaml").want(t, 0)
	return s
}

// setUpUnrecorded has a provider in place of that of Anthropic.
func setUpUnrecorded(t *testing.T) *docShell {
	t.Helper()
	_, at := provider(t, buyer())
	p := newProject(t, map[string]string{"trails/buy-by-model.trail.yaml": buyTrail})
	p.write("trailblaze.yaml", webConfig+"base_url: "+shopSite(t)+`
llm:
  model: anthropic/claude-sonnet
  providers: { anthropic: { baseUrl: "`+at+`", apiKeyEnv: ANTHROPIC_API_KEY } }
`)
	p.env = append(p.env, "ANTHROPIC_API_KEY="+modelKey)
	p.endSessions(t)
	return &docShell{project: p}
}

// setUpBroken has a shop whose button got another name.
func setUpBroken(t *testing.T) *docShell {
	t.Helper()
	p, _ := healProject(t, pageSite(t, planPage("Get the better plan", "")), clicker("button Get the better plan"))
	return &docShell{project: p}
}

// setUpExplore has a model that puts the mug into the cart.
func setUpExplore(t *testing.T) *docShell {
	t.Helper()
	_, at := provider(t, models.Rules(cartRules()...))
	return &docShell{project: assistedProject(t, "anthropic", at, shopSite(t)+"/index.html", nil)}
}

// setUpModel has a provider of models in place of the gateway.
func setUpModel(t *testing.T) *docShell {
	t.Helper()
	p := newProject(t, nil)
	p.env = append(p.env, "GATEWAY_KEY=k3y-of-the-gateway")
	s := &models.Server{Policy: models.Examined(), Key: "k3y-of-the-gateway"}
	return &docShell{project: p, replace: []string{"https://llm.example.internal/v1", serveSite(t, s) + "/v1"}}
}

func setUpRemote(t *testing.T) *docShell {
	t.Helper()
	p := newProject(t, nil)
	p.env = append(p.env, "TEAM_TOKEN=t0ken-of-the-team")
	return &docShell{project: p, replace: []string{"https://team-tools.example.com/mcp", runElsewhere(t).url}}
}

// setUpPhones has a simulated phone of each platform.
func setUpPhones(t *testing.T) *docShell {
	t.Helper()
	d := newPhoneDesk(t)
	phone, iPhone := d.android(), d.iPhone()
	d.env = append(d.env, "TRAILBLAZE_WDA_URL="+iPhone.URL())
	return &docShell{project: d.project, check: func() { d.putBack(phone) }}
}

func setUpIPhone(t *testing.T) *docShell {
	t.Helper()
	d := newPhoneDesk(t)
	iPhone := d.iPhone()
	d.android() // which doctor looks for, because the trail is for Android, too
	d.env = append(d.env, "TRAILBLAZE_WDA_URL="+iPhone.URL())
	d.write("trailblaze.yaml", "target: corner-shop\ndevices: { iphone: { platform: ios } }\n")
	return &docShell{project: d.project}
}

// setUpSite has the page that the docs show.
func setUpSite(t *testing.T) *docShell {
	t.Helper()
	p := newProject(t, map[string]string{"trailblaze.yaml": "target: shop\nplatform: web\n", "password": "apples"})
	more := strings.Repeat("<li><a href=/>A product with a long name</a></li>", 111)
	site := pageSite(t, `<!doctype html><title>Shop</title>
<header><a href="/">Shop</a><input type="search" aria-label="Search"></header>
<main><h1>Mugs</h1><p>Two of them</p><button>Add to cart</button><button disabled>Add to cart</button></main>© Shop
<p id="found" hidden>Enamel mug</p><ul>`+more+`</ul>
<script>document.querySelector("input").onkeydown = (e) => { if (e.key === "Enter") found.hidden = false }</script>`)
	return &docShell{
		project: p, replace: []string{"https://shop.example.com", site, "/run/secrets/password", p.path("password")},
	}
}
