package web

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

// given knows whether a page of the session was given a secret. Until then, pictures need no checks.
type given struct{ any atomic.Bool }

// noteSecret notes, before a call is made, whether its arguments have a secret. The current document of the page has it
// from then on. carries reports whether they do.
func (p *page) noteSecret(call tool.Call) (carries bool) {
	text := string(notes.Marshal(call.Args))
	redact := p.device.session.Redact
	if call.Tool != "web_fillSecret" && (redact == nil || redact(text) == text) {
		return false
	}
	p.giveSecret()
	return true
}

// noteSecretOpened notes the document that a call with a secret has opened. One that opens because a form was sent is not
// given the secret by the call; what it shows is read.
func (d *webDevice) noteSecretOpened(call tool.Call) {
	typing := []string{"inputText", "fill", "web_type", "web_fillSecret", "web_pressKey"}
	c := d.openContext()
	if c == nil || slices.Contains(typing, call.Tool) {
		return
	}
	if p := c.currentPage(); p != nil {
		p.giveSecret()
	}
}

// giveSecret notes that the document of the page has a secret.
func (p *page) giveSecret() {
	p.device.given.any.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.secretLoaders == nil {
		p.secretLoaders = map[string]bool{}
	}
	p.secretLoaders[p.root.loader] = true
}

// holdsSecret reports whether the document of the page was given a secret: its scripts can show it at any time, in a way
// that cannot be read.
func (p *page) holdsSecret() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.secretLoaders[p.root.loader]
}

// whyWithheld says why a picture of the page may show a secret, empty if it shows none.
func (p *page) whyWithheld(ctx context.Context) string {
	switch {
	case !p.device.given.any.Load():
		return ""
	case p.holdsSecret():
		return "a secret was given to this page"
	case slices.ContainsFunc(p.context.openPages(), func(o *page) bool { return o.targetID == p.openerID && o.holdsSecret() }):
		return "a secret was given to the page that opened this one"
	}
	texts, err := p.shownTexts(ctx)
	switch {
	case err != nil:
		return "whether the page shows a secret could not be checked: " + err.Error()
	case p.hasSecret(texts):
		return "the page shows a secret"
	}
	return ""
}

// pageSnapshot is what DOMSnapshot.captureSnapshot returns. Numbers are indexes of strings, -1 for none.
type pageSnapshot struct {
	Documents []struct {
		Nodes struct {
			Attributes            [][]int
			InputValue, TextValue struct{ Index, Value []int } // of the nodes with these indexes
		}
		Layout struct{ Text []int }
	}
	Strings []string
}

// shownTexts returns the texts that the page shows in their order, with those in closed shadow roots and frames, and
// then the values of its fields that are not masked.
func (p *page) shownTexts(ctx context.Context) (texts []string, err error) {
	var values []string
	seen := map[*cdp.Session]bool{}
	for _, f := range p.frames() {
		session := f.session.to.Load()
		if session == nil || seen[session] {
			continue
		}
		seen[session] = true
		var snapshot pageSnapshot
		if err := session.Call(ctx, "DOMSnapshot.captureSnapshot", map[string]any{"computedStyles": []string{}}, &snapshot); err != nil {
			return nil, err
		}
		for _, document := range snapshot.Documents {
			for _, i := range document.Layout.Text {
				texts = append(texts, snapshot.text(i))
			}
			for n, node := range document.Nodes.InputValue.Index {
				if !snapshot.isPassword(document.Nodes.Attributes[node]) {
					values = append(values, snapshot.text(document.Nodes.InputValue.Value[n]))
				}
			}
			for _, i := range document.Nodes.TextValue.Value {
				values = append(values, snapshot.text(i))
			}
		}
	}
	return append(texts, values...), nil
}

func (s *pageSnapshot) text(i int) string {
	if i < 0 || i >= len(s.Strings) {
		return ""
	}
	return s.Strings[i]
}

// isPassword reports whether attributes, which are names and values in turn, are those of a field that is masked.
func (s *pageSnapshot) isPassword(attributes []int) bool {
	for i := 0; i+1 < len(attributes); i += 2 {
		if s.text(attributes[i]) == "type" && strings.EqualFold(s.text(attributes[i+1]), "password") {
			return true
		}
	}
	return false
}

// hasSecret reports whether a secret is in texts, or in several of them together, in either direction.
func (p *page) hasSecret(texts []string) bool {
	joined := strings.Join(texts, "")
	unspaced := strings.Join(strings.Fields(joined), "")
	backwards := []rune(unspaced)
	slices.Reverse(backwards)
	for _, text := range []string{strings.Join(texts, "\n"), joined, unspaced, string(backwards)} {
		if p.notes.Redact(text) != text {
			return true
		}
		if redact := p.device.session.Redact; redact != nil && redact(text) != text {
			return true
		}
	}
	return false
}

// safeScreenshot returns a PNG of the viewport. The error says why it may show a secret.
func (p *page) safeScreenshot(ctx context.Context) ([]byte, error) {
	if why := p.whyWithheld(ctx); why != "" {
		return nil, errors.New(why)
	}
	data, err := p.screenshot(ctx)
	if err != nil {
		return nil, err
	}
	if why := p.whyWithheld(ctx); why != "" {
		return nil, errors.New(why)
	}
	return data, nil
}
