package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// scripts are what the figures about runtimes share: servers, and folders for the PATH with no runtime and with node
// alone.
type scripts struct {
	scripting      string // a server on @trailblaze/scripting
	alone          string // a copy of b.echo where tsx is not installed
	node, loader   string // its program, and the loader of tsx
	nothing, noBun string // for the PATH
}

func (b *bench) scripts() (*scripts, error) {
	servers := filepath.Dir(b.echo)
	s := &scripts{
		scripting: filepath.Join(servers, "bench-scripting.ts"), loader: filepath.Join(servers, "node_modules/tsx/dist/loader.mjs"),
		nothing: filepath.Join(b.dir, "nothing"), noBun: filepath.Join(b.dir, "node"), alone: filepath.Join(b.dir, "alone", filepath.Base(b.echo)),
	}
	var err error
	if s.node, err = exec.LookPath("node"); err != nil {
		return nil, err
	}
	for _, dir := range []string{s.nothing, s.noBun, filepath.Join(b.dir, "alone/node_modules")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	source, err := os.ReadFile(b.echo)
	if err == nil {
		err = os.WriteFile(s.alone, source, 0o644)
	}
	links := map[string]string{filepath.Join(s.noBun, "node"): s.node}
	for _, name := range []string{"@modelcontextprotocol", "zod"} {
		links[filepath.Join(b.dir, "alone/node_modules", name)] = filepath.Join(servers, "node_modules", name)
	}
	for link, target := range links {
		if err == nil {
			err = os.Symlink(target, link)
		}
	}
	return s, err
}

// listing lists the tools of a project with only some runtimes on the PATH.
func (b *bench) listing(project, path string) *exec.Cmd {
	cmd := b.command(project, b.trailblaze, "toolbox", "list")
	cmd.Env = append(cmd.Env, "PATH="+path)
	return cmd
}

// probing is the bare prober of one server.
func (b *bench) probing(argv ...string) *exec.Cmd {
	return b.command(filepath.Dir(b.echo), b.prober, append([]string{"--"}, argv...)...)
}

// runtimes compares what runs a script where bun, or both, are missing with the bare prober where they are not.
func (b *bench) runtimes() error {
	s, err := b.scripts()
	if err != nil {
		return err
	}
	projects := map[string]string{}
	for name, server := range map[string]string{"embedded": b.echo, "scripting": s.scripting, "bundled": s.alone} {
		if projects[name], err = b.project(name, server, 1, nil); err != nil {
			return err
		}
	}
	if projects["eight"], err = b.project("embedded8", b.echo, 8, nil); err != nil {
		return err
	}
	colds := 0
	cold := func() *exec.Cmd {
		colds++
		cmd := b.listing(projects["embedded"], s.nothing)
		cmd.Env = append(cmd.Env, "TRAILBLAZE_CACHE_DIR="+filepath.Join(b.dir, fmt.Sprint("cold", colds)))
		return cmd
	}
	m, err := interleave(b.runs,
		func() *exec.Cmd { return b.listing(projects["embedded"], s.nothing) },
		func() *exec.Cmd { return b.probing(b.bun, "run", "--no-install", b.echo) },
		func() *exec.Cmd { return b.listing(projects["scripting"], s.nothing) },
		func() *exec.Cmd { return b.probing(b.bun, "run", "--no-install", s.scripting) },
		func() *exec.Cmd { return b.listing(projects["bundled"], s.noBun) },
		func() *exec.Cmd { return b.probing(s.node, "--import", "file://"+s.loader, b.echo) },
		cold,
		func() *exec.Cmd { return b.listing(projects["eight"], s.nothing) },
	)
	if err != nil {
		return err
	}
	b.ratio("`toolbox list`, one server on the MCP SDK in the embedded engine ÷ bare prober on bun", m[0].took, m[1].took, 0.8)
	b.ratio("the same, server on `@trailblaze/scripting` ÷ bare prober on bun, server on the MCP SDK", m[2].took, m[1].took, 0.25)
	b.add("the same ÷ bare prober on bun, server on `@trailblaze/scripting`", division(m[2].took, m[3].took), "", "")
	b.ratio("the same on node without tsx, server on the MCP SDK ÷ bare prober on node with tsx", m[4].took, m[5].took, 0.45)
	b.ratio("embedded with an empty cache ÷ bare prober on node with tsx", m[6].took, m[5].took, 1.5)
	b.ratio("eight embedded servers ÷ one", m[7].took, m[0].took, 4)
	return nil
}

// engineless is the last revision without an engine inside.
const engineless = "f9530b5"

// weight compares the program with what it was before it had an engine: its size with symbols, and the start of
// `version`.
func (b *bench) weight() error {
	const limit = 1.1
	before, err := b.buildRevision(engineless)
	if err != nil {
		b.add("growth of the program with the embedded engine", "not measured: "+err.Error(), "≤ 20 MB", "")
		return nil
	}
	m, err := interleave(4*b.runs,
		func() *exec.Cmd { return b.command(b.dir, b.trailblaze, "version") },
		func() *exec.Cmd { return b.command(b.dir, before, "version") })
	if err != nil {
		return err
	}
	b.ratio("`version` ÷ before there was an engine inside ("+engineless+")", m[0].took, m[1].took, limit)
	var sizes []int64
	for _, module := range []string{b.root, filepath.Dir(before)} {
		program := filepath.Join(b.dir, fmt.Sprint("whole", len(sizes)))
		if err := buildWith(module, program, "."); err != nil {
			return err
		}
		info, err := os.Stat(program)
		if err != nil {
			return err
		}
		sizes = append(sizes, info.Size())
	}
	grown := float64(sizes[0]-sizes[1]) / (1 << 20)
	b.row("growth of the program, symbols included, with the embedded engine ("+engineless+")",
		fmt.Sprintf("%.1f MB (%.1f - %.1f MB)", grown, float64(sizes[0])/(1<<20), float64(sizes[1])/(1<<20)), "≤ 20 MB", grown <= 20)
	return nil
}
