package syntax

import (
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// ComparisonOptions returns the options of page.js for what a text has to be: for the only one of the arguments expected,
// contains and pattern that is given.
func ComparisonOptions(args Arguments) (map[string]any, error) {
	var given []string
	for _, name := range []string{"expected", "contains", "pattern"} {
		if args.Has(name) {
			given = append(given, name)
		}
	}
	if len(given) != 1 {
		return nil, fault.New(fault.InvalidArguments, "give one of expected, contains and pattern",
			"%s of expected, contains and pattern are given", map[bool]string{true: "none", false: "several"}[len(given) == 0])
	}
	text := args.Text(given[0])
	options := map[string]any{given[0]: text}
	switch given[0] {
	case "contains":
		if IsBlank(text) {
			return nil, fault.New(fault.InvalidArguments, "", "contains is empty, and every text has that")
		}
	case "pattern":
		return PatternOptions(text)
	}
	return options, nil
}

// NotExpected says of a text that is not as expected what it is not, by the options of [ComparisonOptions].
func NotExpected(options map[string]any) string {
	switch {
	case options["contains"] != nil:
		return fmt.Sprintf("without %q", options["contains"])
	case options["pattern"] != nil:
		return fmt.Sprintf("which does not match %q", options["pattern"])
	}
	return fmt.Sprintf("not %q", options["expected"])
}
