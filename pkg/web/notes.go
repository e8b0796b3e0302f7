package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const (
	// maxNotes is how many notes of each kind are kept: the first ones, which often cause the others.
	maxNotes = 200
	// maxNoteLength bounds a note, in characters.
	maxNoteLength = 2000
	// maxEvents is how many notes of a kind a view has.
	maxEvents = 20
	// maxEventLength bounds an event of a view, in characters.
	maxEventLength = 300
)

// recentNotes are notes of a kind since some moment.
type recentNotes struct {
	first []string // at most maxEvents
	count int
}

// notes are the dialogs, errors and downloads of a session. They may be used from any goroutine.
type notes struct {
	mu      sync.Mutex
	lists   [kindsOfNotes][]string
	omitted [kindsOfNotes]int
	recent  [kindsOfNotes]recentNotes // since the last view
	secrets []string

	noting sync.Mutex // held while noted is called
	noted  func(kind, text string)
}

type kindOfNote int

const (
	noteConsole kindOfNote = iota
	noteRequest
	noteDialog
	noteTab
	noteDownload
	noteBlocked
	noteCrash
	noteClosedTab
	kindsOfNotes
)

func (k kindOfNote) String() string {
	return [...]string{"Console errors", "Failed requests", "Dialogs", "Other tabs", "Downloads", "Blocked navigations", "Crashes", "Closed tabs"}[k]
}

// event is the kind in events; empty for notes that are no events.
func (k kindOfNote) event() string {
	return [...]string{"console", "", "dialog", "tab", "download", "", "crash", "tab"}[k]
}

// add notes something and reports it as an event.
func (n *notes) add(kind kindOfNote, format string, args ...any) {
	text := n.bounded(fmt.Sprintf(format, args...))
	n.noting.Lock()
	defer n.noting.Unlock()
	if n.keep(kind, text) && n.noted != nil && kind.event() != "" {
		n.noted(kind.event(), text)
	}
}

// addQuietly notes something without reporting it as an event.
func (n *notes) addQuietly(kind kindOfNote, text string) { n.keep(kind, n.bounded(text)) }

// bounded returns a text as it is noted.
func (n *notes) bounded(text string) string {
	text = n.redact(strings.TrimSpace(text))
	if runes := []rune(text); len(runes) > maxNoteLength {
		return string(append(runes[:maxNoteLength], '…'))
	}
	return text
}

// keep adds a note. It returns false if there are maxNotes of the kind already.
func (n *notes) keep(kind kindOfNote, text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	recent := &n.recent[kind]
	if recent.count++; len(recent.first) < maxEvents {
		recent.first = append(recent.first, text)
	}
	if len(n.lists[kind]) == maxNotes {
		n.omitted[kind]++
		return false
	}
	n.lists[kind] = append(n.lists[kind], text)
	return true
}

// close ends the reporting of events.
func (n *notes) close() {
	n.noting.Lock()
	defer n.noting.Unlock()
	n.noted = nil
}

// console notes errors and warnings of the console, uncaught errors of scripts, and errors that the browser reports,
// such as failed requests. It returns an error of the console or of a script, and "" for anything else.
func (n *notes) console(e cdp.Event) (consoleError string) {
	var p struct {
		Type             string
		Args             []remoteObject
		ExceptionDetails exception
		Entry            struct{ Source, Level, Text, URL string }
	}
	if e.Decode(&p) != nil {
		return ""
	}
	switch {
	case e.Method == "Runtime.consoleAPICalled":
		text := fmt.Sprintf("console.%s: %s", p.Type, strings.Join(texts(p.Args), " "))
		switch p.Type {
		case "error", "assert":
			consoleError = text
		case "warning":
			n.addQuietly(noteConsole, text)
		}
	case e.Method == "Runtime.exceptionThrown":
		consoleError = p.ExceptionDetails.String()
	case p.Entry.Level != "error":
	case p.Entry.Source == "network":
		n.add(noteRequest, "%s: %s", p.Entry.URL, strings.TrimPrefix(p.Entry.Text, "Failed to load resource: "))
	default:
		consoleError = fmt.Sprintf("%s: %s (%s)", p.Entry.Source, p.Entry.Text, p.Entry.URL)
	}
	if consoleError != "" {
		n.add(noteConsole, "%s", consoleError)
	}
	return consoleError
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

// addSecret redacts a secret in every text that leaves this package, as it is and in the encodings of URLs and JSON.
func (p *page) addSecret(secret string) {
	if secret == "" {
		return
	}
	p.notes.mu.Lock()
	defer p.notes.mu.Unlock()
	query := url.QueryEscape(secret)
	component := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").
		Replace(query)
	inJSON := withoutQuotes(secret)
	for _, encoding := range []string{secret, query, component, url.PathEscape(secret), inJSON, withoutQuotes(inJSON)} {
		if !slices.Contains(p.notes.secrets, encoding) {
			p.notes.secrets = append(p.notes.secrets, encoding)
		}
	}
}

// marshal returns JSON without the escapes that only HTML needs.
func marshal(value any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // these values can always be encoded
	return bytes.TrimSpace(b.Bytes())
}

// jsonResult returns a result whose text is a value as JSON.
func jsonResult(value any) tool.Result {
	data := marshal(value)
	return tool.Result{OK: true, Text: string(data), Structured: data}
}

// withoutQuotes returns a text as a JSON string, without its quotes.
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

// redactResult replaces secrets in a result.
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

// takeEvents returns what was noted since the last call, for a view.
func (n *notes) takeEvents() []string {
	n.mu.Lock()
	recent := n.recent
	n.recent = [kindsOfNotes]recentNotes{}
	n.mu.Unlock()
	var events []string
	for _, kind := range []struct {
		note       kindOfNote
		word, many string
	}{
		{noteDialog, "dialog", "dialogs"},
		{noteDownload, "download", "downloads"},
		{noteTab, "window opened", "windows opened"},
		{noteBlocked, "blocked", "navigations blocked"},
		{noteCrash, "crash", "crashes"},
		{noteClosedTab, "tab", "tabs closed"},
	} {
		list := recent[kind.note]
		for _, text := range list.first {
			events = append(events, kind.word+": "+eventLine(text))
		}
		if more := list.count - len(list.first); more > 0 {
			events = append(events, fmt.Sprintf("%d more %s", more, kind.many))
		}
	}
	if errors := recent[noteConsole]; errors.count > 0 {
		line := plural(errors.count, "console error", "console errors, the first")
		events = append(events, line+": "+eventLine(errors.first[0]))
	}
	return events
}

// eventLine returns a text as one line of bounded length.
func eventLine(text string) string { return oneLine(text, maxEventLength) }

// oneLine returns a text as one line of at most limit characters, without those that change how other text looks.
func oneLine(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}
