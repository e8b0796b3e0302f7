package run

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/redact"
)

const (
	// maxRowValue is the number of characters of a value in the name of a row, with the argument's name.
	maxRowValue = 40
	// maxRowName is the number of characters after which the other values are left out.
	maxRowName = 80
)

// rowNames returns a name for each row of arguments, such as word=table. No two are equal, and none shows a secret.
func rowNames(rows []map[string]any, redactor *redact.Redactor) []string {
	names, count := make([]string, len(rows)), map[string]int{}
	for i, row := range rows {
		names[i] = rowName(row, redactor)
		count[names[i]]++
	}
	used := map[string]bool{}
	for i, name := range names {
		if number := fmt.Sprintf("#%d", i+1); name == "" || count[name] > 1 {
			names[i] = strings.TrimSpace(name + " " + number)
		}
		for used[names[i]] {
			names[i] += "'"
		}
		used[names[i]] = true
	}
	return names
}

func rowName(row map[string]any, redactor *redact.Redactor) string {
	var name strings.Builder
	for i, key := range slices.Sorted(maps.Keys(row)) {
		text, ok := row[key].(string)
		if !ok {
			encoded, _ := json.Marshal(redactor.Value(row[key])) // it was read from YAML or JSON
			text = string(encoded)
		}
		pair := []rune(strings.Join(strings.Fields(redactor.Text(key+"="+text)), " "))
		if len(pair) > maxRowValue {
			pair = append(pair[:maxRowValue-1], '…')
		}
		if i > 0 {
			name.WriteString(", ")
		}
		if i > 0 && len([]rune(name.String()))+len(pair) > maxRowName {
			name.WriteString("…")
			break
		}
		name.WriteString(string(pair))
	}
	return name.String()
}
