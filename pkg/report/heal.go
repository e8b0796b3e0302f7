package report

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

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
	for i := len(c.Steps) - 1; i >= 0; i-- {
		if c.Steps[i].Number() == number {
			return c.Steps[i]
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

// pageHeal is a repair on a page.
type pageHeal struct {
	event.HealProposed
	Diff    []diffLine
	Screen  Excerpt // when the call failed
	Missing string  // why there is no diff
}

// diffLine is a line of a patch. Kind is added, removed, or empty.
type diffLine struct{ Kind, Text string }

const maxDiff = 200 // lines

// Repair returns the repair of the step, nil for none.
func (s pageStep) Repair() *pageHeal {
	if s.Heal == nil {
		return nil
	}
	h := &pageHeal{HealProposed: *s.Heal}
	patch, missing := s.parent.readText(s.Heal.File)
	if h.Missing = missing; missing != "" {
		return h
	}
	for i, line := range strings.Split(strings.TrimSuffix(Clean(patch), "\n"), "\n") {
		kinds := map[byte]string{'+': "added", '-': "removed"}
		switch {
		case i < 2 || line == "": // the names of the file
		case len(h.Diff) < maxDiff:
			h.Diff = append(h.Diff, diffLine{kinds[line[0]], line})
		}
	}
	var report struct {
		Steps []struct {
			Step   string
			Screen []string
		}
	}
	if text, missing := s.parent.readText("heal.json"); missing == "" && json.Unmarshal([]byte(text), &report) == nil {
		for _, of := range report.Steps {
			if of.Step == s.Heal.Step {
				h.Screen = s.parent.page.excerpt(strings.Join(of.Screen, "\n"), maxText)
			}
		}
	}
	return h
}

// readText reads a file in the folder of the session.
func (c *pageCase) readText(name string) (text, missing string) {
	const maxFile = 4 << 20
	if c.Dir == "" {
		return "", "The session has no folder."
	}
	file, err := OpenFile(c.Dir, name)
	if err != nil {
		return "", "The file is not there, or cannot be read."
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return "", "The file cannot be read."
	}
	return string(data), ""
}
