package report

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// maxHeals bounds the repairs of a case; a run proposes three for a trail.
const maxHeals = 10

func (r *Run) healProposed(c *Case, e event.HealProposed) {
	if len(c.Heals) == maxHeals {
		return
	}
	c.Heals = append(c.Heals, e)
	if s := c.stepNumbered(e.Step); s != nil {
		s.Heal = &e
	}
}

// stepNumbered returns the step with a number, the last one when it is not kept, nil for none.
func (c *Case) stepNumbered(number string) *Step {
	for _, s := range slices.Backward(c.Steps) {
		if s.Number() == number {
			return s
		}
	}
	return c.Step()
}

// proposed reports whether a trail failed and has a repair that may be written.
func (c *Case) proposed() bool {
	for _, h := range c.Heals {
		if !h.MayBeWritten() {
			return false
		}
	}
	return len(c.Heals) > 0
}

// healText says what a repair is: step 2, web_click: renamed: button "Add" is now called "Put".
func healText(e event.HealProposed) string {
	return oneLine(fmt.Sprintf("step %s, %s: %s: %s", e.Step, e.Tool, e.Class, e.Why))
}

// healLines returns a line for each repair that was written.
func (c *Console) healLines() []string {
	var lines []string
	for _, trail := range c.healed {
		for _, h := range trail.Heals {
			line := fmt.Sprintf("%s %s, %s", c.p.warn("healed:"), trail.id().displayName(), healText(h))
			if c.opts.LogsDir != "" && trail.Session != "" {
				line += "; see " + pathText(filepath.ToSlash(filepath.Join(c.opts.LogsDir, trail.Session, h.File)))
			}
			lines = append(lines, fitWidth(line, maxColumns, c.p.more))
		}
	}
	return lines
}
