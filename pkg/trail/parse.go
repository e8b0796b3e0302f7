package trail

import (
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// envelopeKey is the argument in which trailblaze sends the session's context to a server; a trail must not set it.
const envelopeKey = "_trailblazeContext"

var (
	classifierForm = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	nameForm       = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	memoryForm     = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
)

// IsValueName reports whether a value in memory may have that name.
func IsValueName(name string) bool {
	return memoryForm().MatchString(name) && name != reservedName && !strings.HasPrefix(name, argsPrefix)
}

// Parse parses a trail file of either shape. It returns all problems of the file; with any of them the file is nil.
func Parse(name string, data []byte) (*File, fault.Problems) {
	r, problems := read(name, data)
	if len(problems) > 0 {
		return nil, problems
	}
	r.warn()
	r.file.warnings = r.doc.Warnings()
	return r.file, nil
}

func read(name string, data []byte) (*reader, fault.Problems) {
	doc, root := yamldoc.Parse(name, fault.Trail, data)
	r := &reader{file: &File{Name: name}, doc: doc, root: root}
	switch root.Kind() {
	case yamldoc.Mapping:
		r.mapping(root)
	case yamldoc.List:
		if r.file.List = true; isBare(root) {
			r.file.Bare = true
			r.tools(root, root)
		} else {
			r.list(root)
		}
	case yamldoc.Absent:
		if len(doc.Problems()) == 0 {
			doc.Problem("write config: and trail:", "the file is empty")
		}
	default:
		root.Errorf("write config: and trail:", "expected a mapping with config and trail, found %s", root.Kind())
	}
	r.checkDeclared()
	return r, doc.Problems()
}

// reader fills a File from a document.
type reader struct {
	file      *File
	doc       *yamldoc.Doc
	root      yamldoc.Node
	head      yamldoc.Node   // the mapping that is the trailhead
	stepNodes []yamldoc.Node // the mappings that are the steps
	tokens    []argToken
}

// argToken is a use of a declared argument, whose declaration may be further down in the file.
type argToken struct {
	at   yamldoc.Node
	name string
}

func (r *reader) mapping(root yamldoc.Node) {
	root.ExactFields(map[string]func(yamldoc.Node){
		"config":    r.config,
		"trailhead": r.trailhead,
		"trail": func(n yamldoc.Node) {
			r.file.stepsAt = [2]int{n.Line(), n.Column()}
			for _, item := range n.Items() {
				r.step(item)
			}
		},
	})
}

// isBare reports whether a list has calls instead of config, prompts, tools and trailhead.
func isBare(root yamldoc.Node) bool {
	known, bare := []string{"config", "trailhead", "prompts", "tools", KindStep, KindVerify, KindUse}, false
	for _, item := range root.Items() {
		if item.Kind() != yamldoc.Mapping {
			continue
		}
		for _, e := range item.Entries() {
			if slices.Contains(known, e.Key) {
				return false
			}
			kind := e.Value.Kind()
			bare = bare || kind == yamldoc.Mapping || kind == yamldoc.Null && len(fault.Nearest(e.Key, known)) == 0
		}
	}
	return bare
}

// tools reads a list of calls, in a mapping or the file itself, as a step.
func (r *reader) tools(node, calls yamldoc.Node) {
	r.add(node, calls, Step{Kind: KindTools, Recordable: true, Recording: Recording{{Calls: r.calls(calls)}}})
}

func (r *reader) list(root yamldoc.Node) {
	for i, item := range root.Items() {
		item.ExactFields(map[string]func(yamldoc.Node){
			"config": func(n yamldoc.Node) {
				if i > 0 {
					item.Errorf("keep one, at the top", "config is allowed once, as the first entry")
					return
				}
				r.config(n)
			},
			"trailhead": func(n yamldoc.Node) {
				if r.file.Trailhead != nil {
					item.Errorf("keep one", "the trail has a second trailhead; the first is in line %d", r.file.Trailhead.Line)
					return
				}
				if len(r.file.Steps) > 0 {
					item.Warnf("move it to the top", "the trailhead is below steps, but runs before them")
				}
				r.trailhead(n)
			},
			"prompts": func(n yamldoc.Node) {
				for _, prompt := range n.Items() {
					r.step(prompt)
				}
			},
			"tools": func(n yamldoc.Node) { r.tools(item, n) },
		})
		r.oneKey(item)
	}
}

// oneKey checks that an item of the list shape has one of its keys.
func (r *reader) oneKey(item yamldoc.Node) {
	if item.Kind() != yamldoc.Mapping {
		return
	}
	switch entries := item.Entries(); {
	case len(entries) == 0:
		item.Errorf("write config, prompts, tools or trailhead", "this entry is empty")
	case len(entries) > 1:
		entries[1].At.Errorf(`put "- " before it`, "%q needs an entry of its own; this entry is %s", entries[1].Key,
			entries[0].Key)
	}
}

func (r *reader) add(node, at yamldoc.Node, s Step) {
	s.Line, s.Column = at.Line(), at.Column()
	r.file.Steps = append(r.file.Steps, s)
	r.stepNodes = append(r.stepNodes, node)
}

func (r *reader) step(n yamldoc.Node) {
	if s, ok := r.readStep(n, false); ok {
		r.add(n, n, s)
	}
}

func (r *reader) trailhead(n yamldoc.Node) {
	if s, ok := r.readStep(n, true); ok {
		s.Kind, s.Line, s.Column = KindTrailhead, n.Line(), n.Column()
		r.file.Trailhead, r.head = &s, n
	}
}

func (r *reader) readStep(n yamldoc.Node, trailhead bool) (Step, bool) {
	s := Step{Recordable: true}
	if n.Kind() == yamldoc.Text {
		n.Errorf("write step: and the text", "expected a step, found text")
		return s, false
	}
	text := func(kind string) func(yamldoc.Node) {
		return func(v yamldoc.Node) {
			if s.Kind != "" {
				v.Errorf("write two steps", "a step has one of step, verify and use, this one has %s and %s", s.Kind, kind)
			}
			if trailhead && kind != KindStep {
				v.Errorf("write step: here, and "+kind+": below trail:", "a trailhead cannot have %s", kind)
			}
			s.Kind, s.Text = kind, nonEmpty(v)
		}
	}
	var recording, args yamldoc.Node
	known := n.ExactFields(map[string]func(yamldoc.Node){
		"step":   text(KindStep),
		"verify": text(KindVerify),
		"use": func(v yamldoc.Node) {
			text(KindUse)(v)
			s.Use = &Use{Key: KindUse, Path: s.Text, Line: v.Line(), Column: v.Column()}
		},
		"args":       func(v yamldoc.Node) { args = v },
		"recording":  func(v yamldoc.Node) { recording, s.Recording = v, r.recording(v, trailhead) },
		"recordable": func(v yamldoc.Node) { s.Recordable = v.Bool() || v.Kind() != yamldoc.Bool },
		"maxRetries": func(v yamldoc.Node) {
			if s.MaxRetries = v.Int(); s.MaxRetries < 0 {
				v.Errorf("write 0 or more", "%d is not a number of retries", s.MaxRetries)
			}
		},
	})
	if s.Kind == "" && known && n.Kind() == yamldoc.Mapping {
		n.Errorf("write step: and what it does, in a sentence", "this step has no text")
	}
	r.use(&s, n, args)
	if !s.Recordable && holdsCalls(s.Recording) {
		recording.Errorf("remove the recording, or remove recordable: false", "a step with recordable: false has a recording")
	}
	return s, n.Kind() == yamldoc.Mapping
}

// use reads the arguments of a step that uses another trail, and reports keys that only other steps have.
func (r *reader) use(s *Step, n, args yamldoc.Node) {
	if s.Use == nil {
		if args.Kind() != yamldoc.Absent {
			args.Errorf("remove it, or write use: with the path of a trail", "only a step with use has args")
		}
		return
	}
	for _, e := range n.Entries() {
		if slices.Contains([]string{"recording", "recordable", "maxRetries"}, e.Key) {
			e.At.Errorf("remove it", "a step with use cannot have %s", e.Key)
		}
	}
	if args.Kind() == yamldoc.Absent {
		return
	}
	for _, e := range args.Entries() {
		checkKey(e, nameForm(), "an argument's name")
	}
	value, positions := args.ValueWithPositions()
	s.Use.Args, _ = value.(map[string]any)
	s.Use.Positions = positions
	r.collectTokens(args)
}

// holdsCalls reports whether a recording is more than the empty recording of the list shape.
func holdsCalls(recording Recording) bool {
	return len(recording) > 1 || len(recording) == 1 && (recording[0].Classifier != "" || len(recording[0].Calls) > 0)
}

func (r *reader) recording(n yamldoc.Node, trailhead bool) Recording {
	if n.Kind() == yamldoc.List {
		n.Errorf("put them below a classifier such as android:, or below tools: in the list shape",
			"expected a mapping, found a list of calls")
		return nil
	}
	var recording Recording
	if r.file.List {
		for _, e := range n.Entries() {
			if e.Key != "tools" {
				e.At.Errorf("write tools:", "unknown key %q; only the mapping shape has recordings by classifier", e.Key)
				continue
			}
			recording = Recording{{Calls: r.recordedCalls(e.Value, trailhead)}}
		}
		return recording
	}
	for _, e := range n.Entries() {
		if e.Key == "tools" {
			e.At.Errorf("write the classifier of the device, such as android:", "tools: is allowed here only in the list shape")
			continue
		}
		checkClassifier(e)
		recording = append(recording, ClassifierRecording{Classifier: e.Key, Calls: r.recordedCalls(e.Value, trailhead)})
	}
	return recording
}

// recordedCalls reads the calls for one classifier; a trailhead may have a single call without a list.
func (r *reader) recordedCalls(n yamldoc.Node, trailhead bool) []Call {
	switch {
	case n.Kind() != yamldoc.Mapping:
		return r.calls(n)
	case trailhead:
		if call, ok := r.call(n); ok {
			return []Call{call}
		}
	default:
		n.Errorf(`put "- " before the tool's name`, "expected a list of calls, found a mapping")
	}
	return nil
}

func (r *reader) calls(n yamldoc.Node) []Call {
	if n.Kind() == yamldoc.Null {
		n.Errorf("write [] for a recorded no-op", "expected a list of calls, found null")
		return nil
	}
	var calls []Call
	for _, item := range n.Items() {
		if call, ok := r.call(item); ok {
			calls = append(calls, call)
		}
	}
	for _, call := range calls {
		if call.Use != nil && len(calls) > 1 {
			n.Errorf("give it a step of its own, or write it as a step: use: "+abridge(call.Use.Path),
				"%s in line %d is not the only call of its step", tool.RunTrail, call.Line)
		}
	}
	return calls
}

func (r *reader) call(n yamldoc.Node) (Call, bool) {
	if n.Kind() == yamldoc.Text {
		n.Errorf("write it with its arguments: "+abridge(strings.TrimSpace(n.Str()))+": {}", "expected a call, found text")
		return Call{}, false
	}
	c := Call{Line: n.Line(), Column: n.Column(), Args: map[string]any{}}
	var called yamldoc.Entry
	var marks []yamldoc.Entry // optional and soft
	for _, e := range n.Entries() {
		switch {
		case e.Key == "saveAs":
			c.SaveAs = checkName(e.Value, nameForm(), "a name")
		case e.Key == "timeout":
			c.Timeout = e.Value.Duration()
		case e.Key == "optional":
			c.Optional = e.Value.Bool()
			marks = append(marks, e)
		case e.Key == "soft":
			c.Soft = e.Value.Bool()
			marks = append(marks, e)
		case called.Key != "":
			secondTool(called, e)
			return c, false
		case strings.TrimSpace(e.Key) == "":
			e.At.Errorf("write the tool's name", "the name of the tool is empty")
			return c, false
		default:
			called = e
		}
	}
	if called.Key == "" {
		if n.Kind() == yamldoc.Mapping {
			n.Errorf("write the tool's name with its arguments: tap: { text: OK }", "this call names no tool")
		}
		return c, false
	}
	if len(marks) > 1 {
		marks[1].At.Errorf("keep soft for a check whose failure fails the trail at its end, or optional for what may fail",
			"a call is optional or soft, not both")
	}
	c.Tool, c.Line, c.Column = called.Key, called.At.Line(), called.At.Column()
	if r.args(&c, called); c.Tool == tool.RunTrail {
		r.runTrail(n, called.Value, &c)
	}
	return c, true
}

// runTrail reads a call that uses another trail. Which one is known before the trail runs.
func (r *reader) runTrail(n, args yamldoc.Node, c *Call) {
	c.Use = &Use{Key: tool.RunTrail, Line: c.Line, Column: c.Column, Positions: c.Positions.Fields["args"]}
	if args.Kind() != yamldoc.Mapping {
		return
	}
	args.ExactFields(map[string]func(yamldoc.Node){
		"path": func(v yamldoc.Node) {
			if c.Use.Path = nonEmpty(v); HasToken(c.Use.Path) {
				v.Errorf("write the path itself", "the path of the trail has a token")
			}
		},
		"args": func(v yamldoc.Node) {
			for _, e := range v.Entries() {
				checkKey(e, nameForm(), "an argument's name")
			}
			c.Use.Args, _ = c.Args["args"].(map[string]any)
		},
	})
	if _, written := field(args, "path"); !written {
		args.Errorf("write "+tool.RunTrail+": { path: parts/log-in.yaml }", "%s names no trail", tool.RunTrail)
	}
	if len(n.Entries()) > 1 {
		n.Errorf("remove it", "%s cannot have saveAs, timeout, optional or soft", tool.RunTrail)
	}
}

// secondTool reports a key of a call that is neither its tool nor saveAs, timeout, optional or soft.
func secondTool(tool, second yamldoc.Entry) {
	if near := fault.Nearest(second.Key, []string{"saveAs", "timeout", "optional", "soft"}); len(near) > 0 {
		second.At.Errorf(fault.DidYouMean(second.Key, near), "unknown key %q beside the tool %s", second.Key, tool.Key)
		return
	}
	if tool.Value.Kind() == yamldoc.Null {
		second.At.Errorf("indent it further", "%q is beside the tool %s, not below it", second.Key, tool.Key)
		return
	}
	second.At.Errorf(`put "- " before it to make it a call of its own`, "a call has one tool, and this one has %s and %s",
		tool.Key, second.Key)
}

func (r *reader) args(c *Call, tool yamldoc.Entry) {
	n := tool.Value
	switch n.Kind() {
	case yamldoc.Null:
		n.Errorf("write "+tool.Key+": {} if it takes none", "the arguments of %s are missing", tool.Key)
		return
	case yamldoc.Mapping, yamldoc.Absent:
	default:
		n.Errorf("arguments must be a mapping of names to values: "+tool.Key+": { NAME: VALUE }", "expected the arguments of %s as a mapping, found %s", tool.Key,
			n.Kind())
		return
	}
	value, positions := n.ValueWithPositions()
	args, ok := value.(map[string]any)
	if !ok {
		return
	}
	c.Args, c.Positions = args, positions
	if _, reserved := args[envelopeKey]; reserved {
		n.Errorf("remove it", "the argument %s is reserved; trailblaze sets it", envelopeKey)
	}
	if HasToken(args) {
		r.collectTokens(n)
	}
}

// collectTokens reports malformed tokens in a call's arguments, and collects the uses of declared arguments.
func (r *reader) collectTokens(n yamldoc.Node) {
	switch n.Kind() {
	case yamldoc.Text:
		for t := range tokensOf(n.Str()) {
			switch {
			case t.err != "":
				n.Errorf(t.hint, "%s", t.err)
			case t.strict && strings.HasPrefix(t.name, argsPrefix):
				r.tokens = append(r.tokens, argToken{n, t.name})
			}
		}
	case yamldoc.List:
		for _, item := range n.Items() {
			r.collectTokens(item)
		}
	case yamldoc.Mapping:
		for _, e := range n.Entries() {
			r.collectTokens(e.Value)
		}
	default: // other values have no tokens
	}
}

// checkDeclared reports uses of arguments that the file does not declare.
func (r *reader) checkDeclared() {
	var declared []string
	for name := range r.file.Config.Args {
		declared = append(declared, argsPrefix+name)
	}
	for _, t := range r.tokens {
		name, _, _ := strings.Cut(strings.TrimPrefix(t.name, argsPrefix), ".")
		if _, ok := r.file.Config.Args[name]; !ok {
			t.at.Errorf(knownHint(t.name, declared, "declare it under config: args:"),
				"{{%s}}: the trail declares no argument %q", t.name, name)
		}
	}
}
