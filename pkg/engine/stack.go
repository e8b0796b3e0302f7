package engine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-sourcemap/sourcemap"

	"github.com/trailblaze/trailblaze/pkg/engine/host"
)

// A places finds out where a piece of the bundle comes from.
type places struct {
	consumer *sourcemap.Consumer
	read     bool
	line     *regexp.Regexp // of a stack, once there is one
}

// at returns the author's file, line and column; ok is false when nobody knows.
func (p *places) at(e *Engine, line, column int) (file string, l, c int, ok bool) {
	if !p.read && e.spec.SourceMap != nil {
		p.consumer, _ = sourcemap.Parse("", e.spec.SourceMap())
	}
	p.read = true
	if p.consumer == nil {
		return "", 0, 0, false
	}
	file, _, l, c, ok = p.consumer.Source(line, column-1)
	return file, l, c + 1, ok
}

// A rawFrame is a line of QuickJS's stack: "    at name (file:line:column)", "    at name (native)", "    at name", or only the place.
type rawFrame struct {
	name, file   string
	line, column int
}

func (f rawFrame) native() bool { return f.line == 0 }

// ours says that the frame is of the host's own JavaScript.
func (f rawFrame) ours() bool { return host.Has(f.file) }

func (p *places) frames(raw string) []rawFrame {
	if p.line == nil {
		p.line = regexp.MustCompile(`^    at (?:(.*?) \((.*?)(?::(\d+):(\d+))?\)|(.*?):(\d+):(\d+)|(.*))$`)
	}
	var frames []rawFrame
	for text := range strings.Lines(raw) {
		m := p.line.FindStringSubmatch(strings.TrimSuffix(text, "\n"))
		if m == nil {
			continue
		}
		f := rawFrame{name: m[1] + m[8], file: m[2] + m[5]}
		f.line, _ = strconv.Atoi(m[3] + m[6])
		f.column, _ = strconv.Atoi(m[4] + m[7])
		if f.name == "<anonymous>" {
			f.name = ""
		}
		frames = append(frames, f)
	}
	return frames
}

// stackFrames is stack.frames(raw, limit): the frames of a raw stack that are the script's, as V8 would name them.
func stackFrames(e *Engine, args []any) (any, error) {
	raw, _ := args[0].(string)
	limit, _ := args[1].(float64)
	all := e.places.frames(raw)
	frames := []any{}
	for i, f := range all {
		byUs := f.native() && (i+1 == len(all) || all[i+1].ours())
		if f.ours() || byUs || f.file == jsonText || float64(len(frames)) >= limit {
			continue
		}
		frames = append(frames, e.shownFrame(f))
	}
	return frames, nil
}

// jsonText is what stacks call the argument of JSON.parse.
const jsonText = "<input>"

func (e *Engine) shownFrame(f rawFrame) map[string]any {
	if f.native() {
		return map[string]any{"name": f.name, "place": "<anonymous>"}
	}
	if f.file == bundleFile {
		f.file = e.spec.Script
		if file, line, column, ok := e.places.at(e, f.line, f.column); ok {
			f.file, f.line, f.column = file, line, column
		}
	}
	place := fmt.Sprintf("%s:%d:%d", f.file, f.line, f.column)
	return map[string]any{"name": f.name, "place": place, "file": f.file, "line": f.line, "column": f.column}
}
