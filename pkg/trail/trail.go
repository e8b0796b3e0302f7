// Package trail reads and writes trail files: steps with the tool calls that were recorded for them. It finds the files, picks
// the recording for a device, and fills values into a call's arguments.
//
// It refuses to know what tools exist, how they are called, and which device there is. A File is plain data; a Values may be
// used by several goroutines.
package trail

import (
	"cmp"
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
	Name      string // as it was given to Parse
	Config    Config
	Trailhead *Step // runs before the steps; nil for none
	Steps     []Step
	List      bool // written in the older list shape

	targetAt [2]int // line and column of config.target
	warnings fault.Problems
}

// TargetProblem is a problem with config.target, at its place.
func (f *File) TargetProblem(hint, format string, args ...any) fault.Problem {
	return fault.Problem{
		Kind: fault.Trail, File: f.Name, Line: f.targetAt[0], Column: f.targetAt[1], Message: fmt.Sprintf(format, args...), Hint: hint,
	}
}

// WithSnippets adds to problems of one file the lines they are about; data is the file's content.
func WithSnippets(problems fault.Problems, data []byte) fault.Problems {
	lines := strings.Split(string(data), "\n")
	for i, p := range problems {
		problems[i].Snippet = yamldoc.Snippet(lines, p.Line, p.Column)
	}
	return problems
}

// Config is what a trail says of itself.
type Config struct {
	ID          string
	Target      string // id of a target, or one of its app ids
	Title       string
	Description string
	Priority    string
	Context     string
	Source      any // kept as it is
	Driver      string
	Platform    string // lower case; with Driver only in the list shape
	Tags        []string
	Devices     []DeviceDriver
	Memory      map[string]any // initial session memory, YAML types kept
	Args        map[string]Arg
	Skip        Skip
	Metadata    map[string]any // kept as it is
}

// DeviceDriver says with which driver the devices of a classifier are driven.
type DeviceDriver struct {
	Classifier string
	Driver     string // yaml key
}

// Skip says which devices skip the trail.
type Skip []SkipRule

// SkipRule says why devices of a classifier skip the trail; an empty classifier means every device.
type SkipRule struct {
	Classifier string
	Reason     string
}

// Arg declares an argument of a trail. One without a default must be given.
type Arg struct {
	Type        string // string, integer, number, boolean, array or object
	Description string
	Default     any
	HasDefault  bool
}

// The kinds of step. KindTools is a bare list of calls, without text, in the list shape.
const (
	KindStep      = "step"
	KindVerify    = "verify"
	KindTrailhead = "trailhead"
	KindTools     = "tools"
)

// Step is one sentence of a trail with what was recorded for it.
type Step struct {
	Kind         string
	Text         string // empty for KindTools
	Recordable   bool   // false: needs an agent on every run
	Recording    Recording
	MaxRetries   int // of an agent; 0 when not given
	Line, Column int
}

// Recording is what was recorded for a step, for each kind of device.
type Recording []ClassifierRecording

// ClassifierRecording holds the calls for one classifier, none for a recorded no-op. An empty classifier suits every device; it is what
// the list shape has.
type ClassifierRecording struct {
	Classifier string
	Calls      []Call
}

// Call is one recorded tool call. Args is never nil.
type Call struct {
	Tool         string
	Args         map[string]any
	SaveAs       string        // name under which the result goes to memory; empty for none
	Timeout      time.Duration // 0 for none
	Line, Column int
}

// Title is what to call the trail: its title, else its id, else its file name.
func (f *File) Title() string { return cmp.Or(f.Config.Title, f.Config.ID, filepath.Base(f.Name)) }

// Warnings returns what is odd but allowed: steps without a recording for a device that other steps know, misspelt classifiers.
func (f *File) Warnings() fault.Problems { return f.warnings }

// SkipReason says why a device skips the trail, if it does.
func (f *File) SkipReason(lineage []string) (string, bool) {
	rule, ok := closest(f.Config.Skip, func(r SkipRule) string { return r.Classifier }, lineage)
	return rule.Reason, ok
}

// Driver is the driver that the trail asks for, as a yaml key, empty for none. Without a lineage, while nothing is known
// of the device, the only pin there is counts.
func (f *File) Driver(lineage []string) string {
	if len(lineage) == 0 && len(f.Config.Devices) == 1 {
		return f.Config.Devices[0].Driver
	}
	pin, _ := closest(f.Config.Devices, func(p DeviceDriver) string { return p.Classifier }, lineage)
	return cmp.Or(pin.Driver, f.Config.Driver)
}

// Lookup returns the calls recorded for a device. Found without calls is a no-op. A step that is not found needs an agent.
func (s Step) Lookup(lineage []string) (calls []Call, found bool) {
	if !s.Recordable {
		return nil, false
	}
	r, ok := closest(s.Recording, func(r ClassifierRecording) string { return r.Classifier }, lineage)
	return r.Calls, ok
}

// Classifiers lists the classifiers that the step has a recording for.
func (s Step) Classifiers() []string {
	var names []string
	for _, r := range s.Recording {
		if r.Classifier != "" {
			names = append(names, r.Classifier)
		}
	}
	return names
}

// Lineage turns a device's classifiers, broad first (android, phone), into the keys to look for, narrow first (android-phone,
// android). A classifier may be a whole key already.
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

// closest picks the item whose classifier comes first in the lineage; one with an empty classifier suits every device.
func closest[S ~[]T, T any](items S, classifier func(T) string, lineage []string) (T, bool) {
	for _, want := range append(slices.Clone(lineage), "") {
		if i := slices.IndexFunc(items, func(item T) bool { return classifier(item) == want }); i >= 0 {
			return items[i], true
		}
	}
	var none T
	return none, false
}
