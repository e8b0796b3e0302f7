package trail

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

func argTypes() []string {
	return []string{"string", "integer", "number", "boolean", "array", "object"}
}

// ResolveArgs returns the value of every declared argument: from given (the text of --arg), else from row (a row of an
// arguments file, may be nil), else its default. w is the wording of hints. All unknown and missing arguments and wrong
// types are reported, as joined *fault.Error of kind Misuse.
func ResolveArgs(decl map[string]Arg, given map[string]string, row map[string]any, w fault.Wording) (map[string]any, error) {
	var errs []error
	known := sortedKeys(decl)
	unknown := func(name string) {
		hint := knownHint(name, known, "the trail declares no arguments; declare them under config: args:")
		errs = append(errs, fault.New(fault.Misuse, hint, "unknown argument %q", name))
	}
	for _, name := range sortedKeys(row) {
		if _, ok := decl[name]; !ok {
			unknown(name)
		}
	}
	for _, name := range sortedKeys(given) {
		if _, ok := decl[name]; !ok {
			unknown(name)
		}
	}
	out := make(map[string]any, len(decl))
	for _, name := range known {
		value, err := resolveArg(name, decl[name], row, given, w)
		if err != nil {
			errs = append(errs, err)
		}
		out[name] = value
	}
	return out, errors.Join(errs...)
}

func resolveArg(name string, decl Arg, row map[string]any, given map[string]string, w fault.Wording) (any, error) {
	if text, ok := given[name]; ok {
		value, err := parseArg(decl.Type, text)
		if err != nil {
			return nil, fault.New(fault.Misuse, err.Error(), "argument %s is not %s: %q", name, article(decl.Type),
				abridge(text))
		}
		return value, nil
	}
	if value, ok := row[name]; ok {
		if !fits(decl.Type, value) {
			return nil, fault.New(fault.Misuse, "", "argument %s is %s, expected %s", name, describe(value), article(decl.Type))
		}
		return value, nil
	}
	if decl.HasDefault {
		return decl.Default, nil
	}
	return nil, fault.New(fault.Misuse, w.ArgGiven(name), "argument %s (%s) is missing", name, decl.Type)
}

// parseArg parses an argument from the text of a flag. The error is a hint that shows how to write the type.
func parseArg(typ, text string) (any, error) {
	if typ == "string" {
		return text, nil
	}
	if value, err := DecodeJSON([]byte(text)); err == nil && fits(typ, value) {
		return value, nil
	}
	switch typ {
	case "integer":
		return nil, errors.New("write digits, such as 3")
	case "number":
		return nil, errors.New("write digits, such as 3 or 0.5")
	case "boolean":
		return nil, errors.New("write true or false")
	case "array":
		return nil, errors.New(`write a JSON list, such as ["a","b"]`)
	default:
		return nil, errors.New(`write a JSON object, such as {"a":1}`)
	}
}

func article(typ string) string {
	switch typ {
	case "string":
		return "text"
	case "integer":
		return "a whole number"
	case "array":
		return "a list"
	case "object":
		return "an object"
	}
	return "a " + typ
}

func fits(typ string, value any) bool {
	switch v := value.(type) {
	case string:
		return typ == "string"
	case bool:
		return typ == "boolean"
	case int64, uint64:
		return typ == "integer" || typ == "number"
	case float64:
		return typ == "number"
	case json.Number:
		_, err := strconv.ParseFloat(v.String(), 64)
		return typ == "number" && err == nil
	case []any:
		return typ == "array"
	case map[string]any:
		return typ == "object"
	}
	return false
}

// fitted returns a number, a boolean or a text as a value of a type, if it can be read as one.
func fitted(typ string, value any) any {
	switch value.(type) {
	case nil, []any, map[string]any:
		return value
	}
	if fits(typ, value) {
		return value
	}
	if parsed, err := parseArg(typ, render(value)); err == nil {
		return parsed
	}
	return value
}

// knownHint returns a hint with the nearest of the known names, or all of them. It is none when there are no known
// names.
func knownHint(name string, known []string, none string) string {
	if len(known) == 0 {
		return none
	}
	return fault.DidYouMean(name, known)
}

// ParseArgs parses an arguments file: a mapping of arguments, or a list of mappings, each for one run of the trail.
func ParseArgs(name string, data []byte) ([]map[string]any, fault.Problems) {
	doc, root := yamldoc.Parse(name, fault.Misuse, data)
	rows := []yamldoc.Node{root}
	if root.Kind() == yamldoc.List {
		rows = root.Items()
	}
	if root.Kind() == yamldoc.Absent && len(doc.Problems()) == 0 {
		doc.Problem("write name: value", "the file is empty")
	}
	out := make([]map[string]any, len(rows))
	for i, row := range rows {
		row.Entries() // reports what is not a mapping
		out[i], _ = row.Value().(map[string]any)
	}
	if problems := doc.Problems(); len(problems) > 0 {
		return nil, problems
	}
	return out, nil
}
