package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// maxLive is the number of live lines when the height of the terminal is unknown. Lines that have scrolled off cannot
// be redrawn.
const maxLive = 8

// progress is the state of a running trail.
type progress struct {
	session, file, title string
	started              event.TrailStarted
	count                string // see Console.nextCount
	held                 heldLines
	toolFailed           bool // the last call that failed did so as tools fail
	notes                []callNote

	step    string // or what happens before the steps
	call    string // the tool that is called; may be empty
	message string // the call's last progress message; may be empty
	since   time.Time
}

// line returns the live line of p, truncated to the width of the terminal before its duration.
func (c *Console) line(p *progress, symbol string, now time.Time) string {
	doing := joinNonEmpty(c.p.dot, p.step, joinNonEmpty(": ", p.call, p.message))
	took := " " + formatDuration(now.Sub(p.since))
	room := c.style.Width - 1
	return fitWidth(fitWidth(symbol+" "+p.count+p.title+c.p.dash+doing, room-ansi.StringWidth(took), c.p.more)+took, room, "")
}

func (c *Console) progressOf(r event.Record) *progress {
	i := slices.IndexFunc(c.live, func(p *progress) bool { return p.session == r.Session && p.file == r.Trail })
	if i < 0 {
		return nil
	}
	return c.live[i]
}

func (c *Console) setStep(r event.Record, step string) {
	if p := c.progressOf(r); p != nil {
		p.step, p.call, p.message, p.since = step, "", "", c.opts.Now()
	}
}

func (c *Console) setCall(r event.Record, tool string) {
	if p := c.progressOf(r); p != nil {
		p.call, p.message, p.since = tool, "", c.opts.Now()
	}
}

func (c *Console) setMessage(r event.Record, tool, message string) {
	if p := c.progressOf(r); p != nil {
		p.message = message
	}
	if !c.style.Live {
		c.verbose(r, "    %s %s: %s", c.p.more, tool, message)
	}
}

// draw redraws the live lines.
func (c *Console) draw() { c.print() }

// print writes lines above the live lines.
func (c *Console) print(lines ...string) {
	var frame []string
	if c.style.Live {
		frame = c.frame()
	}
	c.screen.update(lines, frame)
}

func (c *Console) frame() []string {
	now := c.opts.Now()
	symbol := c.p.spinner[int(now.UnixMilli()/refresh.Milliseconds())%len(c.p.spinner)]
	var lines []string
	fit := maxLive
	if c.style.Height > 0 {
		fit = max(1, c.style.Height-2) // room for the number of other trails, and for the cursor
	}
	for _, p := range c.live[:min(len(c.live), fit)] {
		lines = append(lines, c.line(p, symbol, now))
	}
	if rest := len(c.live) - fit; rest > 0 {
		lines = append(lines, fitWidth(fmt.Sprintf("%s %d more", c.p.more, rest), c.style.Width-1, ""))
	}
	return lines
}

// screen shows a frame of live lines below the lines that were written.
type screen struct {
	w     io.Writer
	frame []string
}

// update writes lines and replaces the frame, in one write to avoid flicker.
func (s *screen) update(lines, frame []string) {
	if len(lines) == 0 && slices.Equal(frame, s.frame) {
		return
	}
	var b strings.Builder
	if n := len(s.frame); n > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r\x1b[J", n)
	}
	for _, line := range lines {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if len(frame) > 0 {
		// Without automatic wrapping, the number of lines is right also after the terminal was made narrower.
		b.WriteString("\x1b[?7l" + strings.Join(frame, "\n") + "\n\x1b[?7h")
	}
	s.frame = frame
	_, _ = io.WriteString(s.w, b.String())
}
