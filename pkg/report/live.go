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

// maxLive is how many live lines are shown at once when the terminal does not say how high it is. What scrolled away cannot be redrawn.
const maxLive = 8

// progress is a trail on its way.
type progress struct {
	session, file, title, driver string
	held                         held

	step    string // or what comes before the steps
	call    string // the tool being called; may be empty
	message string // what the call says of itself; may be empty
	since   time.Time
}

// line is what is shown of p; it fits, and how long it takes is always visible.
func (c *Console) line(p *progress, symbol string, now time.Time) string {
	doing := joinNonEmpty(c.p.dot, p.step, joinNonEmpty(": ", p.call, p.message))
	took := " " + seconds(now.Sub(p.since))
	room := c.style.Width - 1
	return clip(clip(symbol+" "+p.title+c.p.dash+doing, room-ansi.StringWidth(took), c.p.more)+took, room, "")
}

func (c *Console) find(r event.Record) *progress {
	i := slices.IndexFunc(c.live, func(p *progress) bool { return p.session == r.Session && p.file == r.Trail })
	if i < 0 {
		return nil
	}
	return c.live[i]
}

func (c *Console) doing(r event.Record, step string) {
	if p := c.find(r); p != nil {
		p.step, p.call, p.message, p.since = step, "", "", c.opts.Now()
	}
}

func (c *Console) calling(r event.Record, tool string) {
	if p := c.find(r); p != nil {
		p.call, p.message, p.since = tool, "", c.opts.Now()
	}
}

func (c *Console) progressing(r event.Record, tool, message string) {
	if p := c.find(r); p != nil {
		p.message = message
	}
	if !c.style.Live {
		c.verbose(r, "    %s %s: %s", c.p.more, tool, message)
	}
}

// draw brings the live lines up to date.
func (c *Console) draw() { c.print() }

// print writes lines that stay, above the live ones.
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
		fit = max(1, c.style.Height-2) // below them what says how many more there are, and the cursor
	}
	for _, p := range c.live[:min(len(c.live), fit)] {
		lines = append(lines, c.line(p, symbol, now))
	}
	if rest := len(c.live) - fit; rest > 0 {
		lines = append(lines, clip(fmt.Sprintf("%s %d more", c.p.more, rest), c.style.Width-1, ""))
	}
	return lines
}

// screen keeps a frame of live lines below what was written for good.
type screen struct {
	w     io.Writer
	frame []string
}

// update writes lines and replaces the frame, in one write so that nothing flickers.
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
		// Without automatic wrapping a line stays one even when the terminal has been made narrower.
		b.WriteString("\x1b[?7l" + strings.Join(frame, "\n") + "\n\x1b[?7h")
	}
	s.frame = frame
	_, _ = io.WriteString(s.w, b.String())
}
