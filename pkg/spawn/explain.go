package spawn

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
)

// Explain returns cause with what is known about the process: how and when it ended, if by itself, the end of its stderr, what
// it wrote to stdout if it never said anything else, where its log is, a hint unless cause has one, and all of that as
// details. cause stays as it is.
func (p *Process) Explain(cause *fault.Error) *fault.Error {
	e := *cause
	said := p.record.remembered()
	if e.Hint == "" {
		e.Hint = jsruntime.Hint(p.spec.Script, p.dir, said)
	}
	said = tail(said)
	var b strings.Builder
	b.WriteString(strings.TrimRight(cause.Message, "\n"))
	fmt.Fprintf(&b, "\n  the process %s", p.fate(cause.Message))
	if said != "" {
		fmt.Fprintf(&b, "\n  the end of its stderr:\n%s", indent(said))
	}
	if strays := p.record.strays(); len(strays) > 0 && !p.spoke() {
		instead := ", in place of the protocol"
		if p.spec.Apart {
			instead = ""
		}
		fmt.Fprintf(&b, "\n  on its stdout%s:\n%s", instead, indent(strings.Join(strays, "\n")))
	}
	if p.spec.LogPath != "" && (said != "" || len(p.record.strays()) > 0) {
		fmt.Fprintf(&b, "\n  log: %s", p.spec.LogPath)
	}
	e.Message = b.String()
	e.Details = maps.Clone(cause.Details)
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	maps.Copy(e.Details, p.facts(said))
	return &e
}

// fate says in what state the process is, or how it ended, unless known says that already.
func (p *Process) fate(known string) string {
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

func (p *Process) facts(stderr string) map[string]any {
	facts := map[string]any{
		"command": p.argv, "dir": p.dir, "stderr": stderr,
	}
	if pid := p.body.pid(); pid != 0 {
		facts["pid"] = pid
	}
	if p.runtime != "" {
		facts["runtime"] = p.runtime
	}
	if p.spec.LogPath != "" {
		facts["log"] = p.spec.LogPath
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		return facts
	}
	if end := p.body.end(); end.signal != "" {
		facts["signal"] = end.signal
	} else {
		facts["exit"] = end.code
	}
	return facts
}

func (p *Process) spoke() bool {
	select {
	case <-p.heard:
		return true
	default:
		return false
	}
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ")
}
