package web

import (
	_ "embed"
	"encoding/json"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

//go:embed dist/messages.js
var messagesJS string

const (
	// messageBinding is the function of the isolated world that messages.js calls.
	messageBinding = "trailblazeMessage"
	// maxMessageLength bounds such a text, in characters.
	maxMessageLength = 160
)

// script returns what is evaluated in the isolated world of each document.
func (d *webDevice) script() string {
	if d.session.Live {
		return d.backend.script + "\n" + messagesJS
	}
	return d.backend.script
}

// onBinding keeps a text that has come or is gone.
func (p *page) onBinding(s *cdp.Session, e cdp.Event) {
	var call struct {
		Name, Payload      string
		ExecutionContextID int
	}
	var told struct {
		Role, Text string
		ShownMs    int64
		Gone       bool
	}
	if e.Decode(&call) != nil || call.Name != messageBinding || json.Unmarshal([]byte(call.Payload), &told) != nil {
		return
	}
	m := device.Message{Role: told.Role, Text: notes.OneLine(p.device.redact(told.Text), maxMessageLength), For: time.Duration(told.ShownMs) * time.Millisecond}
	m.Began = time.Now().Add(-m.For)
	if m.Text == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.framesByID {
		if f.world != nil && f.world.id == call.ExecutionContextID && f.session.to.Load() == s {
			f.world.onMessage(m, told.Gone)
		}
	}
}

// onMessage keeps a text that has come into a document or is gone. The caller holds page.mu.
func (w *world) onMessage(m device.Message, gone bool) {
	if gone {
		delete(w.shown, m.Text)
		w.messages.Add(m)
		return
	}
	if w.shown == nil {
		w.shown = map[string]device.Message{}
	}
	if len(w.shown) < notes.MaxMessages {
		w.shown[m.Text] = m
	}
}

// endMessages says that the texts of a document are gone with it. The caller holds page.mu.
func (w *world) endMessages() {
	for _, m := range w.shown {
		m.For = time.Since(m.Began)
		w.messages.Add(m)
	}
}
