// Package notes keeps what pages reported beside the results of calls: dialogs, errors, downloads, requests, lines of the
// console, incidents, and texts that are gone. It also redacts the secrets that pages were given.
package notes

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
	// MaxNotes is how many notes of each kind are kept: the first ones, which often cause the others.
	MaxNotes = 200
	// maxNoteLength bounds a note, in characters.
	maxNoteLength = 2000
	// MaxEvents is how many notes of a kind a view has.
	MaxEvents = 20
	// maxEventLength bounds an event of a view, in characters.
	maxEventLength = 300
)

// recentNotes are notes of a kind since some moment.
type recentNotes struct {
	first []string // at most MaxEvents
	count int
}

// Notes are the dialogs, errors and downloads of a session. They may be used from any goroutine.
type Notes struct {
	Noted func(kind, text string) // is called with each event; nil if nobody wants them; set before the first note

	mu      sync.Mutex
	lists   [kindsOfNotes][]string
	omitted [kindsOfNotes]int
	recent  [kindsOfNotes]recentNotes // since the last view
	secrets []string

	noting sync.Mutex // held while Noted is called
}

// Kind is a kind of notes.
type Kind int

// The kinds of notes, in the order in which [Notes.String] lists them.
const (
	Console Kind = iota
	Warning
	Request
	Dialog
	Tab
	Download
	Blocked
	Crash
	ClosedTab
	Chooser
	kindsOfNotes
)

func (k Kind) String() string {
	return [...]string{"Console errors", "Console warnings", "Failed requests", "Dialogs", "Other tabs", "Downloads", "Blocked navigations", "Crashes", "Closed tabs", "File choosers"}[k]
}

// event is the kind in events; empty for notes that are no events.
func (k Kind) event() string {
	return [...]string{"console", "", "", "dialog", "tab", "download", "", "crash", "tab", "chooser"}[k]
}

// Add notes something and reports it as an event.
func (n *Notes) Add(kind Kind, format string, args ...any) {
	text := n.Bounded(fmt.Sprintf(format, args...))
	n.noting.Lock()
	defer n.noting.Unlock()
	if n.keep(kind, text) && n.Noted != nil && kind.event() != "" {
		n.Noted(kind.event(), text)
	}
}

// Bounded returns a text as it is noted.
func (n *Notes) Bounded(text string) string {
	text = n.Redact(strings.TrimSpace(text))
	if runes := []rune(text); len(runes) > maxNoteLength {
		return string(append(runes[:maxNoteLength], '…'))
	}
	return text
}

// keep adds a note. It returns false if there are MaxNotes of the kind already.
func (n *Notes) keep(kind Kind, text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	recent := &n.recent[kind]
	if recent.count++; len(recent.first) < MaxEvents {
		recent.first = append(recent.first, text)
	}
	if len(n.lists[kind]) == MaxNotes {
		n.omitted[kind]++
		return false
	}
	n.lists[kind] = append(n.lists[kind], text)
	return true
}

// Close ends the reporting of events.
func (n *Notes) Close() {
	n.noting.Lock()
	defer n.noting.Unlock()
	n.Noted = nil
}

// Console notes errors and warnings of the console, uncaught errors of scripts, and errors that the browser reports,
// such as failed requests. It returns an error of the console or of a script, and "" for anything else.
func (n *Notes) Console(e cdp.Event) (consoleError string) {
	var p struct {
		Type             string
		Args             []RemoteObject
		ExceptionDetails Exception
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
			n.Add(Warning, "%s", text)
		}
	case e.Method == "Runtime.exceptionThrown":
		consoleError = p.ExceptionDetails.String()
	case p.Entry.Level != "error":
	case p.Entry.Source == "network":
		n.Add(Request, "%s: %s", p.Entry.URL, strings.TrimPrefix(p.Entry.Text, "Failed to load resource: "))
	default:
		consoleError = fmt.Sprintf("%s: %s (%s)", p.Entry.Source, p.Entry.Text, p.Entry.URL)
	}
	if consoleError != "" {
		n.Add(Console, "%s", consoleError)
	}
	return consoleError
}

func texts(args []RemoteObject) []string {
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

// Redact replaces secrets.
func (n *Notes) Redact(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, secret := range n.secrets {
		text = strings.ReplaceAll(text, secret, "[secret]")
	}
	return text
}

// RedactResult replaces secrets in a result.
func (n *Notes) RedactResult(r tool.Result) tool.Result {
	r.Text, r.Hint = n.Redact(r.Text), n.Redact(r.Hint)
	if r.Structured != nil {
		r.Structured = json.RawMessage(n.Redact(string(r.Structured)))
	}
	return r
}

// String lists the notes, kind by kind.
func (n *Notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var b strings.Builder
	for kind, list := range n.lists {
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s:\n", Kind(kind))
		for _, note := range list {
			fmt.Fprintf(&b, "- %s\n", strings.ReplaceAll(note, "\n", "\n  "))
		}
		if n.omitted[kind] > 0 {
			fmt.Fprintf(&b, "- and %d more\n", n.omitted[kind])
		}
	}
	return b.String()
}

// TakeEvents returns what was noted since the last call, for a view.
func (n *Notes) TakeEvents() []string {
	n.mu.Lock()
	recent := n.recent
	n.recent = [kindsOfNotes]recentNotes{}
	n.mu.Unlock()
	var events []string
	for _, kind := range []struct {
		note       Kind
		word, many string
	}{
		{Dialog, "dialog", "dialogs"},
		{Download, "download", "downloads"},
		{Tab, "window opened", "windows opened"},
		{Blocked, "blocked", "navigations blocked"},
		{Crash, "crash", "crashes"},
		{ClosedTab, "tab", "tabs closed"},
	} {
		list := recent[kind.note]
		for _, text := range list.first {
			events = append(events, kind.word+": "+EventLine(text))
		}
		if more := list.count - len(list.first); more > 0 {
			events = append(events, fmt.Sprintf("%d more %s", more, kind.many))
		}
	}
	for kind, word := range [...]string{Console: "console error", Warning: "console warning"} {
		if lines := recent[kind]; lines.count == 1 {
			events = append(events, "1 "+word+": "+EventLine(lines.first[0]))
		} else if lines.count > 1 {
			events = append(events, fmt.Sprintf("%d %ss, the first: %s", lines.count, word, EventLine(lines.first[0])))
		}
	}
	return events
}

// EventLine returns a text as one line of bounded length.
func EventLine(text string) string { return OneLine(text, maxEventLength) }

// OneLine returns a text as one line of at most limit characters, without those that change how other text looks.
func OneLine(text string, limit int) string {
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

// AddSecret redacts a secret in every text that leaves this package, as it is and in the encodings of URLs and JSON.
func (n *Notes) AddSecret(secret string) {
	if secret == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	query := url.QueryEscape(secret)
	component := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").
		Replace(query)
	inJSON := withoutQuotes(secret)
	for _, encoding := range []string{secret, query, component, url.PathEscape(secret), inJSON, withoutQuotes(inJSON)} {
		if !slices.Contains(n.secrets, encoding) {
			n.secrets = append(n.secrets, encoding)
		}
	}
}

// Marshal returns JSON without the escapes that only HTML needs.
func Marshal(value any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // these values can always be encoded
	return bytes.TrimSpace(b.Bytes())
}

// withoutQuotes returns a text as a JSON string, without its quotes.
func withoutQuotes(text string) string {
	quoted := string(Marshal(text))
	return quoted[1 : len(quoted)-1]
}

// RemoteObject is a value of a script, as the DevTools protocol has it.
type RemoteObject struct {
	Type, Subtype, Description, ObjectID, UnserializableValue string
	Value                                                     json.RawMessage
}

// Exception is what a script threw, as the DevTools protocol has it.
type Exception struct {
	Text      string
	URL       string
	Exception RemoteObject
}

// String returns the text of the exception with its stack.
func (e *Exception) String() string {
	text := e.Exception.Description
	if text == "" && e.Exception.Value != nil {
		text = "Uncaught " + string(e.Exception.Value)
	}
	if text == "" {
		text = e.Text
	}
	return text
}
