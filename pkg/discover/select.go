package discover

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// selectTools returns the tools of a source that are registered: those that Exclude does not name. It warns of names in
// Exclude and Rename that the source does not have.
func (r *Registry) selectTools(src Source) []tool.Advertised {
	var names []string
	var selected []tool.Advertised
	for _, adv := range src.Tools {
		names = append(names, adv.Name)
		if !matchesAny(src.Exclude, adv.Name) {
			selected = append(selected, adv)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(src.Rename)) {
		r.warnUnmatched(src.String()+": rename", name, names)
	}
	for _, pattern := range src.Exclude {
		r.warnUnmatched(src.String()+": exclude", pattern, names)
	}
	return selected
}

// warnUnmatched warns of a name or glob that names no tool. where is the text before it in the message.
func (r *Registry) warnUnmatched(where, pattern string, names []string) {
	switch {
	case slices.ContainsFunc(names, func(name string) bool { return matches(pattern, name) }):
	case isGlob(pattern):
		r.warnf("%s: %q matches no tool", where, pattern)
	default:
		r.warnf("%s names the unknown tool %q%s", where, pattern, didYouMean(pattern, names))
	}
}

func isGlob(pattern string) bool { return strings.ContainsAny(pattern, "*?[{") }

// matches reports whether a name or glob matches the name of a tool.
func matches(pattern, name string) bool {
	if pattern == name {
		return true
	}
	ok, err := doublestar.Match(pattern, name)
	return ok && err == nil
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, name) })
}

// expand replaces the globs in patterns by the names that they match, each name once. Other names stay, known or not.
func expand(patterns, names []string) []string {
	var out []string
	for _, pattern := range patterns {
		found := []string{pattern}
		if isGlob(pattern) {
			found = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !matches(pattern, name) })
		}
		for _, name := range found {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// argAliases returns other names of arguments, by those in the tool's schema: device commands accept packageId for
// appId. Only a schema that has the name is parsed.
func (t *Tool) argAliases() map[string]string {
	const appID, packageID = "appId", "packageId"
	if !bytes.Contains(t.InputSchema, []byte(appID)) {
		return nil
	}
	properties := t.inputOutline().Properties
	_, takesApp := properties[appID]
	_, takesPackage := properties[packageID]
	if !takesApp || takesPackage {
		return nil
	}
	return map[string]string{packageID: appID}
}

// withoutAliases returns arguments under the names in the tool's schema.
func withoutAliases(aliases map[string]string, args map[string]any) map[string]any {
	out := args
	for alias, name := range aliases {
		value, given := args[alias]
		if _, twice := args[name]; !given || twice {
			continue
		}
		if len(out) == len(args) {
			out = maps.Clone(args)
		}
		delete(out, alias)
		out[name] = value
	}
	return out
}

// renamedCaller calls a tool by the name that its source advertises, with arguments under the names in its schema.
type renamedCaller struct {
	tool.Caller
	name    string
	aliases map[string]string
}

// Call implements tool.Caller.
func (c renamedCaller) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	call.Tool, call.Args = c.name, withoutAliases(c.aliases, call.Args)
	return c.Caller.Call(ctx, call) //nolint:wrapcheck // it is a *fault.Error
}
