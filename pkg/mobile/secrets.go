package mobile

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// given knows to which screens and apps calls gave a secret. Until one gave a secret, pictures need no checks.
type given struct {
	mu        sync.Mutex
	any       bool
	apps      map[string]bool // that may show it on any screen
	fields    map[string]bool // whose screens may show it, see fieldKey
	clipboard bool            // holds a secret
}

// noteSecret notes before a call is made whether it gives a secret: what is typed to the screen that has the fields
// which are there now, anything else to the app in front, before and after the call. done is called after the call.
func (d *phone) noteSecret(ctx context.Context, call tool.Call) (done func()) {
	g, text, redact := &d.given, string(marshal(call.Args)), d.session.Redact
	carries := redact != nil && redact(text) != text
	g.mu.Lock()
	defer g.mu.Unlock()
	switch call.Tool {
	case "mobile_pasteClipboard":
		carries = carries || g.clipboard
	case "mobile_setClipboard", "setClipboard":
		g.clipboard = carries
	}
	g.any = g.any || carries
	if !carries {
		return func() {}
	}
	switch call.Tool {
	case "inputText", "mobile_pasteClipboard":
		d.giveFields(ctx)
	case "openUrl", "mobile_maestro", "maestro", "adbShell", "android_adbShell", "android_sendBroadcast":
		d.giveApp(ctx)
		return func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			d.giveApp(ctx)
		}
	}
	return func() {}
}

// giveFields notes that the screen was given a secret. Its fields tell it from others; without one, the whole app was.
// The caller holds given.mu.
func (d *phone) giveFields(ctx context.Context) {
	front, frontErr := d.driver.Foreground(ctx)
	now, err := d.driver.Read(ctx)
	if err != nil || frontErr != nil || !slices.ContainsFunc(now.Tree.Nodes(), isField) {
		d.giveApp(ctx)
		return
	}
	if d.given.fields == nil {
		d.given.fields = map[string]bool{}
	}
	for _, n := range now.Tree.Nodes() {
		if isField(n) {
			d.given.fields[fieldKey(front, n)] = true
		}
	}
}

// giveApp notes that the app in front was given a secret. The caller holds given.mu.
func (d *phone) giveApp(ctx context.Context) {
	front, _ := d.driver.Foreground(ctx)
	if d.given.apps == nil {
		d.given.apps = map[string]bool{}
	}
	d.given.apps[front] = true // empty, when it is not known, stands for all
}

// forgetSecrets notes that everything that an app had stored was removed.
func (d *phone) forgetSecrets(app string) {
	d.given.mu.Lock()
	defer d.given.mu.Unlock()
	delete(d.given.apps, app)
	for key := range d.given.fields {
		if strings.HasPrefix(key, app+"\x00") {
			delete(d.given.fields, key)
		}
	}
}

// fieldKey identifies a field of an app, wherever it is on the screen and whatever it holds.
func fieldKey(app string, n *screen.Node) string {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return app + "\x00" + text(n.Class) + "\x00" + cmp.Or(text(n.ID), text(n.Hint))
}

// whyWithheld says why a picture of the screen may show a secret; empty if it shows none.
func (d *phone) whyWithheld(ctx context.Context, driver *serial) string {
	d.given.mu.Lock()
	defer d.given.mu.Unlock()
	if !d.given.any {
		return ""
	}
	front, err := driver.Foreground(ctx)
	switch {
	case err != nil:
		return "whether the screen shows a secret could not be checked: " + err.Error()
	case d.given.apps[front], d.given.apps[""], front == "" && len(d.given.apps) > 0:
		return "a secret was given to this app"
	}
	now, err := driver.Read(ctx)
	if err != nil {
		return "whether the screen shows a secret could not be checked: " + err.Error()
	}
	if slices.ContainsFunc(now.Tree.Nodes(), func(n *screen.Node) bool { return isField(n) && d.given.fields[fieldKey(front, n)] }) {
		return "a secret was given to this screen"
	}
	return d.shownSecret(now.Tree)
}

// shownSecret says that a secret is on a screen; empty if none is.
func (d *phone) shownSecret(t *screen.Tree) string {
	redact := d.session.Redact
	if redact == nil {
		return ""
	}
	var texts []string
	for _, n := range t.Nodes() {
		for _, text := range []*string{n.Text, n.Value, n.Label} {
			if text != nil {
				texts = append(texts, strings.Join(strings.Fields(*text), ""))
			}
		}
	}
	for _, text := range []string{t.Text(screen.TextOptions{Whole: true}).String(), strings.Join(texts, "")} {
		if redact(text) != text {
			return "the screen shows a secret"
		}
	}
	return ""
}

// safeScreenshot returns a picture of the screen, or why it may show a secret.
func (d *phone) safeScreenshot(ctx context.Context, driver *serial) (data []byte, withheld string, err error) {
	if why := d.whyWithheld(ctx, driver); why != "" {
		return nil, why, nil
	}
	if data, err = driver.Screenshot(ctx); err != nil {
		return nil, "", err
	}
	if why := d.whyWithheld(ctx, driver); why != "" {
		return nil, why, nil
	}
	return data, "", nil
}
