package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/redact"
)

// parallelTrail returns the events of one trail on one device, with the mark in all of them but the notes.
func parallelTrail(mark, file, device string) []event.Event {
	events := []event.Event{event.TrailStarted{File: file, Title: "title " + mark, Device: device, Steps: 3}, event.ServerStarted{Server: mark, Tools: 1}}
	for i := range 3 {
		events = append(events,
			event.StepStarted{Index: i + 1, Of: 3, Text: "step of " + mark},
			event.CallStarted{Call: fmt.Sprint(i), Tool: "tool-" + mark},
			event.Log{Level: "warn", Source: "server", Message: "attention"},
			event.CallProgress{Call: fmt.Sprint(i), Tool: "tool-" + mark, Message: "on its way"},
			event.CallFinished{Call: fmt.Sprint(i), Tool: "tool-" + mark, OK: true, Text: "done"},
			event.StepFinished{Index: i + 1, Outcome: event.Passed},
		)
	}
	return append(events, event.TrailFinished{File: file, Title: "title " + mark, Device: device, Outcome: event.Failed, Reason: "reason of " + mark, Attempts: 1})
}

// playMixed emits the events of several trails in an order that depends on the seed.
func playMixed(seed uint64, trails, workers int, handlers ...event.Handler) {
	random := rand.New(rand.NewPCG(seed, 0))
	s := event.NewStream(newClock().now, redact.New(nil), handlers...)
	s.Emit(event.RunStarted{Trails: trails, Workers: workers})
	type lane struct {
		emit *event.Emitter
		left []event.Event
	}
	var lanes []lane
	for next := 0; next < trails || len(lanes) > 0; {
		if len(lanes) < workers && next < trails {
			mark, file, device := fmt.Sprintf("<%d>", next), fmt.Sprintf("%d.trail.yaml", next/2), fmt.Sprintf("web:%d", next%2)
			lanes = append(lanes, lane{s.Session("session"+mark, file, nil), parallelTrail(mark, file, device)})
			next++
			continue
		}
		i := random.IntN(len(lanes))
		lanes[i].emit.Emit(lanes[i].left[0])
		if lanes[i].left = lanes[i].left[1:]; len(lanes[i].left) == 0 {
			lanes = slices.Delete(lanes, i, i+1)
		}
	}
	s.Emit(event.RunFinished{Failed: trails, ExitCode: 1})
}

// TestLinesOfParallelTrailsAreNotMixed checks that every line names its trail or is in a block of one trail.
func TestLinesOfParallelTrailsAreNotMixed(t *testing.T) {
	t.Parallel()
	marked := regexp.MustCompile(`<\d+>`)
	for seed := range uint64(50) {
		for _, style := range []Style{{}, {Color: true, Width: 80}, {ASCII: true}} {
			var out bytes.Buffer
			opts := consoleOptions(newClock())
			opts.Verbose = true
			console := newConsole(&out, style, opts)
			playMixed(seed, 12, 5, console)
			console.Close()
			text, _, _ := strings.Cut(out.String(), "\n\n") // up to the summary
			block, blocks := "", map[string]int{}
			for line := range strings.Lines(text) {
				mark := marked.FindString(line)
				indented := strings.HasPrefix(line, " ")
				switch {
				case mark == "":
					t.Fatalf("seed %d: nobody knows whose line this is: %q in\n%s", seed, line, text)
				case indented && mark != block:
					t.Fatalf("seed %d: a line of %s in the block of %s:\n%s", seed, mark, block, text)
				case !indented:
					block = mark
				}
				if strings.HasSuffix(Clean(line), "]:\n") {
					blocks[mark]++
				}
			}
			for i := range 12 {
				if n := blocks[fmt.Sprintf("<%d>", i)]; n != 1 {
					t.Errorf("seed %d: <%d> has %d blocks", seed, i, n)
				}
			}
			for _, want := range []string{"warning: title <3> [web:1]: server: attention\n", " title <3> [web:1] (3 steps)\n", " title <3> [web:1] (0ms)\n  reason of <3>\n"} {
				if !strings.Contains(Clean(text), want) {
					t.Fatalf("seed %d: no %q in\n%s", seed, want, text)
				}
			}
		}
	}
}

func TestConsoleWithParallelTrails(t *testing.T) {
	t.Parallel()
	for name, verbose := range map[string]bool{"console-parallel": false, "console-parallel-verbose": true} {
		var out bytes.Buffer
		opts := consoleOptions(newClock())
		opts.Verbose = verbose
		console := newConsole(&out, Style{}, opts)
		playMixed(1, 3, 2, console)
		console.Close()
		golden(t, name, out.Bytes())
	}
}

func TestHeldLinesAreBounded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	opts := consoleOptions(newClock())
	opts.Verbose = true
	console := newConsole(&out, Style{}, opts)
	defer console.Close()
	s := event.NewStream(newClock().now, redact.New(nil), console)
	s.Emit(event.RunStarted{Trails: 2, Workers: 2})
	e := s.Session("s1", "a.trail.yaml", nil)
	e.Emit(event.TrailStarted{File: "a.trail.yaml", Title: "a"})
	e.Emit(event.StepStarted{Index: 1, Of: 1})
	for i := range 20_000 {
		e.Emit(event.CallStarted{Call: fmt.Sprint(i), Tool: strings.Repeat("x", 99)})
	}
	held := console.live[0].held
	if held.bytes > maxHeld+20_000*200 || len(strings.Join(held.lines, "\n")) > maxHeld {
		t.Errorf("%d lines are held back", len(held.lines))
	}
	e.Emit(event.TrailFinished{File: "a.trail.yaml", Title: "a", Outcome: event.Passed})
	want := fmt.Sprintf("  … %d more lines in logs/s1/events.ndjson\n✓ [1/2] a (0ms)\n", 20_001-len(held.lines))
	if got := out.String(); !strings.HasSuffix(strings.ReplaceAll(got, `\`, "/"), want) {
		t.Errorf("got …%s, want …%s", got[len(got)-200:], want)
	}
}

func TestBlocksOfRetriedAndUnfinishedTrails(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	opts := consoleOptions(newClock())
	opts.Verbose = true
	console := newConsole(&out, Style{}, opts)
	s := event.NewStream(newClock().now, redact.New(nil), console)
	s.Emit(event.RunStarted{Trails: 2, Workers: 2})
	for _, device := range []string{"web:a", "web:b"} {
		for attempt := range 2 {
			e := s.Session(fmt.Sprint(device, attempt), "a", nil)
			e.Emit(event.TrailStarted{File: "a", Title: "a", Device: device})
			e.Emit(event.StepStarted{Index: 1, Of: 1, Text: fmt.Sprint(device, " attempt ", attempt)})
		}
	}
	s.Session("web:b1", "a", nil).Emit(event.TrailFinished{File: "a", Title: "a", Device: "web:b", Outcome: event.Passed, Flaky: true, Attempts: 2})
	if got, want := out.String(), "\na [web:b]:\n  step 1/1 web:b attempt 0\n  step 1/1 web:b attempt 1\n✓ [2/2] a [web:b] (0ms, 2 attempts, flaky)\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s, want at its end\n%s", got, want)
	}
	console.Close()
	if got, want := out.String(), "\na [web:a]:\n  step 1/1 web:a attempt 0\n  step 1/1 web:a attempt 1\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s, want at its end\n%s", got, want)
	}
}

func TestTrailsWithoutSessionAreIdentifiedByDevice(t *testing.T) {
	t.Parallel()
	v, clock, console, s := liveConsole(t, 80)
	defer console.Close()
	e := s.Session("", "a", nil)
	s.Emit(event.RunStarted{Trails: 2, Workers: 2})
	for _, device := range []string{"web:a", "web:b"} {
		e.Emit(event.TrailStarted{File: "a", Title: "a", Device: device})
	}
	e.Emit(event.TrailFinished{File: "a", Title: "a", Device: "web:b", Outcome: event.Passed})
	clock.pass(time.Second)
	if diff := cmp.Diff("✓ [2/2] a [web:b] (0ms)\n⠋ [1/2] a [web:a] — starting 1.0s\n", look(console, v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNumberOfLiveLines(t *testing.T) {
	t.Parallel()
	for height, want := range map[int]string{0: "8 lines, 12 more", 1: "1 lines, 19 more", 3: "1 lines, 19 more", 10: "8 lines, 12 more", 21: "19 lines, 1 more", 24: "20 lines"} {
		v := newTerminal(t, 80)
		console := newConsole(v, Style{Live: true, Width: 80, Height: height}, consoleOptions(newClock()))
		s := event.NewStream(newClock().now, redact.New(nil), console)
		for i := range 20 {
			s.Session(fmt.Sprint(i), fmt.Sprint(i), nil).Emit(event.TrailStarted{File: fmt.Sprint(i)})
		}
		screen := look(console, v)
		got := fmt.Sprintf("%d lines", strings.Count(screen, "starting"))
		if _, more, ok := strings.Cut(screen, "… "); ok {
			got += ", " + strings.TrimSpace(more)
		}
		if got != want {
			t.Errorf("%d high: %s, want %s", height, got, want)
		}
		console.Close()
	}
}

func TestFailuresOfParallelTrailsAreSorted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	console := newConsole(&out, Style{}, consoleOptions(newClock()))
	s := event.NewStream(newClock().now, redact.New(nil), console)
	s.Emit(event.RunStarted{Trails: 6, Workers: 4})
	for _, w := range []trailID{
		{"b", "", "b", 0, 0},
		{"a", "web:b", "a [w=y]", 2, 0},
		{"a", "web:b", "a [w=b]", 10, 0},
		{"a", "web:a", "a [w=x]", 3, 0},
		{"a", "web:b", "a [w=z] (10 of 10)", 1, 10},
		{"a", "web:b", "a [w=z] (2 of 10)", 1, 2},
	} {
		s.Session("", w.file, nil).Emit(event.TrailFinished{
			Case: event.Case{Row: w.row, Repeat: w.repeat}, File: w.file, Title: w.title, Device: w.device, Outcome: event.Failed,
		})
	}
	out.Reset()
	s.Emit(event.RunFinished{Failed: 5})
	console.Close()
	var got []string
	for line := range strings.Lines(out.String()) {
		if title, ok := strings.CutPrefix(strings.TrimSuffix(line, " (failed)\n"), "✗ "); ok {
			got = append(got, title)
		}
	}
	if diff := cmp.Diff([]string{
		"a [w=x] [web:a]", "a [w=z] (2 of 10) [web:b]", "a [w=z] (10 of 10) [web:b]", "a [w=y] [web:b]", "a [w=b] [web:b]", "b",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReportsDoNotDependOnOrderOfEnds compares them byte by byte, with a clock that does not advance.
func TestReportsDoNotDependOnOrderOfEnds(t *testing.T) {
	t.Parallel()
	var firstXML, firstPage string
	for seed := range uint64(10) {
		junit, page := NewJUnit(), NewHTML("")
		playMixed(seed, 12, 5, junit, page)
		xml, html := written(t, junit), string(pageBytes(t, page))
		if seed == 0 {
			firstXML, firstPage = xml, html
		}
		if diff := cmp.Diff(firstXML, xml); diff != "" {
			t.Fatalf("JUnit, seed %d (-first):\n%s", seed, diff)
		}
		if diff := cmp.Diff(firstPage, html); diff != "" {
			t.Fatalf("the page, seed %d (-first):\n%s", seed, diff)
		}
	}
	for _, want := range []string{
		`<property name="device" value="web:0"></property>`, `<property name="device" value="web:1"></property>`, `<testcase name="title &lt;3&gt; [web:1]" classname="1"`,
	} {
		if !strings.Contains(firstXML, want) {
			t.Errorf("no %s in\n%s", want, firstXML)
		}
	}
	for _, want := range []string{`<option>web:0</option><option>web:1</option>`, ` data-device="web:1"`, `<span class="kind">web:1</span>`, `<dt>device</dt><dd>web:1</dd>`} {
		if !strings.Contains(firstPage, want) {
			t.Errorf("no %s on the page", want)
		}
	}
}

func TestReportsOfOneTrailOnTwoDevices(t *testing.T) {
	t.Parallel()
	junit, page := NewJUnit(), NewHTML("")
	s := event.NewStream(newClock().now, redact.New(nil), junit, page)
	s.Emit(event.RunStarted{Trails: 3, Workers: 2})
	start := func(session, device string) {
		s.Session(session, "a", nil).Emit(event.TrailStarted{File: "a", Title: "A", Device: device})
	}
	end := func(session, device string, outcome event.Outcome, attempts int) {
		s.Session(session, "a", nil).Emit(event.TrailFinished{File: "a", Title: "A", Device: device, Outcome: outcome, Attempts: attempts, Flaky: attempts > 1})
	}
	start("x1", "x")
	start("y1", "y")
	start("", "z")
	start("x2", "x") // x is tried again while y goes on
	end("x2", "x", event.Passed, 2)
	start("", "w")
	end("", "z", event.Skipped, 1)
	xml, html := written(t, junit), string(pageBytes(t, page))
	for _, want := range []string{
		`tests="4" failures="0" errors="2"`, `<testcase name="A [w]" classname="a" time="0.000" file="a">` + "\n      <error", `<testcase name="A [x]" classname="a" time="0.000" file="a">` + "\n      <system-out>flaky",
		`<testcase name="A [y]" classname="a" time="0.000" file="a">` + "\n      <error", `<testcase name="A [z]" classname="a" time="0.000" file="a">` + "\n      <skipped",
	} {
		if !strings.Contains(xml, want) {
			t.Errorf("no %s in\n%s", want, xml)
		}
	}
	var got []string
	for _, a := range page.page().trails {
		got = append(got, fmt.Sprint(a.Device, " ", a.Outcome(), " ", len(a.Case.Earlier)))
	}
	if diff := cmp.Diff([]string{"w unfinished 0", "x flaky 1", "y unfinished 0", "z skipped 0"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(html, "Attempt 1 of 2") {
		t.Error("the page has no earlier attempt of x")
	}
}
