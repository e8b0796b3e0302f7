package engine

import (
	"strings"
	"testing"
)

// What can be required is tested by testdata/node_parity/require.mjs.
func TestUnavailableModulesCannotBeRequired(t *testing.T) {
	t.Parallel()
	const code = `
		import { createRequire } from "node:module";
		import { join } from "node:path";
		const require = createRequire(join(process.cwd(), "main.mjs"));
		for (const name of NAMES) {
			try { console.log(typeof require(name)) } catch (error) { console.log(error.code, error.message.split("\n")[0]) }
		}`
	const inEngine = "in the embedded engine only JSON files and node's own modules can be required; import it, so that it is bundled, " +
		"or install bun (https://bun.sh) or node"
	const inSandbox = "in on-device mode only node's own modules can be required; import it, so that it is bundled, " +
		"mark the tool requiresHost: true, or give its server a runtime: bun"
	for name, c := range map[string]struct {
		names   string
		sandbox bool
		want    string
	}{
		"a package":             {`["dayjs"]`, false, "MODULE_NOT_FOUND Cannot find module 'dayjs': " + inEngine},
		"a file of code":        {`[(require("fs").writeFileSync("x.js", ""), "./x")]`, false, "MODULE_NOT_FOUND Cannot find module './x': " + inEngine},
		"a native addon":        {`[(require("fs").writeFileSync("x.node", ""), join(process.cwd(), "x.node"))]`, false, "ERR_DLOPEN_FAILED /"},
		"a module of node's":    {`["node:vm"]`, false, "ERR_UNKNOWN_BUILTIN_MODULE node:vm is not available in the embedded engine; install bun"},
		"a file in the sandbox": {`["/etc/passwd.json", "path"]`, true, "MODULE_NOT_FOUND Cannot find module '/etc/passwd.json': " + inSandbox + "\nobject"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := run(t, bundledImports(strings.ReplaceAll(code, "NAMES", c.names)), func(s *Spec) { s.Sandbox, s.Dir = c.sandbox, t.TempDir() })
			if !strings.HasPrefix(out, c.want) {
				t.Errorf("got\n%s\nwant\n%s", out, c.want)
			}
		})
	}
}
