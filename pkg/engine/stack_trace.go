package engine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-sourcemap/sourcemap"

	"github.com/trailblaze/trailblaze/pkg/engine/host"
)

// sourcePositions maps positions in the bundle to positions in source files.
type sourcePositions struct {
	sourceMap    *sourcemap.Consumer
	loaded       bool
	framePattern *regexp.Regexp // matches a line of a stack; compiled when first needed
}

// original returns the source file, line and column of a position in the bundle; ok is false when they are unknown.
func (p *sourcePositions) original(e *Engine, line, column int) (file string, l, c int, ok bool) {
	if !p.loaded && e.spec.SourceMap != nil {
		p.sourceMap, _ = sourcemap.Parse("", e.spec.SourceMap())
	}
	p.loaded = true
	if p.sourceMap == nil {
		return "", 0, 0, false
	}
	file, _, l, c, ok = p.sourceMap.Source(line, column-1)
	return file, l, c + 1, ok
}

// A rawFrame is a line of QuickJS's stack: "    at name (file:line:column)", "    at name (native)", "    at name" or
// "    at file:line:column".
type rawFrame struct {
	name, file   string
	line, column int
}

func (f rawFrame) isNative() bool { return f.line == 0 }

// internal reports whether the frame is in the engine's own JavaScript.
func (f rawFrame) internal() bool { return host.Has(f.file) }

func (p *sourcePositions) parseStack(raw string) []rawFrame {
	if p.framePattern == nil {
		p.framePattern = regexp.MustCompile(`^    at (?:(.*?) \((.*?)(?::(\d+):(\d+))?\)|(.*?):(\d+):(\d+)|(.*))$`)
	}
	var frames []rawFrame
	for text := range strings.Lines(raw) {
		m := p.framePattern.FindStringSubmatch(strings.TrimSuffix(text, "\n"))
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

// stackFrames implements stack.frames(raw, limit): it returns the frames of QuickJS's stack that belong to the script,
// described as V8 does.
func stackFrames(c *call) (any, error) {
	raw := arg[string](c.args, 0)
	c.reserve(4 * len(raw)) // names of functions, which scripts choose, are copied
	limit, _ := c.args[1].(float64)
	all := c.positions.parseStack(raw)
	frames := []any{}
	for i, f := range all {
		calledByHost := f.isNative() && (i+1 == len(all) || all[i+1].internal())
		if f.internal() || calledByHost || f.file == jsonParseName || float64(len(frames)) >= limit {
			continue
		}
		frames = append(frames, c.describeFrame(f))
	}
	return frames, nil
}

// jsonParseName is the file name in stacks for the argument of JSON.parse.
const jsonParseName = "<input>"

func (e *Engine) describeFrame(f rawFrame) map[string]any {
	if f.isNative() {
		return map[string]any{"name": f.name, "place": "<anonymous>"}
	}
	if f.file == bundleName {
		f.file = e.spec.Script
		if file, line, column, ok := e.positions.original(e, f.line, f.column); ok {
			f.file, f.line, f.column = file, line, column
		}
	}
	place := fmt.Sprintf("%s:%d:%d", f.file, f.line, f.column)
	return map[string]any{"name": f.name, "place": place, "file": f.file, "line": f.line, "column": f.column}
}
