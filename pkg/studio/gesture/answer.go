package gesture

import (
	"cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Question is what a person answers in the page, because the browser would ask it in a popup that no picture shows.
type Question struct {
	Kind     string        // select, files or date
	Text     string        // the name of the field
	Value    string        // what it holds
	Input    string        // for date, the type of the HTML input: color, date, datetime-local, month, time or week
	Multiple bool          // for select and files
	Options  []live.Option // of a select
	Bounds   *screen.Rect  // of the field
	Field    Target        // zero for files: the chooser that a click has opened
}

// questionOf returns what the browser would ask when an element is clicked; nil for nothing.
func questionOf(at Target) *Question {
	e := at.Element
	q := &Question{Text: e.Name, Value: e.Content, Options: e.Options, Bounds: e.Bounds, Field: at}
	switch e.Kind {
	case "select":
		q.Kind = "select"
	case "select-multiple":
		q.Kind, q.Multiple = "select", true
	case "file":
		q.Kind, q.Multiple = "files", true
	case "color", "date", "datetime-local", "month", "time", "week":
		q.Kind, q.Input = "date", e.Kind
	default:
		return nil
	}
	return q
}

// Answer returns the calls for the answer to a question: values of options, paths relative to the trail, or the one value
// of a field in the form of its HTML input, such as 2026-11-26.
func Answer(q Question, values []string) ([]trail.Call, error) {
	args := map[string]any{}
	if selector := q.Field.nodeSelector(); selector != nil {
		args["nodeSelector"] = selector
	}
	switch {
	case q.Kind == "select" && (q.Multiple || len(values) == 1):
		args["values"] = texts(q.written(values))
		return []trail.Call{call("web_selectOption", args)}, nil
	case q.Kind == "files" && len(values) > 0:
		args["files"] = texts(values)
		return []trail.Call{call("web_uploadFile", args)}, nil
	case q.Kind == "date" && len(values) == 1:
		args["text"] = values[0]
		return []trail.Call{call("web_type", args)}, nil
	}
	return nil, fault.New(fault.InvalidArguments, "choose one, or cancel", "%s does not take %d values", cmp.Or(q.Text, "the field"), len(values))
}

// written returns how a trail names options: by value, or by label if that is empty, as that of "Please choose" often is.
func (q Question) written(values []string) []string {
	names := make([]string, len(values))
	for i, value := range values {
		names[i] = value
		for _, o := range q.Options {
			if value == "" && o.Value == "" {
				names[i] = o.Label
				break
			}
		}
	}
	return names
}
