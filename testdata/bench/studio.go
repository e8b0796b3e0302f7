package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/coder/websocket"
)

// studio is `trailblaze studio` with one visible page, which is this program.
type studio struct {
	cmd     *exec.Cmd
	project string
	url     string
	begun   time.Time     // of the process
	served  time.Duration // until the page answered
	opened  time.Duration // until the first picture came
	socket  *websocket.Conn

	asked    atomic.Int64
	messages chan studioMessage // closed when the socket is
}

// studioRest is how long nothing may come from the studio before a click is over. A person clicks no faster.
const studioRest = time.Second

// startStudio starts the studio for a trail, or without one for a new recording on the web.
func (b *bench) startStudio(browser, project string, trail ...string) (s *studio, err error) {
	cmd := b.command(project, b.trailblaze, append([]string{"studio", "--no-open"}, trail...)...)
	cmd.Env = append(cmd.Env, "TRAILBLAZE_BROWSER="+browser)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s = &studio{cmd: cmd, project: project, begun: time.Now()}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if s.url = strings.TrimSpace(line); err != nil {
		s.stop()
		return nil, fmt.Errorf("the studio printed no URL: %w", err)
	}
	return s, nil
}

// openStudio starts the studio for a new recording on the web and opens its page.
func (b *bench) openStudio(ctx context.Context, browser, project string) (*studio, error) {
	s, err := b.startStudio(browser, project)
	if err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// connect opens the page of the studio as a browser does, and its socket, and waits for the first picture.
func (s *studio) connect(ctx context.Context) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return err
	}
	page, err := (&http.Client{Jar: jar}).Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, page.Body)
	_ = page.Body.Close()
	if s.served = time.Since(s.begun); err != nil || page.StatusCode != http.StatusOK {
		return fmt.Errorf("the page of the studio: %s, %w", page.Status, err)
	}
	at := page.Request.URL
	s.socket, _, err = websocket.Dial(ctx, "ws://"+at.Host+at.Path+"socket", &websocket.DialOptions{
		HTTPHeader: http.Header{"Origin": {"http://" + at.Host}, "Cookie": {jar.Cookies(at)[0].String()}},
	})
	if err != nil {
		return err
	}
	s.socket.SetReadLimit(-1)
	s.messages = make(chan studioMessage, 10_000)
	go s.read(ctx)
	_, err = s.until(func(m studioMessage) bool { return m.On == "picture" })
	s.opened = time.Since(s.begun)
	return err
}

// stop ends the studio, and waits for it.
func (s *studio) stop() {
	if s.socket != nil {
		_ = s.socket.CloseNow()
	}
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	_ = s.cmd.Wait()
}

// studioMessage is what the studio sends: an answer, or a push.
type studioMessage struct {
	On     string
	Seq    int
	Re     int
	OK     bool
	Result json.RawMessage
	Error  struct{ Message string }
	came   time.Time // whole, a picture with its bytes
}

// read passes on what the studio sends, and says at once that a picture is shown. It ends with the socket.
func (s *studio) read(ctx context.Context) {
	defer close(s.messages)
	for {
		kind, data, err := s.socket.Read(ctx)
		if err != nil {
			return
		}
		m := studioMessage{came: time.Now()}
		if kind != websocket.MessageText || json.Unmarshal(data, &m) != nil {
			continue
		}
		if m.On == "picture" {
			_, _, err = s.socket.Read(ctx)
			m.came = time.Now()
			s.send(ctx, map[string]any{"do": "seen", "seq": m.Seq})
		}
		s.messages <- m
	}
}

// send sends a request, and returns its number. A request that cannot be sent is not answered.
func (s *studio) send(ctx context.Context, request map[string]any) (id int) {
	id = int(s.asked.Add(1))
	request["id"] = id
	data, _ := json.Marshal(request) // texts and numbers can be encoded
	_ = s.socket.Write(ctx, websocket.MessageText, data)
	return id
}

// until returns the next message that is wanted.
func (s *studio) until(wanted func(studioMessage) bool) (studioMessage, error) {
	limit := time.After(time.Minute)
	for {
		select {
		case m, open := <-s.messages:
			if !open {
				return m, errors.New("the studio closed the socket")
			}
			if wanted(m) {
				return m, nil
			}
		case <-limit:
			return studioMessage{}, errors.New("the studio did not send what was waited for")
		}
	}
}

// ask sends a request and waits for its answer.
func (s *studio) ask(ctx context.Context, request map[string]any, result any) error {
	id := s.send(ctx, request)
	m, err := s.until(func(m studioMessage) bool { return m.Re == id })
	switch {
	case err != nil:
		return err
	case !m.OK:
		return fmt.Errorf("%v: %s", request["do"], m.Error.Message)
	case result == nil:
		return nil
	}
	return json.Unmarshal(m.Result, result)
}

// collect returns the messages that come until none has come for a while.
func (s *studio) collect(quiet time.Duration) (messages []studioMessage) {
	for {
		select {
		case m, open := <-s.messages:
			if !open {
				return messages
			}
			messages = append(messages, m)
		case <-time.After(quiet):
			return messages
		}
	}
}

// click clicks at a point. It returns how long that takes until the studio has answered and the last picture of what it
// changed has come.
func (s *studio) click(ctx context.Context, x, y int) (time.Duration, error) {
	begun := time.Now()
	id := s.send(ctx, map[string]any{"do": "act", "act": map[string]any{"kind": "click", "x": x, "y": y}})
	var picture time.Time
	answer, err := s.until(func(m studioMessage) bool {
		if m.On == "picture" {
			picture = m.came
		}
		return m.Re == id
	})
	if err != nil || !answer.OK {
		return 0, fmt.Errorf("click: %s %w", answer.Error.Message, err)
	}
	for _, m := range s.collect(studioRest) {
		if m.On == "picture" {
			picture = m.came
		}
	}
	if picture.IsZero() {
		return 0, errors.New("the studio sent no picture after a click")
	}
	return max(answer.came.Sub(begun), picture.Sub(begun)), nil
}

// bareClick makes the call of such a click, without the studio's search for the element. It returns how long the call
// takes.
func (s *studio) bareClick(ctx context.Context, selector map[string]any) (time.Duration, error) {
	call := map[string]any{"tool": "web_click", "args": map[string]any{"nodeSelector": selector}}
	if err := s.ask(ctx, map[string]any{"do": "call", "call": call}, nil); err != nil {
		return 0, err
	}
	s.collect(studioRest)
	return s.lastCall()
}

// lastCall returns how long the last call of the session took.
func (s *studio) lastCall() (time.Duration, error) {
	logs, err := filepath.Glob(filepath.Join(s.project, "logs", "studio_*", "events.ndjson"))
	if err != nil || len(logs) == 0 {
		return 0, fmt.Errorf("the studio has no log: %w", err)
	}
	file := slices.Max(logs)
	started, err := eventTimes(file, "call.started")
	if err != nil {
		return 0, err
	}
	finished, err := eventTimes(file, "call.finished")
	if err != nil || len(started) == 0 || len(finished) != len(started) {
		return 0, fmt.Errorf("%s has %d calls, %d of them finished: %w", file, len(started), len(finished), err)
	}
	return finished[len(finished)-1].Sub(started[len(started)-1]), nil
}

// studioElement is an element of a look.
type studioElement struct {
	Role, Name string
	Bounds     *struct{ Left, Top, Right, Bottom int }
	Children   []studioElement
}

// find returns the middle of the first element with a role and a name that begins so.
func (e studioElement) find(role, name string) (x, y int, found bool) {
	if e.Role == role && strings.HasPrefix(e.Name, name) && e.Bounds != nil {
		return (e.Bounds.Left + e.Bounds.Right) / 2, (e.Bounds.Top + e.Bounds.Bottom) / 2, true
	}
	for _, c := range e.Children {
		if x, y, found = c.find(role, name); found {
			return x, y, true
		}
	}
	return 0, 0, false
}

// visit opens a page, and returns where an element is on it.
func (s *studio) visit(ctx context.Context, url, role, name string) (x, y int, err error) {
	if err := s.ask(ctx, map[string]any{"do": "navigate", "url": url}, nil); err != nil {
		return 0, 0, err
	}
	var look struct{ Root studioElement }
	if err := s.ask(ctx, map[string]any{"do": "look"}, &look); err != nil {
		return 0, 0, err
	}
	x, y, found := look.Root.find(role, name)
	if !found {
		err = fmt.Errorf("%s %q is not on the page", role, name)
	}
	return x, y, err
}

// crowdedPage has 8,000 elements below the button.
func crowdedPage() string {
	var rows strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&rows, "<li><a href=\"#%d\">Item %d</a> <span>in stock</span> <button>Remove item %d</button></li>\n", i, i, i)
	}
	return strings.Replace(countingPage, "<script>", "<ul>\n"+rows.String()+"</ul>\n<script>", 1)
}

// studioClicks measures what the studio adds to a click.
func (b *bench) studioClicks() error {
	browser, err := findBrowser()
	if err != nil {
		return err
	}
	shop := http.FileServer(http.Dir(filepath.Join(b.root, "testdata/projects/shop/pages")))
	for _, at := range []struct {
		what, role, name string
		site             http.Handler
	}{
		{"a small page", "button", "Count", textPage(countingPage)},
		{"the example shop", "button", "Add", shop},
		{"a page of 8,000 elements", "button", "Count", textPage(crowdedPage())},
	} {
		if err := b.studioClicksOn(browser, at.what, at.role, at.name, at.site); err != nil {
			return fmt.Errorf("%s: %w", at.what, err)
		}
	}
	return nil
}

func textPage(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, text)
	})
}

func (b *bench) studioClicksOn(browser, what, role, name string, site http.Handler) error {
	server := httptest.NewServer(site)
	defer server.Close()
	project, err := b.project("studio "+what, "", 0, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	s, err := b.openStudio(ctx, browser, project)
	if err != nil {
		return err
	}
	defer s.stop()
	x, y, err := s.visit(ctx, server.URL, role, name)
	if err != nil {
		return err
	}
	var at struct {
		Candidates []struct{ Selector map[string]any }
	}
	if err := s.ask(ctx, map[string]any{"do": "locate", "x": x, "y": y}, &at); err != nil || len(at.Candidates) == 0 {
		return fmt.Errorf("%s %q cannot be located: %w", role, name, err)
	}
	s.collect(studioRest)
	var whole, calls, beyond []time.Duration
	for i := range max(3, b.runs/2) + 1 {
		all, err := s.click(ctx, x, y)
		if err != nil {
			return err
		}
		call, err := s.bareClick(ctx, at.Candidates[0].Selector)
		if err != nil {
			return err
		}
		if i > 0 {
			whole, calls, beyond = append(whole, all), append(calls, call), append(beyond, all-call)
		}
	}
	more := median(beyond)
	b.row("studio: a click on the picture until the call has ended and the new picture is there, more than the call itself, on "+what,
		fmt.Sprintf("%s (%s - %s)", round(more), round(median(whole)), round(median(calls))), "≤ 150 ms", more <= 150*time.Millisecond)
	return nil
}

// studioStart compares the start of the studio with that of its browser.
func (b *bench) studioStart() error {
	browser, err := findBrowser()
	if err != nil {
		return err
	}
	project, err := b.project("studio start", "", 0, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var served, opened, bare []time.Duration
	for range max(3, b.runs/2) {
		s, err := b.openStudio(ctx, browser, project)
		if err != nil {
			return err
		}
		s.stop()
		served, opened = append(served, s.served), append(opened, s.opened)
		took, err := b.bareStart(ctx, browser)
		if err != nil {
			return err
		}
		bare = append(bare, took)
	}
	more := median(served) - median(bare)
	b.row("studio: from its start until its page answers, more than the browser's start takes until its first answer",
		fmt.Sprintf("%s (%s - %s)", round(more), round(median(served)), round(median(bare))), "≤ 300 ms", more <= 300*time.Millisecond)
	b.add("the same until the first picture of the device is there", fmt.Sprintf("%s (%s - %s)", round(median(opened)-median(bare)), round(median(opened)), round(median(bare))), "", "")
	return nil
}

// bareStart returns how long it takes from the start of a browser to its first answer.
func (b *bench) bareStart(ctx context.Context, browser string) (time.Duration, error) {
	profile, err := os.MkdirTemp(b.dir, "profile")
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	conn, end, err := startBrowser(browser, profile)
	if err != nil {
		return 0, err
	}
	defer end()
	err = conn.Browser().Call(ctx, "Browser.getVersion", nil, nil)
	return time.Since(begun), err
}

// studioIdle measures what the studio does while nothing happens.
func (b *bench) studioIdle() error {
	const while = 20 * time.Second
	browser, err := findBrowser()
	if err != nil {
		return err
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(b.root, "testdata/projects/shop/pages"))))
	defer server.Close()
	project, err := b.project("studio idle", "", 0, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	s, err := b.openStudio(ctx, browser, project)
	if err != nil {
		return err
	}
	defer s.stop()
	x, y, err := s.visit(ctx, server.URL, "button", "Add")
	if err != nil {
		return err
	}
	if _, err := s.click(ctx, x, y); err != nil { // since then, changes of the page are noticed
		return err
	}
	s.collect(5 * studioRest) // the shop takes its message away after four seconds
	ours, family, begun := processorTime(s.cmd.Process.Pid, false), processorTime(s.cmd.Process.Pid, true), time.Now()
	time.Sleep(while)
	messages := len(s.messages)
	took := time.Since(begun).Seconds()
	share := func(before time.Duration, whole bool) float64 {
		return 100 * (processorTime(s.cmd.Process.Pid, whole) - before).Seconds() / took
	}
	own, all := share(ours, false), share(family, true)
	b.row("studio: share of a core while nothing happens for 20s and a page looks on, with the browser of the device",
		fmt.Sprintf("%.1f %% (without it %.1f %%), %d messages", all, own, messages), "≤ 2 %, none", all <= 2 && messages == 0)
	return nil
}

// processorTime returns the processor time of a process, or of it and all that it has started and that still runs.
func processorTime(pid int, whole bool) (used time.Duration) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(data), ") ")
	if fields := strings.Fields(rest); len(fields) > 12 {
		for _, ticks := range fields[11:13] { // of the user and of the system, a hundred in a second
			n, _ := strconv.Atoi(ticks)
			used += time.Duration(n) * 10 * time.Millisecond
		}
	}
	if whole {
		for _, child := range childrenOf(pid) {
			used += processorTime(child, true)
		}
	}
	return used
}

// studioLarge measures the page of the studio with a large trail and a large screen.
func (b *bench) studioLarge() error {
	w, err := b.browsing(0)
	if err != nil {
		return err
	}
	defer w.stop()
	var items, steps strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&items, "<button>Item %d</button>", i)
	}
	for i := range 1000 {
		fmt.Fprintf(&steps, "  - step: Step %d\n    recording:\n      web:\n        - web_click: { ref: button \"Item %d\" }\n", i+1, i)
	}
	server := httptest.NewServer(textPage("<title>Shop</title>" + items.String()))
	defer server.Close()
	project, err := b.project("studio large", "", 0, map[string]string{"large": "trail:\n" + steps.String()})
	if err != nil {
		return err
	}
	s, err := b.startStudio(w.browser, project, "trails/large.trail.yaml")
	if err != nil {
		return err
	}
	defer s.stop()
	cmd := b.command(w.playwright, "node", "studio-tasks.mjs", "large", w.browser, s.url, server.URL)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var answer struct {
		Found struct{ Loop, Find, Select, Scroll, Megabytes float64 }
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return err
	}
	f := answer.Found
	slowest := max(f.Find, f.Select, f.Scroll)
	b.row("studio: the slowest interaction with 1,000 steps and 10,000 elements (find, select, scroll)",
		fmt.Sprintf("%.0f ms (%.1f times a loop that takes %.0f ms)", slowest, slowest/f.Loop, f.Loop), "≤ 100 ms", slowest <= 100)
	b.row("studio: memory of that page", fmt.Sprintf("%.0f MB", f.Megabytes), "≤ 200 MB", f.Megabytes <= 200)
	return nil
}

// studioless is the last revision without a studio.
const studioless = "60aa93e3"

// studioWeight compares the sizes of the programs, as they are published, before there was a studio and now.
func (b *bench) studioWeight() error {
	const figure, limit = "growth of the program since there is a studio (" + studioless + ")", "≤ 1 MB"
	before, err := b.buildRevision(studioless)
	if err != nil {
		b.add(figure, "not measured: "+err.Error(), limit, "")
		return nil
	}
	var sizes []float64
	for _, program := range []string{b.trailblaze, before} {
		info, err := os.Stat(program)
		if err != nil {
			return err
		}
		sizes = append(sizes, float64(info.Size())/(1<<20))
	}
	grown := sizes[0] - sizes[1]
	b.row(figure, fmt.Sprintf("%.2f MB (%.2f - %.2f MB)", grown, sizes[0], sizes[1]), limit, grown <= 1)
	return nil
}
