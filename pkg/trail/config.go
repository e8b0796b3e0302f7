package trail

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

func (r *reader) config(n yamldoc.Node) {
	c := &r.file.Config
	text := func(into *string) func(yamldoc.Node) { return func(v yamldoc.Node) { *into = v.Str() } }
	readers := map[string]func(yamldoc.Node){
		"id": text(&c.ID),
		"target": func(v yamldoc.Node) {
			c.Target, r.file.targetAt = v.Str(), [2]int{v.Line(), v.Column()}
		},
		"title":       text(&c.Title),
		"description": text(&c.Description),
		"context":     text(&c.Context),
		"priority":    func(v yamldoc.Node) { c.Priority = v.Scalar() },
		"source":      func(v yamldoc.Node) { c.Source = v.Value() },
		"metadata":    func(v yamldoc.Node) { c.Metadata = values(v) },
		"tags":        func(v yamldoc.Node) { c.Tags = tags(v) },
		"devices":     func(v yamldoc.Node) { c.Devices = devices(v) },
		"memory":      func(v yamldoc.Node) { c.Memory = memory(v) },
		"args":        func(v yamldoc.Node) { c.Args = args(v) },
		"skip":        func(v yamldoc.Node) { c.Skip = skip(v) },
		"failOn":      func(v yamldoc.Node) { c.FailOn = v.Words(tool.IncidentKinds()) },
		"teardown":    func(v yamldoc.Node) { c.Teardown = r.teardown(v) },
		"driver": func(v yamldoc.Node) {
			v.Errorf("write devices: { android: … }", "driver is allowed here only in the list shape")
		},
		"platform": func(v yamldoc.Node) { v.Errorf("remove it", "platform is allowed here only in the list shape") },
	}
	if r.file.List {
		readers["driver"] = func(v yamldoc.Node) { c.Driver = driver(v, scope.DriverKeys()).Key }
		readers["platform"] = func(v yamldoc.Node) { c.Platform = platform(v) }
	}
	n.ExactFields(readers)
}

// teardown reads the steps of config.teardown.
func (r *reader) teardown(n yamldoc.Node) []Step {
	var steps []Step
	for _, item := range n.Items() {
		if s, ok := r.readStep(item, false); ok {
			s.Line, s.Column = item.Line(), item.Column()
			steps = append(steps, s)
		}
	}
	return steps
}

func nonEmpty(n yamldoc.Node) string {
	text := n.Str()
	if n.Kind() == yamldoc.Text && strings.TrimSpace(text) == "" {
		n.Errorf("", "the text is empty")
	}
	return text
}

// values reads a mapping with values of any kind; nil when it is empty.
func values(n yamldoc.Node) map[string]any {
	if n.Kind() != yamldoc.Mapping {
		n.Entries() // reports what it is instead
		return nil
	}
	m, _ := n.Value().(map[string]any)
	if len(m) == 0 {
		return nil
	}
	return m
}

func tags(n yamldoc.Node) []string {
	if n.Kind() == yamldoc.Text {
		n.Errorf("write tags: ["+n.Str()+"]", "expected a list of tags, found text")
		return nil
	}
	var tags []string
	for _, item := range n.Items() {
		tag := nonEmpty(item)
		switch {
		case strings.Contains(tag, ","):
			item.Errorf("write two tags", "the tag %q contains a comma", tag)
		case slices.Contains(tags, tag):
			item.Warnf("remove it", "the tag %q is listed twice", tag)
		}
		tags = append(tags, tag)
	}
	return tags
}

func driver(n yamldoc.Node, keys []string) scope.Driver {
	text := n.Str()
	d, ok := scope.ParseDriver(text)
	if !ok && n.Kind() == yamldoc.Text {
		n.Errorf(fault.DidYouMean(text, keys), "unknown driver %q", text)
	}
	return d
}

func platform(n yamldoc.Node) string {
	text := n.Str()
	p, ok := scope.ParsePlatform(text)
	if !ok && n.Kind() == yamldoc.Text {
		n.Errorf(fault.DidYouMean(text, scope.PlatformNames()), "unknown platform %q", text)
	}
	return p.Lower()
}

func devices(n yamldoc.Node) []DeviceDriver {
	var drivers []DeviceDriver
	for _, e := range n.Entries() {
		checkClassifier(e)
		p, ok := scope.ParsePlatform(platformOf(e.Key))
		keys := scope.DriverKeys()
		if ok {
			keys = scope.DriversOf(p)
		}
		d := driver(e.Value, keys)
		if ok && d.Key != "" && d.Platform != p {
			e.Value.Errorf("choose a driver for "+p.Lower(), "the driver %s is for %s, not for %s", d.Key, d.Platform.Lower(),
				e.Key)
		}
		drivers = append(drivers, DeviceDriver{Classifier: e.Key, Driver: d.Key})
	}
	return drivers
}

func memory(n yamldoc.Node) map[string]any {
	entries, out := n.Entries(), values(n)
	for _, e := range entries {
		checkKey(e, memoryForm(), "a name")
		if f, isNumber := out[e.Key].(float64); isNumber {
			warnZeros(e, strconv.FormatFloat(f, 'f', -1, 64))
		}
	}
	return out
}

// warnZeros warns of a number, such as a price, of which a token has not the zeros at the end.
func warnZeros(e yamldoc.Entry, number string) {
	if written := e.Value.Scalar(); strings.HasPrefix(written, number) && strings.TrimRight(written[len(number):], ".0") == "" && written != number {
		e.Value.Warnf(fmt.Sprintf("write it in quotes if it is text: %q", written), "%s is a number, so {{%s}} is %s", written, e.Key, number)
	}
}

func skip(n yamldoc.Node) Skip {
	switch n.Kind() {
	case yamldoc.Mapping:
		var rules Skip
		for _, e := range n.Entries() {
			checkClassifier(e)
			rules = append(rules, SkipRule{Classifier: e.Key, Reason: nonEmpty(e.Value)})
		}
		return rules
	case yamldoc.Text:
		return Skip{{Reason: nonEmpty(n)}}
	default:
		n.Errorf(`write skip: "the reason", or one reason per classifier; remove it to run the trail`,
			"expected a reason, found %s", n.Kind())
		return nil
	}
}

func args(n yamldoc.Node) map[string]Arg {
	var decls map[string]Arg
	for _, e := range n.Entries() {
		checkKey(e, nameForm(), "an argument's name")
		if decls == nil {
			decls = map[string]Arg{}
		}
		decls[e.Key] = arg(e)
	}
	return decls
}

func arg(e yamldoc.Entry) Arg {
	a := Arg{Type: "string"}
	var def yamldoc.Node
	if e.Value.Kind() != yamldoc.Mapping {
		e.Value.Errorf("write "+e.Key+": { type: string, default: … }", "expected a mapping that declares %s, found %s",
			e.Key, e.Value.Kind())
		return a
	}
	e.Value.ExactFields(map[string]func(yamldoc.Node){
		"type": func(v yamldoc.Node) {
			a.Type = v.Str()
			if v.Kind() == yamldoc.Text && !slices.Contains(argTypes(), a.Type) {
				v.Errorf(fault.DidYouMean(a.Type, argTypes()), "unknown type %q", a.Type)
			}
		},
		"description": func(v yamldoc.Node) { a.Description = v.Str() },
		"default":     func(v yamldoc.Node) { def, a.Default, a.HasDefault = v, v.Value(), true },
	})
	if a.HasDefault && slices.Contains(argTypes(), a.Type) && !fits(a.Type, a.Default) {
		def.Errorf("change the type or the default", "the default of %s is %s, but its type is %s", e.Key, def.Kind(), a.Type)
	}
	return a
}

// checkClassifier reports a key that is not a classifier.
func checkClassifier(e yamldoc.Entry) {
	if classifierForm().MatchString(e.Key) {
		return
	}
	hint := "write it like android or android-phone"
	if d, ok := scope.ParseDriver(e.Key); ok {
		hint = "write its platform, " + d.Platform.Lower()
	} else if fixed := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(e.Key), "_",
		"-")); classifierForm().MatchString(fixed) {
		hint = "write " + fixed
	}
	e.At.Errorf(hint, "%q is not a classifier", e.Key)
}

func checkKey(e yamldoc.Entry, form *regexp.Regexp, what string) {
	if e.Key == reservedName {
		e.At.Errorf("choose another name", "%q is reserved for the declared arguments: {{args.name}}", e.Key)
	} else if !form.MatchString(e.Key) {
		e.At.Errorf("use letters, digits, _ and -, and start with a letter", "%q is not %s", e.Key, what)
	}
}

func checkName(n yamldoc.Node, form *regexp.Regexp, what string) string {
	name := n.Str()
	if n.Kind() == yamldoc.Text {
		checkKey(yamldoc.Entry{Key: name, At: n}, form, what)
	}
	return name
}

func platformOf(classifier string) string {
	platform, _, _ := strings.Cut(classifier, "-")
	return platform
}

// sortedKeys returns a map's keys, sorted.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
