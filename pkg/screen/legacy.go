package screen

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// ParseLegacySelector makes a selector of the form that recordings before May 2026 have under "selector", in the
// dialect AndroidAccessibility or IOSMaestro. ignored are the paths of keys that mean nothing there. Errors are those
// of ParseSelector.
func ParseLegacySelector(value any, d Dialect, o ParseOptions) (s *Selector, ignored []string, err error) {
	if o.Path == "" {
		o.Path = "selector"
	}
	p := o.parser()
	converted := p.legacy(p.path, value, d, &ignored, 0)
	if len(p.problems) == 0 {
		s = p.selector(p.path, converted, 0)
	}
	return s, ignored, errors.Join(p.problems...)
}

// legacyKeys returns the keys of the legacy form, each with that of a driver block.
func legacyKeys(d Dialect) map[string]string {
	if d == IOSMaestro {
		return map[string]string{
			"textRegex": "textRegex", "idRegex": "resourceIdRegex", "focused": "focused", "selected": "selected",
		}
	}
	return map[string]string{
		"textRegex": "textRegex", "idRegex": "resourceIdRegex", "enabled": "isEnabled", "focused": "isFocused",
		"selected": "isSelected", "checked": "isChecked",
	}
}

// legacyOnly returns the keys of the legacy form that no driver block has.
func legacyOnly() []string { return []string{"size", "traits", "css", "enabled", "checked"} }

// legacy converts the legacy form to that of ParseSelector.
func (p *parser) legacy(path string, value any, d Dialect, ignored *[]string, depth int) map[string]any {
	object, ok := p.object(path, value)
	if !ok || depth > maxNesting+1 {
		return nil // ParseSelector rejects the depth
	}
	out, block := map[string]any{}, map[string]any{}
	keys := legacyKeys(d)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		inner, given := path+"."+key, object[key]
		switch {
		case keys[key] != "":
			block[keys[key]] = given
		case key == "index":
			out[key] = legacyIndex(given)
		case key == "containsDescendants":
			out[key] = p.legacyList(inner, given, d, ignored, depth+1)
		case slices.Contains(selectorKeys(), key):
			out[key] = p.legacy(inner, given, d, ignored, depth+1)
		case slices.Contains(legacyOnly(), key):
			*ignored = append(*ignored, inner)
		default:
			known := slices.Concat(slices.Sorted(maps.Keys(keys)), selectorKeys(), legacyOnly())
			p.fail(inner, fault.DidYouMean(key, known), "unknown key")
		}
	}
	if len(block) > 0 {
		out[string(d)] = block
	}
	return out
}

func (p *parser) legacyList(path string, value any, d Dialect, ignored *[]string, depth int) any {
	list, ok := value.([]any)
	if !ok {
		return value // ParseSelector rejects it
	}
	out := make([]any, len(list))
	for i, item := range list {
		out[i] = p.legacy(path+"["+strconv.Itoa(i)+"]", item, d, ignored, depth)
	}
	return out
}

// legacyIndex returns the number of an index that is written as text, such as "1.0".
func legacyIndex(value any) any {
	text, ok := value.(string)
	if !ok {
		return value
	}
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return number
	}
	return value
}
