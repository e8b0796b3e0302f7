package discover

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// resource is the content of a source's trailblaze://registry. Values that it does not set are nil.
type resource struct {
	tools  map[string]toolMetadata
	groups []group
}

// toolMetadata is the metadata of a tool in a resource. The tool's _meta overrides it.
type toolMetadata struct {
	platforms, groups              []string
	forLLM, recordable, delegating *bool
}

// group is a group of tools in a resource, which is a toolset.
type group struct {
	id, description string
	enabled         *bool // by default
	source          tool.Source
}

// maxWarnings is the number of warnings of one kind about one resource. The others are only counted.
const maxWarnings = 10

// read parses a source's resource and warns of what it cannot use.
func (r *Registry) read(src Source) resource {
	out := resource{tools: map[string]toolMetadata{}}
	if src.Registry == "" {
		return out
	}
	in := &resourceReader{}
	top := in.members("", json.RawMessage(src.Registry))
	for _, m := range in.members("tools", top.get("tools")) {
		out.tools[m.key] = in.tool("tools."+m.key, m.value)
	}
	for _, m := range in.members("groups", top.get("groups")) {
		if m.key != "" {
			out.groups = append(out.groups, in.group(m, src.Source))
		}
	}
	warn := func(problem string) { r.warnf("%s: trailblaze://registry: %s", src.Source, problem) }
	reportFew(in.problems, warn, func(problem string) string { return problem })
	unlisted, listed := out.unlistedTools(src.Tools)
	reportFew(unlisted, warn, func(name string) string {
		return fmt.Sprintf("it names the tool %.100q, which the server does not list%s", name, didYouMean(name, listed))
	})
	return out
}

// reportFew calls warn with the messages of the first maxWarnings problems, and with the number of the others.
func reportFew(problems []string, warn func(string), message func(string) string) {
	for _, problem := range problems[:min(len(problems), maxWarnings)] {
		warn(message(problem))
	}
	if more := len(problems) - maxWarnings; more > 0 {
		warn(fmt.Sprintf("and %d more of this kind", more))
	}
}

// unlistedTools returns the tools that the resource names and the source does not have, and all that it has.
func (r resource) unlistedTools(tools []tool.Advertised) (unlisted, listed []string) {
	has := map[string]bool{}
	for _, t := range tools {
		has[t.Name] = true
		listed = append(listed, t.Name)
	}
	for name := range r.tools {
		if !has[name] {
			unlisted = append(unlisted, name)
		}
	}
	slices.Sort(unlisted)
	return unlisted, listed
}

// resourceReader reads parts of a resource and collects problems.
type resourceReader struct{ problems []string }

func (r *resourceReader) tool(path string, raw json.RawMessage) toolMetadata {
	of := r.entry(path, raw, "platforms", "groups", "exposedToLlm", "isRecordable", "isDelegating")
	return toolMetadata{
		platforms:  r.platforms(path+".platforms", of.get("platforms")),
		groups:     r.texts(path+".groups", of.get("groups")),
		forLLM:     value[bool](r, path+".exposedToLlm", of.get("exposedToLlm"), "true or false"),
		recordable: value[bool](r, path+".isRecordable", of.get("isRecordable"), "true or false"),
		delegating: value[bool](r, path+".isDelegating", of.get("isDelegating"), "true or false"),
	}
}

func (r *resourceReader) group(m member, source tool.Source) group {
	path := "groups." + m.key
	of := r.entry(path, m.value, "description", "defaultEnabled")
	g := group{
		id: m.key, enabled: value[bool](r, path+".defaultEnabled", of.get("defaultEnabled"), "true or false"),
		source: source,
	}
	if text := value[string](r, path+".description", of.get("description"), "text"); text != nil {
		g.description = *text
	}
	return g
}

// entry decodes an object and reports unknown keys.
func (r *resourceReader) entry(path string, raw json.RawMessage, known ...string) members {
	of := r.members(path, raw)
	for _, m := range of {
		if !slices.Contains(known, m.key) {
			r.problemf("unknown key %s.%.100s is ignored%s", path, m.key, didYouMean(m.key, known))
		}
	}
	return of
}

// platforms reads names of platforms. It keeps unknown names, so that a tool with a misspelt platform is not offered on
// all platforms.
func (r *resourceReader) platforms(path string, raw json.RawMessage) []string {
	known := append(scope.PlatformNames(), "desktop") // which has no driver yet
	names := r.texts(path, raw)
	for _, name := range names {
		if !containsFold(known, name) {
			r.problemf("%s: unknown platform %.100q; known: %s", path, name, strings.Join(known, ", "))
		}
	}
	return names
}

// texts reads a list of texts. It is nil when there is no list or no entry is text.
func (r *resourceReader) texts(path string, raw json.RawMessage) []string {
	list := value[[]json.RawMessage](r, path, raw, "a list")
	if list == nil {
		return nil
	}
	out := make([]string, 0, len(*list))
	for i, item := range *list {
		if text := value[string](r, fmt.Sprintf("%s[%d]", path, i), item, "text"); text != nil {
			out = append(out, *text)
		}
	}
	if len(out) == 0 && len(*list) > 0 {
		return nil
	}
	return out
}

// value decodes a value. It is nil when the value is absent or, with a problem, of another type.
func value[T any](r *resourceReader, path string, raw json.RawMessage, want string) *T {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	out := new(T)
	if json.Unmarshal(raw, out) != nil {
		r.problemf("%s is %s, not %s; it is ignored", path, rawType(raw), want)
		return nil
	}
	return out
}

func (r *resourceReader) problemf(format string, args ...any) {
	const longest = 300
	r.problems = append(r.problems, fmt.Sprintf("%.*s", longest, fmt.Sprintf(format, args...)))
}

// member is a key of an object with its value.
type member struct {
	key   string
	value json.RawMessage
}

type members []member

// get returns the value of a key, nil without one.
func (ms members) get(key string) json.RawMessage {
	for _, m := range ms {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// members decodes an object in its order. Of a key that is defined several times the last value counts. The path of the
// whole resource is empty.
func (r *resourceReader) members(path string, raw json.RawMessage) members {
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil && len(raw) > 0 {
		r.problemf("it is not JSON: %v", err)
		return nil
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" && path != "" {
		return nil
	}
	if raw[0] != '{' {
		r.problemf("%s is %s, not an object; it is ignored", cmp.Or(path, "it"), rawType(raw))
		return nil
	}
	var out members
	at := map[string]int{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, err := dec.Token()
	for err == nil && dec.More() {
		var m member
		var key json.Token
		if key, err = dec.Token(); err == nil {
			m.key, _ = key.(string)
			err = dec.Decode(&m.value)
			if i, twice := at[m.key]; twice {
				r.problemf("%s is defined more than once; the last one counts", strings.TrimPrefix(path+"."+m.key, "."))
				out[i] = m
				continue
			}
			at[m.key] = len(out)
			out = append(out, m)
		}
	}
	return out
}

func rawType(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// addGroups adds the groups of resources to the toolsets. A toolset that a file defines keeps what the file sets. The
// first resource counts when several differ. Resources cannot change the toolsets of trailblaze's own tools.
func (r *Registry) addGroups(groups []group, own map[string]bool) {
	describedBy, enabledBy := map[string]group{}, map[string]group{}
	for _, g := range groups {
		if own[g.id] {
			r.warnf("%s: trailblaze://registry: groups.%s is a toolset of trailblaze; it is ignored", g.source, g.id)
			continue
		}
		ts := r.toolset(g.id)
		if g.description != "" {
			first, told := describedBy[g.id]
			switch {
			case ts.Description == "":
				ts.Description, describedBy[g.id] = g.description, g
			case told && first.description != g.description:
				r.warnf("%s and %s describe the group %q differently; that of %s is used",
					first.source, g.source, g.id, first.source)
			}
		}
		if g.enabled != nil {
			first, told := enabledBy[g.id]
			switch {
			case !told:
				ts.OffByDefault, enabledBy[g.id] = !*g.enabled, g
			case *first.enabled != *g.enabled:
				r.warnf("%s and %s differ in whether the group %q is enabled by default; the value of %s is used",
					first.source, g.source, g.id, first.source)
			}
		}
	}
}
