package studio

import (
	"context"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// ask shows what the device asks. It takes the place of what was asked before.
func (d *desk) ask(a ask) (id int) {
	d.set(func() {
		d.ids++
		a.ID, id = d.ids, d.ids
		if a.Options == nil {
			a.Options = []live.Option{}
		}
		d.state.Ask = &a
	})
	return id
}

// askOf shows the popup of an element, which the picture does not have.
func (d *desk) askOf(q gesture.Question, at gesture.Target) {
	d.mu.Lock()
	d.question = &q
	d.mu.Unlock()
	d.ask(ask{Kind: q.Kind, Text: q.Text, Value: q.Value, Multiple: q.Multiple, Options: q.Options, Bounds: at.Element.Bounds})
}

// askDialog asks the person how to answer a dialog of a page.
func (d *desk) askDialog(ctx context.Context, q device.Question) (device.Answer, bool) {
	answers := make(chan answer, 1)
	d.mu.Lock()
	watched := d.visible > 0
	d.answers = answers
	d.mu.Unlock()
	if !watched {
		return device.Answer{}, false
	}
	id := d.ask(ask{Kind: q.Kind, Text: q.Text, Value: q.Value})
	defer d.set(func() {
		d.answers = nil
		if d.state.Ask != nil && d.state.Ask.ID == id {
			d.state.Ask = nil
		}
	})
	select {
	case a := <-answers:
		d.noteDialog(q, a)
		return device.Answer{Accept: a.OK, Text: a.Text}, true
	case <-ctx.Done():
		return device.Answer{}, false
	}
}

// noteDialog keeps the call with which a replay answers a dialog as the person did. A replay dismisses dialogs unless a
// call says otherwise, and an alert has one answer only.
func (d *desk) noteDialog(q device.Question, a answer) {
	args := map[string]any{"action": "DISMISS"}
	if a.OK {
		args["action"] = "ACCEPT"
		if q.Kind == "prompt" {
			args["text"] = a.Text
		}
	}
	policy := fmt.Sprint(args)
	d.mu.Lock()
	defer d.mu.Unlock()
	if q.Kind == "alert" || policy == d.policy || d.policy == "" && !a.OK {
		return
	}
	d.policy = policy
	d.dialogs = append(d.dialogs, trail.Call{Tool: "web_handleDialog", Args: args})
}

// answer takes what the person answers to what was asked.
func (d *desk) answer(_ context.Context, a answer) (any, error) {
	d.mu.Lock()
	asked, waiting, q := d.state.Ask, d.answers, d.question
	if asked == nil || asked.ID != a.Ask {
		d.mu.Unlock()
		return nil, fault.New(fault.InvalidArguments, "", "nothing asks for that answer any more")
	}
	if waiting != nil {
		waiting <- a
		d.answers = nil
		d.mu.Unlock()
		return nil, nil
	}
	d.mu.Unlock()
	d.set(func() { d.state.Ask, d.question = nil, nil })
	if !a.OK {
		return nil, nil
	}
	var calls []trail.Call
	var err error
	if asked.Kind == "files" && q == nil {
		calls = []trail.Call{{Tool: "web_uploadFile", Args: map[string]any{"files": anys(a.Values)}}}
	} else {
		calls, err = gesture.Answer(d.device(), *q, a.Values)
	}
	if err != nil {
		return nil, err
	}
	leave, err := d.line.join()(d.ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return d.make(d.ctx, trail.KindStep, true, calls...)
}

func anys(values []string) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

type noticeParams struct {
	Notice int    `json:"notice"`
	Action string `json:"action"`
}

// notice does what the person chose for a new tab or a download.
func (d *desk) notice(ctx context.Context, p noticeParams) (any, error) {
	var found notice
	d.set(func() {
		left := []notice{}
		for _, n := range d.state.Notices {
			if n.ID == p.Notice {
				found = n
			} else {
				left = append(left, n)
			}
		}
		d.state.Notices = left
	})
	tool := ""
	switch {
	case p.Action == "switch" && found.Kind == "tab":
		tool = "web_waitForTab"
	case p.Action == "keep" && found.Kind == "download":
		tool = "web_waitForDownload"
	default:
		return nil, nil
	}
	if err := d.endTyping(ctx); err != nil {
		return nil, err
	}
	return d.make(ctx, trail.KindStep, true, trail.Call{Tool: tool, Args: map[string]any{}})
}

func showOf(name string) device.Show {
	if strings.HasPrefix(name, "req") {
		return device.ShowRequests
	}
	return device.ShowConsole
}
