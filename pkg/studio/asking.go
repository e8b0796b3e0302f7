package studio

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// asking is an ask with what its answer is for: a dialog that waits, or the question that a gesture or a file chooser asks.
type asking struct {
	ask
	dialog   chan answer      // nil if it is not a dialog
	question gesture.Question // of all else
}

// ask shows what the device asks. Dialogs wait, and all else takes the place of what was asked before.
func (d *desk) ask(a *asking) {
	d.set(func() {
		d.ids++
		a.ID, a.Text, a.Value = d.ids, d.clean(a.Text), d.clean(a.Value)
		if a.Options == nil {
			a.Options = []live.Option{}
		}
		if a.dialog == nil {
			d.asks = slices.DeleteFunc(d.asks, func(other *asking) bool { return other.dialog == nil })
		}
		d.asks = append(d.asks, a)
	})
}

// asked returns what the person is to answer now: dialogs first, since the page waits for them. The caller holds mu.
func (d *desk) asked() *asking {
	for _, a := range d.asks {
		if a.dialog != nil {
			return a
		}
	}
	if len(d.asks) == 0 {
		return nil
	}
	return d.asks[0]
}

// withdraw ends an ask.
func (d *desk) withdraw(a *asking) {
	d.set(func() { d.asks = slices.DeleteFunc(d.asks, func(other *asking) bool { return other == a }) })
}

// askOf shows the popup of an element, or a file chooser, which the picture does not have.
func (d *desk) askOf(q gesture.Question) {
	d.ask(&asking{question: q, ask: ask{
		Kind: q.Kind, Text: q.Text, Value: q.Value, Input: q.Input, Multiple: q.Multiple, Options: q.Options, Bounds: q.Bounds,
	}})
}

// askDialog asks the person how to answer a dialog of a page. In a replay, the trail answers.
func (d *desk) askDialog(ctx context.Context, q device.Question) (device.Answer, bool) {
	d.mu.Lock()
	nobody := d.visible == 0 || !d.isOwn()
	d.mu.Unlock()
	if nobody {
		return device.Answer{}, false
	}
	a := &asking{dialog: make(chan answer, 1), ask: ask{Kind: q.Kind, Text: q.Text, Value: q.Value}}
	d.ask(a)
	defer d.withdraw(a)
	select {
	case given := <-a.dialog:
		d.noteDialog(q, given)
		return device.Answer{Accept: given.OK, Text: given.Text}, true
	case <-ctx.Done():
		return device.Answer{}, false
	}
}

// noteDialog keeps the call with which a replay answers a dialog as the person did. A replay dismisses dialogs unless a
// call before says otherwise, and an alert has one answer only.
func (d *desk) noteDialog(q device.Question, a answer) {
	args := map[string]any{"action": "DISMISS"}
	if a.OK {
		args["action"] = "ACCEPT"
		if q.Kind == "prompt" {
			args["text"] = a.Text
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.policy()
	if q.Kind == "alert" || fmt.Sprint(args) == fmt.Sprint(before) || before == nil && !a.OK {
		return
	}
	d.dialogs = append(d.dialogs, trail.Call{Tool: handleDialog, Args: args})
}

const handleDialog = "web_handleDialog"

// policy returns the arguments of the call that says how a replay answers dialogs where the next call is recorded; nil
// for none. The caller holds mu.
func (d *desk) policy() (args map[string]any) {
	if len(d.dialogs) > 0 {
		return d.dialogs[len(d.dialogs)-1].Args
	}
	after := d.placeAfter()
	for _, s := range d.doc.Steps() {
		for _, c := range s.Calls {
			if c.Tool == handleDialog {
				args = c.Args
			}
			if c.Number == after {
				return args
			}
		}
		if s.Number == after {
			break
		}
	}
	return args
}

// answer takes what the person answers to what was asked.
func (d *desk) answer(_ context.Context, a answer) (any, error) {
	d.mu.Lock()
	asked := d.asked()
	d.mu.Unlock()
	if asked == nil || asked.ID != a.Ask {
		return nil, fault.New(fault.InvalidArguments, "", "nothing asks for that answer any more")
	}
	d.withdraw(asked)
	switch {
	case asked.dialog != nil:
		select {
		case asked.dialog <- a:
		default: // another answer was faster
		}
		return nil, nil
	case !a.OK:
		return nil, nil
	}
	calls, err := gesture.Answer(asked.question, a.Values)
	if err != nil {
		return nil, err
	}
	leave, err := d.join()(d.ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := d.endTyping(d.ctx); err != nil {
		return nil, err
	}
	return d.make(d.ctx, trail.KindStep, calls...)
}

type noticeParams struct {
	Notice int    `json:"notice"`
	Action string `json:"action"`
}

// notice does what the person chose for a new tab, a download, or the data of the app. The notice is gone when that was
// done.
func (d *desk) notice(ctx context.Context, p noticeParams) (any, error) {
	is := func(n notice) bool { return n.ID == p.Notice }
	d.mu.Lock()
	about, several := notice{}, false
	if i := slices.IndexFunc(d.state.Notices, is); i >= 0 {
		about = d.state.Notices[i]
		several = slices.ContainsFunc(d.state.Notices, func(n notice) bool { return n.Kind == about.Kind && n.ID != about.ID })
	}
	d.mu.Unlock()
	result, err := d.doNoticed(ctx, about, several, p.Action)
	if m, isMade := result.(made); err == nil && (!isMade || m.OK) {
		d.set(func() { d.state.Notices = slices.DeleteFunc(d.state.Notices, is) })
	}
	return result, err
}

// doNoticed carries out an action that a notice offers. several says that there are others of its kind.
func (d *desk) doNoticed(ctx context.Context, n notice, several bool, action string) (any, error) {
	c := trail.Call{Args: map[string]any{}}
	switch {
	case action == "fresh" && n.Kind == "data":
		if err := d.endTyping(ctx); err != nil {
			return nil, err
		}
		return d.startFresh(ctx)
	case action == "switch" && n.Kind == "tab":
		c.Tool = "web_waitForTab"
		if several {
			c.Args = d.tabOf(n)
		}
	case action == "keep" && n.Kind == "download":
		c.Tool = "web_waitForDownload"
		if several {
			c.Args = downloadOf(n)
		}
	default:
		return nil, nil
	}
	if err := d.endTyping(ctx); err != nil {
		return nil, err
	}
	return d.make(ctx, trail.KindStep, c)
}

// tabOf returns the arguments that say which tab a notice is about: its text is the URL.
func (d *desk) tabOf(n notice) map[string]any {
	if strings.Contains(n.Text, " ") { // it says that a tab was closed
		return map[string]any{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	address := n.Text
	if d.session != nil {
		address = d.session.app.pathOf(address)
	}
	return map[string]any{"urlPattern": regexp.QuoteMeta(address) + "$"}
}

// downloadText is what notices say of a download.
var downloadText = lazyregexp.New(`^(.+) (?:from \S+|is \w+, [\d,]+ bytes?)$`)

// downloadOf returns the arguments that say which download a notice is about.
func downloadOf(n notice) map[string]any {
	if m := downloadText().FindStringSubmatch(n.Text); m != nil {
		return map[string]any{"fileName": m[1]}
	}
	return map[string]any{}
}
