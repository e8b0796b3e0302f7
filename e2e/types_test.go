//go:build unix

package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/cmd"
)

// typedProject has two targets, one with a server of its own, on one and two platforms.
func typedProject(t *testing.T) *project {
	t.Helper()
	return newProject(t, map[string]string{
		"trailblaze.yaml": "platform: web\n",
		"trailblaze-config/targets/shop.yaml": "id: shop\nplatforms: { web: {}, android: {} }\nmcpServers:\n" +
			"  - { name: own, command: \"{{fake}}\", env: { FAKE_SERVER: ok } }\n",
		"trailblaze-config/targets/site.yaml": "id: site\nplatforms: { web: {} }\n",
	})
}

func TestTypesOfEveryScope(t *testing.T) {
	t.Parallel()
	p := typedProject(t)
	p.run("types").want(t, 0, "wrote trailblaze.d.ts", "wrote trailblaze_tools.pyi",
		"shop on playwright-native; shop on android-ondevice-accessibility; site on playwright-native")
	types, stub := p.read(t, "trailblaze.d.ts"), p.read(t, "trailblaze_tools.pyi")
	for _, text := range []string{"    web_navigate: {", "    pressKey: {", "    rememberValue: {", "    echo: {"} {
		if !strings.Contains(types, text) {
			t.Errorf("trailblaze.d.ts lacks %q", text)
		}
	}
	if !strings.Contains(stub, "    def echo(self, **args: ") {
		t.Errorf("trailblaze_tools.pyi lacks echo:\n%s", stub)
	}
	_, echo, _ := strings.Cut(types, "Only in: shop on playwright-native, shop on android-ondevice-accessibility\n     */\n    echo")
	if echo == "" {
		t.Error("echo is not said to be in two scopes")
	}
	p.run("types").want(t, 0, "trailblaze.d.ts is up to date", "trailblaze_tools.pyi is up to date")
	v := p.run("types", "--out", "src/types", "--json").object(t)
	hasKeys(t, "types", v, "files scopes tools warnings")
	each(t, v["files"], func(e any) { hasKeys(t, "a file", e, "file written") })
	same(t, "the other folder", types, p.read(t, "src/types/trailblaze.d.ts"))
	p.run("types", "--watch", "--json").want(t, 3, "--watch and --json cannot be combined")
}

func TestTypesAreForLanguagesOfProject(t *testing.T) {
	t.Parallel()
	const (
		ts, py = "trailblaze.d.ts", "trailblaze_tools.pyi"
		script = "\"{{fake}}\", args: [./a.mjs]"
		other  = "\"{{fake}}\""
	)
	programs := t.TempDir()
	for _, name := range []string{"python3.12", "node"} {
		if err := os.Symlink(fake, programs+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		command string
		files   []string
		args    []string
		want    string
	}{
		"a script":                      {script, nil, nil, ts},
		"a Python server":               {"python3.12, args: [-m, a]", []string{"package.json"}, nil, py},
		"a file of Python":              {"\"{{fake}}\", args: [./a.py]", nil, nil, py},
		"node":                          {programs + "/node", nil, nil, ts},
		"another server":                {other, nil, nil, ts + " " + py},
		"another server, package.json":  {other, []string{"package.json"}, nil, ts},
		"a script in a Python project":  {script, []string{"pyproject.toml"}, nil, ts + " " + py},
		"a file that was written":       {script, []string{py}, nil, ts + " " + py},
		"the flag, for both":            {script, nil, []string{"--language", "python,typescript"}, ts + " " + py},
		"the flag, for another":         {script, nil, []string{"--language", "python"}, py},
		"a file in the folder of --out": {script, []string{"src/" + py}, []string{"--out", "src"}, "src/" + ts + " src/" + py},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{
				"trailblaze.yaml": "platform: web\nmcpServers: [ { name: a, command: " + tc.command + ", env: { FAKE_SERVER: ok } } ]\n",
			}
			for _, file := range tc.files {
				files[file] = map[bool]string{true: "# Written by `trailblaze types`\n", false: "{}\n"}[strings.HasSuffix(file, py)]
			}
			p := newProject(t, files)
			p.env = append(p.env, "PATH="+programs)
			var got []string
			v := p.run(append([]string{"types", "--json"}, tc.args...)...).object(t)
			each(t, v["files"], func(e any) { got = append(got, e.(map[string]any)["file"].(string)) })
			same(t, "files", tc.want, strings.Join(got, " "))
		})
	}
	p := newProject(t, nil)
	p.run("init").want(t, 0)
	r := p.run("types")
	r.want(t, 0, "wrote "+ts)
	r.wantErr(t, 0, "this project uses TypeScript; --language selects others")
	p.run("types", "--language", "pyton").wantErr(t, 3, `unknown language "pyton"`, `did you mean "python"?`)
}

func TestTypesFailWithoutServer(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": "platform: web\nmcpServers:\n  - { name: a, command: ./none }\n"})
	p.run("types").wantErr(t, 2, "none")
	if _, err := os.Stat(p.dir + "/trailblaze.d.ts"); err == nil {
		t.Error("wrote the types without the server's tools")
	}
}

// TestSchemasAreValid: ajv, which editors use too, compiles each schema.
func TestSchemasAreValid(t *testing.T) {
	t.Parallel()
	typed, plain := typedProject(t), newProject(t, map[string]string{"trailblaze.yaml": "platform: web\n"})
	for _, args := range [][]string{{"trail"}, {"trail", "--tools"}, {"trail", "--tools", "without servers"}, {"project"}, {"target"}, {"toolset"}} {
		p := typed
		if len(args) == 3 {
			p, args = plain, args[:2]
		}
		r := p.run(append([]string{"schema"}, args...)...)
		r.want(t, 0)
		c := exec.Command("node", "-e", `const {Ajv2020} = require("ajv/dist/2020.js");
			new Ajv2020({strict: false}).compile(JSON.parse(require("fs").readFileSync(0, "utf8")))`)
		c.Dir, c.Stdin = "../testdata/servers", strings.NewReader(r.stdout)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("schema %q: %v: %s", args, err, out)
		}
	}
}

func TestSchemaOfTrailsWithTools(t *testing.T) {
	t.Parallel()
	p := typedProject(t)
	r := p.run("schema", "trail", "--tools")
	r.want(t, 0)
	var v struct {
		Defs map[string]struct {
			Properties map[string]any
		} `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"saveAs", "echo", "web_navigate", "pressKey", "assertEquals"} {
		if v.Defs["call"].Properties[name] == nil {
			t.Errorf("the schema has no call of %s", name)
		}
	}
	p.run("schema", "target", "--tools").wantErr(t, 3, "--tools: only the schema of trails has tools")
}

func TestTypesAreWrittenAgainAfterChange(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": okProject})
	w := p.watchCommand(cmd.NewSystem("").Devices, "types", "--watch")
	w.has(w.until(idle), "wrote trailblaze.d.ts")
	p.write("trailblaze.yaml", okProject+"    rename: { echo: say }\n")
	w.has(w.until(idle), "wrote trailblaze.d.ts")
	if types := p.read(t, "trailblaze.d.ts"); !strings.Contains(types, "    say: {") {
		t.Errorf("the types are\n%s", types)
	}
	p.write("trailblaze.yaml", "servers: []\n")
	w.has(w.until(idle), "servers")
	w.end(os.Interrupt, 3)
}
