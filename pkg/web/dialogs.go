package web

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// dialogs are those of a session and how they are answered. They may be used from any goroutine.
type dialogs struct {
	mu     sync.Mutex
	policy dialogPolicy
	// unverified are the dialogs since the one that a web_verifyDialog found last, at most notes.MaxNotes.
	unverified []dialog
	// dismissed are those that were dismissed since the last action, at most notes.MaxNotes.
	dismissed []dialog
	opened    int // number of dialogs
	// unanswered are those for which no web_handleDialog was called before and which no web_verifyDialog has found, at
	// most notes.MaxNotes. Dialogs of the kind beforeunload are not among them.
	unanswered []unanswered
}

// unanswered is a dialog as an incident.
type unanswered struct {
	number int
	tool.Incident
}

// dialogPolicy is how dialogs are answered.
type dialogPolicy struct {
	given  bool // by web_handleDialog
	accept bool
	text   string // for a prompt
}

// dialog is one that a page opened.
type dialog struct {
	kind, message string
	number        int // in the session, from 1
}

func (d dialog) String() string { return fmt.Sprintf("%s %q", d.kind, d.message) }

func dialogCommands() []command {
	list := []command{
		newCommand("web_handleDialog", "Accepts or dismisses dialogs from now on; by default they are dismissed.",
			syntax.Enum("action", "What to do", "ACCEPT", "DISMISS")+
				`, "text": {"type": "string", "description": "The text to enter into prompts"}`,
			webHandleDialog),
		newCommand("web_verifyDialog",
			"Fails unless a dialog was opened since the one that the last call of this command found.",
			`"message": {"type": "string", "description": "Its whole text"}, "type": {"type": "string",
			"pattern": "^(?i:alert|confirm|prompt|beforeunload)$", "description": "alert, confirm, prompt or beforeunload"}, `+
				syntax.TimeoutProperty+`, "default": 5000}`, webVerifyDialog),
	}
	for i := range list {
		list[i].withoutPage = true
	}
	return list
}

func webHandleDialog(_ context.Context, p *page, args map[string]any) (tool.Result, error) {
	action, err := syntax.Arguments(args).Word("action", "ACCEPT", "DISMISS")
	if err != nil {
		return tool.Result{}, err
	}
	d := p.device.dialogs
	d.mu.Lock()
	defer d.mu.Unlock()
	d.policy = dialogPolicy{given: true, accept: action == "ACCEPT", text: syntax.Arguments(args).Text("text")}
	if d.policy.accept {
		return success("dialogs are accepted from now on"), nil
	}
	return success("dialogs are dismissed from now on"), nil
}

// webVerifyDialog waits for a dialog. It and those before it are not verified again.
func webVerifyDialog(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a, ds := syntax.Arguments(args), p.device.dialogs
	limit := p.assertionLimit(ctx, a)
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var found dialog
	err := p.device.changes.waitUntil(waiting, func() (ok bool) {
		found, ok = ds.take(a)
		return ok
	})
	switch {
	case err == nil:
		return success("the page opened the %s", found), nil
	case ctx.Err() != nil:
		return tool.Result{}, err
	}
	return tool.Result{}, fault.New(fault.ToolFailed, "message is the whole text of the dialog",
		"no dialog%s was opened within %s; %s", a.InWords("type", "message"), limit, ds)
}

// take returns the first unverified dialog that matches, and forgets it and those before it.
func (ds *dialogs) take(a syntax.Arguments) (dialog, bool) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for i, d := range ds.unverified {
		if (!a.Has("message") || d.message == a.Text("message")) && (!a.Has("type") || strings.EqualFold(d.kind, a.Text("type"))) {
			ds.unverified = ds.unverified[i+1:]
			ds.unanswered = slices.DeleteFunc(ds.unanswered, func(u unanswered) bool { return u.number == d.number })
			return d, true
		}
	}
	return dialog{}, false
}

// String lists the unverified dialogs in words.
func (ds *dialogs) String() string {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	words := make([]string, len(ds.unverified))
	for i, d := range ds.unverified {
		words[i] = d.String()
	}
	return text.Seen("dialog", words)
}

// startAction forgets what was dismissed before an action.
func (ds *dialogs) startAction() {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.dismissed = nil
}

// troubles names the dialogs that were dismissed since the last action; empty for none.
func (ds *dialogs) troubles() string {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if len(ds.dismissed) == 0 {
		return ""
	}
	last := ds.dismissed[len(ds.dismissed)-1]
	return last.String() + " was dismissed"
}

// onDialog accepts or dismisses a dialog at once: while it is open, scripts of the page do not run. A beforeunload
// dialog is accepted, unless web_handleDialog says otherwise. If a person can be asked, the dialog waits for them, unless
// web_handleDialog was called.
func (p *page) onDialog(s *cdp.Session, e cdp.Event) {
	var opened struct{ Type, Message, DefaultPrompt string }
	if e.Decode(&opened) != nil {
		return
	}
	at, call := p.url(), p.device.incidents.During()
	d, policy := p.device.dialogs.open(opened.Type, opened.Message)
	p.device.changes.notify()
	answer := func(policy dialogPolicy) {
		p.answerDialog(s, d, policy, at, call)
	}
	q := device.Question{Kind: d.kind, Text: p.device.redact(d.message), Value: p.device.redact(opened.DefaultPrompt)}
	if !p.ask(q, policy, answer) {
		answer(policy)
	}
}

// answerDialog answers a dialog that was opened during a call, on the page at a URL.
func (p *page) answerDialog(s *cdp.Session, d dialog, policy dialogPolicy, at, call string) {
	params, did := map[string]any{"accept": policy.accept}, "dismissed"
	switch {
	case policy.accept:
		did = "accepted"
	case p.device.session.Live && !policy.given && d.kind != "alert":
		did += "; web_handleDialog before the call accepts it"
	}
	if d.kind == "prompt" && policy.accept {
		params["promptText"] = policy.text
	}
	if !policy.accept {
		p.device.dialogs.dismiss(d, policy, at, call)
	}
	s.Send("Page.handleJavaScriptDialog", params)
	p.notes.Add(notes.Dialog, "%s, %s", d, did)
	p.device.changes.notify()
}

// open notes a dialog, and returns how it is answered.
func (ds *dialogs) open(kind, message string) (dialog, dialogPolicy) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.opened++
	d := dialog{kind, message, ds.opened}
	if ds.unverified = append(ds.unverified, d); len(ds.unverified) > notes.MaxNotes {
		ds.unverified = ds.unverified[1:]
	}
	if kind == "beforeunload" && !ds.policy.given {
		return d, dialogPolicy{accept: true}
	}
	return d, ds.policy
}

// dismiss notes that a dialog on the page at a URL is dismissed.
func (ds *dialogs) dismiss(d dialog, policy dialogPolicy, at, call string) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if len(ds.dismissed) < notes.MaxNotes {
		ds.dismissed = append(ds.dismissed, d)
	}
	if policy.given || len(ds.unanswered) == notes.MaxNotes {
		return
	}
	ds.unanswered = append(ds.unanswered, unanswered{d.number, tool.Incident{
		Kind: tool.UnhandledDialog, Call: call, Text: fmt.Sprintf("%s was dismissed, on %s", d, shorten(at)),
		Hint: "answer it with web_handleDialog before it opens, or check it with web_verifyDialog afterwards",
	}})
}

// takeUnanswered returns the dialogs that the trail has not answered, each once.
func (ds *dialogs) takeUnanswered() []tool.Incident {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	var out []tool.Incident
	for _, u := range ds.unanswered {
		out = append(out, u.Incident)
	}
	ds.unanswered = nil
	return out
}
