package model

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// Bounds of answers.
const (
	maxBody  = 4 << 20 // bytes of an answer
	maxDepth = 64      // levels of its JSON
)

// MaxArgs is how many bytes the arguments of a call have at most.
const MaxArgs = 16 << 10

// imageTokens is what a picture of 1,280 pixels costs at most, for estimates.
const imageTokens = 1600

// toolName matches what all protocols accept.
var toolName = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)

// redacted returns a request without secrets.
func (c *Client) redacted(r Request) Request {
	r.System = c.Redact(r.System)
	tools := make([]Tool, len(r.Tools))
	for i, t := range r.Tools {
		tools[i] = Tool{t.Name, c.Redact(t.Description), json.RawMessage(c.Redact(string(t.Schema)))}
	}
	blocks := make([]Block, len(r.Blocks))
	for i, b := range r.Blocks {
		blocks[i] = Block{c.Redact(b.Text), b.Image}
	}
	r.Tools, r.Blocks = tools, blocks
	return r
}

// validate returns a Bug for a request that a provider would refuse, before it costs anything.
func (c *Client) validate(r Request) error {
	if len(r.Blocks) == 0 {
		return refused("it has no blocks")
	}
	names := map[string]bool{}
	for _, t := range r.Tools {
		if problem := t.Problem(); problem != "" {
			return refused("tool %q %s", t.Name, problem)
		}
		if names[t.Name] {
			return refused("tool %q is there twice", t.Name)
		}
		names[t.Name] = true
	}
	for i, b := range r.Blocks {
		switch {
		case len(b.Image) == 0 && strings.TrimSpace(b.Text) == "":
			return refused("block %d is empty", i)
		case len(b.Image) > 0 && b.Text != "":
			return refused("block %d is both a text and a picture", i)
		case len(b.Image) > 0 && !bytes.HasPrefix(b.Image, []byte("\x89PNG\r\n\x1a\n")):
			return refused("block %d is not a PNG", i)
		case len(b.Image) > 0 && c.Settings.NoImages:
			return refused("block %d is a picture, which %s does not take", i, c.Name())
		}
	}
	return nil
}

func refused(format string, args ...any) *fault.Error {
	f := fault.New(fault.Bug, "this is a bug in trailblaze; please report it", format, args...)
	f.Message = "a request to a model would be refused: " + f.Message
	return f
}

// Problem returns what a provider would refuse of a tool, "" for nothing.
func (t Tool) Problem() string {
	if !toolName().MatchString(t.Name) {
		return "has a name that is not 1 to 64 of a-z, A-Z, 0-9, _ and -"
	}
	var root map[string]json.RawMessage
	if json.Unmarshal(t.Schema, &root) != nil || string(root["type"]) != `"object"` {
		return "has a schema whose root is not of type object"
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		if root[key] != nil {
			return "has a schema with " + key + " at its root"
		}
	}
	return ""
}

// lastText returns the index of the last block that is a text, -1 for none.
func lastText(blocks []Block) int {
	for i, b := range slices.Backward(blocks) {
		if len(b.Image) == 0 {
			return i
		}
	}
	return -1
}

// newCall returns the call of a tool with arguments as JSON.
func newCall(name, args string) Call {
	call := Call{Name: name}
	raw := []byte(strings.TrimSpace(args))
	switch {
	case len(raw) > MaxArgs:
		call.Problem = "the arguments have " + text.Count(len(raw), "byte") + ", more than 16 KB"
	case !json.Valid(raw) || raw[0] != '{':
		call.Problem = "the arguments are not a JSON object: " + text.HeadBytes(args, 200)
	case depth(raw) > maxDepth:
		call.Problem = "the arguments are nested more than 64 levels deep"
	default:
		call.Args = raw
	}
	return call
}

// newAnswer returns the answer with some text and calls that was not cut off.
func newAnswer(said []string, calls []Call) Answer {
	a := Answer{End: Said, Text: strings.TrimSpace(strings.Join(said, "\n")), Calls: calls}
	if len(calls) > 0 {
		a.End = Called
	}
	return a
}

// depth returns how deep arrays and objects are nested in JSON.
func depth(raw []byte) int {
	level, deepest, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch b := raw[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case !quoted && (b == '{' || b == '['):
			level++
			deepest = max(deepest, level)
		case !quoted && (b == '}' || b == ']'):
			level--
		}
	}
	return deepest
}

// Size returns how many bytes a tool has in a request.
func (t Tool) Size() int { return len(t.Name) + len(t.Description) + len(t.Schema) }

// inputTokens estimates what a request costs.
func inputTokens(r Request) int { return r.Tokens(4) }

// Tokens returns how many tokens a request has, if one is some bytes.
func (r Request) Tokens(bytes int) int {
	size, images := len(r.System), 0
	for _, t := range r.Tools {
		size += t.Size()
	}
	for _, b := range r.Blocks {
		size += len(b.Text)
		if len(b.Image) > 0 {
			images++
		}
	}
	return (size+bytes-1)/bytes + images*imageTokens
}

// outputTokens estimates what an answer costs.
func outputTokens(a Answer) int {
	size := len(a.Text)
	for _, c := range a.Calls {
		size += len(c.Name) + len(c.Args)
	}
	return (size + 3) / 4
}
