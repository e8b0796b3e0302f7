package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// The resource in which a server describes its tools (specification, section 14), and the most that is read of it.
const (
	registryURI = "trailblaze://registry"
	maxRegistry = 1 << 20
)

// noSuchResource is how older servers say so; newer ones say that the parameters are invalid.
const noSuchResource = -32002

// reading is a registry on its way.
type reading struct {
	stop context.CancelCauseFunc
	done chan struct{} // closed when the rest is set
	text string
	err  error // there will be none, because the server is gone or the context ended
}

// errSlow ends a reading over its limit.
var errSlow = errors.New("no answer within the limit")

// startReading asks for the registry of a server that says that it has resources: others may die of a method that they do not
// know. It comes behind the first question for tools, which a server that hangs here can then still answer.
func (s *Server) startReading(ctx context.Context, p *peer) *reading {
	caps := p.session.InitializeResult().Capabilities
	if caps == nil || caps.Resources == nil {
		return nil
	}
	r := &reading{done: make(chan struct{})}
	ctx, r.stop = context.WithCancelCause(ctx)
	go func() {
		defer close(r.done)
		defer func() {
			if p := recover(); p != nil {
				r.err = fault.Panicked(p)
			}
		}()
		r.text, r.err = s.readRegistry(ctx, p)
	}()
	return r
}

// finish waits for the registry, from now on as long as it may take.
func (r *reading) finish(limit time.Duration) (string, error) {
	if r == nil {
		return "", nil
	}
	overdue := time.AfterFunc(limit, func() { r.stop(errSlow) })
	defer overdue.Stop()
	<-r.done
	r.stop(nil)
	return r.text, r.err
}

// giveUp ends a reading that nobody waits for any more.
func (r *reading) giveUp(why error) {
	if r != nil {
		r.stop(why)
		<-r.done
	}
}

// readRegistry returns the text of the registry, empty when there is none that could be read.
func (s *Server) readRegistry(ctx context.Context, p *peer) (string, error) {
	raw, err := ask(ctx, p, methodRead, request{URI: registryURI}, func() {})
	var rpc *jsonrpc.Error
	in := substituted(err)
	switch {
	case err == nil:
		return s.registryText(raw), nil
	case errors.Is(context.Cause(ctx), errSlow):
		s.without(fmt.Sprintf("no answer within %s", s.cfg.timing.registry))
	case in != nil:
		s.without(in.Error())
	case !errors.As(err, &rpc):
		return "", s.ended(ctx, methodRead, err)
	case slices.Contains([]int64{noSuchResource, jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound}, rpc.Code):
		s.log("debug", fmt.Sprintf("has no %s: %.200s", registryURI, rpc.Message), "")
	default:
		s.without(fmt.Sprintf("protocol error %d: %.200s", rpc.Code, rpc.Message))
	}
	return "", nil
}

// without warns of a registry that cannot be used.
func (s *Server) without(why string) {
	s.log("warn", "gives no "+registryURI+": "+why, "its tools are used without what it would say of them")
}

// registryText takes the first text of the resource, whatever else it holds.
func (s *Server) registryText(raw json.RawMessage) string {
	var wire struct {
		Contents []map[string]json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		s.without(fmt.Sprintf("the answer holds no contents: %v", err))
		return ""
	}
	for _, content := range wire.Contents {
		var text *string
		switch {
		case json.Unmarshal(content["text"], &text) != nil || text == nil:
		case len(*text) > maxRegistry:
			s.without(fmt.Sprintf("it has %d KiB, over the limit of %d KiB", len(*text)>>10, maxRegistry>>10))
			return ""
		default:
			return *text
		}
	}
	s.without("the answer holds no text")
	return ""
}
