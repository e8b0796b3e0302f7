package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// decode reads the arguments of a tool. Unknown ones are an error that lists the known ones.
func decode(args json.RawMessage, to any, known ...string) error {
	if len(bytes.TrimSpace(args)) == 0 {
		return nil
	}
	var names map[string]json.RawMessage
	if err := json.Unmarshal(args, &names); err != nil {
		return fault.New(fault.InvalidArguments, "", "the arguments are not an object")
	}
	for name := range names {
		if !slices.Contains(known, name) {
			return fault.New(fault.InvalidArguments, "the arguments are: "+strings.Join(known, ", "), "unknown argument %q", name)
		}
	}
	if err := json.Unmarshal(args, to); err != nil {
		return fault.New(fault.InvalidArguments, "the arguments are: "+strings.Join(known, ", "), "%s", invalid(err, known))
	}
	return nil
}

// invalid says what is wrong with arguments of which some are known, in the words of JSON.
func invalid(err error, known []string) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	wanted := map[reflect.Kind]string{
		reflect.String: "a text", reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Map: "an object", reflect.Struct: "an object",
	}[wrong.Type.Kind()]
	name := wrong.Field // as Go has it
	for part := range strings.SplitSeq(wrong.Field, ".") {
		if i := slices.IndexFunc(known, func(arg string) bool { return strings.EqualFold(arg, part) }); i >= 0 {
			name = known[i]
		}
	}
	return fmt.Sprintf("%s: expected %s, got %s", name, cmp.Or(wanted, "a whole number"), wrong.Value)
}

// Texts are values by name. Numbers, true and false are taken for the texts that they are written as.
type Texts map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Texts) UnmarshalJSON(data []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		return errNoTexts
	}
	*t = Texts{}
	for name, value := range values {
		var text string
		switch {
		case json.Unmarshal(value, &text) == nil && string(value) != "null":
		case bytes.ContainsAny(value[:1], "{[n"):
			return errNoTexts
		default:
			text = string(value)
		}
		(*t)[name] = text
	}
	return nil
}

var errNoTexts = errors.New(`expected an object of texts such as {"name":"value"}`)

// sessionTool starts, ends and describes the session.
func (s *server) sessionTool(ctx context.Context, args json.RawMessage) (answer, error) {
	var in struct {
		Action string
		Start
	}
	if err := decode(args, &in, "action", "device", "target", "memory"); err != nil {
		return answer{}, err
	}
	switch in.Action {
	case "start":
		return s.startSession(ctx, in.Start)
	case "end":
		return s.endSession(ctx)
	case "status", "":
		open := s.sessions.current()
		if open == nil {
			return answer{text: "no session is open; snapshot, step and run_trail open one" + below(s.sessions.keptText(ctx))}, nil
		}
		if _, err := s.sessions.get(ctx); err != nil {
			return answer{}, err
		}
		return s.describe(ctx, open)
	}
	return answer{}, fault.New(fault.InvalidArguments, "use start, status or end", "unknown action %q", in.Action)
}

func (s *server) startSession(ctx context.Context, start Start) (answer, error) {
	if err := s.sessions.lock(ctx); err != nil {
		return answer{}, err
	}
	defer s.sessions.unlock()
	_ = s.sessions.ended() // another one is opened in any case
	if s.sessions.current() != nil {
		return answer{}, fault.New(fault.Misuse, "use it, or end it first: session{\"action\":\"end\"}", "a session is open already")
	}
	open, err := s.sessions.start(ctx, start)
	if err != nil {
		return answer{}, err
	}
	return s.describe(ctx, open)
}

func (s *server) endSession(ctx context.Context) (answer, error) {
	s.replays.cancelAll(fault.New(fault.Cancelled, "", "the session was ended"))
	if err := s.sessions.lock(ctx); err != nil {
		return answer{}, err
	}
	defer s.sessions.unlock()
	open := s.sessions.current()
	if open == nil {
		return answer{text: "no session is open"}, nil
	}
	n := recordedSteps(ctx, open)
	s.sessions.closeOpen(n > 0)
	text := "the session ended"
	if n > 0 {
		text += fmt.Sprintf("; its recording (%s) is kept until another session records a step", count(n, "step"))
	}
	return answer{text: text}, nil
}

// describe says what a session is for and where it stands.
func (s *server) describe(ctx context.Context, open live.API) (answer, error) {
	st, err := open.Status(ctx)
	if err != nil {
		return answer{}, s.orEnded(ctx, err)
	}
	tools, err := open.Toolbox(ctx)
	if err != nil {
		return answer{}, s.orEnded(ctx, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "session %s: ", st.ID)
	if st.Target != "" {
		fmt.Fprintf(&b, "target %s, ", st.Target)
	}
	fmt.Fprintf(&b, "%s, driver %s", st.Platform, st.Driver)
	if st.Device != "" {
		fmt.Fprintf(&b, ", device %s", st.Device)
	}
	fmt.Fprintf(&b, "\nrecorded: %s, %s\ntools: %d (toolbox)", count(st.Steps, "step"), count(st.Calls, "call"), len(tools.Registry.Offered))
	if len(st.Secrets) > 0 {
		fmt.Fprintf(&b, "\nsecrets: {{%s}}", strings.Join(st.Secrets, "}}, {{"))
	}
	if len(st.Memory) > 0 {
		fmt.Fprintf(&b, "\nmemory: {{%s}}", cut(strings.Join(st.Memory, "}}, {{"), 300))
	}
	if kept := s.sessions.keptText(ctx); kept != "" && st.Steps == 0 {
		b.WriteString("\n" + kept)
	}
	for _, warning := range tools.Registry.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s", cut(warning, 200))
	}
	var p page
	p.place(cut(st.URL, 300), cut(st.Title, 100))
	return answer{text: cut(b.String(), 1200) + below(p.String())}, nil
}

// below returns a text after a line end, nothing for an empty one.
func below(text string) string {
	if text == "" {
		return ""
	}
	return "\n" + text
}

// orEnded returns why the open session ended if it did, else err.
func (s *server) orEnded(ctx context.Context, err error) error {
	if s.sessions.lock(ctx) != nil {
		return err
	}
	defer s.sessions.unlock()
	if ended := s.sessions.ended(); ended != nil {
		return ended
	}
	return err
}

func (s *server) snapshotTool(ctx context.Context, args json.RawMessage) (answer, error) {
	var in live.SnapshotOptions
	if err := decode(args, &in, "find", "within", "maxBytes", "screenshot", "show"); err != nil {
		return answer{}, err
	}
	if in.MaxBytes < 0 || in.MaxBytes > 40000 {
		return answer{}, fault.New(fault.InvalidArguments, "leave maxBytes out for 6000", "maxBytes is not between 0 and 40000")
	}
	open, err := s.sessions.get(ctx)
	if err != nil {
		return answer{}, err
	}
	shot, err := open.Snapshot(ctx, in)
	if err != nil {
		return s.failedSnapshot(ctx, open, err)
	}
	if shot.Log != nil {
		return answer{text: logText(*shot.Log, in), limit: in.MaxBytes + maxAnswer}, nil
	}
	var p page
	p.place(cut(shot.URL, 500), cut(shot.Title, 200))
	p.lines(shot.Text)
	if in.Find != "" && shot.Text == "" {
		p.line("nothing on the screen contains " + strconv.Quote(cut(in.Find, 100)))
	}
	for _, e := range shot.Events {
		p.line("event: " + cut(e, 200))
	}
	some(&p, "message: ", shot.Messages, maxMessages)
	if p.text == "" {
		p.line("the screen shows nothing")
	}
	a := answer{text: p.String(), image: shot.Screenshot, limit: in.MaxBytes + maxAnswer}
	if shot.More > 0 {
		a.text += fmt.Sprintf("\n%s not shown; use find, within or maxBytes", count(shot.More, "element"))
	}
	if in.Within == "" && strings.Contains(shot.Text, `…"`) {
		a.text += "\ntexts that end in … are cut; within shows those of an element whole"
	}
	if len(shot.Messages) > 0 {
		a.text += "\n" + messageAdvice
	}
	if shot.Withheld != "" {
		a.text += "\nno screenshot: " + shot.Withheld
	}
	return a, nil
}

// failedSnapshot returns why there is no snapshot. The message may have text of the page, such as of elements near one
// that is gone.
func (s *server) failedSnapshot(ctx context.Context, open live.API, err error) (answer, error) {
	if open.Err() != nil {
		return answer{}, s.orEnded(ctx, err)
	}
	var p page
	p.line(cut(s.opts.Output(err.Error()), maxFailure))
	var b strings.Builder
	fmt.Fprintf(&b, "the snapshot failed (%s)\n%s", fault.KindOf(err), p)
	writeHints(&b, err)
	return answer{text: b.String(), failed: true}, nil
}

// calls are the calls of a step. A single call without a list is accepted, and a list as text, which some clients send.
type calls []map[string]any

var errNoCalls = errors.New(`calls: expected a list of objects such as [{"tap":{"text":"OK"}}]`)

// UnmarshalJSON implements json.Unmarshaler.
func (c *calls) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		data = []byte(text)
	}
	value, err := trail.DecodeJSON(data)
	if err != nil || value == nil {
		return errNoCalls
	}
	items, isList := value.([]any)
	if !isList {
		items = []any{value}
	}
	for _, item := range items {
		object, ok := item.(map[string]any)
		if !ok {
			return errNoCalls
		}
		*c = append(*c, object)
	}
	return nil
}

func (s *server) stepTool(ctx context.Context, args json.RawMessage) (answer, error) {
	in := struct {
		Step   string
		Kind   string
		Calls  calls
		Record bool
	}{Kind: trail.KindStep, Record: true}
	if err := decode(args, &in, "step", "kind", "calls", "record"); err != nil {
		return answer{}, err
	}
	r := live.StepRequest{Text: in.Step, Kind: in.Kind, Unrecorded: !in.Record}
	for i, value := range in.Calls {
		call, err := live.DecodeCall(value)
		if err != nil {
			e := fault.As(err)
			return answer{}, fault.New(e.Kind, e.Hint, "call %d: %s; no call was made", i+1, e.Message)
		}
		r.Calls = append(r.Calls, call)
	}
	return s.step(ctx, r)
}

func (s *server) step(ctx context.Context, r live.StepRequest) (answer, error) {
	open, err := s.sessions.get(ctx)
	if err != nil {
		return answer{}, err
	}
	report, err := open.Step(ctx, r)
	if err != nil {
		return answer{}, s.orEnded(ctx, err)
	}
	a := answer{text: stepText(report, r), failed: !report.OK()}
	if cause := open.Err(); cause != nil {
		a.text += "\n" + faultText(s.orEnded(ctx, cause))
		a.failed = true
	}
	return a, nil
}

func (s *server) recordingTool(ctx context.Context, args json.RawMessage) (answer, error) {
	var in struct {
		Drop, Replace recordingNumber
		With          map[string]any
		Reword        *live.Reword
		Move          *live.Move
	}
	if err := decode(args, &in, "drop", "reword", "move", "replace", "with"); err != nil {
		return answer{}, err
	}
	edit := live.Edit{Drop: string(in.Drop), Reword: in.Reword, Move: in.Move}
	if in.Replace != "" || in.With != nil {
		edit.Replace = &live.Replace{Call: string(in.Replace), With: in.With}
	}
	recorded := s.sessions.recorded(ctx)
	if recorded == nil {
		return answer{text: "nothing was recorded; step opens a session and records"}, nil
	}
	text, err := recorded.Edit(ctx, live.Edit{})
	if err != nil {
		return answer{}, err
	}
	if edit != (live.Edit{}) {
		after, err := recorded.Edit(ctx, edit)
		if err != nil {
			return answer{}, err
		}
		return editAnswer(text, after)
	}
	if text == "" {
		return answer{text: "nothing was recorded; step records"}, nil
	}
	return answer{text: recordingPage(text, maxRecording)}, nil
}

// recordingNumber is the number of a step or a call of the recording. Models write 2 and 2.1 as JSON numbers, too.
type recordingNumber string

// UnmarshalJSON implements json.Unmarshaler. A number is taken as it is written: 2.10 is another call than 2.1.
func (n *recordingNumber) UnmarshalJSON(data []byte) error {
	if data[0] != '"' {
		var number json.Number
		err := json.Unmarshal(data, &number)
		*n = recordingNumber(number)
		return err
	}
	return json.Unmarshal(data, (*string)(n))
}

// editAnswer returns what an edit changed in the recording.
func editAnswer(before, after string) (answer, error) {
	diff, err := udiff.ToUnified("recording", "recording", before, udiff.Lines(before, after), 1)
	switch {
	case err != nil:
		return answer{}, err
	case diff == "":
		return answer{text: "the recording is as it was"}, nil
	}
	_, changes, _ := strings.Cut(diff, "@@") // the names before that say nothing
	text := "the recording changed; recording without arguments shows all of it\n" + recordingPage("@@"+changes, maxDiff)
	if after == "" {
		text += "\nnothing is recorded now"
	}
	return answer{text: text}, nil
}

func (s *server) saveTool(ctx context.Context, args json.RawMessage) (answer, error) {
	in := struct {
		File      string
		Title     string
		Replay    bool
		Overwrite bool
		Replays   int
		Also      bool
	}{Replay: true}
	if err := decode(args, &in, "file", "title", "replay", "replays", "overwrite", "also"); err != nil {
		return answer{}, err
	}
	recorded := s.sessions.recorded(ctx)
	if recorded == nil {
		return answer{}, fault.New(fault.Misuse, "make calls with step first", "nothing was recorded")
	}
	return s.run(ctx, "save_trail "+in.File, func(ctx context.Context) (answer, error) {
		report, err := recorded.Save(ctx, live.SaveRequest{
			File: in.File, Title: in.Title, NoReplay: !in.Replay, Overwrite: in.Overwrite, Replays: in.Replays, Also: in.Also,
		})
		if err != nil {
			return answer{}, err
		}
		return answer{text: saveText(report), failed: !report.Written}, nil
	})
}

func (s *server) runTool(ctx context.Context, args json.RawMessage) (answer, error) {
	var in struct {
		File, ID string
		Args     Texts
		Keep     bool
	}
	if err := decode(args, &in, "file", "id", "args", "keep"); err != nil {
		return answer{}, err
	}
	if (in.File == "") == (in.ID == "") {
		return answer{}, fault.New(fault.InvalidArguments, "", "run_trail takes file, or the id of a replay that still runs")
	}
	if in.ID != "" {
		r, err := s.replays.find(in.ID)
		if err != nil {
			return answer{}, err
		}
		return s.await(ctx, r)
	}
	open, err := s.sessions.get(ctx)
	if err != nil {
		return answer{}, err
	}
	return s.run(ctx, "run_trail "+in.File, func(ctx context.Context) (answer, error) {
		report, err := open.RunTrail(ctx, live.TrailRequest{File: in.File, Args: in.Args, Keep: in.Keep})
		if err != nil {
			return answer{}, s.orEnded(ctx, err)
		}
		a := answer{text: trailText(report, in.Keep), failed: !report.Passed()}
		if cause := open.Err(); in.Keep && cause != nil {
			a.text += "\n" + faultText(s.orEnded(ctx, cause))
		}
		return a, nil
	})
}

func seconds(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(10 * time.Millisecond).String()
}
