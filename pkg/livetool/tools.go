package livetool

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
	"github.com/trailblaze/trailblaze/pkg/pagetext"
	"github.com/trailblaze/trailblaze/pkg/text"
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
func (ts *Tools) sessionTool(ctx context.Context, args json.RawMessage) (Answer, error) {
	var in struct {
		Action string
		Start
	}
	if err := decode(args, &in, "action", "device", "target", "memory"); err != nil {
		return Answer{}, err
	}
	switch in.Action {
	case "start":
		return ts.startSession(ctx, in.Start)
	case "end":
		return ts.endSession(ctx)
	case "status", "":
		open := ts.sessions.current()
		if open == nil {
			return Answer{Text: "no session is open; snapshot, step and run_trail open one" + below(ts.sessions.keptText(ctx))}, nil
		}
		if _, err := ts.sessions.get(ctx); err != nil {
			return Answer{}, err
		}
		return ts.describe(ctx, open)
	}
	return Answer{}, fault.New(fault.InvalidArguments, "use start, status or end", "unknown action %q", in.Action)
}

func (ts *Tools) startSession(ctx context.Context, start Start) (Answer, error) {
	if err := ts.sessions.lock(ctx); err != nil {
		return Answer{}, err
	}
	defer ts.sessions.unlock()
	_ = ts.sessions.ended() // another one is opened in any case
	if ts.sessions.current() != nil {
		return Answer{}, fault.New(fault.Misuse, "use it, or end it first: session{\"action\":\"end\"}", "a session is open already")
	}
	open, err := ts.sessions.start(ctx, start)
	if err != nil {
		return Answer{}, err
	}
	return ts.describe(ctx, open)
}

func (ts *Tools) endSession(ctx context.Context) (Answer, error) {
	if err := ts.sessions.lock(ctx); err != nil {
		return Answer{}, err
	}
	defer ts.sessions.unlock()
	stopped := ts.replays.cancelAll(fault.New(fault.Cancelled, "", "the session was ended"))
	ended := []string{"no session is open"}
	if open := ts.sessions.current(); open != nil {
		n := keptSteps(ctx, open)
		ts.sessions.closeOpen(n > 0)
		ended[0] = "the session ended"
		if n > 0 {
			ended[0] += fmt.Sprintf("; its recording (%s) is kept until another session records a step or replays with keep", text.Count(n, "step"))
		}
	}
	for _, replay := range stopped {
		ended = append(ended, replay.result())
	}
	return Answer{Text: strings.Join(ended, "\n")}, nil
}

// describe says what a session is for and where it stands.
func (ts *Tools) describe(ctx context.Context, open live.API) (Answer, error) {
	st, err := open.Status(ctx)
	if err != nil {
		return Answer{}, ts.orEnded(ctx, err)
	}
	tools, err := open.Toolbox(ctx)
	if err != nil {
		return Answer{}, ts.orEnded(ctx, err)
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
	fmt.Fprintf(&b, "\nrecorded: %s, %s\ntools: %d (toolbox)", text.Count(st.Steps, "step"), text.Count(st.Calls, "call"), len(tools.Registry.ForAgents()))
	if len(st.Secrets) > 0 {
		fmt.Fprintf(&b, "\nsecrets: {{%s}}", strings.Join(st.Secrets, "}}, {{"))
	}
	if len(st.Memory) > 0 {
		fmt.Fprintf(&b, "\nmemory: {{%s}}", pagetext.Cut(strings.Join(st.Memory, "}}, {{"), 300))
	}
	if st.Callbacks != "" {
		fmt.Fprintf(&b, "\nother processes call tools in it, see %s", pagetext.Cut(st.Callbacks, 300))
	}
	if kept := ts.sessions.keptText(ctx); kept != "" && st.Kept == 0 {
		b.WriteString("\n" + kept)
	}
	for _, warning := range tools.Registry.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s", pagetext.Cut(warning, 200))
	}
	var p pagetext.Page
	p.Place(pagetext.Cut(st.URL, 300), pagetext.Cut(st.Title, 100))
	return Answer{Text: pagetext.Cut(b.String(), 1200) + below(p.String())}, nil
}

// below returns a text after a line end, nothing for an empty one.
func below(text string) string {
	if text == "" {
		return ""
	}
	return "\n" + text
}

// orEnded returns why the open session ended if it did, else err.
func (ts *Tools) orEnded(ctx context.Context, err error) error {
	if ts.sessions.lock(ctx) != nil {
		return err
	}
	defer ts.sessions.unlock()
	if ended := ts.sessions.ended(); ended != nil {
		return ended
	}
	return err
}

func (ts *Tools) snapshotTool(ctx context.Context, args json.RawMessage) (Answer, error) {
	var in live.SnapshotOptions
	if err := decode(args, &in, "find", "within", "maxBytes", "screenshot", "show"); err != nil {
		return Answer{}, err
	}
	if in.MaxBytes < 0 || in.MaxBytes > 40000 {
		return Answer{}, fault.New(fault.InvalidArguments, "leave maxBytes out for 6000", "maxBytes is not between 0 and 40000")
	}
	open, err := ts.sessions.get(ctx)
	if err != nil {
		return Answer{}, err
	}
	shot, err := open.Snapshot(ctx, in)
	if err != nil {
		return ts.failedSnapshot(ctx, open, err)
	}
	if shot.Log != nil {
		return Answer{Text: logText(*shot.Log, in), limit: in.MaxBytes + maxAnswer}, nil
	}
	var p pagetext.Page
	p.Place(pagetext.Cut(shot.URL, 500), pagetext.Cut(shot.Title, 200))
	p.Lines(shot.Text)
	if in.Find != "" && shot.Text == "" {
		p.Line("nothing on the screen contains " + strconv.Quote(pagetext.Cut(in.Find, 100)))
	}
	for _, e := range shot.Events {
		p.Line("event: " + pagetext.Cut(e, 200))
	}
	p.Some("message: ", shot.Messages, pagetext.MaxMessages)
	if p.IsEmpty() {
		p.Line("the screen shows nothing")
	}
	a := Answer{Text: p.String(), limit: in.MaxBytes + maxAnswer}
	if shot.Screenshot != nil {
		a.Pictures = []Picture{{"image/png", shot.Screenshot}}
	}
	if shot.More > 0 {
		a.Text += fmt.Sprintf("\n%s not shown; use find, within or maxBytes", text.Count(shot.More, "element"))
	}
	if in.Within == "" && strings.Contains(shot.Text, `…"`) {
		a.Text += "\ntexts that end in … are cut; within shows those of an element whole"
	}
	if len(shot.Messages) > 0 {
		a.Text += "\n" + messageAdvice
	}
	if shot.Withheld != "" {
		a.Text += "\nno screenshot: " + shot.Withheld
	}
	return a, nil
}

// failedSnapshot returns why there is no snapshot. The message may have text of the page, such as of elements near one
// that is gone.
func (ts *Tools) failedSnapshot(ctx context.Context, open live.API, err error) (Answer, error) {
	if open.Err() != nil {
		return Answer{}, ts.orEnded(ctx, err)
	}
	var p pagetext.Page
	p.Line(pagetext.Cut(ts.opts.Output(fault.WithoutOutput(err.Error())), pagetext.MaxFailure))
	var b strings.Builder
	fmt.Fprintf(&b, "the snapshot failed (%s)\n%s", fault.KindOf(err), p)
	writeHints(&b, err)
	return Answer{Text: b.String(), Failed: true}, nil
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

func (ts *Tools) stepTool(ctx context.Context, args json.RawMessage) (Answer, error) {
	in := struct {
		Step   string
		Kind   string
		Calls  calls
		Record bool
	}{Kind: trail.KindStep, Record: true}
	if err := decode(args, &in, "step", "kind", "calls", "record"); err != nil {
		return Answer{}, err
	}
	r := live.StepRequest{Text: in.Step, Kind: in.Kind, Unrecorded: !in.Record}
	for i, value := range in.Calls {
		call, err := live.DecodeCall(value)
		if err != nil {
			e := fault.As(err)
			return Answer{}, fault.New(e.Kind, e.Hint, "call %d: %s; no call was made", i+1, e.Message)
		}
		r.Calls = append(r.Calls, call)
	}
	return ts.step(ctx, r)
}

func (ts *Tools) step(ctx context.Context, r live.StepRequest) (Answer, error) {
	open, err := ts.sessions.get(ctx)
	if err != nil {
		return Answer{}, err
	}
	r.Pictures = true
	report, err := open.Step(ctx, r)
	if err != nil {
		return Answer{}, ts.orEnded(ctx, err)
	}
	a := Answer{Text: stepText(report, r), Pictures: pictures(report), Failed: !report.OK()}
	if cause := open.Err(); cause != nil {
		a.Text += "\n" + faultText(ts.orEnded(ctx, cause))
		a.Failed = true
	}
	return a, nil
}

// pictures returns the pictures of a report, in the order of its attachments.
func pictures(r live.StepReport) []Picture {
	var list []Picture
	for _, c := range r.Calls {
		for _, a := range c.Attachments {
			if a.Picture != nil {
				list = append(list, Picture{a.MIME, a.Picture})
			}
		}
	}
	return list
}

func (ts *Tools) recordingTool(ctx context.Context, args json.RawMessage) (Answer, error) {
	var in struct {
		Drop, Replace recordingNumber
		With          map[string]any
		Reword        *live.Reword
		Move          *live.Move
	}
	if err := decode(args, &in, "drop", "reword", "move", "replace", "with"); err != nil {
		return Answer{}, err
	}
	edit := live.Edit{Drop: string(in.Drop), Reword: in.Reword, Move: in.Move}
	if in.Replace != "" || in.With != nil {
		edit.Replace = &live.Replace{Call: string(in.Replace), With: in.With}
	}
	recorded := ts.sessions.recorded(ctx)
	if recorded == nil {
		return Answer{Text: "nothing was recorded; step opens a session and records"}, nil
	}
	text, err := recorded.Edit(ctx, live.Edit{})
	if err != nil {
		return Answer{}, err
	}
	if edit != (live.Edit{}) {
		after, err := recorded.Edit(ctx, edit)
		if err != nil {
			return Answer{}, err
		}
		return editAnswer(text, after)
	}
	if text == "" {
		return Answer{Text: "nothing was recorded; step records"}, nil
	}
	return Answer{Text: recordingPage(text, maxRecording)}, nil
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
func editAnswer(before, after string) (Answer, error) {
	diff, err := udiff.ToUnified("recording", "recording", before, udiff.Lines(before, after), 1)
	switch {
	case err != nil:
		return Answer{}, err
	case diff == "":
		return Answer{Text: "the recording is as it was"}, nil
	}
	_, changes, _ := strings.Cut(diff, "@@") // the names before that say nothing
	text := "the recording changed; recording without arguments shows all of it\n" + recordingPage("@@"+changes, maxDiff)
	if after == "" {
		text += "\nnothing is recorded now"
	}
	return Answer{Text: text}, nil
}

func (ts *Tools) saveTool(ctx context.Context, args json.RawMessage) (Answer, error) {
	in := struct {
		File      string
		Title     string
		Replay    bool
		Overwrite any
		Replays   int
		Also      bool
	}{Replay: true, Overwrite: false}
	err := decode(args, &in, "file", "title", "replay", "replays", "overwrite", "also")
	if err != nil {
		return Answer{}, err
	}
	overwrite, err := trail.ParseOverwrite(fmt.Sprint(cmp.Or(in.Overwrite, any(false))))
	if err != nil {
		return Answer{}, err
	}
	recorded := ts.sessions.recorded(ctx)
	if recorded == nil {
		return Answer{}, fault.New(fault.Misuse, "make calls with step first", "nothing was recorded")
	}
	return ts.run(ctx, "save_trail "+in.File, func(ctx context.Context) (Answer, error) {
		report, err := recorded.Save(ctx, live.SaveRequest{
			File: in.File, Title: in.Title, NoReplay: !in.Replay, Overwrite: overwrite, Replays: in.Replays, Also: in.Also,
		})
		if err != nil {
			return Answer{}, err
		}
		return Answer{Text: saveText(report), Failed: !report.Written}, nil
	})
}

func (ts *Tools) runTool(ctx context.Context, args json.RawMessage) (Answer, error) {
	var in struct {
		File, ID string
		Args     Texts
		Keep     bool
	}
	if err := decode(args, &in, "file", "id", "args", "keep"); err != nil {
		return Answer{}, err
	}
	if (in.File == "") == (in.ID == "") {
		return Answer{}, fault.New(fault.InvalidArguments, "", "run_trail takes file, or the id of a replay that still runs")
	}
	if in.ID != "" {
		r, err := ts.replays.find(in.ID)
		if err != nil {
			return Answer{}, err
		}
		return ts.await(ctx, r)
	}
	open, err := ts.sessions.get(ctx)
	if err != nil {
		return Answer{}, err
	}
	return ts.run(ctx, "run_trail "+in.File, func(ctx context.Context) (Answer, error) {
		report, err := open.RunTrail(ctx, live.TrailRequest{File: in.File, Args: in.Args, Keep: in.Keep})
		if err != nil {
			return Answer{}, ts.orEnded(ctx, err)
		}
		a := Answer{Text: trailText(report, in.Keep), Failed: !report.Passed() && !report.Skipped()}
		if cause := open.Err(); in.Keep && cause != nil {
			a.Text += "\n" + faultText(ts.orEnded(ctx, cause))
		}
		return a, nil
	})
}

func seconds(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(10 * time.Millisecond).String()
}
