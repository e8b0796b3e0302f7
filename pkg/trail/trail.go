// Package trail reads and writes trail files: steps with the tool calls that were recorded for them. It finds the
// files, selects the recording for a device, and replaces tokens in a call's arguments by values.
//
// It does not depend on which tools and devices exist or on how tools are called. A File is plain data; a Values may be
// used by several goroutines.
package trail

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// File is one trail file.
type File struct {
	Name      string // as given to Parse
	Config    Config
	Trailhead *Step // runs before the steps; nil for none
	Steps     []Step
	List      bool // written in the older list shape
	Bare      bool // of it, only a list of calls, which are its step of KindTools

	targetAt [2]int // line and column of config.target
	stepsAt  [2]int // of trail, 0 in the list shape
	warnings fault.Problems
}

// TargetProblem returns a problem with config.target, at its position.
func (f *File) TargetProblem(hint, format string, args ...any) fault.Problem {
	return fault.Problem{
		Kind: fault.Trail, File: f.Name, Line: f.targetAt[0], Column: f.targetAt[1], Message: fmt.Sprintf(format, args...),
		Hint: hint,
	}
}

// Config is the config of a trail.
type Config struct {
	ID          string
	Target      string // id of a target, or one of its app ids
	Title       string
	Description string
	Priority    string
	Context     string
	Source      any // not interpreted
	Driver      string
	Platform    string // lower case; Driver and Platform are set only in the list shape
	Tags        []string
	Devices     []DeviceDriver
	Memory      map[string]any // initial session memory, YAML types kept
	Args        map[string]Arg
	Skip        Skip
	FailOn      []string       // kinds of tool.Incident; nil when the file does not set it
	Teardown    []Step         // run after the steps, whatever their outcome
	Metadata    map[string]any // not interpreted
}

// DeviceDriver is the driver for the devices of a classifier.
type DeviceDriver struct {
	Classifier string
	Driver     string // yaml key
}

// Skip holds the devices that skip the trail.
type Skip []SkipRule

// SkipRule is the reason why devices of a classifier skip the trail; an empty classifier means every device.
type SkipRule struct {
	Classifier string
	Reason     string
}

// Arg is the declaration of an argument of a trail. An argument without a default is required.
type Arg struct {
	Type        string // string, integer, number, boolean, array or object
	Description string
	Default     any
	HasDefault  bool
}

// The kinds of step. KindTeardown is what events call the steps of config.teardown. KindTools is a bare list of calls,
// without text, in the list shape. The text of a step of KindUse is Use.Path.
const (
	KindStep      = "step"
	KindVerify    = "verify"
	KindTrailhead = "trailhead"
	KindTools     = "tools"
	KindUse       = "use"
	KindTeardown  = "teardown"
)

// Step is a step of a trail with its recordings.
type Step struct {
	Kind         string
	Text         string // empty for KindTools
	Recordable   bool   // false: the step is never recorded and needs an agent on every run
	Recording    Recording
	Use          *Use // of KindUse; nil for other steps
	MaxRetries   int  // for an agent; 0 when not set
	Line, Column int
}

// Recording holds the recorded calls of a step, for each classifier.
type Recording []ClassifierRecording

// ClassifierRecording holds the calls for one classifier, none for a recorded no-op. The empty classifier, which the
// list shape has, matches every device.
type ClassifierRecording struct {
	Classifier string
	Calls      []Call
}

// Call is one recorded tool call. Args is never nil.
type Call struct {
	Tool         string
	Args         map[string]any
	SaveAs       string        // the name under which the result is saved in memory; empty for none
	Timeout      time.Duration // 0 for none
	Optional     bool          // its failure does not fail the step
	Soft         bool          // its failure fails the trail at its end, and the step goes on
	Use          *Use          `json:"-"` // of tool.RunTrail, which is the only call of its step; nil for others
	Line, Column int
	Positions    yamldoc.Positions // of the arguments; empty for a call that does not come from a file
}

// UnmarshalJSON implements json.Unmarshaler. Numbers in the arguments keep their digits.
func (c *Call) UnmarshalJSON(data []byte) error {
	type plain Call
	with := struct {
		*plain
		Args JSON
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(data, &with); err != nil {
		return err
	}
	args, isObject := with.Args.Value.(map[string]any)
	if !isObject && with.Args.Value != nil {
		return fault.New(fault.InvalidArguments, "", "the arguments of %s are not an object", c.Tool)
	}
	c.Args = args
	return nil
}

// ArgPosition returns the line and column of the argument at a path, else of the nearest value around it, else of the
// call.
func (c Call) ArgPosition(path []string) (line, column int) {
	if len(path) == 0 || len(c.Positions.Fields) == 0 {
		return c.Line, c.Column
	}
	if _, ok := c.Positions.Fields[path[0]]; !ok {
		return c.Line, c.Column
	}
	return c.Positions.At(path)
}

// Title returns the trail's title, else its id, else its file name.
func (f *File) Title() string { return cmp.Or(f.Config.Title, f.Config.ID, filepath.Base(f.Name)) }

// Warnings returns the file's warnings, such as steps without a recording for a classifier that other steps have.
func (f *File) Warnings() fault.Problems { return f.warnings }

// SkipReason returns why a device skips the trail; ok is false when it does not.
func (f *File) SkipReason(lineage []string) (reason string, ok bool) {
	rule, ok := closest(f.Config.Skip, func(r SkipRule) string { return r.Classifier }, lineage)
	return rule.Reason, ok
}

// Driver returns the yaml key of the driver that config.devices names for a device, empty for none. Without a lineage,
// when the device is not known yet, it is the only driver that config.devices names.
func (f *File) Driver(lineage []string) string {
	if len(lineage) == 0 && len(f.Config.Devices) == 1 {
		return f.Config.Devices[0].Driver
	}
	d, _ := closest(f.Config.Devices, func(d DeviceDriver) string { return d.Classifier }, lineage)
	return cmp.Or(d.Driver, f.Config.Driver)
}

// Lookup returns the calls recorded for a device. A step that is found without calls is a no-op; one that is not found
// needs an agent.
func (s Step) Lookup(lineage []string) (calls []Call, found bool) {
	r, ok := s.Recorded(lineage)
	return r.Calls, ok
}

// Recorded returns the recording for a device, as Lookup does its calls.
func (s Step) Recorded(lineage []string) (r ClassifierRecording, found bool) {
	if !s.Recordable {
		return r, false
	}
	return closest(s.Recording, func(r ClassifierRecording) string { return r.Classifier }, lineage)
}

// UseFor returns the trail that the step runs on a device, by use: or tool.RunTrail; nil for none.
func (s *Step) UseFor(lineage []string) *Use {
	calls, _ := s.Lookup(lineage)
	if s.Use == nil && len(calls) == 1 {
		return calls[0].Use
	}
	return s.Use
}

// Uses returns the trails that the step runs on devices of any kind.
func (s *Step) Uses() []*Use {
	if s.Use != nil {
		return []*Use{s.Use}
	}
	var uses []*Use
	for _, r := range s.Recording {
		for _, c := range r.Calls {
			if c.Use != nil {
				uses = append(uses, c.Use)
			}
		}
	}
	return uses
}

// Classifiers returns the classifiers for which the step has a recording.
func (s Step) Classifiers() []string {
	var names []string
	for _, r := range s.Recording {
		if r.Classifier != "" {
			names = append(names, r.Classifier)
		}
	}
	return names
}

// HasNarrowClassifiers is [File.HasNarrowClassifiers] for a step.
func (s Step) HasNarrowClassifiers(platform string) bool {
	return hasNarrower(s.Classifiers(), platform)
}

// Lineage returns the keys under which recordings for a device are looked up, most specific first (android-phone,
// android), for the device's classifiers, broadest first (android, phone). A classifier may be a whole key
// (android-phone).
func Lineage(classifiers []string) []string {
	key := ""
	for _, c := range classifiers {
		c = strings.ToLower(strings.TrimSpace(c))
		switch {
		case c == "":
		case key == "" || strings.HasPrefix(c, key+"-"):
			key = c
		default:
			key += "-" + c
		}
	}
	var lineage []string
	for key != "" {
		lineage = append(lineage, key)
		key = key[:max(0, strings.LastIndexByte(key, '-'))]
	}
	return lineage
}

// closest returns the item whose classifier is first in the lineage, else one with an empty classifier.
func closest[S ~[]T, T any](items S, classifier func(T) string, lineage []string) (T, bool) {
	for _, want := range append(slices.Clone(lineage), "") {
		if i := slices.IndexFunc(items, func(item T) bool { return classifier(item) == want }); i >= 0 {
			return items[i], true
		}
	}
	var none T
	return none, false
}
