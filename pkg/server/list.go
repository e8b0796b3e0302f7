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

// maxPages stops a server that invents a new cursor for ever. No real server is near it.
const maxPages = 1000

// Listing is what a server says it has.
type Listing struct {
	Tools    []tool.Advertised // in the order in which they were advertised; names may repeat
	Registry string            // text of the resource trailblaze://registry, which need not be JSON; empty without one

	limits map[string]time.Duration // what tools allow their own calls
	closed map[string]bool          // tools that refuse arguments which their schema does not name
}

// Listing returns what is in use.
func (s *Server) Listing() *Listing { return s.listing.Load() }

// SetListing makes a listing the one in use.
func (s *Server) SetListing(l *Listing) { s.listing.Store(l) }

// FinishStart ends the start of a server: if it said meanwhile that its tools changed, they are listed once more. Changes that it
// tells of later are left alone. The error is a *fault.Error.
func (s *Server) FinishStart(ctx context.Context) error {
	defer s.settled.Store(true)
	if !s.changed.Load() {
		return nil
	}
	s.calm(ctx)
	l, err := s.List(ctx, false)
	if err == nil {
		s.SetListing(l)
	}
	return err
}

// calm waits for the end of a burst of changes, since servers tell of one before their list has it.
func (s *Server) calm(ctx context.Context) {
	enough := time.After(maxBurst * s.cfg.timing.quiet)
	for s.changed.Swap(false) {
		select {
		case <-time.After(s.cfg.timing.quiet):
		case <-enough:
			return
		case <-ctx.Done():
			return
		}
	}
}

// maxBurst is how many times longer than one pause a burst of changes is waited for.
const maxBurst = 20

// List asks the server again what it has, a fresh process if there is none, and changes nothing: see [Server.SetListing]. It waits
// for no call; nested says, as in tool.Call, that it is made inside one. The error is a *fault.Error.
func (s *Server) List(ctx context.Context, nested bool) (*Listing, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f, err := s.depart("", cancel)
	if err != nil {
		return nil, err
	}
	defer s.land(f)
	for again := false; ; again = true {
		if err := s.board(ctx, f, nested); err != nil {
			return nil, err
		}
		l, phase, err := s.inquire(ctx, f.peer)
		in := substituted(err)
		switch {
		case err == nil:
			return l, nil
		case ctx.Err() != nil:
			return nil, s.interrupted(ctx, f)
		case in == nil || !in.Lost():
		case again:
			s.retire(ctx, f.peer)
		default:
			s.reconnected(fmt.Sprintf("it was not listed: %v", in))
			s.retire(ctx, s.disembark(f))
			continue
		}
		return nil, s.listFault(f.peer, phase, err)
	}
}

// listFault says why p was not listed; when p ended, its end decides what becomes of the server.
func (s *Server) listFault(p *peer, phase string, err error) error {
	failed := s.reason(p, phase, err)
	select {
	case <-p.wire.broken:
	case <-p.ended:
	default:
		return failed
	}
	<-p.ended
	s.settle(p)
	if err := s.Err(); err != nil {
		return err
	}
	return p.verdict
}

// inquire reads the tools and the registry at once. The error is that of the phase, not explained yet.
func (s *Server) inquire(ctx context.Context, p *peer) (l *Listing, phase string, err error) {
	s.changed.Store(false)
	var reading *reading
	tools, err := s.list(ctx, p, func() { reading = s.startReading(ctx, p) })
	if err != nil {
		reading.giveUp(err)
		return nil, methodList, err
	}
	registry, err := reading.finish(s.cfg.timing.registry)
	if err != nil {
		return nil, methodRead, err
	}
	return &Listing{Tools: tools, Registry: registry, limits: ownLimits(tools), closed: closedSchemas(tools)}, "", nil
}

// list reads all pages of tools/list; asked is called when the first one was asked for. The error is not explained yet.
func (s *Server) list(ctx context.Context, p *peer, asked func()) ([]tool.Advertised, error) {
	limit := s.cfg.timing.list
	ctx, cancel := context.WithTimeoutCause(ctx, limit, s.overLimit(
		"tools/list: timeout: not all tools within %s, the limit for listing", limit))
	defer cancel()
	var tools []tool.Advertised
	seen := map[string]bool{}
	for cursor := ""; ; {
		raw, err := ask(ctx, p, methodList, request{Cursor: cursor}, asked)
		asked = func() {}
		if rpc := (*jsonrpc.Error)(nil); errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound {
			s.log("warn", "has no tools: it does not know tools/list", "")
			return nil, nil
		}
		if err != nil {
			return nil, s.ended(ctx, methodList, err)
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
			s.log("warn", fmt.Sprintf("repeats the cursor %.100q in tools/list; reading no further", cursor), "")
			return tools, nil
		case len(seen) == maxPages:
			s.log("warn", fmt.Sprintf("has more than %d pages of tools; reading no further", maxPages), "")
			return tools, nil
		}
		seen[cursor] = true
	}
}

func contains(tools []tool.Advertised, name string) bool {
	return slices.ContainsFunc(tools, func(t tool.Advertised) bool { return t.Name == name })
}

func ask(ctx context.Context, p *peer, method string, req request, asked func()) (json.RawMessage, error) {
	params, err := p.params(req)
	if err != nil {
		return nil, err
	}
	ex, err := p.send(ctx, method, params)
	if err != nil {
		return nil, err
	}
	defer p.finish(ctx, ex)
	asked()
	return p.await(ctx, ex)
}

// ended prefers a limit or a cancellation of our own to how the SDK words it.
func (s *Server) ended(ctx context.Context, phase string, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if limit := fault.As(context.Cause(ctx)); limit != nil {
		return limit
	}
	return s.cancelled(ctx, phase)
}

type page struct {
	tools []tool.Advertised
	next  string
}

// readPage takes what it can use of a page and warns of the rest.
func (s *Server) readPage(raw json.RawMessage) (page, error) {
	var wire struct {
		Tools []json.RawMessage `json:"tools"`
		Next  json.RawMessage   `json:"nextCursor"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return page{}, s.fault(fault.ProtocolError, "", "tools/list: the answer holds no list of tools: %v", err)
	}
	var out page
	for i, one := range wire.Tools {
		advertised, warning, err := readTool(one)
		if err != nil {
			s.log("warn", fmt.Sprintf("advertises a malformed tool, which is skipped: tools[%d]: %v", i, err), "")
			continue
		}
		if warning != "" {
			s.log("warn", fmt.Sprintf("advertises tool %q with %s", advertised.Name, warning), "")
		}
		out.tools = append(out.tools, advertised)
	}
	if absent(wire.Next) {
		return out, nil
	}
	if err := json.Unmarshal(wire.Next, &out.next); err != nil {
		s.log("warn", "has a nextCursor that is no string in tools/list; reading no further", "")
	}
	return out, nil
}

// readTool decodes one tool by itself. Its schema stays as it was written.
func readTool(raw json.RawMessage) (t tool.Advertised, warning string, err error) {
	var fields map[string]json.RawMessage // not a struct: encoding/json would take "Name" for "name"
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return t, "", fmt.Errorf("%.100s is not an object", raw)
	}
	if err := json.Unmarshal(fields["name"], &t.Name); err != nil || t.Name == "" {
		return t, "", errors.New("it has no name")
	}
	if schema := bytes.TrimSpace(fields["inputSchema"]); !absent(schema) {
		if schema[0] != '{' {
			return t, "", fmt.Errorf("%q: inputSchema is not an object", t.Name)
		}
		t.InputSchema = schema
	}
	if text := fields["description"]; !absent(text) && json.Unmarshal(text, &t.Description) != nil {
		warning = "a description that is no string; it is ignored"
	}
	if meta := fields["_meta"]; !absent(meta) && json.Unmarshal(meta, &t.Meta) != nil {
		t.Meta, warning = nil, "a _meta that is no object; it is ignored"
	}
	return t, warning, nil
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// ownLimits collects what tools allow their own calls. A wrong type counts as absent; discover warns of it.
func ownLimits(tools []tool.Advertised) map[string]time.Duration {
	limits := map[string]time.Duration{}
	for _, t := range tools {
		ms, ok := t.Meta["trailblaze/timeoutMs"].(float64)
		if ok && ms > 0 && ms < math.MaxInt64/float64(time.Millisecond) {
			limits[t.Name] = time.Duration(ms * float64(time.Millisecond))
		}
	}
	return limits
}

// closedSchemas collects the tools whose schema forbids arguments that it does not name, as the Go SDK infers them. Writing the
// reserved argument into a call to such a tool could only fail; _meta has the same and is sent to all.
func closedSchemas(tools []tool.Advertised) map[string]bool {
	closed := map[string]bool{}
	for _, t := range tools {
		var schema struct {
			Properties           map[string]json.RawMessage `json:"properties"`
			AdditionalProperties json.RawMessage            `json:"additionalProperties"`
		}
		if json.Unmarshal(t.InputSchema, &schema) != nil {
			continue
		}
		_, named := schema.Properties[tool.ReservedArg]
		closed[t.Name] = string(schema.AdditionalProperties) == "false" && !named
	}
	return closed
}
