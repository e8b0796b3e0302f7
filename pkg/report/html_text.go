package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// excerpt is text for a page, and what is missing of it.
type excerpt struct {
	Text string
	Note string // empty when nothing is missing
}

// excerpt keeps at most limit bytes of s, less when the page is full.
func (h *HTML) excerpt(s string, limit int) excerpt {
	if h.text > maxAllText && limit < maxReason {
		limit = lessText
	}
	if len(s) <= limit {
		h.text += len(s)
		return excerpt{Text: Clean(s)}
	}
	h.text += limit
	return excerpt{
		Text: Clean(head(s, limit)),
		Note: fmt.Sprintf("The first %s of %s; all of it is in the session's events.ndjson.", bytesText(int64(limit)), bytesText(int64(len(s)))),
	}
}

// line is text for a place that has one line.
func line(s string) string { return oneLine(head(s, maxLine)) }

// bytesText writes a size for people.
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

// argumentText is args as JSON for reading; empty when there are none.
func argumentText(args map[string]any) string {
	if len(args) == 0 {
		return ""
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(args); err != nil {
		return "arguments without a JSON form: " + err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// readable is s, indented when it is JSON on a single line.
func readable(s string) string {
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

// columns of a preview; the page cuts it to fit.
const previewColumns = 160

// preview is arguments in one line, in order of their names and without the quotes of JSON.
func preview(args map[string]any) string {
	var b strings.Builder
	writeMembers(&b, args)
	return brief(b.String())
}

func writeMembers(b *strings.Builder, members map[string]any) {
	for i, key := range slices.Sorted(maps.Keys(members)) {
		if b.Len() > 4*previewColumns {
			return
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(head(key, previewColumns) + ": ")
		writeValue(b, members[key])
	}
}

// writeValue stops where a preview ends anyway.
func writeValue(b *strings.Builder, value any) {
	if b.Len() > 4*previewColumns {
		return
	}
	switch v := value.(type) {
	case nil:
		b.WriteString("null")
	case string:
		b.WriteString(head(v, 4*previewColumns))
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

// brief is text in one line.
func brief(s string) string {
	return clip(oneLine(head(s, 4*previewColumns)), previewColumns, "…")
}
