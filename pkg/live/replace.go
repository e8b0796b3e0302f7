package live

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// Replace gives a recorded call other arguments. Those that are not named stay, but one of ref, nodeSelector and
// selector takes the place of the others, because they all name the element.
type Replace struct {
	Call string         `json:"call"` // such as 2.1
	With map[string]any `json:"with"`
}

func (s *Session) replaceArgs(r Replace) error {
	number, _, _ := strings.Cut(r.Call, ".")
	i, err := s.stepIndex(number)
	if err != nil {
		return err
	}
	step := s.walk.Current.Steps[i]
	n, err := callIndex(step, number, r.Call)
	if err != nil {
		return err
	}
	if len(r.With) == 0 {
		return fault.New(fault.InvalidArguments, `such as {"nodeSelector": {"web": {"dataTestId": "save"}}}`,
			"nothing is given to put into call %s", r.Call)
	}
	if ref := reference(r.With); ref != "" {
		return fault.New(fault.InvalidArguments, "give nodeSelector", "a replay does not know the reference %s", ref)
	}
	call := step.Calls[n]
	if _, other := r.With["path"]; other && call.Use != nil {
		return fault.New(fault.InvalidArguments, "change its path in the file, and replay that in another session",
			"call %s runs %s, and the session has not read another trail for it", r.Call, call.Use.Path)
	}
	call.Args = replaced(call.Args, r.With)
	if _, err := s.checkCall(call); err != nil {
		return err
	}
	step.Calls, step.Changed = slices.Clone(step.Calls), true
	step.Calls[n] = call
	return nil
}

// callIndex returns the index of a call of the step with a number, given as step.call.
func callIndex(step *replay.Step, stepNumber, name string) (int, error) {
	_, number, _ := strings.Cut(name, ".")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(step.Calls) {
		return 0, fault.New(fault.InvalidArguments, "calls are named as step.call, such as 2.1",
			"step %s has no call %s; it has %s", stepNumber, name, text.Count(len(step.Calls), "call"))
	}
	return n - 1, nil
}

func replaced(args, with map[string]any) map[string]any {
	out := maps.Clone(args)
	if out == nil {
		out = map[string]any{}
	}
	elements := []string{"ref", "nodeSelector", "selector"}
	if slices.ContainsFunc(elements, func(key string) bool { return with[key] != nil }) {
		maps.DeleteFunc(out, func(key string, _ any) bool { return slices.Contains(elements, key) })
	}
	maps.Copy(out, with)
	return out
}

// positionWarnings names the calls of changed steps that find their element by its position. Each ends with a hint.
func positionWarnings(steps []*replay.Step, hint string) (warnings []string) {
	for i, step := range steps {
		if !step.Changed {
			continue
		}
		for n, call := range step.Calls {
			if by := positionIn(call.Args); by != "" {
				warnings = append(warnings, fmt.Sprintf("call %d.%d, %s, finds its element by its position (%s), which may change%s",
					i+1, n+1, call.Tool, by, hint))
			}
		}
	}
	return warnings
}

// positionIn returns what counts elements in the selectors of arguments, "" for nothing.
func positionIn(value any) string {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text, _ := v[key].(string)
			switch {
			case key == "nthIndex":
				return fmt.Sprintf("nthIndex: %v", v[key])
			case key == "cssSelector" && strings.Contains(text, ":nth-"):
				return text
			}
			if found := positionIn(v[key]); found != "" {
				return found
			}
		}
		if selector, ok := v["nodeSelector"].(map[string]any); ok && selector["index"] != nil {
			return fmt.Sprintf("index: %v", selector["index"])
		}
	case []any:
		for _, item := range v {
			if found := positionIn(item); found != "" {
				return found
			}
		}
	}
	return ""
}
