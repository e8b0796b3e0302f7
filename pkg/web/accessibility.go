package web

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

//go:embed accessibility.js
var accessibilityScript string

// axeFile is the file of the package axe-core that is loaded into pages.
const axeFile = "node_modules/axe-core/axe.min.js"

// maxTargets is how many elements of a rule, and how many rules, a message names.
const maxTargets = 5

// accessibilityCommand describes web_verifyAccessibility.
func accessibilityCommand() command {
	const list = `{"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}`
	return newCommand("web_verifyAccessibility",
		"Fails if axe-core of the project finds problems of accessibility in the page and its frames.",
		`"include": `+list+`, "description": "CSS selectors of what is checked; the whole page when absent"},
		"exclude": `+list+`, "description": "CSS selectors of what is not checked"},
		"rules": `+list+`, "description": "The rules of axe-core to check, in place of a level"}, `+
			syntax.Enum("level", "The level of WCAG 2.2 whose rules are checked", "AA", "A", "AAA")+", "+syntax.TimeoutProperty+"}",
		webVerifyAccessibility).checkedBy(checkAccessibility)
}

func checkAccessibility(args syntax.Arguments) error {
	if args.Has("rules") && args.Has("level") {
		return fault.New(fault.InvalidArguments, "leave out one of them", "rules says which rules are checked, and so does level")
	}
	_, err := args.Word("level", "AA", "A", "AAA")
	return err
}

// axeRun is what axe-core is asked: its parameters context and options.
type axeRun struct {
	script           string
	context, options map[string]any
}

func (p *page) axeRunOf(args syntax.Arguments) (axeRun, error) {
	path, err := p.device.findAxe()
	if err != nil {
		return axeRun{}, err
	}
	script, err := os.ReadFile(path)
	if err != nil {
		return axeRun{}, fault.New(fault.ToolFailed, "run npm install again", "axe-core cannot be read: %v", err)
	}
	r := axeRun{script: string(script) + "\n" + accessibilityScript, context: map[string]any{}}
	for _, name := range []string{"include", "exclude"} {
		if selectors := args.Texts(name); len(selectors) > 0 {
			r.context[name] = selectors
		}
	}
	if len(r.context) == 0 {
		r.context["include"] = []string{"html"}
	}
	r.options, err = axeOptions(args)
	return r, err
}

// axeOptions returns the rules that axe-core checks, as its option runOnly.
func axeOptions(args syntax.Arguments) (map[string]any, error) {
	if rules := args.Texts("rules"); len(rules) > 0 {
		return map[string]any{"runOnly": map[string]any{"type": "rule", "values": rules}}, nil
	}
	level, err := args.Word("level", "AA", "A", "AAA")
	var tags []string
	for suffix := "a"; len(suffix) <= len(level); suffix += "a" {
		tags = append(tags, "wcag2"+suffix, "wcag21"+suffix, "wcag22"+suffix)
	}
	return map[string]any{"runOnly": map[string]any{"type": "tag", "values": tags}}, err
}

// findAxe returns the path of axe-core as Node finds it from the folder of the trail or of the project.
func (d *webDevice) findAxe() (string, error) {
	for _, at := range d.foldersOf(".") {
		for ; ; at = filepath.Dir(at) {
			path := filepath.Join(at, filepath.FromSlash(axeFile))
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return "", fault.New(fault.ToolFailed, "in the project, run: npm install --save-dev axe-core",
		"the project has no axe-core, which finds problems of accessibility: there is no %s beside the trail or above it", axeFile)
}

// axeResults are what axe-core found.
type axeResults struct {
	Violations []axeViolation
	Incomplete []string // rules that a person has to look at
	Passes     int      // rules that hold
}

type axeViolation struct {
	ID, Impact, Help, HelpURL string
	Targets                   []string
}

// broken says how many rules do not hold.
func (r axeResults) broken() string {
	if n := len(r.Violations); n != 1 {
		return fmt.Sprintf("%d rules do not hold", n)
	}
	return "1 rule does not hold"
}

// String returns the problems in words.
func (r axeResults) String() string {
	words := make([]string, 0, maxTargets)
	for _, v := range r.Violations[:min(maxTargets, len(r.Violations))] {
		targets := strings.Join(v.Targets[:min(maxTargets, len(v.Targets))], ", ")
		if more := len(v.Targets) - maxTargets; more > 0 {
			targets += fmt.Sprintf(" and %d more", more)
		}
		words = append(words, fmt.Sprintf("%s (%s): %s: %s", v.ID, v.Impact, v.Help, targets))
	}
	if more := len(r.Violations) - maxTargets; more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, "; ")
}

func webVerifyAccessibility(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	if err := checkAccessibility(args); err != nil {
		return tool.Result{}, err
	}
	run, err := p.axeRunOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	limit := p.assertionLimit(ctx, args)
	var results axeResults
	err = p.waitFor(ctx, syntax.NewTarget("the page"), "accessible", limit,
		func(ctx context.Context) (act.Observation[observed], error) {
			if results, err = p.runAxe(ctx, run, limit); err != nil {
				return act.Observation[observed]{}, err
			}
			if reason, err := p.unloadedReason(ctx); err != nil || reason != "" {
				return act.Observation[observed]{Missing: reason}, err
			}
			return act.Observation[observed]{
				Count: 1, Ready: len(results.Violations) == 0,
				Reason: results.broken() + ": " + results.String(),
			}, nil
		})
	if known := fault.As(err); known != nil && len(results.Violations) > 0 && known.Hint == "" {
		known.Hint = "see " + results.Violations[0].HelpURL
	}
	if err != nil {
		return tool.Result{}, err
	}
	var notes remarks
	if len(results.Incomplete) > 0 {
		notes = remarks{"not decided by axe-core, so look yourself: " + strings.Join(results.Incomplete, ", ")}
	}
	return success("%s of accessibility hold%s", text.Count(results.Passes, "rule"), notes), nil
}

// runAxe runs axe-core in all frames of the page.
func (p *page) runAxe(ctx context.Context, r axeRun, limit time.Duration) (results axeResults, err error) {
	partials, err := p.runAxeIn(ctx, p.main(), r, r.context, limit)
	if err != nil {
		return results, axeError(err)
	}
	err = p.main().eval(ctx, "axeFinish", &results, partials, r.options)
	return results, axeError(err)
}

// runAxeIn returns what axe-core finds in a frame and those inside it, as JSON; nil for a frame that did not respond.
func (p *page) runAxeIn(ctx context.Context, f *frame, r axeRun, part map[string]any, limit time.Duration) ([]any, error) {
	const isLoaded = `"axeFrames" in trailblaze`
	var loaded bool
	err := f.evaluate(ctx, isLoaded, &loaded)
	if err == nil && !loaded {
		err = f.evaluate(ctx, r.script+isLoaded, &loaded)
	}
	if err != nil {
		return nil, err
	}
	var inner []struct {
		FrameSelector any
		FrameContext  map[string]any
	}
	if err := f.eval(ctx, "axeFrames", &inner, part, r.options); err != nil {
		return nil, err
	}
	var found string
	if err := f.eval(ctx, "axePartial", &found, part, r.options); err != nil {
		return nil, err
	}
	selectors := make([]any, len(inner))
	for i := range inner {
		selectors[i] = inner[i].FrameSelector
	}
	of := make([][]any, len(inner))
	for _, child := range p.frames() {
		if child.parent != f || len(inner) == 0 {
			continue
		}
		slice, cancel := context.WithTimeout(ctx, limit)
		i, err := p.axeFrame(slice, child, selectors)
		if err == nil && i >= 0 {
			of[i], err = p.runAxeIn(slice, child, r, inner[i].FrameContext, limit)
		}
		cancel()
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
	}
	all := []any{found}
	for _, partials := range of {
		if len(partials) == 0 {
			partials = []any{nil}
		}
		all = append(all, partials...)
	}
	return all, nil
}

// axeFrame returns the place of a frame among those that axe-core finds with selectors in its parent, or -1.
func (p *page) axeFrame(ctx context.Context, f *frame, selectors []any) (int, error) {
	owner, err := p.frameElement(ctx, f)
	if err != nil {
		return -1, err
	}
	defer owner.release()
	i := -1
	err = f.parent.eval(ctx, "axeFrame", &i, owner, selectors)
	return i, err
}

// axeError is the error for what axe-core throws: a rule that it does not know, or a selector that matches nothing.
func axeError(err error) error {
	thrown, ok := err.(*scriptError) //nolint:errorlint // eval returns it as it is
	if !ok {
		return err
	}
	first, _, _ := strings.Cut(thrown.text, "\n")
	return fault.New(fault.ToolFailed, "", "axe-core: %s", first)
}
