package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// functions compares the start of the functions of a workspace of the JVM Trailblaze with that of a project of ours which
// has the same tools in as many servers, all embedded, and bundled by the first round.
func (b *bench) functions() error {
	const servers, tools, limit = 2, 4, 30 * time.Millisecond
	workspace, ours := filepath.Join(b.dir, "functions"), filepath.Join(b.dir, "ours")
	theirs := map[string]string{"trails/config/trailblaze.yaml": "defaults: { target: bench0 }\n"}
	project := "target: bench\nplatform: web\nmcpServers:\n"
	same := map[string]string{}
	for i := range servers {
		trailmap := fmt.Sprintf("trails/config/trailmaps/bench%d/", i)
		names := make([]string, tools)
		script := fmt.Sprintf("import { trailblaze } from %q;\n", filepath.Join(b.root, "sdks/typescript/src/index.js"))
		for j := range tools {
			names[j] = fmt.Sprintf("echo%d_%d", i, j)
			theirs[trailmap+"tools/"+names[j]+".ts"] = functionScript(names[j])
			script += fmt.Sprintf("trailblaze.tool(%q, { description: \"Echoes.\", inputSchema: { type: \"object\", properties: { text: { type: \"string\" } }, "+
				"required: [\"text\"], additionalProperties: false } }, ({ text }) => text);\n", names[j])
		}
		theirs[trailmap+"trailmap.yaml"] = manifest(i, names)
		same[fmt.Sprintf("echo%d.ts", i)] = script + "await trailblaze.run();\n"
		project += fmt.Sprintf("  - { name: server%d, script: echo%d.ts, runtime: embedded }\n", i, i)
	}
	same["trailblaze.yaml"] = project
	for dir, files := range map[string]map[string]string{workspace: theirs, ours: same} {
		if err := writeFiles(dir, files); err != nil {
			return err
		}
	}
	m, err := interleave(4*b.runs,
		func() *exec.Cmd { return b.command(workspace, b.trailblaze, "toolbox", "list", "--platform", "web") },
		func() *exec.Cmd { return b.command(ours, b.trailblaze, "toolbox", "list") })
	if err != nil {
		return err
	}
	more := m[0].took - m[1].took
	b.row("`toolbox list`, functions of two trailmaps of a workspace of the JVM Trailblaze, more than the same tools of two embedded servers",
		fmt.Sprintf("%s (%s - %s)", round(more), round(m[0].took), round(m[1].took)), "≤ 30 ms", more <= limit)
	return nil
}

func functionScript(name string) string {
	return `import { trailblaze } from "@trailblaze/scripting";

export interface Input {
  text: string;
}

/** Echoes. */
export const ` + name + ` = trailblaze.tool<Input>({ supportedPlatforms: ["web"] }, async ({ text }) => text);
`
}

// manifest returns the manifest of a trailmap with these tools. The first one depends on the second.
func manifest(i int, tools []string) string {
	text := fmt.Sprintf("id: bench%d\ndependencies: [trailblaze", i)
	if i > 0 {
		return text + "]\n"
	}
	return text + ", bench1]\ntarget: { display_name: Bench, tools: [" + strings.Join(tools, ", ") + "], platforms: { web: {} } }\n"
}

func writeFiles(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
