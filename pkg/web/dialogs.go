package web

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// dialogs are those of a session and how they are answered. They may be used from any goroutine.
type dialogs struct {
	mu     sync.Mutex
	policy dialogPolicy
	// unverified are the dialogs since the one that a web_verifyDialog found last, at most maxNotes.
	unverified []dialog
	// dismissed are those that were dismissed since the last action, at most maxNotes.
	dismissed []dialog
}

// dialogPolicy is how dialogs are answered.
type dialogPolicy struct {
	accept bool
	text   string // for a prompt
}

// dialog is one that a page opened.
type dialog struct{ kind, message string }

func (d dialog) String() string { return fmt.Sprintf("%s %q", d.kind, d.message) }

func dialogCommands() []command {
	list := []command{
		newCommand("web_handleDialog", "Accepts or dismisses dialogs from now on; by default they are dismissed.",
			enum("action", "What to do", "ACCEPT", "DISMISS")+
				`, "text": {"type": "string", "description": "The text to enter into prompts"}`,
			webHandleDialog),
		newCommand("web_verifyDialog",
			"Fails unless a dialog was opened since the one that the last call of this command found.",
			`"message": {"type": "string", "description": "Its whole text"}, "type": {"type": "string",
			"pattern": "^(?i:alert|confirm|prompt|beforeunload)$", "description": "alert, confirm, prompt or beforeunload"}, `+
				timeoutProperty+`, "default": 5000}`, webVerifyDialog),
	}
	for i := range list {
		list[i].withoutPage = true
	}
	return list
}

func webHandleDialog(_ context.Context, p *page, args map[string]any) (tool.Result, error) {
	action, err := arguments(args).word("action", "ACCEPT", "DISMISS")
	if err != nil {
		return tool.Result{}, err
	}
	d := p.device.dialogs
	d.mu.Lock()
	defer d.mu.Unlock()
	d.policy = dialogPolicy{accept: action == "ACCEPT", text: arguments(args).text("text")}
	if d.policy.accept {
		return success("dialogs are accepted from now on"), nil
	}
	return success("dialogs are dismissed from now on"), nil
}

// webVerifyDialog waits for a dialog. It and those before it are not verified again.
func webVerifyDialog(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a, ds := arguments(args), p.device.dialogs
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
		"no dialog%s was opened within %s; %s", patternWords(a, "type", "message"), limit, ds)
}

// take returns the first unverified dialog that matches, and forgets it and those before it.
func (ds *dialogs) take(a arguments) (dialog, bool) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for i, d := range ds.unverified {
		if (!a.has("message") || d.message == a.text("message")) && (!a.has("type") || strings.EqualFold(d.kind, a.text("type"))) {
			ds.unverified = ds.unverified[i+1:]
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
	return seen("dialog", words)
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

// maxSeen is how many things an error lists that came instead of what was waited for.
const maxSeen = 5

// seen says which things came instead of what was waited for: the last ones.
func seen(what string, words []string) string {
	switch {
	case len(words) == 0:
		return what + "s: none"
	case len(words) > maxSeen:
		return fmt.Sprintf("the last %d of %d %ss: %s", maxSeen, len(words), what, strings.Join(words[len(words)-maxSeen:], ", "))
	}
	return what + "s: " + strings.Join(words, ", ")
}

// patternWords says which arguments a call has, for messages, such as: with fileName "a.csv".
func patternWords(a arguments, names ...string) string {
	var words []string
	for _, name := range names {
		if a.has(name) {
			words = append(words, fmt.Sprintf("%s %q", name, fmt.Sprint(a[name])))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " with " + strings.Join(words, " and ")
}

// onDialog accepts or dismisses a dialog at once: while it is open, scripts of the page do not run. A beforeunload
// dialog is always accepted.
func (p *page) onDialog(s *cdp.Session, e cdp.Event) {
	var opened struct{ Type, Message, DefaultPrompt string }
	if e.Decode(&opened) != nil {
		return
	}
	ds := p.device.dialogs
	ds.mu.Lock()
	policy := ds.policy
	if ds.unverified = append(ds.unverified, dialog{opened.Type, opened.Message}); len(ds.unverified) > maxNotes {
		ds.unverified = ds.unverified[1:]
	}
	ds.mu.Unlock()
	if opened.Type == "beforeunload" {
		policy = dialogPolicy{accept: true}
	}
	params, did := map[string]any{"accept": policy.accept}, "dismissed"
	if policy.accept {
		did = "accepted"
	}
	if opened.Type == "prompt" && policy.accept {
		params["promptText"] = policy.text
	}
	ds.mu.Lock()
	if !policy.accept && len(ds.dismissed) < maxNotes {
		ds.dismissed = append(ds.dismissed, dialog{opened.Type, opened.Message})
	}
	ds.mu.Unlock()
	s.Send("Page.handleJavaScriptDialog", params)
	p.notes.add(noteDialog, "%s %q, %s", opened.Type, opened.Message, did)
	p.device.changes.notify()
}
