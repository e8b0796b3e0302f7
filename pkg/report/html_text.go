package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// lineText returns s as one line of limited length.
func lineText(s string) string { return oneLine(truncate(s, maxLine)) }

// bytesText formats a size in bytes.
func bytesText(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1000<<10:
		return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// argumentText returns args as indented JSON, "" when there are none.
func argumentText(args map[string]any) string {
	if len(args) == 0 {
		return ""
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(args); err != nil {
		return "arguments that JSON cannot encode: " + err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// indentJSON returns s, indented when it is JSON on a single line.
func indentJSON(s string) string {
	text := strings.TrimSpace(s)
	if text == "" || text[0] != '{' && text[0] != '[' || strings.Contains(text, "\n") || len(text) > maxText {
		return s
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return s
	}
	return b.String()
}

// previewColumns is the length of a preview, of which the page shows as much as fits.
const previewColumns = 160

// preview returns arguments in one line, in order of their names and without the quotation marks of JSON.
func preview(args map[string]any) string {
	var b strings.Builder
	writeMembers(&b, args)
	return shortLine(b.String())
}

func writeMembers(b *strings.Builder, members map[string]any) {
	for i, key := range slices.Sorted(maps.Keys(members)) {
		if b.Len() > 4*previewColumns {
			return
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(truncate(key, previewColumns) + ": ")
		writeValue(b, members[key])
	}
}

// writeValue writes a value, and nothing once the preview is long enough.
func writeValue(b *strings.Builder, value any) {
	if b.Len() > 4*previewColumns {
		return
	}
	switch v := value.(type) {
	case nil:
		b.WriteString("null")
	case string:
		b.WriteString(truncate(v, 4*previewColumns))
	case map[string]any:
		b.WriteString("{")
		writeMembers(b, v)
		b.WriteString("}")
	case []any:
		b.WriteString("[")
		for i, item := range v[:min(len(v), previewColumns)] {
			if i > 0 {
				b.WriteString(", ")
			}
			writeValue(b, item)
		}
		b.WriteString("]")
	default:
		fmt.Fprint(b, v)
	}
}

// shortLine returns s as one line of a preview's length.
func shortLine(s string) string {
	return fitWidth(oneLine(truncate(s, 4*previewColumns)), previewColumns, "…")
}
