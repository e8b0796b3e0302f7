package discover

import (
	"cmp"
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// The keys of a tool's _meta.
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
	metaCoerces    = metaPrefix + "coercesArguments"
)

// describe returns the tool with its metadata: that of its _meta, and for keys that _meta lacks that of the source's
// registry. A value of the wrong type is ignored, with a warning.
func (r *Registry) describe(src Source, adv tool.Advertised, registered toolMetadata) *Tool {
	m := metaReader{r, src.Source, adv}
	platforms := m.strings(metaPlatforms)
	t := &Tool{
		Name: cmp.Or(src.Rename[adv.Name], adv.Name), ownName: adv.Name,
		Description: adv.Description, Source: src.Source, InputSchema: withoutReserved(adv.InputSchema), Caller: src.Caller,
		OutputSchema:          adv.OutputSchema,
		Check:                 adv.Check,
		SupportedDrivers:      m.strings(metaDrivers),
		SupportedPlatforms:    firstSet(platforms, registered.platforms),
		platformsFromRegistry: platforms == nil,
		RequiresHost:          m.bool(metaHost, false),
		RequiresContext:       m.bool(metaContext, false),
		IsForLLM:              m.bool(metaForLLM, m.bool(metaSurface, valueOr(registered.forLLM, true))),
		IsRecordable:          m.bool(metaRecordable, valueOr(registered.recordable, true)),
		IsDelegating:          m.bool(metaDelegating, valueOr(registered.delegating, false)),
		Coerces:               m.bool(metaCoerces, false),
		declaredToolsets:      distinct(m.checkTimeout().toolsets(registered.groups)),
	}
	if src.Kind == tool.FromDevice {
		t.Aliases = t.argAliases()
	}
	if t.Name != t.ownName || t.Aliases != nil {
		t.Caller = renamedCaller{src.Caller, t.ownName, t.Aliases}
	}
	return t
}

// distinct returns the list without empty ids and duplicates.
func distinct(list []string) []string {
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

func firstSet(own, otherwise []string) []string {
	if own != nil {
		return own
	}
	return otherwise
}

func valueOr(b *bool, absent bool) bool {
	if b == nil {
		return absent
	}
	return *b
}

const listOfText = "a list of texts"

type metaReader struct {
	registry *Registry
	source   tool.Source
	tool     tool.Advertised
}

// wrong warns of a value of the wrong type.
func (m metaReader) wrong(key, want string) {
	found := jsonType(m.tool.Meta[key])
	if _, list := m.tool.Meta[key].([]any); list && want == listOfText {
		found = "a list with other values"
	}
	m.registry.Warnings = append(m.registry.Warnings,
		fmt.Sprintf("%s: tool %q: _meta[%q] should be %s, found %s; it is ignored",
			m.source, m.tool.Name, key, want, found))
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
		m.wrong(key, listOfText)
		return nil
	}
	return out
}

// checkTimeout warns of a timeoutMs that is not a positive number.
func (m metaReader) checkTimeout() metaReader {
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
		return "a list"
	default:
		return "an object"
	}
}
