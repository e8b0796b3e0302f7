package spawn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
)

// Explain returns cause with what is known about the process: how and when it ended, if by itself, the end of its
// stderr, a hint unless cause has one, and all of that as details. cause is not changed.
func (p *Process) Explain(cause *fault.Error) *fault.Error {
	e := *cause
	stderr := p.stderr.lines()
	if e.Hint == "" {
		e.Hint = jsruntime.Hint(p.spec.Script, p.dir, stderr)
	}
	stderr = lastBytes(stderr)
	e.Message = fmt.Sprintf("%s\n  the process %s", strings.TrimRight(cause.Message, "\n"), p.condition(cause.Message))
	if shown := p.withoutNoise(stderr); shown != "" {
		e.Message += fault.StderrPart(shown)
	}
	e.Details = maps.Clone(cause.Details)
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	maps.Copy(e.Details, p.details(stderr))
	return &e
}

// maxUseful is how many lines of a program's stderr are shown when it is known which of them are noise.
const maxUseful = 5

// withoutNoise returns the lines of stderr that are shown.
func (p *Process) withoutNoise(stderr string) string {
	if p.isNoise == nil {
		return stderr
	}
	lines := slices.DeleteFunc(strings.Split(stderr, "\n"), p.isNoise)
	return strings.Join(lines[max(0, len(lines)-maxUseful):], "\n")
}

// condition says how long the process has been running, or how it ended, unless known says that already.
func (p *Process) condition(known string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		return fmt.Sprintf("has been running for %s", round(time.Since(p.started)))
	}
	how := "was stopped after"
	if p.crash != nil {
		how = strings.Replace(p.crash.Message, "killed", "was killed", 1) + " after"
		if strings.Contains(known, p.crash.Message) {
			how = "ran for"
		}
	}
	return fmt.Sprintf("%s %s", how, round(p.ended.Sub(p.started)))
}

func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

func (p *Process) details(stderr string) map[string]any {
	details := map[string]any{"command": p.argv, "dir": p.dir, "stderr": stderr}
	if pid := p.backend.pid(); pid != 0 {
		details["pid"] = pid
	}
	if p.runtime != "" {
		details["runtime"] = p.runtime
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		return details
	}
	if exit := p.backend.exit(); exit.signal != "" {
		details["signal"] = exit.signal
	} else {
		details["exit"] = exit.code
	}
	return details
}
