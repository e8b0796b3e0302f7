package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// prefetch compares a run of many short trails, each with a server of its own, with starting these servers one by one.
func (b *bench) prefetch() error {
	const trails = 100
	files := map[string]string{}
	for i := range trails {
		files[fmt.Sprintf("t%03d", i)] = callTrail(1)
	}
	dir, err := b.project("prefetch", b.echo, 1, files)
	if err != nil {
		return err
	}
	if err := appendTo(filepath.Join(dir, "trailblaze.yaml"), "startAhead: true\n"); err != nil {
		return err
	}
	commands := []func() *exec.Cmd{func() *exec.Cmd { return b.command(dir, b.trailblaze, "run", "--quiet") }}
	for range 10 {
		commands = append(commands, func() *exec.Cmd { return b.bare(1, 0) })
	}
	m, err := interleave(max(3, b.runs/5), commands...)
	if err != nil {
		return err
	}
	var bare []time.Duration
	for _, s := range m[1:] {
		bare = append(bare, s.took)
	}
	b.ratio("100 one-call trails with startAhead, one bun server, one worker ÷ 100 × bare prober", m[0].took, trails*median(bare), 0.75)
	return nil
}

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// waiting writes a project with a server whose tool waits, and trails that do nothing else.
func (b *bench) waiting(name, entry string, trails int, wait time.Duration) (string, error) {
	files := map[string]string{}
	for i := range trails {
		files[fmt.Sprintf("t%02d", i)] = trailOf(fmt.Sprintf("waitFor: { ms: %d }", wait.Milliseconds()))
	}
	dir, err := b.project(name, "", 0, files)
	if err != nil {
		return "", err
	}
	config := fmt.Sprintf("target: bench\nplatform: web\nmcpServers:\n  - { name: wait, script: %q%s }\n", filepath.Join(b.root, "testdata/servers/bench-wait.ts"), entry)
	return dir, os.WriteFile(filepath.Join(dir, "trailblaze.yaml"), []byte(config), 0o644)
}

// workers compares four sessions at once with one, on trails that wait for a second.
func (b *bench) workers() error {
	dir, err := b.waiting("workers", "", 12, time.Second)
	if err != nil {
		return err
	}
	m, err := interleave(max(3, b.runs/5),
		func() *exec.Cmd { return b.command(dir, b.trailblaze, "run", "--workers", "4") },
		func() *exec.Cmd { return b.command(dir, b.trailblaze, "run", "--workers", "1") })
	if err == nil {
		b.ratio("12 trails that wait 1 s in a tool, four workers ÷ one", m[0].took, m[1].took, 0.35)
	}
	return err
}

// shared compares the memory of one server process for four devices with that of four, while all four devices wait in a
// tool: with pages that several processes share counted once, and as most programs report it, with such pages counted
// for each of them.
func (b *bench) shared() error {
	var once, each [2][]int64
	for range max(3, b.runs/5) {
		for i, entry := range []string{", multiDevice: http", ""} {
			dir, err := b.waiting(fmt.Sprint("shared", i), entry, 1, 2*time.Second)
			if err != nil {
				return err
			}
			pss, rss, err := serverMemory(b.command(dir, b.trailblaze, "run", "--device", "web:a,web:b,web:c,web:d"))
			if err != nil {
				return err
			}
			once[i], each[i] = append(once[i], pss), append(each[i], rss)
		}
	}
	b.growth("memory of the servers of four devices, one shared process ÷ four, common pages counted once", middle(once[0]), middle(once[1]), 0.35)
	b.growth("the same, counted in every process (resident)", middle(each[0]), middle(each[1]), 0.35)
	return nil
}

// middle is the median of memories.
func middle(rss []int64) sample {
	slices.Sort(rss)
	return sample{rss: rss[len(rss)/2]}
}

// serverMemory runs a command and returns the most memory that its children have together, in bytes.
func serverMemory(cmd *exec.Cmd) (pss, rss int64, err error) {
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for tick := time.Tick(50 * time.Millisecond); ; {
		select {
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, &out)
			}
			return pss, rss, err
		case <-tick:
			var once, each int64
			for _, pid := range descendants(cmd.Process.Pid) {
				once += kibibytes(pid, "smaps_rollup", "Pss:")
				each += kibibytes(pid, "smaps_rollup", "Rss:")
			}
			pss, rss = max(pss, once), max(rss, each)
		}
	}
}

// descendants lists the processes below one.
func descendants(pid int) []int {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var all []int
	for _, task := range tasks {
		data, _ := os.ReadFile(task)
		for _, field := range strings.Fields(string(data)) {
			var child int
			if _, err := fmt.Sscan(field, &child); err == nil {
				all = append(append(all, child), descendants(child)...)
			}
		}
	}
	return all
}

// long compares our memory at the end of a run of many trails with what it was after the first hundred: each the median
// while twenty trails end.
func (b *bench) long() error {
	const trails, early, span = 2000, 100, 20
	server := filepath.Join(b.dir, "gosdk")
	if err := build(b.root, server, "./testdata/servers/gosdk"); err != nil {
		return err
	}
	files := map[string]string{}
	for i := range trails {
		files[fmt.Sprintf("t%04d", i)] = callTrail(5)
	}
	dir, err := b.project("long", "", 0, files)
	if err != nil {
		return err
	}
	config := fmt.Sprintf("target: bench\nplatform: web\nmcpServers: [{ name: server, command: %q }]\n", server)
	if err := os.WriteFile(filepath.Join(dir, "trailblaze.yaml"), []byte(config), 0o644); err != nil {
		return err
	}
	memory, err := memoryByTrail(b.command(dir, b.trailblaze, "run"))
	if err != nil {
		return err
	}
	if len(memory) != trails {
		return fmt.Errorf("%d of %d trails passed", len(memory), trails)
	}
	b.growth("our memory after 2,000 trails ÷ after 100", middle(memory[trails-span:]), middle(memory[early-span/2:early+span/2]), 1.1)
	return nil
}

// memoryByTrail runs a command and returns its memory, in bytes, at the end of each trail that passes.
func memoryByTrail(cmd *exec.Cmd) (memory []int64, err error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "✓ ") {
			memory = append(memory, kibibytes(cmd.Process.Pid, "status", "VmRSS:"))
		}
	}
	_, _ = io.Copy(io.Discard, out)
	return memory, cmd.Wait()
}
