package web

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
)

const (
	// maxJournal is how many requests, and lines of the console, of a live session are kept: the last ones.
	maxJournal = 300
	// maxJournalLine bounds such a line, in characters.
	maxJournalLine = 400
)

// journal is what the pages of a live session requested and wrote to the console. It may be used from any goroutine.
type journal struct {
	mu       sync.Mutex
	count    int // of entries so far
	acted    int // the count when the last action began
	requests []*journalEntry
	console  []*journalEntry
}

// journalEntry is a line of the console, or a request.
type journalEntry struct {
	number int
	line   string // of one that does not change any more
	times  int    // that the same line came in a row

	id      string // of the browser
	request *tracedRequest
	began   time.Time
}

// startAction says that an action begins.
func (j *journal) startAction() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.acted = j.count
}

// noteInJournal notes requests and lines of the console in a live session.
func (p *page) noteInJournal(e cdp.Event) {
	if !p.device.session.Live {
		return
	}
	j := &p.device.journal
	if line, ok := consoleLine(e); ok {
		if e.Method == "Runtime.exceptionThrown" {
			line = "error: " + line
		}
		j.addLine(cutLine(p.device.redact(line)))
	} else if r, ok := readRequestEvent(e); ok {
		j.onRequest(p, e.Method, r)
	}
}

func (j *journal) addLine(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if last := len(j.console) - 1; last >= 0 && j.console[last].line == line && j.console[last].number > j.acted {
		j.console[last].times++
		return
	}
	j.count++
	j.console = append(j.console, &journalEntry{number: j.count, line: line, times: 1})
	if len(j.console) > maxJournal {
		j.console = j.console[1:]
	}
}

func (j *journal) onRequest(p *page, method string, r requestEvent) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var open *journalEntry
	for _, entry := range slices.Backward(j.requests) {
		if entry.id == r.RequestID && entry.request != nil {
			open = entry
			break
		}
	}
	end := func(how string) {
		if open != nil {
			open.line, open.request = cutLine(p.device.redact(open.request.line(r.Timestamp, how))), nil
		}
	}
	switch {
	case method == "Network.requestWillBeSent":
		if r.RedirectResponse != nil && open != nil {
			open.request.status = r.RedirectResponse.Status
			end("redirect")
		}
		j.count++
		j.requests = append(j.requests, &journalEntry{number: j.count, id: r.RequestID, request: r.traced(), began: time.Now()})
		if len(j.requests) > maxJournal {
			j.requests = j.requests[1:]
		}
	case open == nil:
	case r.Response != nil:
		open.request.status, open.request.cached = r.Response.Status, r.Response.FromDiskCache
	case method == "Network.loadingFailed" && r.ErrorText == "net::ERR_ABORTED" && open.request.status > 0:
		end("body not read to its end")
	case method == "Network.loadingFailed":
		end("failed: " + r.ErrorText)
	default:
		end(open.request.size(r.EncodedDataLength))
	}
}

// log returns entries in words, the oldest first. The caller holds j.mu.
func (j *journal) log(redact func(string) string, entries []*journalEntry) *device.Log {
	log := &device.Log{}
	for _, entry := range entries {
		line := entry.line
		if entry.request != nil {
			line = cutLine(redact(entry.request.line(0, fmt.Sprintf("has not ended, for %.1fs", time.Since(entry.began).Seconds()))))
		}
		if entry.times > 1 {
			line += fmt.Sprintf(" (%d times)", entry.times)
		}
		if entry.number > j.acted {
			log.Since = append(log.Since, line)
		} else {
			log.Earlier = append(log.Earlier, line)
		}
	}
	return log
}

// logOf returns the requests or the console.
func (d *webDevice) logOf(show device.Show) *device.Log {
	j := &d.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if show == device.ShowConsole {
		return j.log(d.redact, j.console)
	}
	return j.log(d.redact, j.requests)
}

// redact removes the secrets of the pages and of the session from a text.
func (d *webDevice) redact(text string) string {
	text = d.notes.redact(text)
	if d.session.Redact != nil {
		text = d.session.Redact(text)
	}
	return text
}

// cutLine returns a text as one bounded line.
func cutLine(text string) string { return oneLine(text, maxJournalLine) }
