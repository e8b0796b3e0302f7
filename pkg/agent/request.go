package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/pagetext"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// The sizes of blocks, in bytes.
const (
	maxTask     = 3 << 10
	maxScreen   = 6000
	maxTurn     = 1500
	maxBlocks   = 24 << 10 // of all blocks, before the turns become lines
	maxLine     = 200      // of a turn as a line
	maxMemory   = 50       // values
	maxValue    = 200
	maxTaskText = 1 << 10
	maxBroken   = 1200 // what is told of a recorded call that failed
)

// taskBlock returns the block that describes the task.
func (r *run) taskBlock() string {
	task, secrets, nonce := r.task, r.secrets, r.nonce
	what := fmt.Sprintf("TASK %s: %s", task.Kind, text.HeadBytes(strings.Join(strings.Fields(task.Text), " "), maxTaskText))
	for _, name := range secrets {
		if hasName(task.Text, name) {
			what = fmt.Sprintf("The secret {{%s}} may be typed.\n", name) + what
		}
	}
	what = r.brokenText() + what
	var b strings.Builder
	head := "TRAIL " + text.HeadBytes(task.Trail.Title, 200) + "\n"
	if about := strings.TrimSpace(task.Trail.Context); about != "" {
		head += text.HeadBytes(about, 500) + "\n"
	}
	b.WriteString(head)
	room := maxTask - len(what) - len(head) - len("\n")
	steps := stepsText(task.Trail, room/2)
	b.WriteString(steps)
	b.WriteString(memoryText(task.Memory, nonce, room-len(steps)))
	return b.String() + what
}

// stepsText returns the steps of a trail around that of the task, in at most n bytes. For all tasks of a short trail it
// begins with the same text.
func stepsText(t Trail, n int) string {
	line := func(i int) string {
		return fmt.Sprintf("%d. %s\n", i+1, text.HeadBytes(strings.Join(strings.Fields(t.Steps[i]), " "), 150))
	}
	if t.Index < 0 || t.Index >= len(t.Steps) {
		return ""
	}
	first, last, out := t.Index, t.Index, line(t.Index)
	n -= len("Now step 999:\n")
	for grown := true; grown; {
		grown = false
		if first > 0 && len(out)+len(line(first-1)) <= n {
			first--
			out, grown = line(first)+out, true
		}
		if last < len(t.Steps)-1 && len(out)+len(line(last+1)) <= n {
			last++
			out, grown = out+line(last), true
		}
	}
	return out + fmt.Sprintf("Now step %d:\n", t.Index+1)
}

// brokenText returns what is told of the recorded call that the task is to replace. Names of elements come from the app.
func (r *run) brokenText() string {
	b := r.task.Broken
	if b == nil {
		return ""
	}
	var p pagetext.Page
	for _, c := range b.Made {
		p.Line("made: " + r.recordedText(c))
	}
	p.Line("failed: " + r.recordedText(b.Failing))
	p.Line("because: " + pagetext.Cut(b.Reason, pagetext.MaxFailure))
	for _, c := range b.ToCome {
		p.Line("to come: " + r.recordedText(c))
	}
	return "The step is recorded, and a call of the recording failed:\n" + p.Bounded(maxBroken-pagetext.MarksBytes, "not shown").Marked(r.nonce) + "\n" +
		"Make the call that takes its place: the same one, on the element that is meant, and before it what has to be done to reach that. " +
		"Calls to come are made from the recording, so do not make them. If the app does not have the element any more, end with failed.\n"
}

// recordedText returns a recorded call without what its tool keeps secret.
func (r *run) recordedText(c trail.Call) string {
	args := c.Args
	if t, err := r.box.Registry.Find(c.Tool); err == nil {
		args = t.MaskedArgs(args)
	}
	data, _ := json.Marshal(args) //nolint:errchkjson // they were decoded
	return pagetext.Cut(c.Tool+" "+string(data), maxValue)
}

// memoryText returns the values of memory in at most n bytes. They may come from the app.
func memoryText(memory map[string]string, nonce pagetext.Nonce, n int) string {
	var p pagetext.Page
	for i, name := range slices.Sorted(maps.Keys(memory)) {
		if i == maxMemory {
			break
		}
		p.Line("{{" + name + "}} = " + pagetext.Cut(memory[name], maxValue))
	}
	if p.IsEmpty() || n < 200 {
		return ""
	}
	return "Memory:\n" + p.Bounded(n-pagetext.MarksBytes-len("Memory:\n\n"), "not shown").Marked(nonce) + "\n"
}

// screenText returns the whole screen between marks, in at most maxScreen bytes, and remembers its references.
func (r *run) screenText(ctx context.Context, title string) (string, error) {
	shot, err := r.session.Snapshot(ctx, live.SnapshotOptions{MaxBytes: maxScreen - 900})
	if err != nil {
		return "", err
	}
	p := r.screenPage(shot)
	return title + p.Bounded(maxScreen-len(title)-pagetext.MarksBytes, "look shows it").Marked(r.nonce), nil
}

func (r *run) screenPage(shot live.Snapshot) pagetext.Page {
	var p pagetext.Page
	p.Place(pagetext.Cut(shot.URL, 300), pagetext.Cut(shot.Title, 150))
	p.Lines(shot.Text)
	if shot.Text == "" {
		p.Line("the screen shows nothing")
	}
	if shot.More > 0 {
		p.Line(text.Count(shot.More, "element") + " not shown; look shows them")
	}
	p.Some("event: ", shot.Events, 130)
	p.Some("message: ", shot.Messages, 130)
	r.shown.showLines(shot.Text)
	return p
}

// start begins a transcript with the task and the screen.
func (r *run) start(ctx context.Context) error {
	r.nonce, r.shown = pagetext.NewNonce(), &shownElements{described: map[string]string{}}
	r.blocks, r.lines, r.sent, r.history, r.silent, r.picture = nil, nil, 0, nil, 0, nil
	if r.verify != nil {
		r.verify.shown, r.verify.held, r.verify.weak = r.shown, 0, 0
	}
	screen, err := r.screenText(ctx, "SCREEN\n")
	if err != nil {
		return err
	}
	task, change := "", ""
	if r.planning != nil {
		task, change = r.planBlocks()
	} else {
		task = r.taskBlock()
	}
	r.add(task)
	r.add(screen)
	if change != "" {
		r.add(change)
	}
	named, err := r.readScreen(ctx)
	if err == nil && r.baseline == nil {
		r.baseline = r.screen
	}
	if err == nil && named < 3 && r.agent.opts.Images {
		_, err = r.takePicture(ctx)
	}
	return err
}

// readScreen reads what is on the screen, for what is compared with it. named counts the elements with a name.
func (r *run) readScreen(ctx context.Context) (named int, err error) {
	seen, err := r.session.Look(ctx, false)
	if err != nil {
		return 0, err
	}
	r.screen, named = linesOf(seen)
	r.at = seen.URL
	return named, nil
}

func (r *run) add(text string) { r.blocks = append(r.blocks, model.Block{Text: r.output(text)}) }

// output returns a text as the model and people may see it.
func (r *run) output(text string) string { return r.agent.output(text) }

// addTurn adds what became of an answer. When the blocks are too large, the turns become lines, and the screen follows.
func (r *run) addTurn(ctx context.Context, turn, line string) error {
	r.lines = append(r.lines, brief(line, maxLine))
	r.add(turn)
	size := 0
	for _, b := range r.blocks {
		size += len(b.Text)
	}
	if size <= maxBlocks {
		return nil
	}
	r.blocks, r.sent = r.blocks[:1], 1
	var b strings.Builder
	b.WriteString("TURNS\n")
	for i, line := range r.lines {
		fmt.Fprintf(&b, "%d: %s\n", i+1, line)
	}
	r.add(b.String())
	screen, err := r.screenText(ctx, "SCREEN\n")
	r.add(screen)
	return err
}

// request returns the next request.
func (r *run) request() model.Request {
	blocks := slices.Clone(r.blocks)
	if r.picture != nil {
		blocks = append(blocks, model.Block{Image: r.picture})
	}
	return model.Request{
		Task:  model.Task{Trail: r.task.Trail.Path, Step: r.task.Number, Kind: r.task.Kind},
		Tools: r.offer.tools, System: r.offer.system, Blocks: blocks, MaxOutputTokens: r.agent.maxOutputTokens(),
		Element: r.shown.element, Reference: r.shown.reference,
	}
}
