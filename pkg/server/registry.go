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

// The resource in which a server describes its tools (specification, section 14), and the most bytes of it that are
// used.
const (
	registryURI = "trailblaze://registry"
	maxRegistry = 1 << 20
)

// codeResourceNotFound is the code that older servers send; newer ones send invalid parameters.
const codeResourceNotFound = -32002

// registryRead is a read of the registry that runs beside tools/list.
type registryRead struct {
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when text and err are set
	text   string
	err    error // the server ended, or the context did
}

// errRegistryTimeout cancels a read that exceeded its limit.
var errRegistryTimeout = errors.New("no response within the limit")

// startRegistryRead reads the registry of a server that declares resources, because other servers may exit on an
// unknown method. It is called after the first tools/list was sent, which a server that hangs in the read can then
// still answer.
func (s *Server) startRegistryRead(ctx context.Context, p *peer) *registryRead {
	caps := p.session.InitializeResult().Capabilities
	if caps == nil || caps.Resources == nil {
		return nil
	}
	r := &registryRead{done: make(chan struct{})}
	ctx, r.cancel = context.WithCancelCause(ctx)
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

// wait returns the registry, waiting for it at most for limit.
func (r *registryRead) wait(limit time.Duration) (string, error) {
	if r == nil {
		return "", nil
	}
	timeout := time.AfterFunc(limit, func() { r.cancel(errRegistryTimeout) })
	defer timeout.Stop()
	<-r.done
	r.cancel(nil)
	return r.text, r.err
}

// abort cancels the read and waits for its end.
func (r *registryRead) abort(cause error) {
	if r != nil {
		r.cancel(cause)
		<-r.done
	}
}

// readRegistry returns the text of the registry, or "" and a log message when it cannot be read. The error means that
// the server ended, or ctx did.
func (s *Server) readRegistry(ctx context.Context, p *peer) (string, error) {
	raw, err := p.request(ctx, methodRead, requestParams{URI: registryURI}, func() {})
	var rpc *jsonrpc.Error
	failure := asTransportError(err)
	switch {
	case err == nil:
		return s.registryText(raw), nil
	case errors.Is(context.Cause(ctx), errRegistryTimeout):
		s.warnNoRegistry(fmt.Sprintf("no response within %s", s.cfg.timing.registry))
	case failure != nil:
		s.warnNoRegistry(failure.Error())
	case !errors.As(err, &rpc):
		return "", s.listingError(ctx, methodRead, err)
	case slices.Contains([]int64{codeResourceNotFound, jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound},
		rpc.Code):
		s.log("debug", fmt.Sprintf("has no %s: %.200s", registryURI, rpc.Message), "")
	default:
		s.warnNoRegistry(fmt.Sprintf("protocol error %d: %.200s", rpc.Code, rpc.Message))
	}
	return "", nil
}

func (s *Server) warnNoRegistry(why string) {
	s.log("warn", "did not provide "+registryURI+": "+why, "its tools are used without the metadata of the registry")
}

// registryText returns the first text of the resource. It ignores other contents.
func (s *Server) registryText(raw json.RawMessage) string {
	var result struct {
		Contents []map[string]json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		s.warnNoRegistry(fmt.Sprintf("the response has no contents: %v", err))
		return ""
	}
	for _, content := range result.Contents {
		var text *string
		switch {
		case json.Unmarshal(content["text"], &text) != nil || text == nil:
		case len(*text) > maxRegistry:
			s.warnNoRegistry(fmt.Sprintf("it has %d KiB, over the limit of %d KiB", len(*text)>>10, maxRegistry>>10))
			return ""
		default:
			return *text
		}
	}
	s.warnNoRegistry("the response has no text")
	return ""
}
