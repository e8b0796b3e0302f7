package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// maxPages bounds a list whose cursors never end. No real server is near it.
const maxPages = 1000

// Listing is what a server lists.
type Listing struct {
	Tools    []tool.Advertised // in the server's order; names may repeat
	Registry string            // text of the resource trailblaze://registry, which may not be JSON; empty without one

	timeouts map[string]time.Duration // by tool, from its _meta
	strict   map[string]bool          // tools whose schema forbids arguments that it does not name
}

// Listing returns the listing in use.
func (s *Server) Listing() *Listing { return s.listing.Load() }

// SetListing makes l the listing in use.
func (s *Server) SetListing(l *Listing) { s.listing.Store(l) }

// FinishStart lists the tools once more if the server announced a change since they were listed. Later announcements
// are only logged. The error is a *fault.Error.
func (s *Server) FinishStart(ctx context.Context) error {
	defer s.started.Store(true)
	if !s.toolsChanged.Load() {
		return nil
	}
	s.debounceChanges(ctx)
	l, err := s.List(ctx, false)
	if err == nil {
		s.SetListing(l)
	}
	return err
}

// maxDebounces bounds the wait for the end of a burst of announcements, in debounce periods.
const maxDebounces = 20

// debounceChanges waits until no change was announced for a while: servers announce one before their list contains it.
func (s *Server) debounceChanges(ctx context.Context) {
	limit := time.After(maxDebounces * s.cfg.timing.debounce)
	for s.toolsChanged.Swap(false) {
		select {
		case <-time.After(s.cfg.timing.debounce):
		case <-limit:
			return
		case <-ctx.Done():
			return
		}
	}
}

// List lists the server again, starting a process if there is none, and does not change the listing in use: see
// [Server.SetListing]. It does not wait for calls; nested has the meaning of tool.Call.Nested. The error is a
// *fault.Error.
func (s *Server) List(ctx context.Context, nested bool) (*Listing, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := s.register("", cancel)
	if err != nil {
		return nil, err
	}
	defer s.unregister(c)
	for retried := false; ; retried = true {
		if err := s.acquirePeer(ctx, c, nested); err != nil {
			return nil, err
		}
		l, phase, err := s.readListing(ctx, c.peer)
		failure := asTransportError(err)
		switch {
		case err == nil:
			return l, nil
		case ctx.Err() != nil:
			return nil, s.contextError(ctx, c)
		case failure == nil || !failure.Disconnected():
		case retried:
			s.dropPeer(ctx, c.peer)
		default:
			s.logReconnected(fmt.Sprintf("it did not list its tools: %v", failure))
			s.dropPeer(ctx, s.releasePeer(c))
			continue
		}
		return nil, s.listError(c.peer, phase, err)
	}
}

// listError returns the error of a listing of p that failed with err. If p ended, the server fails unless it may be
// restarted.
func (s *Server) listError(p *peer, phase string, err error) error {
	failure := s.phaseError(p, phase, err)
	if p.current() < peerLost {
		return failure
	}
	<-p.ended
	s.handleExit(p)
	if err := s.Err(); err != nil {
		return err
	}
	return p.failure
}

// readListing reads the tools and the registry at the same time. The error is not explained yet; phase says what
// failed.
func (s *Server) readListing(ctx context.Context, p *peer) (l *Listing, phase string, err error) {
	s.toolsChanged.Store(false)
	var registryRead *registryRead
	tools, err := s.listTools(ctx, p, func() { registryRead = s.startRegistryRead(ctx, p) })
	if err != nil {
		registryRead.abort(err)
		return nil, methodList, err
	}
	registry, err := registryRead.wait(s.cfg.timing.registry)
	if err != nil {
		return nil, methodRead, err
	}
	l = &Listing{Tools: tools, Registry: registry, timeouts: toolTimeouts(tools), strict: strictTools(tools)}
	return l, "", nil
}

// listTools reads all pages of tools/list; onSent is called when the request for the first one has been sent. The error
// is not explained yet.
func (s *Server) listTools(ctx context.Context, p *peer, onSent func()) ([]tool.Advertised, error) {
	limit := s.cfg.timing.list
	ctx, cancel := context.WithTimeoutCause(ctx, limit, s.startTimeout(
		"tools/list: timeout: not all tools were listed within %s, the limit for listing", limit))
	defer cancel()
	var tools []tool.Advertised
	seen := map[string]bool{}
	for cursor := ""; ; {
		raw, err := p.request(ctx, methodList, requestParams{Cursor: cursor}, onSent)
		onSent = func() {}
		if rpc := (*jsonrpc.Error)(nil); errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound {
			s.log("warn", "has no tools: it does not support tools/list", "")
			return nil, nil
		}
		if err != nil {
			return nil, s.listingError(ctx, methodList, err)
		}
		page, err := s.readPage(raw)
		if err != nil {
			return nil, err
		}
		if page.next != "" && seen[page.next] { // most likely a page that was read already
			page.tools = slices.DeleteFunc(page.tools, func(t tool.Advertised) bool { return contains(tools, t.Name) })
		}
		tools = append(tools, page.tools...)
		cursor = page.next
		switch {
		case cursor == "":
			return tools, nil
		case seen[cursor]:
			s.log("warn", fmt.Sprintf("repeats the cursor %.100q in tools/list; the pages after it are not read",
				cursor), "")
			return tools, nil
		case len(seen) == maxPages:
			s.log("warn", fmt.Sprintf("has more than %d pages of tools; the pages after them are not read", maxPages),
				"")
			return tools, nil
		}
		seen[cursor] = true
	}
}

func contains(tools []tool.Advertised, name string) bool {
	return slices.ContainsFunc(tools, func(t tool.Advertised) bool { return t.Name == name })
}

// listingError returns the error of the limit or of the cancellation if ctx ended, else err.
func (s *Server) listingError(ctx context.Context, phase string, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if limit := fault.As(context.Cause(ctx)); limit != nil {
		return limit
	}
	return s.cancelledError(ctx, phase)
}

type page struct {
	tools []tool.Advertised
	next  string
}

// readPage decodes a page of tools/list. Malformed parts are skipped with a warning.
func (s *Server) readPage(raw json.RawMessage) (page, error) {
	var result struct {
		Tools []json.RawMessage `json:"tools"`
		Next  json.RawMessage   `json:"nextCursor"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return page{}, s.newError(fault.ProtocolError, "", "tools/list: the response has no list of tools: %v", err)
	}
	var out page
	for i, one := range result.Tools {
		advertised, warning, err := readTool(one)
		if err != nil {
			s.log("warn", fmt.Sprintf("lists a malformed tool, which is skipped: tools[%d]: %v", i, err), "")
			continue
		}
		if warning != "" {
			s.log("warn", fmt.Sprintf("lists tool %q with %s", advertised.Name, warning), "")
		}
		out.tools = append(out.tools, advertised)
	}
	if isAbsent(result.Next) {
		return out, nil
	}
	if err := json.Unmarshal(result.Next, &out.next); err != nil {
		s.log("warn", "has a nextCursor that is not a string in tools/list; the pages after it are not read", "")
	}
	return out, nil
}

// readTool decodes one tool. Its schema keeps its bytes.
func readTool(raw json.RawMessage) (t tool.Advertised, warning string, err error) {
	var fields map[string]json.RawMessage // not a struct: encoding/json would accept "Name" for "name"
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return t, "", fmt.Errorf("%.100s is not an object", raw)
	}
	if err := json.Unmarshal(fields["name"], &t.Name); err != nil || t.Name == "" {
		return t, "", errors.New("it has no name")
	}
	if schema := bytes.TrimSpace(fields["inputSchema"]); !isAbsent(schema) {
		if schema[0] != '{' {
			return t, "", fmt.Errorf("%q: inputSchema is not an object", t.Name)
		}
		t.InputSchema = schema
	}
	if schema := bytes.TrimSpace(fields["outputSchema"]); len(schema) > 0 && schema[0] == '{' {
		t.OutputSchema = schema
	}
	if text := fields["description"]; !isAbsent(text) && json.Unmarshal(text, &t.Description) != nil {
		warning = "a description that is not a string; it is ignored"
	}
	if meta := fields["_meta"]; !isAbsent(meta) && json.Unmarshal(meta, &t.Meta) != nil {
		t.Meta, warning = nil, "a _meta that is not an object; it is ignored"
	}
	return t, warning, nil
}

// isAbsent reports whether a member of a JSON object is missing or null.
func isAbsent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// toolTimeouts returns the limits that tools set for their own calls. A wrong type counts as absent; discover warns
// about it.
func toolTimeouts(tools []tool.Advertised) map[string]time.Duration {
	timeouts := map[string]time.Duration{}
	for _, t := range tools {
		ms, ok := t.Meta["trailblaze/timeoutMs"].(float64)
		if ok && ms > 0 && ms < math.MaxInt64/float64(time.Millisecond) {
			timeouts[t.Name] = time.Duration(ms * float64(time.Millisecond))
		}
	}
	return timeouts
}

// strictTools returns the tools whose schema forbids arguments that it does not name, as schemas that the Go SDK infers
// do. They are not sent the reserved argument, which they would reject; _meta has the same content.
func strictTools(tools []tool.Advertised) map[string]bool {
	strict := map[string]bool{}
	for _, t := range tools {
		var schema struct {
			Properties           map[string]json.RawMessage `json:"properties"`
			AdditionalProperties json.RawMessage            `json:"additionalProperties"`
		}
		if json.Unmarshal(t.InputSchema, &schema) != nil {
			continue
		}
		_, named := schema.Properties[tool.ReservedArg]
		strict[t.Name] = string(schema.AdditionalProperties) == "false" && !named
	}
	return strict
}
