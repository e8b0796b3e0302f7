package gesture

import (
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// questionOf returns what the browser would ask when an element is clicked; nil for nothing.
func questionOf(at Target) *Question {
	return nil
}

// Answer returns the calls for the answer to a question: values of options, paths relative to the trail, or one value of
// a field.
func Answer(_ Device, q Question, values []string) ([]trail.Call, error) {
	args := map[string]any{"nodeSelector": q.Field.nodeSelector()}
	switch q.Kind {
	case "select":
		args["values"] = texts(values)
		return []trail.Call{call("web_selectOption", args)}, nil
	case "files":
		args["files"] = texts(values)
		return []trail.Call{call("web_uploadFile", args)}, nil
	}
	if len(values) != 1 {
		return nil, fault.New(fault.InvalidArguments, "give one value", "%s takes one value, not %d", q.Text, len(values))
	}
	args["text"] = values[0]
	return []trail.Call{call("web_type", args)}, nil
}
