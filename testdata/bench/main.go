// Command bench compares trailblaze with the bare floor in one run: medians of interleaved runs of whole processes. Its
// table goes to docs/performance.md.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	runs := flag.Int("runs", 15, "runs of each command")
	write := flag.String("write", "", "file to put the table into, between its bench markers")
	before := flag.String("before", "0c79e39", "`revision` to compare with: the last one without callbacks")
	only := flag.String("only", "", "`figures` to measure, by the names of their functions, such as call,crowd (default: all but threads)")
	flag.Parse()
	log.SetFlags(0)
	b, err := prepare(*runs, *before)
	if err == nil {
		defer os.RemoveAll(b.dir)
		err = b.all(*only)
	}
	if err != nil {
		log.Fatal("bench: ", err)
	}
	table := b.table()
	fmt.Print(table)
	if *write != "" {
		if err := replaceBetweenMarkers(*write, table); err != nil {
			log.Fatal("bench: ", err)
		}
	}
}

// bench holds the programs under comparison and the rows of the table.
type bench struct {
	runs               int
	root, dir          string // of the repository, scratch
	trailblaze, prober string
	hello, bun         string
	echo, asking       string      // servers
	before             string      // revision
	rows               [][4]string // figure, measured, must be, verdict
}

func prepare(runs int, before string) (*bench, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "trailblaze-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{
		runs: runs, root: root, dir: dir, trailblaze: filepath.Join(dir, "trailblaze"), prober: filepath.Join(dir, "prober"), hello: filepath.Join(dir, "hello"),
		bun:    filepath.Join(root, "testdata/servers/node_modules/.bin/bun"),
		echo:   filepath.Join(root, "testdata/servers/bench-echo.ts"),
		asking: filepath.Join(root, "testdata/servers/bench-callback.ts"),
		before: before,
	}
	// Functions of the bundler are not inlined in releases.
	if err := build(root, b.trailblaze, ".", "-gcflags=github.com/evanw/esbuild/...=-l"); err != nil {
		return nil, err
	}
	for out, pkg := range map[string]string{b.prober: "./testdata/bench/prober", b.hello: "./testdata/bench/hello"} {
		if err := build(root, out, pkg); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(b.bun); err != nil {
		return nil, fmt.Errorf("%w: run make deps", err)
	}
	return b, nil
}

func build(module, out, pkg string, flags ...string) error {
	return buildWith(module, out, pkg, append(flags, "-ldflags=-s -w")...)
}

func buildWith(module, out, pkg string, flags ...string) error {
	cmd := exec.Command("go", slices.Concat([]string{"build", "-trimpath"}, flags, []string{"-o", out, pkg})...)
	cmd.Dir, cmd.Env = module, append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, text)
	}
	return nil
}

// sample is one run of a process.
type sample struct {
	took time.Duration
	rss  int64 // peak, in bytes
}

func (b *bench) command(dir, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(b.bun)+string(os.PathListSeparator)+os.Getenv("PATH"), "TRAILBLAZE_CACHE_DIR="+filepath.Join(b.dir, "cache"))
	return cmd
}

func measure(cmd *exec.Cmd) (sample, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begun := time.Now()
	err := cmd.Start()
	if err != nil {
		return sample{}, err
	}
	peak := watchPeak(cmd.Process.Pid)
	err = cmd.Wait()
	took := time.Since(begun)
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, &out)
	}
	return sample{took, peak()}, nil
}

// watchPeak follows the peak memory of a process, which Linux keeps in VmHWM. The usage that wait reports will not do:
// it counts the process's own children too.
func watchPeak(pid int) (stop func() int64) {
	done, result := make(chan struct{}), make(chan int64)
	go func() {
		var peak int64
		for tick := time.Tick(5 * time.Millisecond); ; {
			peak = max(peak, highWater(pid))
			select {
			case <-done:
				result <- peak
				return
			case <-tick:
			}
		}
	}()
	return func() int64 { close(done); return <-result }
}

// highWater is the most memory that a process has had, in bytes; 0 when it is gone.
func highWater(pid int) int64 { return kibibytes(pid, "status", "VmHWM:") }

// kibibytes reads a line of Linux's data of a process, in bytes; 0 when the process is gone.
func kibibytes(pid int, file, key string) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return 0
	}
	var kib int64
	if _, rest, ok := strings.Cut(string(data), key); ok {
		_, _ = fmt.Sscan(rest, &kib)
	}
	return kib * 1024
}

// rounds runs the commands in turn, in each round the other way round, and returns the samples of each; one round first
// is not counted.
func rounds(runs int, commands ...func() *exec.Cmd) ([][]sample, error) {
	all := make([][]sample, len(commands))
	for round := range runs + 1 {
		for i := range commands {
			if round%2 == 1 {
				i = len(commands) - 1 - i
			}
			s, err := measure(commands[i]())
			if err != nil {
				return nil, err
			}
			if round > 0 {
				all[i] = append(all[i], s)
			}
		}
	}
	return all, nil
}

// interleave returns the median of each command's samples.
func interleave(runs int, commands ...func() *exec.Cmd) ([]sample, error) {
	all, err := rounds(runs, commands...)
	if err != nil {
		return nil, err
	}
	medians := make([]sample, len(commands))
	for i, samples := range all {
		slices.SortFunc(samples, func(a, b sample) int { return int(a.took - b.took) })
		medians[i] = samples[len(samples)/2]
		slices.SortFunc(samples, func(a, b sample) int { return int(a.rss - b.rss) })
		medians[i].rss = samples[len(samples)/2].rss
	}
	return medians, nil
}

func (b *bench) all(only string) error {
	for _, figure := range []struct {
		name    string
		measure func() error
	}{
		{"listOne", b.listOne},
		{"listEight", b.listEight},
		{"runtimes", b.runtimes},
		{"functions", b.functions},
		{"weight", b.weight},
		{"call", b.call},
		{"oneCallTrail", b.oneCallTrail},
		{"callback", b.callback},
		{"crowd", b.crowd},
		{"earlier", b.earlier},
		{"version", b.version},
		{"threads", b.threads},
		{"manyTrails", b.manyTrails},
		{"prefetch", b.prefetch},
		{"workers", b.workers},
		{"shared", b.shared},
		{"long", b.long},
		{"browserTrail", b.browserTrail},
		{"browserTwenty", b.browserTwenty},
		{"browserWorkers", b.browserWorkers},
		{"headlessShell", b.headlessShell},
		{"browserTrace", b.browserTrace},
		{"browserClick", b.browserClick},
		{"browserEarlier", b.browserEarlier},
		{"unasked", b.unasked},
		{"browserMemory", b.browserMemory},
		{"notices", b.notices},
		{"studioClicks", b.studioClicks},
		{"studioStart", b.studioStart},
		{"studioIdle", b.studioIdle},
		{"studioLarge", b.studioLarge},
		{"studioWeight", b.studioWeight},
		{"agents", b.agents},
		{"phoneTap", b.phoneTap},
		{"phoneAppium", b.phoneAppium},
		{"phoneMemory", b.phoneMemory},
		{"iphoneTap", b.iphoneTap},
		{"iphoneMemory", b.iphoneMemory},
	} {
		named := slices.Contains(strings.Split(only, ","), figure.name)
		if !named && (only != "" || figure.name == "threads") { // which has no limits to hold
			continue
		}
		if err := figure.measure(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) row(figure string, measured string, limit string, holds bool) {
	verdict := "holds"
	if !holds {
		verdict = "**missed**"
	}
	b.add(figure, measured, limit, verdict)
}

func (b *bench) add(figure, measured, limit, verdict string) {
	b.rows = append(b.rows, [4]string{figure, measured, limit, verdict})
	fmt.Fprintln(os.Stderr, strings.TrimRight(strings.Join([]string{figure + ":", measured, limit, verdict}, " "), " "))
}

func (b *bench) ratio(figure string, ours, floor time.Duration, limit float64) {
	r := float64(ours) / float64(floor)
	b.row(figure, division(ours, floor), fmt.Sprintf("≤ %.2f", limit), r <= limit)
}

func division(ours, floor time.Duration) string {
	return fmt.Sprintf("%.2f (%s ÷ %s)", float64(ours)/float64(floor), round(ours), round(floor))
}

// growth holds the peak memory of more work against that of less.
func (b *bench) growth(figure string, more, less sample, limit float64) {
	r := float64(more.rss) / float64(less.rss)
	b.row(figure, fmt.Sprintf("%.2f (%.1f ÷ %.1f MB)", r, float64(more.rss)/(1<<20), float64(less.rss)/(1<<20)), fmt.Sprintf("≤ %.2f", limit), r <= limit)
}

func round(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(time.Microsecond)
	}
	return d.Round(100 * time.Microsecond)
}

func (b *bench) listOne() error {
	dir, err := b.project("one", b.echo, 1, nil)
	if err != nil {
		return err
	}
	m, err := interleave(b.runs,
		func() *exec.Cmd { return b.command(dir, b.trailblaze, "toolbox", "list") },
		func() *exec.Cmd { return b.bare(1, 0) })
	if err != nil {
		return err
	}
	b.ratio("`toolbox list`, one bun server ÷ bare prober", m[0].took, m[1].took, 1.10)
	mb := float64(m[0].rss) / (1 << 20)
	b.row("peak memory of our process, one server", fmt.Sprintf("%.1f MB", mb), "≤ 40 MB", mb <= 40)
	return nil
}

func (b *bench) listEight() error {
	dir, err := b.project("eight", b.echo, 8, nil)
	if err != nil {
		return err
	}
	m, err := interleave(b.runs,
		func() *exec.Cmd { return b.command(dir, b.trailblaze, "toolbox", "list") },
		func() *exec.Cmd { return b.bare(8, 0) })
	if err == nil {
		b.ratio("`toolbox list`, eight bun servers ÷ eight bare probers", m[0].took, m[1].took, 1.25)
	}
	return err
}

func (b *bench) bare(copies, calls int, flags ...string) *exec.Cmd {
	args := append([]string{"-n", fmt.Sprint(copies), "-calls", fmt.Sprint(calls)}, flags...)
	return b.command(filepath.Dir(b.echo), b.prober, append(args, "--", b.bun, "run", "--no-install", b.echo)...)
}

// call compares the time from one call to the next in the middle of a long trail with a bare round trip, medians of the
// second half, in which the server's runtime has compiled what it runs.
func (b *bench) call() error {
	const calls = 8000
	dir, err := b.project("calls", b.echo, 1, map[string]string{"many": callTrail(calls)})
	if err != nil {
		return err
	}
	var ours, same, plain []time.Duration
	for range b.runs {
		if _, err := measure(b.command(dir, b.trailblaze, "run")); err != nil {
			return err
		}
		period, err := callPeriod(filepath.Join(dir, "logs", "latest", "events.ndjson"))
		if err != nil {
			return err
		}
		ours = append(ours, period)
		for into, flags := range map[*[]time.Duration][]string{&same: {"-context"}, &plain: nil} {
			out, err := b.bare(1, calls, flags...).Output()
			if err != nil {
				return err
			}
			nanos, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
			if err != nil {
				return err
			}
			*into = append(*into, time.Duration(nanos))
		}
	}
	b.ratio("one call inside a session ÷ bare round trip of the same message", median(ours), median(same), 1.5)
	b.ratio("the same ÷ bare round trip without the context", median(ours), median(plain), 1.5)
	return nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// callPeriod reads from a session's log how long it is from the start of one call to the start of the next.
func callPeriod(log string) (time.Duration, error) {
	starts, err := eventTimes(log, "call.started")
	if err != nil {
		return 0, err
	}
	var periods []time.Duration
	for i := len(starts) / 2; i+1 < len(starts); i++ {
		periods = append(periods, starts[i+1].Sub(starts[i]))
	}
	if len(periods) == 0 {
		return 0, fmt.Errorf("%s has no calls", log)
	}
	return median(periods), nil
}

// eventTimes reads from a session's log the times of the events of a type.
func eventTimes(log, kind string) ([]time.Time, error) {
	data, err := os.ReadFile(log)
	if err != nil {
		return nil, err
	}
	var times []time.Time
	for line := range bytes.Lines(data) {
		var e struct {
			Type string    `json:"type"`
			Time time.Time `json:"time"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		if e.Type == kind {
			times = append(times, e.Time)
		}
	}
	return times, nil
}

func (b *bench) oneCallTrail() error {
	dir, err := b.project("trail", b.echo, 1, map[string]string{"one": callTrail(1)})
	if err != nil {
		return err
	}
	m, err := interleave(b.runs,
		func() *exec.Cmd { return b.command(dir, b.trailblaze, "run") },
		func() *exec.Cmd { return b.bare(1, 1) })
	if err == nil {
		b.ratio("`run` of a one-call trail ÷ bare prober with that call", m[0].took, m[1].took, 1.15)
	}
	return err
}

func (b *bench) version() error {
	m, err := interleave(4*b.runs,
		func() *exec.Cmd { return b.command(b.dir, b.trailblaze, "version") },
		func() *exec.Cmd { return b.command(b.dir, b.hello) })
	if err != nil {
		return err
	}
	more := m[0].took - m[1].took
	b.row("`version`, more than a Go program that prints a line", round(more).String(), "≤ 5 ms", more <= 5*time.Millisecond)
	b.row("`version`", round(m[0].took).String(), "≤ 8 ms", m[0].took <= 8*time.Millisecond)
	info, err := os.Stat(b.trailblaze)
	if err != nil {
		return err
	}
	size := float64(info.Size()) / (1 << 20)
	b.row("size of the program", fmt.Sprintf("%.1f MB", size), "≤ 34 MB", size <= 34)
	return nil
}

// manyTrails compares 500 with 5,000 trails: ten times the work may take ten times as long, and no more memory.
func (b *bench) manyTrails() error {
	small, err := b.project("small", b.echo, 1, folder(500))
	if err != nil {
		return err
	}
	large, err := b.project("large", b.echo, 1, folder(5000))
	if err != nil {
		return err
	}
	m, err := interleave(max(3, b.runs/5),
		func() *exec.Cmd { return b.command(large, b.trailblaze, "run", "--dry-run", "--quiet") },
		func() *exec.Cmd { return b.command(small, b.trailblaze, "run", "--dry-run", "--quiet") })
	if err != nil {
		return err
	}
	b.ratio("5,000 trails `--dry-run` ÷ ten times 500 trails", m[0].took, 10*m[1].took, 1.1)
	b.growth("peak memory, 5,000 ÷ 500 trails", m[0], m[1], 1.2)
	return nil
}

// project writes a project with some copies of a server and some trails.
func (b *bench) project(name, server string, copies int, trails map[string]string) (string, error) {
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Join(dir, "trails"), 0o755); err != nil {
		return "", err
	}
	config := "platform: web\n"
	if copies > 0 {
		config += "mcpServers:\n"
	}
	for i := range copies {
		config += fmt.Sprintf("  - { name: server%d, script: %q, env: { BENCH_SUFFIX: %q } }\n", i, server, suffix(i))
	}
	config += "target: bench\n"
	files := map[string]string{"trailblaze.yaml": config}
	for trail, text := range trails {
		files["trails/"+trail+".trail.yaml"] = text
	}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// suffix ends the names of a copy's tools; the first one has none.
func suffix(i int) string {
	if i == 0 {
		return ""
	}
	return strconv.Itoa(i)
}

func callTrail(calls int) string {
	return trailOf(slices.Repeat([]string{"echo: { text: hello }"}, calls)...)
}

func trailOf(calls ...string) string {
	return "config: { title: calls }\ntrail:\n  - step: call\n    recording:\n      web:\n        - " + strings.Join(calls, "\n        - ") + "\n"
}

func folder(n int) map[string]string {
	trails := make(map[string]string, n)
	for i := range n {
		trails[fmt.Sprintf("t%05d", i)] = callTrail(5)
	}
	return trails
}

func (b *bench) table() string {
	var s strings.Builder
	fmt.Fprintf(&s, "Medians of %d interleaved runs on %s/%s with %d cores, %s.\n\n", b.runs, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	s.WriteString("| figure | measured | must be | |\n|---|---|---|---|\n")
	for _, r := range b.rows {
		fmt.Fprintf(&s, "| %s | %s | %s | %s |\n", r[0], r[1], r[2], r[3])
	}
	return s.String()
}

func replaceBetweenMarkers(path, table string) error {
	const begin, end = "<!-- bench -->\n", "<!-- /bench -->"
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(data), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no bench markers", path)
	}
	return os.WriteFile(path, []byte(before+begin+table+end+after), 0o644)
}
