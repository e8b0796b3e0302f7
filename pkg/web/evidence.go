package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const (
	// maxNotes of each kind are kept: the first ones, which others often follow from.
	maxNotes = 200
	// maxNoteLength bounds one of them.
	maxNoteLength = 2000
	// maxDownload is the size of the largest download that is kept.
	maxDownload = 64 << 20
	// evidenceLimit bounds each part of the evidence, all of which are collected at once. A page that hangs shows none of them.
	evidenceLimit = 4 * time.Second
)

// notes are what happened in the pages of a session. They may be taken from any goroutine.
type notes struct {
	mu      sync.Mutex
	lists   [kindsOfNotes][]string
	omitted [kindsOfNotes]int
	secrets []string

	files    map[string]string // names of downloads, by the browser's id
	complete []string          // ids of those that nobody has kept yet
}

type kindOfNote int

const (
	noteConsole kindOfNote = iota
	noteRequest
	noteDialog
	noteTab
	noteDownload
	kindsOfNotes
)

func (k kindOfNote) String() string {
	return [...]string{"Console errors", "Failed requests", "Dialogs", "Other tabs", "Downloads"}[k]
}

func (n *notes) add(kind kindOfNote, format string, args ...any) {
	text := []rune(strings.TrimSpace(fmt.Sprintf(format, args...)))
	if len(text) > maxNoteLength {
		text = append(text[:maxNoteLength], '…')
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.lists[kind]) == maxNotes {
		n.omitted[kind]++
		return
	}
	n.lists[kind] = append(n.lists[kind], string(text))
}

func (n *notes) dialog(kind, message string, accepted bool) {
	did := "dismissed"
	if accepted {
		did = "accepted"
	}
	n.add(noteDialog, "%s %q, %s", kind, message, did)
}

// console notes what events of three kinds tell: errors and warnings that scripts write, errors that nobody caught, and what the browser
// says, among that which requests failed.
func (n *notes) console(e cdp.Event) {
	var p struct {
		Type             string
		Args             []remoteObject
		ExceptionDetails exception
		Entry            struct{ Source, Level, Text, URL string }
	}
	if e.Decode(&p) != nil {
		return
	}
	switch {
	case e.Method == "Runtime.consoleAPICalled":
		if p.Type == "error" || p.Type == "warning" || p.Type == "assert" {
			n.add(noteConsole, "console.%s: %s", p.Type, strings.Join(texts(p.Args), " "))
		}
	case e.Method == "Runtime.exceptionThrown":
		n.add(noteConsole, "%s", p.ExceptionDetails.String())
	case p.Entry.Level != "error":
	case p.Entry.Source == "network":
		n.add(noteRequest, "%s: %s", p.Entry.URL, strings.TrimPrefix(p.Entry.Text, "Failed to load resource: "))
	default:
		n.add(noteConsole, "%s: %s (%s)", p.Entry.Source, p.Entry.Text, p.Entry.URL)
	}
}

func texts(args []remoteObject) []string {
	list := make([]string, len(args))
	for i, arg := range args {
		var text string
		switch {
		case arg.Value == nil:
			text = arg.Description + arg.UnserializableValue
		case json.Unmarshal(arg.Value, &text) != nil:
			text = string(arg.Value)
		}
		list[i] = text
	}
	return list
}

// download notes that a download begins, or how it ended.
func (n *notes) download(e cdp.Event) {
	var p struct {
		GUID, URL, SuggestedFilename, State string
		ReceivedBytes                       float64
	}
	if e.Decode(&p) != nil {
		return
	}
	n.mu.Lock()
	if p.SuggestedFilename != "" {
		n.files[p.GUID] = p.SuggestedFilename
	}
	name := n.files[p.GUID]
	if p.State == "completed" {
		n.complete = append(n.complete, p.GUID)
	}
	n.mu.Unlock()
	switch {
	case p.SuggestedFilename != "":
		n.add(noteDownload, "%s from %s", name, p.URL)
	case p.State == "completed" || p.State == "canceled":
		n.add(noteDownload, "%s is %s, %.0f bytes", name, p.State, p.ReceivedBytes)
	}
}

// takeCompleted returns the names of the downloads that are complete, by the browser's id, each once.
func (n *notes) takeCompleted() map[string]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	files := map[string]string{}
	for _, id := range n.complete {
		files[id] = n.files[id]
	}
	n.complete = nil
	return files
}

// keepDownloads moves what was downloaded into the session's folder.
func (p *page) keepDownloads() {
	if p.browser.folder == "" {
		return
	}
	for id, name := range p.notes.takeCompleted() {
		path := filepath.Join(p.browser.folder, id)
		info, err := os.Stat(path)
		if err == nil && info.Size() > maxDownload {
			err = fmt.Errorf("it has more than %d MiB", maxDownload>>20)
		}
		if err == nil {
			var data []byte
			if data, err = os.ReadFile(path); err == nil {
				_, err = p.device.session.Keep(device.Artifact{Name: filepath.Base(filepath.Clean("/" + name)), Data: data})
			}
		}
		if err != nil {
			p.notes.add(noteDownload, "%s is not kept: %v", name, err)
		}
		_ = os.Remove(path)
	}
}

// addSecret keeps a secret that is typed into the page out of every text that leaves this package.
func (p *page) addSecret(secret string) {
	if secret == "" {
		return
	}
	p.notes.mu.Lock()
	defer p.notes.mu.Unlock()
	query := url.QueryEscape(secret)
	component := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query)
	inJSON := withoutQuotes(secret)
	for _, form := range []string{secret, query, component, url.PathEscape(secret), inJSON, withoutQuotes(inJSON)} {
		if !slices.Contains(p.notes.secrets, form) {
			p.notes.secrets = append(p.notes.secrets, form)
		}
	}
}

// marshal is JSON as scripts write it: without escapes that only HTML needs.
func marshal(value any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // values of ours always can be
	return bytes.TrimSpace(b.Bytes())
}

// withoutQuotes is a text as it stands between the quotes of JSON.
func withoutQuotes(text string) string {
	quoted := string(marshal(text))
	return quoted[1 : len(quoted)-1]
}

// redact replaces secrets.
func (n *notes) redact(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, secret := range n.secrets {
		text = strings.ReplaceAll(text, secret, "[secret]")
	}
	return text
}

// redactResult is a result without secrets.
func (n *notes) redactResult(r tool.Result) tool.Result {
	r.Text, r.Hint = n.redact(r.Text), n.redact(r.Hint)
	if r.Structured != nil {
		r.Structured = json.RawMessage(n.redact(string(r.Structured)))
	}
	return r
}

// String lists the notes, kind by kind.
func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var b strings.Builder
	for kind, list := range n.lists {
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s:\n", kindOfNote(kind))
		for _, note := range list {
			fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(note, "\n", "\n  "))
		}
		if n.omitted[kind] > 0 {
			fmt.Fprintf(&b, "- and %d more\n", n.omitted[kind])
		}
	}
	return b.String()
}

// Evidence implements device.Device. It works beside a call that hangs, and gives what it can get of a page that does.
func (d *webDevice) Evidence(ctx context.Context) []device.Artifact {
	d.mu.Lock()
	o := d.current
	d.mu.Unlock()
	if o == nil {
		return nil
	}
	select {
	case <-o.done:
	default:
		return nil // there is nothing to see yet
	}
	if o.page == nil {
		return nil
	}
	return o.page.evidence(ctx)
}

func (p *page) evidence(ctx context.Context) []device.Artifact {
	p.keepDownloads()
	ctx, cancel := context.WithTimeout(ctx, evidenceLimit)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	var parts [3]device.Artifact
	var failed [2]error
	var work sync.WaitGroup
	work.Go(func() {
		var data []byte
		data, failed[0] = p.screenshot(ctx)
		parts[1] = device.Artifact{Name: "screenshot.png", Title: "the page", Data: data}
	})
	work.Go(func() {
		tree, err := p.tree(ctx)
		if failed[1] = err; err == nil {
			shown := p.notes.redact(tree.String()) + "\n"
			parts[2] = device.Artifact{Name: "page.yaml", Title: "what is on the page", Data: []byte(shown), Text: true}
		}
	})
	title := p.title(ctx)
	work.Wait()
	about := fmt.Sprintf("URL: %s\nTitle: %s\n", p.url(), title)
	for i, what := range []string{"screenshot", "accessibility tree"} {
		if failed[i] != nil {
			about += fmt.Sprintf("There is no %s: %v\n", what, failed[i])
		}
	}
	about = p.notes.redact(about + p.notes.String())
	parts[0] = device.Artifact{Name: "page.txt", Title: "URL, console errors and failed requests", Data: []byte(about), Text: true}
	return slices.DeleteFunc(parts[:], func(a device.Artifact) bool { return len(a.Data) == 0 })
}

// title is that of the page, empty when it does not say.
func (p *page) title(ctx context.Context) string {
	title, _ := evaluated[string](ctx, p, "document.title")
	return title
}
