package web

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// addressCommands describe web_verifyUrl and web_verifyTitle.
func addressCommands() []command {
	const pattern = `"pattern": {"type": "string", "minLength": 1, "description": "A regular expression"}, `
	return []command{
		newCommand("web_verifyUrl", "Fails unless a regular expression is found in the URL.",
			pattern+syntax.TimeoutProperty+"}", webVerifyURL, "pattern").checkedBy(checkPattern),
		newCommand("web_verifyTitle", "Fails unless a regular expression is found in the title of the page.",
			pattern+syntax.TimeoutProperty+"}", webVerifyTitle, "pattern").checkedBy(checkPattern),
	}
}

func webVerifyURL(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	return p.verifyPattern(ctx, args, "URL", func(at pageLocation) string { return at.URL })
}

func webVerifyTitle(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	return p.verifyPattern(ctx, args, "title", func(at pageLocation) string { return at.Title })
}

// pageLocation is the URL and the title of a page.
type pageLocation struct{ URL, Title string }

// verifyPattern waits until a pattern is found in a property of the page.
func (p *page) verifyPattern(
	ctx context.Context, args syntax.Arguments, name string, property func(pageLocation) string,
) (tool.Result, error) {
	if err := checkPattern(args); err != nil {
		return tool.Result{}, err
	}
	pattern, err := patternOf(args, "pattern")
	if err != nil {
		return tool.Result{}, err
	}
	value := ""
	err = p.waitFor(ctx, syntax.NewTarget("the %s", name), "", p.assertionLimit(ctx, args),
		func(ctx context.Context) (act.Observation[observed], error) {
			var at pageLocation
			if err := p.main().eval(ctx, "location", &at); err != nil {
				return act.Observation[observed]{}, err
			}
			value = property(at)
			return act.Observation[observed]{
				Ready:   pattern.MatchString(value),
				Missing: fmt.Sprintf("the %s is %q, in which %q is not found", name, shorten(value), pattern),
			}, nil
		})
	if err != nil {
		return tool.Result{}, err
	}
	return success("the %s is %q", name, shorten(value)), nil
}

func checkPattern(args syntax.Arguments) error {
	pattern, err := patternOf(args, "pattern")
	if err == nil && matchesEverything(pattern) {
		return fault.New(fault.InvalidArguments, "write a part of what is expected",
			"pattern: %q matches every text, so nothing is verified", pattern)
	}
	return err
}

// matchesEverything reports whether a pattern is found in an empty text and in one with all characters of ASCII that
// can be printed.
func matchesEverything(pattern *regexp.Regexp) bool {
	var all strings.Builder
	for c := ' '; c <= '~'; c++ {
		all.WriteRune(c)
	}
	return pattern.MatchString("") && pattern.MatchString(all.String())
}

// patternOf returns the regular expression of an argument.
func patternOf(args syntax.Arguments, name string) (*regexp.Regexp, error) {
	pattern, err := regexp.Compile(args.Text(name))
	if err != nil {
		return nil, fault.Wrap(fault.InvalidArguments, err, `write a regular expression; write a dot as \.`, name)
	}
	return pattern, nil
}
