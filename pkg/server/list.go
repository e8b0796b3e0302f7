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

// list reads all pages of tools/list. The error is not explained yet.
func (s *Server) list(ctx context.Context, p *peer) ([]tool.Advertised, error) {
	limit := s.cfg.timing.list
	ctx, cancel := context.WithTimeoutCause(ctx, limit, s.overLimit(
		"tools/list: timeout: not all tools within %s, the limit for listing", limit))
	defer cancel()
	var tools []tool.Advertised
	seen := map[string]bool{}
	for cursor := ""; ; {
		raw, err := askForPage(ctx, p, cursor)
		if rpc := (*jsonrpc.Error)(nil); errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound {
			s.log("warn", "has no tools: it does not know tools/list", "")
			return nil, nil
		}
		if err != nil {
			return nil, s.listFault(ctx, err)
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

func askForPage(ctx context.Context, p *peer, cursor string) (json.RawMessage, error) {
	params, err := p.params(request{Cursor: cursor})
	if err != nil {
		return nil, err
	}
	ex, err := p.send(ctx, methodList, params)
	if err != nil {
		return nil, err
	}
	defer p.finish(ctx, ex)
	return p.await(ctx, ex)
}

// listFault prefers a limit or a cancellation of our own to how the SDK words it.
func (s *Server) listFault(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if limit := fault.As(context.Cause(ctx)); limit != nil {
		return limit
	}
	return s.cancelled(ctx, methodList)
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
		_, named := schema.Properties[tool.Reserved]
		closed[t.Name] = string(schema.AdditionalProperties) == "false" && !named
	}
	return closed
}
