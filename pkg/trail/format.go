package trail

import (
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// notRecorded is the text of the step that replaces a bare list of calls without a recording.
const notRecorded = "What was not recorded"

// Format returns the text of a trail file, in the list shape when f.List is true. Parse reads it back as the same file,
// except for the positions of steps and calls. A bare list of calls without a recording becomes a step. A file that the
// shape cannot hold, or that Parse rejects, is an error.
func Format(f *File) ([]byte, error) {
	out, err := encode(f)
	if err != nil {
		return nil, err
	}
	if _, problems := Parse(f.Name, out); len(problems) > 0 {
		return nil, fmt.Errorf("format: %w", problems)
	}
	return out, nil
}

func encode(f *File) ([]byte, error) {
	var config, trailhead any
	if c := formatConfig(f.Config); len(c) > 0 {
		config = c
	}
	if f.Trailhead != nil {
		trailhead = formatStep(*f.Trailhead)
	}
	var root any
	switch {
	case f.Bare && config == nil && trailhead == nil && len(f.Steps) == 1 && holdsCalls(f.Steps[0].Recording):
		root = each(f.Steps[0].Recording[0].Calls, formatCall)
	case f.List:
		root = formatList(f.Steps, config, trailhead)
	default:
		var m yamldoc.Map
		m = add(m, "config", config, config != nil)
		m = add(m, "trailhead", trailhead, trailhead != nil)
		root = add(m, "trail", each(f.Steps, func(s Step) any { return formatStep(s) }), true)
	}
	out, err := yamldoc.Encode(root)
	if err != nil {
		return nil, fmt.Errorf("format %s: %w", f.Name, err)
	}
	return out, nil
}

func formatList(steps []Step, config, trailhead any) []any {
	root := []any{}
	item := func(key string, value any) { root = append(root, yamldoc.Map{{Key: key, Value: value}}) }
	if config != nil {
		item("config", config)
	}
	if trailhead != nil {
		item("trailhead", trailhead)
	}
	var prompts []any
	flush := func() {
		if len(prompts) > 0 {
			item("prompts", prompts)
			prompts = nil
		}
	}
	for _, s := range steps {
		if s.Kind == KindTools && len(s.Recording) == 1 && s.Recording[0].Classifier == "" {
			flush()
			item("tools", each(s.Recording[0].Calls, formatCall))
			continue
		}
		if s.Kind == KindTools && len(s.Recording) == 0 {
			s.Kind, s.Text = KindStep, notRecorded
		}
		prompts = append(prompts, formatStep(s))
	}
	flush()
	return root
}

func formatConfig(c Config) yamldoc.Map {
	var m yamldoc.Map
	text := func(key, value string) { m = add(m, key, value, value != "") }
	text("id", c.ID)
	text("target", c.Target)
	text("title", c.Title)
	text("description", c.Description)
	text("priority", c.Priority)
	text("context", c.Context)
	text("platform", c.Platform)
	text("driver", c.Driver)
	m = add(m, "tags", each(c.Tags, func(tag string) any { return tag }), len(c.Tags) > 0)
	var devices yamldoc.Map
	for _, p := range c.Devices {
		devices = append(devices, yamldoc.Pair{Key: p.Classifier, Value: p.Driver})
	}
	m = add(m, "devices", devices, len(devices) > 0)
	m = add(m, "memory", c.Memory, len(c.Memory) > 0)
	var args yamldoc.Map
	for _, name := range sortedKeys(c.Args) {
		args = append(args, yamldoc.Pair{Key: name, Value: formatArg(c.Args[name])})
	}
	m = add(m, "args", args, len(args) > 0)
	m = add(m, "skip", formatSkip(c.Skip), len(c.Skip) > 0)
	m = add(m, "failOn", each(c.FailOn, func(kind string) any { return kind }), c.FailOn != nil)
	m = add(m, "teardown", each(c.Teardown, func(s Step) any { return formatStep(s) }), len(c.Teardown) > 0)
	m = add(m, "metadata", c.Metadata, len(c.Metadata) > 0)
	return add(m, "source", c.Source, c.Source != nil)
}

func formatSkip(rules Skip) any {
	if len(rules) == 1 && rules[0].Classifier == "" {
		return rules[0].Reason
	}
	var byClassifier yamldoc.Map
	for _, r := range rules {
		byClassifier = append(byClassifier, yamldoc.Pair{Key: r.Classifier, Value: r.Reason})
	}
	return byClassifier
}

func formatArg(a Arg) yamldoc.Map {
	m := yamldoc.Map{{Key: "type", Value: a.Type}}
	m = add(m, "description", a.Description, a.Description != "")
	return add(m, "default", a.Default, a.HasDefault)
}

func formatStep(s Step) yamldoc.Map {
	if s.Use != nil {
		return add(yamldoc.Map{{Key: KindUse, Value: s.Use.Path}}, "args", s.Use.Args, len(s.Use.Args) > 0)
	}
	key := KindStep
	if s.Kind == KindVerify {
		key = KindVerify
	}
	m := yamldoc.Map{{Key: key, Value: s.Text}}
	var recording yamldoc.Map
	for _, r := range s.Recording {
		key := r.Classifier
		if key == "" {
			key = "tools"
		}
		recording = append(recording, yamldoc.Pair{Key: key, Value: each(r.Calls, formatCall)})
	}
	m = add(m, "recording", recording, len(recording) > 0)
	m = add(m, "recordable", false, !s.Recordable)
	return add(m, "maxRetries", s.MaxRetries, s.MaxRetries != 0)
}

func formatCall(c Call) any {
	m := yamldoc.Map{{Key: c.Tool, Value: c.Args}}
	m = add(m, "saveAs", c.SaveAs, c.SaveAs != "")
	m = add(m, "timeout", c.Timeout.String(), c.Timeout != 0)
	m = add(m, "optional", true, c.Optional)
	return add(m, "soft", true, c.Soft)
}

// add appends a key if it is wanted. Parse uses the default for a key that is left out.
func add(m yamldoc.Map, key string, value any, wanted bool) yamldoc.Map {
	if wanted {
		return append(m, yamldoc.Pair{Key: key, Value: value})
	}
	return m
}

func each[T any](items []T, format func(T) any) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = format(item)
	}
	return out
}
