package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/model"
)

// Model is a model to check.
type Model struct {
	model.Model
	Name     string // PROVIDER/MODEL
	Settings model.Settings
}

// longPrompt is the size of the second and third request in bytes, a typical one of a task.
const longPrompt = 32 << 10

// examination is what a model answered in the three requests.
type examination struct {
	Model
	first, last string // words that the model has to find
	usage       model.Usage
	checks      []Check
}

// CheckModel asks a model three times, which costs what the last check says: a short request, a long one, and the long
// one once more with a picture. It ends at a request that fails.
func CheckModel(ctx context.Context, m Model) []Check {
	words := []string{"kestrel", "saffron", "glacier", "walnut", "lantern", "pebble", "thistle", "harbour"}
	rand.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	e := &examination{Model: m, first: words[0], last: words[1]}
	if e.short(ctx) && e.long(ctx) {
		e.again(ctx)
	}
	return append(e.checks, e.cost())
}

func (e *examination) add(status Status, name, hint, format string, args ...any) {
	e.checks = append(e.checks, Check{name, status, fmt.Sprintf(format, args...), hint})
}

// ask asks for a call of the tool report. ok is false if the request failed; then there is a check for it.
func (e *examination) ask(ctx context.Context, name string, blocks ...model.Block) (answer model.Answer, usage model.Usage, took time.Duration, ok bool) {
	started := time.Now()
	answer, usage, err := e.Ask(ctx, model.Request{
		Task:   model.Task{Kind: "doctor"},
		System: "You are being tested by a program. Report what it asks for by calling the tool report.",
		Tools: []model.Tool{{
			Name: "report", Description: "Reports what was asked for.",
			Schema: json.RawMessage(`{"type":"object","properties":{"first":{"type":"string","description":"The first word"},` +
				`"last":{"type":"string","description":"The last word"},"colour":{"type":"string","description":"The colour of the picture, in English"}},` +
				`"required":["first","last"],"additionalProperties":false}`),
		}},
		Blocks: blocks,
	})
	e.usage = e.usage.Add(usage)
	if err != nil {
		e.checks = append(e.checks, fromError(name, Fail, err))
	}
	return answer, usage, time.Since(started), err == nil
}

// short checks that the model answers, and calls a tool although the text asks for none.
func (e *examination) short(ctx context.Context) bool {
	answer, _, took, ok := e.ask(ctx, "model", model.Block{Text: "first word: " + e.first + "\nlast word: " + e.last + "\nSay hello in one sentence."})
	if !ok {
		return false
	}
	e.add(OK, "model", "", "%s answers, in %.1f s", e.Name, took.Seconds())
	switch args, problem := reported(answer); {
	case problem != "":
		e.add(Warn, "tool calls", "set toolCalls: json for the model in trailblaze.yaml", "a call is required, but %s", problem)
	case args["first"] != e.first:
		e.add(Warn, "tool calls", "use a larger model", "it calls the tool with other words than those in the text")
	default:
		e.add(OK, "tool calls", "", "it calls a tool when it has to")
	}
	return true
}

// blocks returns the blocks of a long prompt, whose beginning servers may cut.
func (e *examination) blocks() []model.Block {
	var b strings.Builder
	b.WriteString("first word: " + e.first + "\n")
	for i := 1; b.Len() < longPrompt; i++ {
		fmt.Fprintf(&b, "- listitem %q [ref=e%d]\n", fmt.Sprintf("Item %d of a long page", i), i)
	}
	b.WriteString("last word: " + e.last + "\n")
	return []model.Block{{Text: b.String()}, {Text: "Report the first word and the last word of the text above."}}
}

// long checks that the beginning of a long prompt reaches the model.
func (e *examination) long(ctx context.Context) bool {
	answer, usage, took, ok := e.ask(ctx, "long prompts", e.blocks()...)
	if !ok {
		return false
	}
	args, problem := reported(answer)
	switch {
	case problem != "":
		e.add(Warn, "long prompts", "use a larger model, or a longer context", "of a request with about %d tokens, %s", usage.Input(), problem)
	case args["first"] != e.first:
		e.add(Fail, "long prompts", "give the model a longer context, 16,384 tokens or more: OLLAMA_CONTEXT_LENGTH=16384 for Ollama, --ctx-size for llama.cpp",
			"the beginning of a request with about %d tokens did not reach the model", longPrompt/4)
	case args["last"] != e.last:
		e.add(Warn, "long prompts", "use a larger model", "it does not find the end of a long request")
	default:
		e.add(OK, "long prompts", "", "it reads the beginning of a request with %d tokens, in %.1f s", usage.Input(), took.Seconds())
	}
	return true
}

// again sends the long prompt once more, so that its beginning may be cached, and with a picture.
func (e *examination) again(ctx context.Context) {
	blocks := append(e.blocks(), model.Block{Text: "Report the colour of the picture, too."})
	if !e.Settings.NoImages {
		blocks = append(blocks, model.Block{Image: redPicture()})
	}
	answer, usage, _, ok := e.ask(ctx, "pictures", blocks...)
	if !ok {
		e.checks[len(e.checks)-1].Hint += "; if it takes no pictures, set images: false for the model in trailblaze.yaml"
		return
	}
	args, problem := reported(answer)
	colour, _ := args["colour"].(string)
	switch {
	case e.Settings.NoImages:
		e.add(OK, "pictures", "", "not tried, because the project says that it takes none")
	case problem != "" || !strings.Contains(strings.ToLower(colour), "red"):
		e.add(Warn, "pictures", "set images: false for the model in trailblaze.yaml", "it does not see what is on a picture")
	default:
		e.add(OK, "pictures", "", "it sees what is on a picture")
	}
	if usage.CacheRead == 0 {
		e.add(OK, "cached tokens", "", "none are reported, so each request may cost as much as a new one")
		return
	}
	e.add(OK, "cached tokens", "", "%d %% of a request that repeats the one before it", 100*usage.CacheRead/usage.Input())
}

// cost returns the check that says what the requests used.
func (e *examination) cost() Check {
	about := ""
	if e.usage.Estimated {
		about = "~"
	}
	used := fmt.Sprintf("%s%d tokens sent, %s%d answered", about, e.usage.Input(), about, e.usage.Output)
	if cost, known := e.Settings.Price.Cost(e.usage); known {
		return ok("cost", fmt.Sprintf("%s: %s%.4f", used, about, cost))
	}
	return ok("cost", used+"; what they cost is unknown, because the project has no price of the model")
}

// reported returns the arguments of the only call of an answer, or what is wrong with the answer.
func reported(a model.Answer) (args map[string]any, problem string) {
	switch {
	case a.End == model.CutOff:
		return nil, "the answer was cut off: raise maxOutputTokens of the model"
	case a.End == model.Refused:
		return nil, "it refused to answer"
	case len(a.Calls) == 0:
		return nil, "it answered with text"
	case a.Calls[0].Name != "report":
		return nil, fmt.Sprintf("it called %q, which is not a tool", a.Calls[0].Name)
	case a.Calls[0].Problem != "":
		return nil, a.Calls[0].Problem
	}
	if err := json.Unmarshal(a.Calls[0].Args, &args); err != nil {
		return nil, err.Error()
	}
	return args, ""
}

// redPicture returns a PNG.
func redPicture() []byte {
	picture := image.NewRGBA(image.Rect(0, 0, 64, 64))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(color.RGBA{R: 220, A: 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	_ = png.Encode(&b, picture) // a buffer takes everything
	return b.Bytes()
}
