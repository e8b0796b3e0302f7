package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// Exchange is a request and what became of it, as a transcript keeps it in llm/NNN.json.
type Exchange struct {
	N          int               `json:"n"` // from 1 in a session
	Task       Task              `json:"task"`
	Model      string            `json:"model"` // PROVIDER/MODEL
	StartedAt  time.Time         `json:"startedAt"`
	DurationMs int64             `json:"durationMs"`
	Attempts   int               `json:"attempts"`
	System     string            `json:"system"`
	Tools      []Tool            `json:"tools"`
	Blocks     []Block           `json:"blocks"`
	Answer     *Answer           `json:"answer,omitempty"`   // nil if the request failed
	Elements   map[string]string `json:"elements,omitempty"` // role and name of each reference in the calls
	Usage      Usage             `json:"usage"`
	Cost       *float64          `json:"cost,omitempty"` // nil without a price
	Error      string            `json:"error,omitempty"`

	File string `json:"-"` // of the transcript
}

// Recorder is a Model that writes a transcript of what another one is asked. It may be used by any goroutine.
type Recorder struct {
	Model    Model
	Name     string              // PROVIDER/MODEL
	Dir      string              // the folder llm of a session; made when there is something to write
	Price    *Price              // nil when it is not known
	Redact   func(string) string // replaces secrets; nil for none
	Now      func() time.Time    // nil for time.Now
	Finished func(Exchange)      // is told of each exchange after it was written; may be nil

	mu   sync.Mutex
	last int // number of the last transcript; 0 before the folder was read
}

// Ask implements Model. An error of writing ends the request, because what was sent has to be seen.
func (r *Recorder) Ask(ctx context.Context, q Request) (Answer, Usage, error) {
	now := r.Now
	if now == nil {
		now = time.Now
	}
	started := now()
	answer, usage, err := r.Model.Ask(ctx, q)
	x := Exchange{
		Task: q.Task, Model: r.Name, StartedAt: started.UTC(), DurationMs: now().Sub(started).Milliseconds(), Attempts: usage.Attempts,
		System: q.System, Tools: q.Tools, Blocks: q.Blocks, Usage: usage,
	}
	if cost, ok := r.Price.Cost(usage); ok {
		x.Cost = &cost
	}
	if err != nil {
		x.Error = err.Error()
	} else {
		x.Answer, x.Elements = &answer, elements(answer, q.Element)
	}
	if r.Redact != nil {
		x = x.redacted(r.Redact)
	}
	if writeErr := r.write(&x); writeErr != nil && err == nil {
		return Answer{}, usage, writeErr
	}
	if r.Finished != nil {
		r.Finished(x)
	}
	return answer, usage, err
}

// write writes a transcript under the next number.
func (r *Recorder) write(x *Exchange) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := os.MkdirAll(r.Dir, 0o755)
	if err == nil && r.last == 0 {
		r.last, err = lastTranscript(r.Dir)
	}
	if err == nil {
		r.last++
		x.N, x.File = r.last, filepath.Join(r.Dir, fmt.Sprintf("%03d.json", r.last))
		var data []byte
		if data, err = json.MarshalIndent(x, "", "  "); err == nil {
			err = files.Replace(x.File, func(f *os.File) error { _, err := f.Write(append(data, '\n')); return err })
		}
	}
	if err != nil {
		return fault.Wrap(fault.IO, err, "make the folder of the session writable", "the transcript of a request cannot be written")
	}
	return nil
}

var transcriptName = lazyregexp.New(`^([0-9]{3,9})\.json$`)

func lastTranscript(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	last := 0
	for _, e := range entries {
		if m := transcriptName().FindStringSubmatch(e.Name()); m != nil {
			n, _ := strconv.Atoi(m[1]) // digits
			last = max(last, n)
		}
	}
	return last, err
}

// redacted returns x without secrets.
func (x Exchange) redacted(redact func(string) string) Exchange {
	raw := func(data json.RawMessage) json.RawMessage {
		clean := redact(string(data))
		if clean == string(data) || json.Valid([]byte(clean)) {
			return json.RawMessage(clean)
		}
		quoted, _ := json.Marshal(clean) // a number was a secret; a string is always encoded
		return quoted
	}
	x.Task.Trail, x.System, x.Error = redact(x.Task.Trail), redact(x.System), redact(x.Error)
	tools := make([]Tool, len(x.Tools))
	for i, t := range x.Tools {
		tools[i] = Tool{t.Name, redact(t.Description), raw(t.Schema)}
	}
	blocks := make([]Block, len(x.Blocks))
	for i, b := range x.Blocks {
		blocks[i] = Block{redact(b.Text), b.Image}
	}
	x.Tools, x.Blocks = tools, blocks
	if x.Answer != nil {
		a := Answer{End: x.Answer.End, Text: redact(x.Answer.Text)}
		for _, c := range x.Answer.Calls {
			call := Call{Name: redact(c.Name), Problem: redact(c.Problem)}
			if c.Args != nil {
				call.Args = raw(c.Args)
			}
			a.Calls = append(a.Calls, call)
		}
		x.Answer = &a
	}
	named := map[string]string{}
	for ref, element := range x.Elements {
		named[ref] = redact(element)
	}
	x.Elements = named
	return x
}

// withReferences returns an answer with other references in its calls: those in now, by those that it has.
func withReferences(a Answer, now map[string]string) Answer {
	if len(now) == 0 {
		return a
	}
	a.Calls = slices.Clone(a.Calls)
	for i, c := range a.Calls {
		args, err := withTexts(c.Args, func(text string) string { return cmp.Or(now[text], text) })
		if err == nil {
			a.Calls[i].Args = args
		}
	}
	return a
}

// elements returns role and name of each reference in the calls of an answer.
func elements(a Answer, element func(string) string) map[string]string {
	found := map[string]string{}
	if element == nil {
		return found
	}
	for _, c := range a.Calls {
		_, _ = withTexts(c.Args, func(text string) string {
			if is := element(text); is != "" {
				found[text] = is
			}
			return text
		})
	}
	return found
}

// withTexts returns JSON with other texts: what change returns for each of its values that is a text.
func withTexts(data json.RawMessage, change func(string) string) (json.RawMessage, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	var changed func(v any) any
	changed = func(v any) any {
		switch v := v.(type) {
		case string:
			return change(v)
		case []any:
			for i := range v {
				v[i] = changed(v[i])
			}
		case map[string]any:
			for key := range v {
				v[key] = changed(v[key])
			}
		}
		return v
	}
	return json.Marshal(changed(value))
}

// sameElement reports whether two descriptions of an element are equal but for white space.
func sameElement(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}
