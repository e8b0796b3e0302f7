package trail

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Undetermined is a value that is defined, but not known before a run: the result of a call, or a secret.
type Undetermined struct{}

// ValueChecker finds tokens without a value before a trail runs. Call it for the calls of a trail in their order.
type ValueChecker struct {
	values *Values
	any    bool // memory may have values under any name
}

// NewValueChecker returns a checker for a session that starts with values.
func NewValueChecker(values *Values) *ValueChecker {
	values.mu.RLock()
	defer values.mu.RUnlock()
	return &ValueChecker{values: &Values{
		args: values.args, secrets: values.secrets, memory: maps.Clone(values.memory), changed: map[string]int{},
		limit: math.MaxInt,
	}}
}

// Define records that the calls checked so far define a name.
func (c *ValueChecker) Define(name string) { _ = c.values.Set(name, Undetermined{}) }

// DefineAny records that the calls checked so far may define any name, as the tools of servers can.
func (c *ValueChecker) DefineAny() { c.any = true }

// Check returns the tokens in a call's arguments that have no value, each at its position, and defines the name of the
// call's saveAs.
func (c *ValueChecker) Check(call Call) []fault.Problem {
	var problems []fault.Problem
	if !c.any {
		problems = c.check(call, nil, call.Args)
	}
	if call.SaveAs != "" {
		c.Define(call.SaveAs)
	}
	return problems
}

func (c *ValueChecker) check(call Call, path []string, value any) []fault.Problem {
	var problems []fault.Problem
	switch v := value.(type) {
	case string:
		in := interpolation{values: c.values}
		in.text(strings.Join(path, "."), v)
		if err := fault.As(in.err()); err != nil {
			p := fault.Problem{Kind: fault.Trail, Message: call.Tool + ": " + err.Message, Hint: err.Hint}
			p.Line, p.Column = call.ArgPosition(path)
			problems = append(problems, p)
		}
	case []any:
		for i, item := range v {
			problems = append(problems, c.check(call, append(slices.Clip(path), strconv.Itoa(i)), item)...)
		}
	case map[string]any:
		for _, key := range sortedKeys(v) {
			problems = append(problems, c.check(call, append(slices.Clip(path), key), v[key])...)
		}
	}
	return problems
}

// Tools is what is known of the tools that a trail calls, without a session.
type Tools struct {
	// FromServer reports whether a tool may be that of a server, whose tools can define any name.
	FromServer func(tool string) bool
	// CheckCall returns the problems of a call's arguments, each at its position, for a device of a platform, which is
	// empty when it is not known.
	CheckCall func(platform scope.Platform, call Call) []fault.Problem
}

// CheckReplay returns the problems that make a replay of the trail fail on every device: it has no steps, or a call
// uses a value that nothing defines, or has wrong arguments. undetermined are the names of values that --memory and
// --secret will define.
func (f *File) CheckReplay(undetermined []string, tools Tools) fault.Problems {
	if p, empty := f.EmptyProblem(); empty {
		return fault.Problems{p}
	}
	var problems fault.Problems
	for _, lineage := range f.lineages() {
		for _, p := range f.checkCalls(lineage, undetermined, tools) {
			same := func(q fault.Problem) bool {
				return p.Line == q.Line && p.Column == q.Column && p.Message == q.Message
			}
			if !slices.ContainsFunc(problems, same) {
				problems = append(problems, p)
			}
		}
	}
	problems.Sort()
	return problems
}

// EmptyProblem returns the problem of a trail without steps.
func (f *File) EmptyProblem() (problem fault.Problem, empty bool) {
	if len(f.AllSteps()) > 0 {
		return problem, false
	}
	return fault.Problem{
		Kind: fault.Trail, File: f.Name, Line: f.stepsAt[0], Column: f.stepsAt[1],
		Message: "the trail has no steps", Hint: "add steps under trail:",
	}, true
}

// checkCalls returns the undefined values and wrong arguments in the calls for one kind of device.
func (f *File) checkCalls(lineage, undetermined []string, tools Tools) fault.Problems {
	args := map[string]any{}
	for name := range f.Config.Args {
		args[name] = Undetermined{}
	}
	c := NewValueChecker(NewValues(Sources{Trail: f.Config.Memory, Args: args}))
	for _, name := range undetermined {
		c.Define(name)
	}
	return f.checkSteps(c, f.StepsAndTeardown(), lineage, tools)
}

// checkSteps does what checkCalls does for steps of f, and for the trails that they use.
func (f *File) checkSteps(c *ValueChecker, steps []*Step, lineage []string, tools Tools) fault.Problems {
	platform, _ := scope.ParsePlatform(platformOf(strings.Join(lineage[:min(1, len(lineage))], "")))
	var problems fault.Problems
	add := func(found fault.Problems) {
		for _, p := range found {
			p.File = f.Name
			problems = append(problems, p)
		}
	}
	for _, s := range steps {
		if u := s.UseFor(lineage); u != nil {
			if u.File == nil {
				continue
			}
			if _, skipped := u.File.SkipReason(lineage); skipped {
				continue
			}
			leave, found := c.Enter(u)
			add(found)
			problems = append(problems, u.File.checkSteps(c, u.File.StepsAndTeardown(), lineage, tools)...)
			leave()
			continue
		}
		calls, found := s.Lookup(lineage)
		if !found {
			c.DefineAny() // by an agent
		}
		for _, call := range calls {
			add(c.Check(call))
			add(tools.CheckCall(platform, call))
			c.DefineByTool(call, tools.FromServer(call.Tool))
		}
	}
	return problems
}

// DefineByTool records the names that the tool of a call defines.
func (c *ValueChecker) DefineByTool(call Call, fromServer bool) {
	switch name := tool.Remembered(call.Tool, call.Args); {
	case fromServer || HasToken(name):
		c.DefineAny()
	case name != "":
		c.Define(name)
	}
}

// lineages returns the lineage of each classifier that a step has a recording for, without those that skip the trail.
func (f *File) lineages() [][]string {
	var lineages [][]string
	seen := map[string]bool{}
	for _, classifier := range f.recordedClassifiers() {
		if seen[classifier] || len(seen) == maxClassifiers {
			continue
		}
		seen[classifier] = true
		lineage := Lineage([]string{classifier})
		if _, skipped := f.SkipReason(lineage); !skipped {
			lineages = append(lineages, lineage)
		}
	}
	return lineages
}

// recordedClassifiers returns the classifiers of all recordings, in order and repeated, those of used trails included.
func (f *File) recordedClassifiers() []string {
	var names []string
	for _, s := range f.StepsAndTeardown() {
		for _, r := range s.Recording {
			names = append(names, r.Classifier)
		}
		for _, u := range s.Uses() {
			if u.File != nil {
				names = append(names, u.File.recordedClassifiers()...)
			}
		}
	}
	return names
}

// HasNarrowClassifiers reports whether the trail says something of classifiers below that of a platform, such as
// android-phone.
func (f *File) HasNarrowClassifiers(platform string) bool {
	names := f.recordedClassifiers()
	for _, rule := range f.Config.Skip {
		names = append(names, rule.Classifier)
	}
	for _, pin := range f.Config.Devices {
		names = append(names, pin.Classifier)
	}
	return hasNarrower(names, platform)
}

// hasNarrower reports whether some classifiers are below that of a platform.
func hasNarrower(classifiers []string, platform string) bool {
	return slices.ContainsFunc(classifiers, func(c string) bool { return strings.HasPrefix(c, platform+"-") })
}

// RecordedPlatforms returns the platforms for which the trail has recordings, each once, in the order of the file.
func (f *File) RecordedPlatforms() []scope.Platform {
	var platforms []scope.Platform
	for _, classifier := range f.recordedClassifiers() {
		if p, ok := scope.ParsePlatform(platformOf(classifier)); ok && !slices.Contains(platforms, p) {
			platforms = append(platforms, p)
		}
	}
	return platforms
}
