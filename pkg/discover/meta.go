package discover

import (
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// The keys of a tool's _meta (specification, section 6).
const (
	metaPrefix     = "trailblaze/"
	metaDrivers    = metaPrefix + "supportedDrivers"
	metaPlatforms  = metaPrefix + "supportedPlatforms"
	metaHost       = metaPrefix + "requiresHost"
	metaContext    = metaPrefix + "requiresContext"
	metaForLLM     = metaPrefix + "isForLlm"
	metaSurface    = metaPrefix + "surfaceToLlm"
	metaRecordable = metaPrefix + "isRecordable"
	metaDelegating = metaPrefix + "isDelegating"
	metaToolset    = metaPrefix + "toolset"
	metaTimeout    = metaPrefix + "timeoutMs"
)

// describe reads a tool's metadata: its _meta, and where that is silent what the source's registry says. A value of the wrong
// type counts as absent, with a warning.
func (r *Registry) describe(src Source, adv tool.Advertised, also says) *Tool {
	m := metaReader{r, src.Source, adv}
	platforms := m.strings(metaPlatforms)
	return &Tool{
		Name: adv.Name, Description: adv.Description, Source: src.Source, InputSchema: withoutReserved(adv.InputSchema), Caller: src.Caller,
		SupportedDrivers:   m.strings(metaDrivers),
		SupportedPlatforms: first(platforms, also.platforms),
		listedFor:          platforms == nil,
		RequiresHost:       m.bool(metaHost, false),
		RequiresContext:    m.bool(metaContext, false),
		IsForLLM:           m.bool(metaForLLM, m.bool(metaSurface, or(also.forLLM, true))),
		IsRecordable:       m.bool(metaRecordable, or(also.recordable, true)),
		IsDelegating:       m.bool(metaDelegating, or(also.delegating, false)),
		pushedTo:           ids(m.timeoutChecked().toolsets(also.groups)),
	}
}

// ids leaves out what is empty or there already.
func ids(list []string) []string {
	var out []string
	seen := map[string]bool{"": true}
	for _, id := range list {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

func first(own, absent []string) []string {
	if own != nil {
		return own
	}
	return absent
}

func or(b *bool, absent bool) bool {
	if b == nil {
		return absent
	}
	return *b
}

type metaReader struct {
	registry *Registry
	source   tool.Source
	tool     tool.Advertised
}

func (m metaReader) wrong(key, want string) {
	m.registry.Warnings = append(m.registry.Warnings, fmt.Sprintf("%s: tool %q: _meta[%q] should be %s, found %s; it is ignored",
		m.source, m.tool.Name, key, want, jsonType(m.tool.Meta[key])))
}

func (m metaReader) bool(key string, absent bool) bool {
	v, ok := m.tool.Meta[key]
	if !ok {
		return absent
	}
	b, ok := v.(bool)
	if !ok {
		m.wrong(key, "true or false")
		return absent
	}
	return b
}

func (m metaReader) toolsets(absent []string) []string {
	v, ok := m.tool.Meta[metaToolset]
	if !ok {
		return absent
	}
	id, ok := v.(string)
	if !ok {
		m.wrong(metaToolset, "text")
		return absent
	}
	return []string{id}
}

func (m metaReader) strings(key string) []string {
	v, ok := m.tool.Meta[key]
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, isText := item.(string)
		ok = ok && isText
		out = append(out, s)
	}
	if !ok {
		m.wrong(key, "a list of texts")
		return nil
	}
	return out
}

// timeoutChecked warns of a timeoutMs that the server's limits cannot use.
func (m metaReader) timeoutChecked() metaReader {
	if v, ok := m.tool.Meta[metaTimeout]; ok {
		if ms, isNumber := v.(float64); !isNumber || ms <= 0 {
			m.wrong(metaTimeout, "a positive number")
		}
	}
	return m
}

func jsonType(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case float64:
		return "a number"
	case string:
		return "text"
	case []any:
		return "a list with other things than texts"
	default:
		return "an object"
	}
}
