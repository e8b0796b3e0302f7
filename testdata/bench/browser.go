package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
)

// countingPage is what both sides click on.
const countingPage = `<!doctype html>
<html lang="en">
<title>Counting</title>
<h1>Counting</h1>
<p>How often was it?</p>
<button>Count</button>
<p role="status">not counted yet</p>
<script>
	let count = 0;
	document.querySelector("button").onclick = () => {
		document.querySelector("[role=status]").textContent = "counted " + ++count;
	};
</script>
</html>
`

const clickCount = `web_click: { nodeSelector: { web: { ariaRole: button, ariaNameRegex: Count } } }`

// browsing is what the figures about browsers share: one browser program, one page, and a project with trails of eleven
// calls.
type browsing struct {
	url, browser, playwright, project string
	stop                              func()
}

func (b *bench) browsing(trails int) (*browsing, error) {
	w := &browsing{playwright: filepath.Join(b.root, "testdata/web/playwright")}
	if _, err := os.Stat(filepath.Join(w.playwright, "node_modules")); err != nil {
		return nil, fmt.Errorf("%w: run make deps", err)
	}
	var err error
	if w.browser, err = findBrowser(); err != nil {
		return nil, err
	}
	if w.url, w.stop, err = servePage(); err != nil {
		return nil, err
	}
	files := map[string]string{}
	for i := range trails {
		files[fmt.Sprintf("count%02d", i)] = w.counting()
	}
	w.project, err = b.project(fmt.Sprint("browsing", trails), "", 0, files)
	return w, err
}

func findBrowser() (string, error) {
	if path := os.Getenv("TRAILBLAZE_BROWSER"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("Chromium is not on PATH: run make deps, or set TRAILBLAZE_BROWSER")
}

func servePage() (url string, stop func(), err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, countingPage)
	})}
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String() + "/", func() { _ = server.Close() }, nil
}

func (w *browsing) navigate() string { return fmt.Sprintf("web_navigate: { url: %q }", w.url) }

// counting is the trail of testdata/web/playwright/bench.spec.mjs.
func (w *browsing) counting() string {
	calls := []string{w.navigate(), clickCount, "web_verifyTextVisible: { text: counted 1 }"}
	for _, expected := range []int{4, 7} {
		calls = append(calls, clickCount, clickCount, clickCount, fmt.Sprintf("web_verifyTextVisible: { text: counted %d }", expected))
	}
	return trailOf(calls...)
}

func (b *bench) browse(w *browsing, dir string, flags ...string) *exec.Cmd {
	cmd := b.command(dir, b.trailblaze, append([]string{"run"}, flags...)...)
	cmd.Env = append(cmd.Env, "TRAILBLAZE_BROWSER="+w.browser)
	return cmd
}

func (b *bench) playwrightTest(w *browsing, tests int, flags ...string) *exec.Cmd {
	args := append([]string{"node_modules/@playwright/test/cli.js", "test", "-c", "bench.config.mjs"}, flags...)
	cmd := b.command(w.playwright, "node", args...)
	cmd.Env = append(cmd.Env, "TRAILBLAZE_BROWSER="+w.browser, "BENCH_URL="+w.url, "BENCH_OUTPUT="+filepath.Join(b.dir, "playwright"),
		fmt.Sprint("BENCH_TESTS=", tests))
	return cmd
}

// Figures of whole processes that play eleven calls in a browser.
const (
	oneTrail    = "one trail of eleven calls in a browser ÷ Playwright Test"
	twenty      = "twenty such trails in one run ÷ Playwright Test with one worker"
	fourWorkers = "twenty such trails with four workers ÷ Playwright Test with four workers"
)

// browserTrail compares whole processes that play one trail.
func (b *bench) browserTrail() error { return b.browserTrails("", oneTrail, 1, 1) }

// browserTwenty compares twenty trails in one run with twenty tests in one worker.
func (b *bench) browserTwenty() error { return b.browserTrails("", twenty, 20, 1) }

// browserWorkers compares them with four workers on both sides.
func (b *bench) browserWorkers() error { return b.browserTrails("", fourWorkers, 20, 4) }

// headlessShell compares the same in the headless shell of Chromium, which both sides prefer where it is installed.
func (b *bench) headlessShell() error {
	const in = "in Chromium's headless shell: "
	shell, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		b.add(in+oneTrail, "not measured: chromium-headless-shell is not installed (make deps)", "", "")
		return nil
	}
	for _, f := range []struct {
		figure          string
		trails, workers int
	}{{oneTrail, 1, 1}, {twenty, 20, 1}, {fourWorkers, 20, 4}} {
		if err := b.browserTrails(shell, in+f.figure, f.trails, f.workers); err != nil {
			return err
		}
	}
	return nil
}

// browserTrails compares trails with tests of Playwright Test. Both sides use one browser, that of all rows if it is
// empty.
func (b *bench) browserTrails(browser, figure string, trails, workers int) error {
	w, err := b.browsing(trails)
	if err != nil {
		return err
	}
	defer w.stop()
	w.browser = cmp.Or(browser, w.browser)
	runs, limit := b.runs, 0.22
	if trails > 1 {
		runs, limit = max(3, b.runs/3), 0.25
	}
	if workers > 1 {
		limit = 0.4
	}
	m, err := interleave(runs,
		func() *exec.Cmd { return b.browse(w, w.project, "--workers", strconv.Itoa(workers)) },
		func() *exec.Cmd {
			return b.playwrightTest(w, trails, "--workers", strconv.Itoa(workers), "--fully-parallel")
		})
	if err == nil {
		b.ratio(figure, m[0].took, m[1].took, limit)
	}
	return err
}

// browserTrace compares a passing trail that records a trace, which is then not kept, with one that records none.
func (b *bench) browserTrace() error {
	w, err := b.browsing(1)
	if err != nil {
		return err
	}
	defer w.stop()
	traced := func(mode string) func() *exec.Cmd {
		return func() *exec.Cmd {
			cmd := b.browse(w, w.project)
			cmd.Args = append(cmd.Args, "--trace", mode)
			return cmd
		}
	}
	m, err := interleave(b.runs, traced("retain-on-failure"), traced("off"))
	if err == nil {
		b.ratio("one trail of eleven calls in a browser, with a trace for failures ÷ without", m[0].took, m[1].took, 1.15)
	}
	return err
}

// browserMemory looks at everything that either side runs besides the browser. Looking costs time, so these runs are
// not timed.
func (b *bench) browserMemory() error {
	w, err := b.browsing(1)
	if err != nil {
		return err
	}
	defer w.stop()
	var ours, theirs []int64
	for range max(3, b.runs/3) {
		for into, cmd := range map[*[]int64]*exec.Cmd{&ours: b.browse(w, w.project), &theirs: b.playwrightTest(w, 1)} {
			peak, err := familyPeak(cmd)
			if err != nil {
				return err
			}
			*into = append(*into, peak)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	less, more := sample{rss: ours[len(ours)/2]}, sample{rss: theirs[len(theirs)/2]}
	b.growth("peak memory of that one trail without the browser's ÷ Playwright Test's", less, more, 0.25)
	return nil
}

// familyPeak runs a command and returns the most memory that its processes had together, those of the browser left out.
func familyPeak(cmd *exec.Cmd) (int64, error) {
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var peak int64
	for last, tick := map[int]string{}, time.Tick(10*time.Millisecond); ; {
		now := map[int]string{}
		peak = max(peak, memory(cmd.Process.Pid, last, now))
		last = now
		select {
		case err := <-ended:
			if err != nil {
				return 0, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, &out)
			}
			return peak, nil
		case <-tick:
		}
	}
}

// memory adds up the peaks of a process and its descendants until one is a browser. A process counts when it is seen
// for the second time: between fork and exec a child has the program and the memory of its parent.
func memory(pid int, last, now map[int]string) (sum int64) {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil || strings.Contains(filepath.Base(program), "chrom") {
		return 0
	}
	now[pid] = program
	if last[pid] == program {
		sum = highWater(pid)
	}
	for _, child := range childrenOf(pid) {
		sum += memory(child, last, now)
	}
	return sum
}

// childrenOf returns the processes that a process has started and that still run.
func childrenOf(pid int) (children []int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range threads {
		data, _ := os.ReadFile(file)
		for field := range strings.FieldsSeq(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// browserClick compares a click in the middle of a long trail with the round trips that it cannot do without: one to
// find the element, three for the mouse. The specification also asks for a box that is the same in two frames, which a
// second row adds to the bare side.
func (b *bench) browserClick() error {
	const clicks = 300
	w, err := b.browsing(0)
	if err != nil {
		return err
	}
	defer w.stop()
	trail := trailOf(append([]string{w.navigate()}, slices.Repeat([]string{clickCount}, clicks)...)...)
	dir, err := b.project("clicks", "", 0, map[string]string{"clicks": trail})
	if err != nil {
		return err
	}
	const atOnce, settled = "box()", "new Promise(done => { box(); requestAnimationFrame(() => done(box())) })"
	var ours []time.Duration
	bare := map[string][]time.Duration{}
	for range max(3, b.runs/3) {
		if _, err := measure(b.browse(w, dir)); err != nil {
			return err
		}
		period, err := callPeriod(filepath.Join(dir, "logs", "latest", "events.ndjson"))
		if err != nil {
			return err
		}
		ours = append(ours, period)
		for _, find := range []string{atOnce, settled} {
			period, err := b.bareClicks(w, find, clicks)
			if err != nil {
				return fmt.Errorf("bare clicks: %w", err)
			}
			bare[find] = append(bare[find], period)
		}
	}
	b.ratio("one click on a ready element ÷ the bare round trips it needs", median(ours), median(bare[atOnce]), 1.3)
	b.add("the same ÷ bare round trips that see the element stand still for a frame", division(median(ours), median(bare[settled])), "", "")
	return nil
}

// bareClicks is the median time from one click to the next in the second half of some, in a browser of its own.
func (b *bench) bareClicks(w *browsing, find string, clicks int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	profile, err := os.MkdirTemp(b.dir, "profile")
	if err != nil {
		return 0, err
	}
	conn, end, err := startBrowser(w.browser, profile)
	if err != nil {
		return 0, err
	}
	defer end()
	page, err := openPage(ctx, conn, w.url)
	if err != nil {
		return 0, err
	}
	const boxed = `(() => { const box = () => { const b = document.querySelector("button").getBoundingClientRect();
		return { x: b.x + b.width / 2, y: b.y + b.height / 2 } }; return %s })()`
	var starts []time.Time
	for range clicks {
		starts = append(starts, time.Now())
		var at struct{ X, Y float64 }
		if err := evaluate(ctx, page, fmt.Sprintf(boxed, find), &at); err != nil {
			return 0, err
		}
		for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
			event := map[string]any{"type": kind, "x": at.X, "y": at.Y}
			if kind != "mouseMoved" {
				maps.Copy(event, map[string]any{"button": "left", "clickCount": 1})
			}
			if err := page.Call(ctx, "Input.dispatchMouseEvent", event, nil); err != nil {
				return 0, err
			}
		}
	}
	var counted bool
	if err := evaluate(ctx, page, fmt.Sprintf("document.body.innerText.includes('counted %d')", clicks), &counted); err != nil || !counted {
		return 0, fmt.Errorf("the page did not count %d clicks: %w", clicks, err)
	}
	var periods []time.Duration
	for i := clicks / 2; i+1 < clicks; i++ {
		periods = append(periods, starts[i+1].Sub(starts[i]))
	}
	return median(periods), nil
}

func startBrowser(program, profile string) (conn *cdp.Conn, end func(), err error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--remote-debugging-pipe", "--user-data-dir="+profile,
		"--window-size=1280,800", "--no-first-run", "--disable-dev-shm-usage", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	err = cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		return nil, nil, err
	}
	conn = cdp.NewConn(cdp.Pipes(out, in))
	return conn, func() { _, _ = conn.Close(), cmd.Wait() }, nil
}

// openPage opens a tab and waits until its document is complete.
func openPage(ctx context.Context, conn *cdp.Conn, url string) (*cdp.Session, error) {
	var target struct{ TargetID string }
	if err := conn.Browser().Call(ctx, "Target.createTarget", map[string]any{"url": url}, &target); err != nil {
		return nil, err
	}
	var attached struct{ SessionID string }
	err := conn.Browser().Call(ctx, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	if err != nil {
		return nil, err
	}
	page := conn.Session(attached.SessionID)
	for tick := time.Tick(5 * time.Millisecond); ; {
		var ready bool
		err := evaluate(ctx, page, "document.readyState === 'complete' && location.protocol === 'http:'", &ready)
		if err == nil && ready {
			return page, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the page did not load: %w", ctx.Err())
		case <-tick:
		}
	}
}

func evaluate(ctx context.Context, page *cdp.Session, expression string, into any) error {
	var answer struct{ Result struct{ Value any } }
	answer.Result.Value = into
	return page.Call(ctx, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &answer)
}
