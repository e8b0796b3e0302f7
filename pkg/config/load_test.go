package config_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

// load loads a project from a txtar archive, which must have no problems.
func load(t *testing.T, files string) *config.Project {
	t.Helper()
	root := unpack(t, txtar.Parse([]byte(files)))
	project, problems := config.Load(root, environment)
	if got := render(root, problems, project.Warnings); got != "" {
		t.Fatal(got)
	}
	return project
}

// everything is a project that uses every key.
const everything = `
-- trailblaze.yaml --
target: shop
platform: android
driver: ANDROID_ONDEVICE_INSTRUMENTATION
agent: on-device
baseUrl: "${UNSET:-http://app.test/}"
trailsDir: ./e2e
logsDir: out/logs
mcpServers:
  - script: ./tools/common.ts
    runtime: bun
    workingDir: tools
  - name: acme-tools
    transport: stdio
    command: ./gradlew
    args: [":acme:run", 8080, "${EMPTY:-fallback}", "$${SET}", "$PATH ${SET}"]
    env: { API: "${UNSET:-https://api}", PORT: 80, NONE: "${EMPTY}" }
    startupTimeout: 2m
    callTimeout: 500ms
    callbackTimeout: 1m
    parallel: true
    sampling: true
    startAhead: false
    multiDevice: http
    restart: on-crash
    rename: { wait: acme_wait }
    exclude: [debug_*, ping]
device:
  headed: true
  web: { viewport: 800x600, permissions: [geolocation, "${SET}"] }
  android: { serial: emulator-5554 }
  ios:
startAhead: true
keepProcesses: [adb, java]
llm:
  model: gateway/claude
  context: Prices are in euros.
  images: never
  providers:
    anthropic: { apiKeyEnv: TEAM_TOKEN }
    gateway:
      protocol: openai-chat
      baseUrl: "${UNSET:-https://llm.test/v1}"
      apiKeyCommand: [gcloud, auth]
      headers: { x-team: ui }
      maxConcurrent: 4
  models:
    claude: { price: { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 }, images: true, maxOutputTokens: 2048 }
    cheap: { price: { input: 2, output: 4 } }
    qwen3: { toolCalls: json, images: false, reasoning: low, temperature: 0 }
  budget: { requestsPerStep: 1, requestsPerTrail: 2, tokensPerTrail: 3, timePerStep: 4m, costPerTrail: 0.5, costPerRun: 6 }
devices:
  tablet:
    platform: android
    id: "${SET}"
    env: { PORT: 8081, API_TOKEN: "Bearer ${TEAM_TOKEN}" }
    serial: x
    web: { headed: false }
  desktop:
  phone:
    driver: PLAYWRIGHT_NATIVE
    platform: web
    classifier: "web,phone"
    size: 390x844
    viewport: 390x844
    cdp_url: "${SET}"
-- tools/common.ts --
-- tools/login.mjs --
-- trailblaze-config/targets/shop.yaml --
id: shop
display_name: The Shop
mcp_servers:
  login: { script: tools/login.mjs }
  helper: { command: helper, cwd: tools }
platforms:
  ios: { app_ids: [com.shop], tool_sets: [core, login], tools: [tap], excluded_tools: [swipe] }
  ANDROID:
-- trailblaze-config/targets/another.yaml --
id: another
-- trailblaze-config/toolsets/core.yaml --
id: core
description: What everybody needs
platforms: [android, IOS]
drivers: [ios-axe, REVYL_ANDROID]
always_enabled: true
tools: [tap, swipe]
`

func TestEveryKeyIsRead(t *testing.T) {
	t.Parallel()
	got := load(t, everything)
	in := func(path string) string { return filepath.Join(got.Root, filepath.FromSlash(path)) }
	project, shop := in("trailblaze.yaml"), in("trailblaze-config/targets/shop.yaml")
	want := &config.Project{
		Root: got.Root, File: project,
		Target: "shop", Platform: "android", Driver: "android-ondevice-instrumentation", AgentMode: "on-device",
		BaseURL: "http://app.test/", TrailsDir: in("e2e"), LogsDir: in("out/logs"),
		Servers: []config.Server{
			{
				Name:   "./tools/common.ts",
				Script: in("tools/common.ts"), Runtime: "bun", Dir: in("tools"), File: project, Line: 9, Column: 5,
			},
			{
				Name: "acme-tools", Command: in("gradlew"), Dir: got.Root,
				Args:           []string{":acme:run", "8080", "fallback", "${SET}", "$PATH ${NOT_AGAIN}"},
				Env:            map[string]string{"API": "https://api", "PORT": "80", "NONE": ""},
				StartupTimeout: 2 * time.Minute, CallTimeout: 500 * time.Millisecond, CallbackTimeout: time.Minute, Parallel: true, Sampling: true,
				RestartOnCrash: true, NoPrefetch: true, MultiDevice: true,
				Rename: map[string]string{"wait": "acme_wait"}, Exclude: []string{"debug_*", "ping"},
				File: project, Line: 12, Column: 5,
			},
		},
		Targets: []config.Target{
			{ID: "another", File: in("trailblaze-config/targets/another.yaml"), Line: 1},
			{
				ID: "shop", DisplayName: "The Shop", File: shop, Line: 1,
				Servers: []config.Server{
					{Name: "login", Script: in("tools/login.mjs"), File: shop, Line: 4, Column: 3},
					{Name: "helper", Command: "helper", Dir: in("tools"), File: shop, Line: 5, Column: 3},
				},
				Platforms: map[scope.Platform]config.PlatformConfig{
					scope.IOS: {
						AppIDs: []string{"com.shop"}, ToolSets: []string{"core", "login"},
						Tools: []string{"tap"}, ExcludedTools: []string{"swipe"},
					},
					scope.Android: {},
				},
				PlatformOrder: []scope.Platform{scope.IOS, scope.Android},
			},
		},
		Toolsets: []config.Toolset{{
			ID: "core", Description: "What everybody needs", Platforms: []scope.Platform{scope.Android, scope.IOS},
			Drivers: []string{"ios-axe", "revyl-android"}, AlwaysEnabled: true, Tools: []string{"tap", "swipe"},
			File: in("trailblaze-config/toolsets/core.yaml"), Line: 1,
		}},
		StartAhead: true, KeepProcesses: []string{"adb", "java"},
		LLM: config.LLM{
			Model: "gateway/claude", Context: "Prices are in euros.", NoImages: true,
			Providers: map[string]model.Provider{
				"anthropic": {Name: "anthropic", Protocol: model.Anthropic, BaseURL: "https://api.anthropic.com", KeyEnv: "TEAM_TOKEN"},
				"gateway": {
					Name: "gateway", Protocol: model.OpenAIChat, BaseURL: "https://llm.test/v1", KeyCommand: []string{"gcloud", "auth"},
					Headers: map[string]string{"x-team": "ui"}, MaxConcurrent: 4,
				},
			},
			Models: map[string]model.Settings{
				"claude": {Price: &model.Price{Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15}, MaxOutputTokens: 2048},
				"cheap":  {Price: &model.Price{Input: 2, CacheRead: 2, CacheWrite: 2, Output: 4}},
				"qwen3":  {JSONCalls: true, NoImages: true, Reasoning: "low", Temperature: new(float64)},
			},
			Budget: config.LLMBudget{
				RequestsPerStep: 1, RequestsPerTrail: 2, TokensPerTrail: 3, TimePerStep: 4 * time.Minute, CostPerTrail: 0.5, CostPerRun: 6,
			},
			Keys: map[string]string{"TEAM_TOKEN": "secret"},
		},
		Device: []config.Setting{
			{Key: "headed", Value: "true"},
			{Kind: "web", Key: "viewport", Value: "800x600"},
			{Kind: "web", Key: "permissions", Value: `["geolocation","${NOT_AGAIN}"]`},
			{Kind: "android", Key: "serial", Value: "emulator-5554"},
		},
		Secrets: map[string]string{"TEAM_TOKEN": "secret"},
		Devices: []config.Device{
			{
				Name: "tablet", Platform: "android", ID: "${NOT_AGAIN}",
				Env: map[string]string{"PORT": "8081", "API_TOKEN": "Bearer secret"},
				Settings: []config.Setting{
					{Kind: "android", Key: "serial", Value: "x"},
					{Kind: "web", Key: "headed", Value: "false"},
				},
			},
			{Name: "desktop"},
			{
				Name: "phone", Platform: "web", Driver: "playwright-native", Classifiers: []string{"web", "phone"}, Width: 390,
				Height: 844,
				Settings: []config.Setting{
					{Kind: "web", Key: "viewport", Value: "390x844"},
					{Kind: "web", Key: "cdpUrl", Value: "${NOT_AGAIN}"},
				},
			},
		},
		Files: 4,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(config.Setting{})); diff != "" {
		t.Errorf("project (-want +got):\n%s", diff)
	}
}

// spellings are the ways to write one and the same project file.
var spellings = map[string]string{
	"camel case": "trailsDir: e2e\npreferHostAgent: false\n" +
		"mcpServers: [{name: a, command: b, workingDir: tools, startupTimeout: 1s, callTimeout: 2s}]\n",
	"snake case": "trails_dir: e2e\nprefer_host_agent: false\n" +
		"mcp_servers: [{name: a, command: b, working_dir: tools, startup_timeout: 1s, call_timeout: 2s}]\n",
	"agent, cwd": "trailsDir: ./e2e\nagent: on-device\n" +
		"mcpServers: [{name: a, command: b, cwd: ./tools, startupTimeout: 1s, callTimeout: 2000ms}]\n",
	"mapping": "trailsDir: e2e/\nagent: on-device\n" +
		"mcpServers: {a: {command: b, cwd: tools, startupTimeout: 1s, callTimeout: 2s}}\n",
	"mapping, name": "trailsDir: e2e/\nagent: on-device\n" +
		"mcpServers: {a: {name: a, command: b, cwd: tools, startupTimeout: 1s, callTimeout: 2s}}\n",
	"old name": "trailsDir: e2e\nagent: on-device\n" +
		"trailblazeSubprocessToolsets: [{name: a, command: b, cwd: tools, startupTimeout: 1s, callTimeout: 2s}]\n",
	"old name, snake case": "trailsDir: e2e\nagent: on-device\n" +
		"trailblaze_subprocess_toolsets: {a: {command: b, cwd: tools, startupTimeout: 1s, callTimeout: 2s}}\n",
}

func TestSpellingsAreEquivalent(t *testing.T) {
	t.Parallel()
	for name, file := range spellings {
		for _, fileName := range []string{"trailblaze.yaml", "trailblaze.config.yaml"} {
			t.Run(name+" in "+fileName, func(t *testing.T) {
				t.Parallel()
				got := load(t, fmt.Sprintf("-- %s --\n%s-- tools/x --\n", fileName, file))
				want := &config.Project{
					Root: got.Root, AgentMode: "on-device", Files: 1,
					TrailsDir: filepath.Join(got.Root, "e2e"), LogsDir: filepath.Join(got.Root, "logs"), KeepProcesses: []string{"adb"},
					Servers: []config.Server{{
						Name: "a", Command: "b", Dir: filepath.Join(got.Root, "tools"), StartupTimeout: time.Second,
						CallTimeout: 2 * time.Second,
					}},
				}
				places := cmpopts.IgnoreFields(config.Server{}, "File", "Line", "Column")
				if diff := cmp.Diff(want, got, places, cmpopts.IgnoreFields(config.Project{}, "File")); diff != "" {
					t.Errorf("project (-want +got):\n%s", diff)
				}
				if want := filepath.Join(got.Root, fileName); got.File != want {
					t.Errorf("File %q, want %q", got.File, want)
				}
			})
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]string{
		"empty file":              "-- trailblaze.yaml --\n",
		"comments only":           "-- trailblaze.yaml --\n# target: shop\n",
		"servers commented out":   "-- trailblaze.yaml --\nmcpServers:\n#  - script: a.ts\n",
		"only trailblaze-config/": "-- trailblaze-config/readme.txt --\n",
		"prefers the host agent":  "-- trailblaze.yaml --\npreferHostAgent: true\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := load(t, files)
			want := &config.Project{
				Root: got.Root, TrailsDir: filepath.Join(got.Root, "trails"),
				LogsDir: filepath.Join(got.Root, "logs"), KeepProcesses: []string{"adb"},
			}
			if name == "prefers the host agent" {
				want.AgentMode = "host"
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(),
				cmpopts.IgnoreFields(config.Project{}, "File", "Files")); diff != "" {
				t.Errorf("project (-want +got):\n%s", diff)
			}
		})
	}
}

func TestServersForReturnsProjectThenTarget(t *testing.T) {
	t.Parallel()
	project := load(t, everything)
	for target, want := range map[string][]string{
		"shop":    {"./tools/common.ts", "acme-tools", "login", "helper"},
		"another": {"./tools/common.ts", "acme-tools"},
		"no file": {"./tools/common.ts", "acme-tools"},
		"":        {"./tools/common.ts", "acme-tools"},
	} {
		var got []string
		for _, s := range project.ServersFor(target) {
			got = append(got, s.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("servers of %q (-want +got):\n%s", target, diff)
		}
	}
}

func TestScopeTargets(t *testing.T) {
	t.Parallel()
	got := load(t, everything).ScopeTargets()
	want := []scope.Target{
		{ID: "another"},
		{
			ID: "shop", DisplayName: "The Shop", Platforms: []scope.Platform{scope.IOS, scope.Android},
			AppIDs: map[scope.Platform][]string{scope.IOS: {"com.shop"}, scope.Android: nil},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}

func TestAbsolutePathsAreKept(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	script := filepath.Join(elsewhere, "a.js")
	write(t, script, nil)
	got := load(t, fmt.Sprintf("-- trailblaze.yaml --\nlogsDir: '%s'\nmcpServers: [{script: '%s'}]\n", elsewhere, script))
	if got.LogsDir != elsewhere || got.Servers[0].Script != script {
		t.Errorf("logs in %s, script %s", got.LogsDir, got.Servers[0].Script)
	}
}

func TestLoadWithoutEnvironment(t *testing.T) {
	t.Parallel()
	root := unpack(t, txtar.Parse([]byte("-- trailblaze.yaml --\nmcpServers: [{command: '${HOME}'}]\n")))
	if _, problems := config.Load(root, nil); len(problems) != 1 {
		t.Errorf("problems: %v", problems)
	}
}

func TestFindRootReturnsNearestFolder(t *testing.T) {
	t.Parallel()
	for _, marker := range []string{"trailblaze.yaml", "trailblaze.config.yaml", "trailblaze-config/targets/a.yaml"} {
		t.Run(marker, func(t *testing.T) {
			t.Parallel()
			outer := t.TempDir()
			write(t, filepath.Join(outer, "trailblaze.yaml"), nil)
			root := filepath.Join(outer, "project")
			write(t, filepath.Join(root, filepath.FromSlash(marker)), nil)
			deep := filepath.Join(root, "a", "b")
			write(t, filepath.Join(deep, "x"), nil)
			for _, dir := range []string{root, deep} {
				if got, err := config.FindRoot(config.Options{Dir: dir}); err != nil || got != root {
					t.Errorf("from %s: %q, %v; want %q", dir, got, err, root)
				}
			}
		})
	}
}

func TestFindRootUsesOverride(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, project := range []string{"here", "a", "b"} {
		write(t, filepath.Join(dir, project, "trailblaze.yaml"), nil)
	}
	here, a, b := filepath.Join(dir, "here"), filepath.Join(dir, "a"), filepath.Join(dir, "b")
	env := func(name string) (string, bool) { return a, name == "TRAILBLAZE_PROJECT" }
	empty := func(string) (string, bool) { return "", true }
	for _, tt := range []struct {
		name string
		give config.Options
		want string
	}{
		{"flag over environment", config.Options{Dir: here, Override: b, Env: env}, b},
		{"relative to the working directory", config.Options{Dir: here, Override: "../b/"}, b},
		{"environment over walking up", config.Options{Dir: here, Env: env}, a},
		{"empty environment", config.Options{Dir: here, Env: empty}, here},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := config.FindRoot(tt.give); err != nil || got != tt.want {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestFindRootExplainsFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "empty", "x"), nil)
	write(t, filepath.Join(dir, "project", "trailblaze.yaml"), nil)
	// A folder named like the file, and a file named like the folder, are not a project.
	write(t, filepath.Join(dir, "empty", "trailblaze.yaml", "x"), nil)
	write(t, filepath.Join(dir, "empty", "trailblaze-config"), nil)
	for _, tt := range []struct {
		name string
		give config.Options
		want []string
	}{
		{"nothing on the way up", config.Options{Dir: filepath.Join(dir, "empty")}, []string{
			"trailblaze.yaml", "trailblaze.config.yaml", "trailblaze-config/", "trailblaze init", "--project",
		}},
		{"given folder without a project", config.Options{Dir: dir, Override: "empty"}, []string{
			"trailblaze.yaml", "trailblaze.config.yaml", "trailblaze-config/", "trailblaze init",
		}},
		{"given folder that is not there", config.Options{Dir: dir, Override: "nowhere"}, []string{"does not exist"}},
		{
			"given file",
			config.Options{Dir: dir, Override: "project/trailblaze.yaml"},
			[]string{"is a file", "name the folder"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, err := config.FindRoot(tt.give)
			f := fault.As(err)
			if f == nil || f.Kind != fault.Misuse {
				t.Fatalf("%q, %v; want a misuse error", root, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(f.Message+"\n"+f.Hint, want) {
					t.Errorf("%q (%s) does not contain %q", f.Message, f.Hint, want)
				}
			}
		})
	}
}

func TestProblemsOfAllFilesAreReported(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]string{
		"syntax": "target: [shop", "not UTF-8": "target: \xff", "no such anchor": "target: *shop",
		"two documents": "a: 1\n---\nb: 2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			write(t, filepath.Join(root, "trailblaze.yaml"), []byte(broken))
			write(t, filepath.Join(root, "trailblaze-config", "targets", "shop.yaml"), []byte("id: shop\nnmae: x\n"))
			_, problems := config.Load(root, nil)
			files := map[string]bool{}
			for _, p := range problems {
				files[filepath.Base(p.File)] = p.Line > 0 && p.Snippet != ""
			}
			if diff := cmp.Diff(map[string]bool{"trailblaze.yaml": true, "shop.yaml": true}, files); diff != "" {
				t.Errorf("files with problems that have a place (-want +got):\n%s\n%v", diff, problems)
			}
		})
	}
}

func TestEnvironmentVariablesAreExpanded(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"${TEAM_TOKEN}":            "secret",
		"Bearer ${TEAM_TOKEN}!":    "Bearer secret!",
		"${TEAM_TOKEN}${EMPTY}":    "secret",
		"${UNSET:-x}":              "x",
		"${EMPTY:-x}":              "x",
		"${TEAM_TOKEN:-x}":         "secret",
		"${UNSET:-}":               "",
		"${UNSET:-a:-b c}":         "a:-b c",
		"${SET}":                   "${NOT_AGAIN}", // values are not expanded again
		"$${TEAM_TOKEN}":           "${TEAM_TOKEN}",
		"$TEAM_TOKEN $ $$ $1 {x} ": "$TEAM_TOKEN $ $$ $1 {x} ",
	} {
		project := load(t, fmt.Sprintf("-- trailblaze.yaml --\nmcpServers: [{command: x, args: ['%s'], env: {A: '%s'}}]\n",
			written, written))
		if server := project.Servers[0]; server.Args[0] != want || server.Env["A"] != want {
			t.Errorf("%q becomes %q and %q, want %q", written, server.Args[0], server.Env["A"], want)
		}
	}
}

func TestSecretsOfHeadersAndURLs(t *testing.T) {
	t.Parallel()
	const with = "-- trailblaze.yaml --\nmcpServers: [{url: '%s', headers: {%s}}]\n"
	const h = "https://h/mcp"
	for _, c := range []struct {
		url, headers, shown string
		want                map[string]string
	}{
		{
			h, "Authorization: 'Bearer ${TEAM_TOKEN}'",
			h,
			map[string]string{"TEAM_TOKEN": "secret", "header Authorization": "secret"},
		},
		{
			h, "X-Team: '${TEAM_TOKEN}', X-Build: '${SET} $${TEAM_TOKEN}'",
			h,
			map[string]string{"TEAM_TOKEN": "secret", "SET": "${NOT_AGAIN}"},
		},
		{
			h, "X-Api-Key: 0123456789, X-Team: checkout, X-Auth: no",
			h,
			map[string]string{"header X-Api-Key": "0123456789", "header X-Auth": "no"},
		},
		{
			h, "X-Pass: '${SENTENCE}', X-Api-Key: open sesame",
			h,
			map[string]string{"SENTENCE": "a b c", "header X-Api-Key": "open sesame"},
		},
		{"https://me:hunter22@h/mcp?key=sesame!&n=1&key=second", "A: b", h, map[string]string{
			"user and password of url": "me:hunter22", "password of url": "hunter22", "key of url": "sesame!",
			"key of url 2": "second",
		}},
		{"https://tok@h/mcp?v=1", "A: b", h, map[string]string{"user of url": "tok"}},
		{"https://h/s/${TEAM_TOKEN}/mcp", "A: b", "https://h/s/secret/mcp", map[string]string{"TEAM_TOKEN": "secret"}},
		{"https://${TEAM_TOKEN}.h/mcp", "A: b", "https://secret.h/mcp", nil},
		{"https://${TEAM_TOKEN}@h/mcp?v=${SET}", "A: b", h, map[string]string{
			"TEAM_TOKEN": "secret", "user of url": "secret", "SET": "${NOT_AGAIN}", "v of url": "${NOT_AGAIN}",
		}},
		{"${WHOLE}", "A: b", "https://h/s/k%2Fey/mcp", map[string]string{
			"WHOLE": "https://h/s/k%2Fey/mcp?k=v", "WHOLE, decoded": "https://h/s/k/ey/mcp?k=v",
			"path of url": "/s/k/ey/mcp", "url": "https://h/s/k%2Fey/mcp", "k of url": "v",
		}},
		{h, "A: b", h, nil},
	} {
		server := load(t, fmt.Sprintf(with, c.url, c.headers)).Servers[0]
		if diff := cmp.Diff(c.want, server.Secrets); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.url, c.headers, diff)
		}
		if got := server.PublicURL(); got != c.shown {
			t.Errorf("%s is shown as %s", c.url, got)
		}
	}
}

func TestSecretsOfCommands(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]map[string]string{
		"env: {X: '${TEAM_TOKEN}'}":                                                {"TEAM_TOKEN": "secret"},
		"env: {API_KEY: 'x ${SENTENCE}'}":                                          {"SENTENCE": "a b c"},
		"env: {X: '${SENTENCE}', Y: '${EMPTY:-x}'}":                                nil,
		"env: {TOKEN: '${EMPTY}', SECRET: written}":                                nil,
		"args: ['--token=${TEAM_TOKEN}', '${SENTENCE}']":                           {"TEAM_TOKEN": "secret"},
		"env: {MONKEY: '${SENTENCE}', accessKey: '${SET}'}":                        {"SET": "${NOT_AGAIN}"},
		"env: {DB_PASS: '${SENTENCE}'}":                                            {"SENTENCE": "a b c"},
		"env: {MY_PWD: '${SENTENCE}'}":                                             {"SENTENCE": "a b c"},
		"env: {GH_PAT: '${SENTENCE}'}":                                             {"SENTENCE": "a b c"},
		"env: {TOKEN2: '${SENTENCE}'}":                                             {"SENTENCE": "a b c"},
		"env: {PATH: '${SENTENCE}', PWD: '${SENTENCE}', TOKENIZER: '${SENTENCE}'}": nil,
	} {
		server := load(t, "-- trailblaze.yaml --\nmcpServers: [{command: x, "+entry+"}]\n").Servers[0]
		if diff := cmp.Diff(want, server.Secrets); diff != "" {
			t.Errorf("%s (-want +got):\n%s", entry, diff)
		}
	}
}

func TestDeviceSettings(t *testing.T) {
	t.Parallel()
	project := load(t, everything)
	tablet, _ := project.FindDevice("tablet")
	phone, _ := project.FindDevice("phone")
	for name, tt := range map[string]struct {
		kind   string
		device config.Device
		want   map[string]string
	}{
		"project": {"web", config.Device{}, map[string]string{
			"headed": "true", "viewport": "800x600",
			"permissions": `["geolocation","${NOT_AGAIN}"]`,
		}},
		"overridden": {"android", tablet, map[string]string{"serial": "x", "headed": "true"}},
		"another kind": {"web", tablet, map[string]string{
			"headed": "false", "viewport": "800x600",
			"permissions": `["geolocation","${NOT_AGAIN}"]`,
		}},
		"without a kind": {"web", phone, map[string]string{
			"headed": "true", "viewport": "390x844", "cdpUrl": "${NOT_AGAIN}",
			"permissions": `["geolocation","${NOT_AGAIN}"]`,
		}},
		"of every kind": {"ios", tablet, map[string]string{"headed": "true"}},
	} {
		if diff := cmp.Diff(tt.want, project.DeviceValues(tt.kind, tt.device)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	problems := project.DeviceProblems([]config.DeviceKind{{
		Name: "web", Keys: []string{"headed", "viewport", "cdpUrl"},
		Check: func(key, value string) error {
			if value == "390x844" {
				return fault.New(fault.Config, "larger", "%s is too small", key)
			}
			return nil
		},
	}})
	var got []string
	for _, p := range problems {
		got = append(got, p.Message)
	}
	want := []string{
		`unknown setting "permissions" for web devices`, "this version has no settings for android devices",
		"this version has no settings for android devices", "viewport is too small",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestBaseURLIsNotADeviceSetting(t *testing.T) {
	t.Parallel()
	project := load(t, "-- trailblaze.yaml --\ndevice: { baseUrl: \"http://app.test\" }\n")
	problems := project.DeviceProblems([]config.DeviceKind{{Name: "web", Keys: []string{"headed"}}})
	if len(problems) != 1 || !strings.Contains(problems[0].Hint, "at the top of trailblaze.yaml") {
		t.Errorf("problems: %v", problems)
	}
}

func TestBaseURLOfTargetOrProject(t *testing.T) {
	t.Parallel()
	project := load(t, `
-- trailblaze.yaml --
baseUrl: http://project.test
-- trailblaze-config/targets/own.yaml --
id: own
platforms: { web: { base_url: http://own.test } }
-- trailblaze-config/targets/none.yaml --
id: none
platforms: { web: , ios: }
`)
	for _, tt := range []struct {
		target   string
		platform scope.Platform
		want     string
	}{
		{"own", scope.Web, "http://own.test"},
		{"none", scope.Web, "http://project.test"},
		{"without a file", scope.Web, "http://project.test"},
		{"none", scope.IOS, ""},
	} {
		if got := project.BaseURLFor(tt.target, tt.platform); got != tt.want {
			t.Errorf("%s on %s: %q, want %q", tt.target, tt.platform, got, tt.want)
		}
	}
}

func TestServerNameContainsNoSecrets(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://me:hunter22@h/mcp?key=sesame#f": "https://h/mcp", "http://h:8080": "http://h:8080",
		"https://h/":                             "https://h",
		"https://h/s/${TEAM_TOKEN}/mcp?k=${SET}": "https://h/s/${TEAM_TOKEN}/mcp",
		"https://${TEAM_TOKEN}@h/mcp":            "https://h/mcp",
	} {
		project := load(t, fmt.Sprintf("-- trailblaze.yaml --\n"+
			"mcpServers: [{url: '%s'}, {url: '%[1]s', name: 'as ? @ written'}]\n", url))
		if got := project.Servers[0].Name; got != want {
			t.Errorf("%s is called %s, want %s", url, got, want)
		}
		if got := project.Servers[1].Name; got != "as ? @ written" {
			t.Errorf("the name: became %s", got)
		}
	}
}

func TestIsRemote(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"": false, "http://localhost:1/mcp": false, "http://a.localhost": false, "http://127.0.0.1": false,
		"http://127.9.9.9:80":   false,
		"http://[::1]:8080/mcp": false, "http://10.0.0.1": true, "https://tools.example.com/mcp": true,
		"http://localhost.example.com": true,
	} {
		if got := (config.Server{URL: url}).IsRemote(); got != want {
			t.Errorf("%q: %t, want %t", url, got, want)
		}
	}
}

func TestFunctionServersAreListedOnce(t *testing.T) {
	t.Parallel()
	server := func(name string, files ...string) config.Server {
		s := config.Server{Name: name}
		for _, file := range files {
			s.Functions = append(s.Functions, config.FunctionTool{File: file})
		}
		return s
	}
	process := server("process", "/a.ts")
	process.NotEmbedded = true
	p := config.Project{
		Servers: []config.Server{{Name: "script", Script: "/a.ts"}},
		Targets: []config.Target{
			{Servers: []config.Server{server("shop", "/a.ts", "/b.ts", "/a.ts"), process}},
			{Servers: []config.Server{server("shop_", "/a.ts", "/b.ts"), server("till", "/a.ts"), process}},
		},
	}
	var names []string
	for _, s := range p.FunctionServers() {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"shop", "process", "till"}, names); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
}
