package config_test

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	data, ok := config.Schema(name)
	if !ok {
		t.Fatalf("no schema %q", name)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

var compiledSchemas sync.Map // *jsonschema.Resolved by kind

func compiled(t *testing.T, kind string) *jsonschema.Resolved {
	t.Helper()
	if s, ok := compiledSchemas.Load(kind); ok {
		return s.(*jsonschema.Resolved)
	}
	resolved, err := schema(t, kind).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	compiledSchemas.Store(kind, resolved)
	return resolved
}

// validate checks a YAML file against the schema of its kind.
func validate(t *testing.T, kind string, file []byte) error {
	t.Helper()
	resolved := compiled(t, kind)
	_, root := yamldoc.Parse("f.yaml", fault.Config, file)
	data, err := json.Marshal(root.Value())
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return resolved.Validate(value)
}

// kindOf returns the schema of a file of a project, none for other files.
func kindOf(file string) string {
	switch dir := path.Dir(file); {
	case path.Ext(file) != ".yaml":
		return ""
	case dir == "trailblaze-config/targets":
		return "target"
	case dir == "trailblaze-config/toolsets":
		return "toolset"
	default:
		return "project"
	}
}

func TestSchemasAcceptGoodFiles(t *testing.T) {
	t.Parallel()
	good := map[string][]string{"project": slices.Collect(maps.Values(spellings))}
	good["project"] = append(good["project"], "", "mcpServers: [{script: a.ts, runtime: embedded}]", "mcpServers:\n",
		"mcpServers: [{name: x, transport: http, url: 'http://x', headers: {A: b}}]")
	for _, f := range txtar.Parse([]byte(everything)).Files {
		if kind := kindOf(f.Name); kind != "" {
			good[kind] = append(good[kind], string(f.Data))
		}
	}
	for kind, files := range good {
		for _, file := range files {
			if err := validate(t, kind, []byte(file)); err != nil {
				t.Errorf("%s schema refuses\n%s\n%v", kind, file, err)
			}
		}
	}
}

func TestSchemasRejectMistakes(t *testing.T) {
	t.Parallel()
	for kind, files := range map[string][]string{
		"project": {
			"- target: shop", "targt: shop", "target: 12", "target: ' '", "platform: desktop", "driver: selenium",
			"agent: remote",
			"preferHostAgent: 'no'", "trailsDir: []", "mcpServers: a.ts", "mcpServers: [a.ts]", "mcpServers: [{name: a}]",
			"mcpServers: {a: }", "mcpServers: [{script: a.ts, command: node}]", "mcpServers: [{script: a.ts, args: [x]}]",
			"mcpServers: [{script: a.py}]", "mcpServers: [{command: a, runtime: bun}]",
			"mcpServers: [{command: a, startupTimeout: 60}]",
			"mcpServers: [{command: a, call_timeout: soon}]", "mcpServers: [{command: a, args: --x}]",
			"mcpServers: [{command: a, env: [A=b]}]",
			"mcpServers: [{script: a.ts, runtime: deno}]", "mcpServers: [{command: a, restart: always}]",
			"mcpServers: [{command: a, env: {A: [b]}}]",
			"mcpServers: [{command: a, transport: http}]", "mcpServers: [{url: 'http://x', command: a}]",
			"mcpServers: [{url: 'http://x', env: {}}]",
			"mcpServers: [{command: a, startAhead: no way}]", "mcpServers: [{command: a, sampling: maybe}]", "mcpServers: [{command: a, multiDevice: stdio}]",
			"mcpServers: [{url: 'http://x', multi_device: http}]", "devices: [a]", "devices: {a: web}", "devices: {'a:b': {}}",
			"devices: {a: {platform: tv}}",
			"devices: {a: {size: 10}}", "devices: {a: {classifier: [b]}}", "devices: {a: {env: [b]}}", "device: {web: 3}",
			"mcpServers: [{command: a, rename: [b]}]", "mcpServers: [{command: a, rename: {b: ''}}]",
			"mcpServers: [{command: a, exclude: b}]", "startAhead: maybe",
			"run: [a]", "run: {workers: 0}", "run: {retries: -1}", "run: {timeout: soon}", "run: {maxFailures: many}",
			"run: {trace: always}", "run: {failOnFlaky: 3}", "run: {reporters: [junit]}", "run: {reporters: {junit: ' '}}", "run: {worker: 2}",
			"secrets: TOKEN", "secrets: [a b]", "secrets: [TOKEN=hunter2]",
			"reset: [npm]", "reset: {}", "reset: {command: a, url: 'http://x'}", "reset: {command: a, timeout: soon}", "reset: ''",
			"webServer: npm start", "webServer: {command: npm start}", "webServer: [{url: 'http://x'}]",
			"webServer: {command: a, url: 'http://x', targets: shop}", "webServer: {command: a, url: 'http://x', targets: []}",
			"failOn: pageError", "failOn: [pageerror]",
			"llm: [a]", "llm: {model: ' '}", "llm: {heal: maybe}", "llm: {images: true}", "llm: {providers: [ollama]}",
			"llm: {providers: {ollama: {protocol: grpc}}}", "llm: {providers: {ollama: {apiKeyEnv: sk-1}}}",
			"llm: {providers: {ollama: {apiKeyCommand: gcloud}}}", "llm: {providers: {ollama: {apiKeyCommand: []}}}",
			"llm: {providers: {ollama: {maxConcurrent: 0}}}", "llm: {providers: {a/b: {protocol: openai-chat, baseUrl: 'http://x'}}}",
			"llm: {models: {a: {price: 3}}}", "llm: {models: {a: {price: {input: -1, output: 1}}}}", "llm: {models: {a: {price: {input: 1}}}}",
			"llm: {models: {a: {price: {output: 1}}}}", "llm: {budget: {costPerTrail: 0}}", "llm: {budget: {costPerRun: 0}}", "llm: {models: {a: {toolCalls: xml}}}",
			"llm: {models: {a: {maxOutputTokens: 3}}}", "llm: {budget: {costPerRun: much}}", "llm: {budget: {timePerStep: 3}}",
			"webServer: {command: a, url: 'http://x', port: 3}", "webServer: {command: a, url: 'http://x', reuseExisting: 1}",
		},
		"target": {
			"", "display_name: Shop", "id: 12", "id: shop\nplatform: ios", "id: shop\nplatforms: [ios]",
			"id: shop\nplatforms: {windows: {}}",
			"id: shop\nplatforms: {ios: {app_id: x}}", "id: shop\nplatforms: {ios: {app_ids: x}}",
			"id: shop\nmcp_servers: [{name: x}]",
		},
		"toolset": {
			"", "tools: [a]", "id: core\ntool: [a]", "id: core\ntools: a", "id: core\ntools: [1]",
			"id: core\nplatforms: [windows]",
			"id: core\ndrivers: [selenium]", "id: core\nalways_enabled: sometimes",
		},
	} {
		for _, file := range files {
			if err := validate(t, kind, []byte(file)); err == nil {
				t.Errorf("%s schema accepts\n%s", kind, file)
			}
			root := t.TempDir()
			write(t, path.Join(root, map[string]string{
				"project": "trailblaze.yaml", "target": "trailblaze-config/targets/shop.yaml",
				"toolset": "trailblaze-config/toolsets/core.yaml",
			}[kind]), []byte(file))
			if _, problems := config.Load(root, nil); len(problems) == 0 {
				t.Errorf("Load accepts as %s\n%s", kind, file)
			}
		}
	}
}

// properties returns the keys of a schema, except those of objects that allow any key.
func properties(s *jsonschema.Schema) map[string]bool {
	names := map[string]bool{}
	for _, part := range append(slices.Collect(maps.Values(s.Defs)), s) {
		if anyName := part.AdditionalProperties; anyName != nil && anyName.Not == nil {
			continue
		}
		for name := range part.Properties {
			names[name] = true
		}
	}
	return names
}

func TestSchemasHaveEveryKeyInBothSpellings(t *testing.T) {
	t.Parallel()
	for _, kind := range config.SchemaNames() {
		known := properties(schema(t, kind))
		for name := range known {
			var snake strings.Builder
			for _, r := range name {
				if 'A' <= r && r <= 'Z' {
					snake.WriteByte('_')
				}
				snake.WriteString(strings.ToLower(string(r)))
			}
			if !known[snake.String()] {
				t.Errorf("%s schema knows %s and not %s", kind, name, snake.String())
			}
		}
	}
}

// knownKeys returns the known keys from the hint of an unknown one.
func knownKeys(t *testing.T, file, content string) []string {
	t.Helper()
	root := t.TempDir()
	write(t, path.Join(root, file), []byte(content))
	if path.Base(file) == "trailblaze.yaml" {
		root = path.Join(root, path.Dir(file))
	}
	_, problems := config.Load(root, nil)
	for _, p := range problems {
		if list, ok := strings.CutPrefix(p.Hint, "known: "); ok {
			return strings.Split(list, ", ")
		}
	}
	t.Fatalf("no list of known keys in %v", problems)
	return nil
}

func TestSchemasAndLoaderHaveSameKeys(t *testing.T) {
	t.Parallel()
	const odd = "xxxxxxxxxxxx: 1"
	for kind, places := range map[string]map[string]string{
		"project": {
			"trailblaze.yaml": odd + "\nmcpServers: []", "trailblaze.config.yaml": "mcpServers: [{" + odd + "}]",
			"a/trailblaze.yaml": "run: {" + odd + "}", "b/trailblaze.yaml": "run: {reporters: {" + odd + "}}",
			"c/trailblaze.yaml": "webServer: {" + odd + "}", "d/trailblaze.yaml": "reset: {" + odd + "}",
			"e/trailblaze.yaml": "llm: {" + odd + "}", "f/trailblaze.yaml": "llm: {providers: {ollama: {" + odd + "}}}",
			"g/trailblaze.yaml": "llm: {models: {a: {" + odd + "}}}", "h/trailblaze.yaml": "llm: {models: {a: {price: {" + odd + "}}}}",
			"i/trailblaze.yaml": "llm: {budget: {" + odd + "}}",
		},
		"target": {
			"trailblaze-config/targets/a.yaml": odd, "trailblaze-config/targets/b.yaml": "mcpServers: [{" + odd + "}]",
			"trailblaze-config/targets/c.yaml": "platforms: {ios: {" + odd + "}}", "trailblaze-config/targets/d.yaml": "electron: {" + odd + "}",
		},
		"toolset": {"trailblaze-config/toolsets/a.yaml": odd},
	} {
		want := map[string]bool{}
		for file, content := range places {
			for _, key := range knownKeys(t, file, content) {
				want[key] = true
			}
		}
		got := properties(schema(t, kind))
		maps.DeleteFunc(got, func(name string, _ bool) bool { return strings.Contains(name, "_") })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("keys of %s files (-loader +schema):\n%s", kind, diff)
		}
	}
}

func TestSchemaRejectsUnknownNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "trail", "../config", "project.json"} {
		if _, ok := config.Schema(name); ok {
			t.Errorf("there is a schema %q", name)
		}
	}
}

func TestSchemasHaveSameServer(t *testing.T) {
	t.Parallel()
	project, target := schema(t, "project"), schema(t, "target")
	for name, def := range target.Defs {
		if of, ok := project.Defs[name]; ok && !cmp.Equal(of.String(), def.String()) {
			t.Errorf("the schemas differ in %s", name)
		}
	}
	if project.Defs["server"] == nil || target.Defs["server"] == nil {
		t.Error("a schema does not describe servers")
	}
}
