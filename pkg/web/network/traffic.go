// Package network has the requests of the pages of a session, what commands may wait for and learn of them, and the
// routes that answer them.
package network

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/access"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

const (
	// maxExchanges is how many requests of a session are remembered: the last ones.
	maxExchanges = 1000
	// maxResource bounds a body of a response that the browser keeps, in bytes.
	maxResource = 8 << 20
	// maxURL bounds a URL in a note, in characters.
	maxURL = 200
)

// Config is what the traffic of a session needs of it.
type Config struct {
	Origins *access.Origins     // which requests are paused, and which a script in the sandbox may learn of
	Redact  func(string) string // removes secrets from a body that is cut
	// Changed is called after each event.
	Changed func()
	// WaitUntil waits until done returns true, which it calls at first and after each call of Changed. It returns the
	// cause of ctx if that ends before.
	WaitUntil func(ctx context.Context, done func() bool) error
}

// Traffic has the requests of a session and how they are answered. It may be used from any goroutine.
type Traffic struct {
	config      Config
	pausesFiles atomic.Bool

	ctx     context.Context //nolint:containedctx // ends with the session
	cancel  context.CancelFunc
	delayed sync.WaitGroup // answers that wait for their delay

	mu        sync.Mutex
	closed    bool
	routes    []*Route
	unused    []tool.Incident // the routes that were removed before a request used them
	answered  map[string]bool // ids of requests that a route answers with a status of 500 and more
	exchanges []*Exchange     // in the order of their requests
	events    int             // how many events were counted
	window    int             // the count when the last action began
	acted     int             // the count when it ended; 0 while it runs
	opened    bool            // it was a command that opens a page
	earlier   []*Exchange     // that had ended when it began, the last maxExchanges
}

// New returns the traffic of a session, which has to be closed.
func New(c Config) *Traffic {
	t := &Traffic{config: c}
	t.ctx, t.cancel = context.WithCancel(context.Background()) //nolint:forbidigo // a session belongs to no call
	return t
}

// Close ends what waits for its delay. Requests are not answered by routes any more.
func (t *Traffic) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.cancel()
	t.delayed.Wait()
}

// Buffers returns the parameters of Network.enable, which bound the bodies that the browser keeps.
func Buffers() map[string]any {
	return map[string]any{"maxTotalBufferSize": 32 << 20, "maxResourceBufferSize": maxResource, "maxPostDataSize": MaxBody}
}

// StartAction says that an action begins: calls that wait for a request or a response do not return what came before
// it.
func (t *Traffic) StartAction() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.window, t.acted = t.events, 0
	t.exchanges = slices.DeleteFunc(t.exchanges, func(x *Exchange) bool {
		if x.ended > 0 {
			t.earlier = append(t.earlier, x)
		}
		return x.ended > 0
	})
	t.earlier = t.earlier[max(0, len(t.earlier)-maxExchanges):]
}

// EndAction says that the action has ended that StartAction began. opened says that it opened a page, whose requests
// are not those of an action.
func (t *Traffic) EndAction(opened bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.acted, t.opened = t.events, opened
}

// OnRequest notes an event of a session about a request, of which method is the name. It returns a copy of an exchange
// whose response has just come, with a status of 500 and more and not from a route; nil for any other event.
func (t *Traffic) OnRequest(s *cdp.Session, method string, p notes.RequestEvent) (failed *Exchange) {
	t.mu.Lock()
	t.events++
	x := t.last(p.RequestID)
	switch {
	case method == "Network.requestWillBeSent":
		if x != nil && p.RedirectResponse != nil {
			x.status, x.answer, x.responded, x.ended = p.RedirectResponse.Status, p.RedirectResponse.Headers, t.events, t.events
			x.finished = p.Timestamp
		}
		t.add(&Exchange{
			id: p.RequestID, loader: p.LoaderID, session: s, url: p.Request.URL, method: p.Request.Method, kind: p.Type, headers: p.Request.Headers,
			body: p.Request.PostData, hasBody: p.Request.HasPostData, started: p.Timestamp, requested: t.events,
		})
	case x == nil:
	case p.Response != nil:
		x.session, x.status, x.answer, x.responded = s, p.Response.Status, p.Response.Headers, t.events
		x.finished = p.Timestamp
		if x.status >= http.StatusInternalServerError && !t.answered[x.id] {
			failed = new(*x)
		}
		delete(t.answered, x.id)
	default:
		x.ended, x.finished = t.events, p.Timestamp
		if x.status != http.StatusNoContent { // for which the browser reports that it was aborted
			x.failure = p.ErrorText
		}
		delete(t.answered, x.id)
	}
	t.mu.Unlock()
	t.config.Changed()
	return failed
}

// last returns the last exchange with an id since the last action; nil for none. The caller holds t.mu.
func (t *Traffic) last(id string) *Exchange {
	for _, x := range slices.Backward(t.exchanges) {
		if x.id == id {
			return x
		}
	}
	return nil
}

// add appends an exchange. The caller holds t.mu.
func (t *Traffic) add(x *Exchange) {
	if len(t.exchanges) == maxExchanges {
		t.exchanges = slices.Delete(t.exchanges, 0, 1)
	}
	t.exchanges = append(t.exchanges, x)
}

// Status returns the status of the document that a navigation opened, given by its loader; 0 if it is not known.
func (t *Traffic) Status(loader string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range slices.Backward(slices.Concat(t.earlier, t.exchanges)) {
		if x.id == loader {
			return x.status
		}
	}
	return 0
}

// PendingOfAction names the requests that the last action started and that have not ended; empty for none. The page may
// still change when they do. Those of a document that the action opened are not its own, and a document of which the
// first part has come is what a check looks at.
func (t *Traffic) PendingOfAction() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.opened {
		return ""
	}
	return t.pending(func(x *Exchange) bool {
		if x.IsDocument() {
			return x.requested <= t.acted && x.responded == 0
		}
		return x.isData() && x.requested <= t.acted && !t.isOpened(x.loader)
	})
}

// PendingOfDocuments names the requests for data and scripts of some documents, given by their loaders, that have not
// ended; empty for none. Only documents that were opened since the last action began count. A request that is repeated
// does not count: the page polls.
func (t *Traffic) PendingOfDocuments(loaders []string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pending(func(x *Exchange) bool {
		return slices.Contains([]string{"XHR", "Fetch", "Script"}, x.kind) && slices.Contains(loaders, x.loader) &&
			t.isOpened(x.loader) && !t.isRepeated(x)
	})
}

// Unfinished names the requests since the last action that have not ended and without which a page does not count as
// loaded; empty for none.
func (t *Traffic) Unfinished() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pending(func(x *Exchange) bool {
		return !slices.Contains([]string{"XHR", "Fetch", "EventSource", "WebSocket", "Ping"}, x.kind)
	})
}

// isOpened reports whether the document with a loader was requested since the last action began. The caller holds t.mu.
func (t *Traffic) isOpened(loader string) bool {
	return slices.ContainsFunc(t.exchanges, func(x *Exchange) bool { return x.id == loader && x.requested > t.window })
}

// isRepeated reports whether the same request has ended before. The caller holds t.mu.
func (t *Traffic) isRepeated(x *Exchange) bool {
	return slices.ContainsFunc(t.exchanges, func(other *Exchange) bool {
		return other.ended > 0 && other.method == x.method && other.url == x.url && other.body == x.body
	})
}

// Troubles says which requests for data since the last action have not ended, and which had a status of 500 and more;
// empty for none. Those that a call may not name are left out.
func (t *Traffic) Troubles(ctx context.Context) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var words []string
	if pending := t.pending(func(x *Exchange) bool { return x.isData() && t.mayName(ctx, x) }); pending != "" {
		words = append(words, "not ended: "+pending)
	}
	for _, x := range t.exchanges {
		if x.status >= http.StatusInternalServerError && max(x.responded, x.ended) > t.window && len(words) <= text.MaxSeen && t.mayName(ctx, x) {
			words = append(words, x.String())
		}
	}
	return strings.Join(words, "; ")
}

// pending names the requests since the last action that have not ended and for which counts returns true. The caller
// holds t.mu.
func (t *Traffic) pending(counts func(*Exchange) bool) string {
	var words []string
	for _, x := range t.exchanges {
		if x.ended == 0 && x.requested > t.window && !x.isStream() && counts(x) {
			words = append(words, x.method+" "+text.Shorten(x.url, maxURL))
		}
	}
	if len(words) > text.MaxSeen {
		words = append(words[:text.MaxSeen], fmt.Sprintf("%d more", len(words)-text.MaxSeen))
	}
	return strings.Join(words, ", ")
}
