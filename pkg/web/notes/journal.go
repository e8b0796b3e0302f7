package notes

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
)

const (
	// MaxJournal is how many requests, and lines of the console, of a live session are kept: the last ones.
	MaxJournal = 300
	// MaxJournalLine bounds such a line, in characters.
	MaxJournalLine = 400
)

// Journal is what the pages of a live session requested and wrote to the console. It may be used from any goroutine.
type Journal struct {
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
	request *TracedRequest
	began   time.Time
}

// StartAction says that an action begins.
func (j *Journal) StartAction() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.acted = j.count
}

// OnConsole notes a line of the console, and ignores other events. redact removes secrets.
func (j *Journal) OnConsole(e cdp.Event, redact func(string) string) {
	if line, ok := ConsoleLine(e); ok {
		if e.Method == "Runtime.exceptionThrown" {
			line = "error: " + line
		}
		j.addLine(cutLine(redact(line)))
	}
}

func (j *Journal) addLine(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if last := len(j.console) - 1; last >= 0 && j.console[last].line == line && j.console[last].number > j.acted {
		j.console[last].times++
		return
	}
	j.count++
	j.console = append(j.console, &journalEntry{number: j.count, line: line, times: 1})
	if len(j.console) > MaxJournal {
		j.console = j.console[1:]
	}
}

// OnRequest notes an event about a request, of which method is the name. redact removes secrets.
func (j *Journal) OnRequest(method string, r RequestEvent, redact func(string) string) {
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
			open.line, open.request = cutLine(redact(open.request.Line(r.Timestamp, how))), nil
		}
	}
	switch {
	case method == "Network.requestWillBeSent":
		if r.RedirectResponse != nil && open != nil {
			open.request.Status = r.RedirectResponse.Status
			end("redirect")
		}
		j.count++
		j.requests = append(j.requests, &journalEntry{number: j.count, id: r.RequestID, request: r.Traced(), began: time.Now()})
		if len(j.requests) > MaxJournal {
			j.requests = j.requests[1:]
		}
	case open == nil:
	case r.Response != nil:
		open.request.Status, open.request.Cached = r.Response.Status, r.Response.FromDiskCache
	case method == "Network.loadingFailed" && r.ErrorText == "net::ERR_ABORTED" && open.request.Status > 0:
		end("body not read to its end")
	case method == "Network.loadingFailed":
		end("failed: " + r.ErrorText)
	default:
		end(open.request.Size(r.EncodedDataLength))
	}
}

// Show returns the requests or the console.
func (j *Journal) Show(show device.Show, redact func(string) string) *device.PageLog {
	j.mu.Lock()
	defer j.mu.Unlock()
	if show == device.ShowConsole {
		return j.log(redact, j.console)
	}
	return j.log(redact, j.requests)
}

// log returns entries in words, the oldest first. The caller holds j.mu.
func (j *Journal) log(redact func(string) string, entries []*journalEntry) *device.PageLog {
	log := &device.PageLog{}
	for _, entry := range entries {
		line := entry.line
		if entry.request != nil {
			line = cutLine(redact(entry.request.Line(0, fmt.Sprintf("has not ended, for %.1fs", time.Since(entry.began).Seconds()))))
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

// cutLine returns a text as one bounded line.
func cutLine(text string) string { return OneLine(text, MaxJournalLine) }
