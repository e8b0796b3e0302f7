package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// maxLive is the number of live lines when the height of the terminal is unknown. Lines that have scrolled off cannot
// be redrawn.
const maxLive = 8

// progress is a running trail.
type progress struct {
	*Case
	count string // see Console.nextCount
	held  heldLines
}

// line returns the live line of a running trail, truncated to the width of the terminal before its duration.
func (c *Console) line(p *progress, symbol string, now time.Time) string {
	took := " " + formatDuration(now.Sub(p.Since))
	room := c.style.Width - 1
	return fitWidth(fitWidth(symbol+" "+p.count+p.id().displayName()+c.p.dash+c.activity(p.Case), room-ansi.StringWidth(took), c.p.more)+took, room, "")
}

// activity returns what a trail does: its step and its call, or what happens before the steps.
func (c *Console) activity(r *Case) string {
	step, call, request := "starting", "", ""
	if s := r.Step(); s != nil {
		step, request = stepText(s.StepStarted), requestText(s, r.Use, c.p.dot)
	} else if len(r.Servers) > 0 {
		step = "started " + oneLine(r.Servers[len(r.Servers)-1].Server)
	}
	if r.Call != nil {
		call = oneLine(r.Call.Tool)
		for _, message := range r.Call.Progress {
			call = joinNonEmpty(": ", call, c.excerpt(message.Text))
		}
	}
	return joinNonEmpty(c.p.dot, step, request, call)
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
