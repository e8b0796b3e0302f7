// Package mcpserver serves the tools of an agent (package livetool) over MCP: messages, progress, cancellation. A
// connection has one live session at a time.
//
// It is independent of what the tools mean.
package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/livetool"
)

// Options are the options of a server. A limit of 0 stands for its default.
type Options struct {
	Version string
	Tools   livetool.Options
	// Parent returns the id of the parent process; nil if it does not matter. The server ends when it changes.
	Parent func() int

	MaxLine        int           // the largest message in bytes
	MaxPending     int           // requests that are not answered; with more, the input is not read on
	MaxUnread      int           // bytes of answers that the client has not read; with more, an answer is an error
	Progress       time.Duration // between progress notifications
	Drain          time.Duration // for the answers to pending requests when the input ends
	ParentInterval time.Duration // between looks at the parent process
}

// The defaults of [Options].
const (
	maxLine        = 8 << 20
	maxPending     = 1024
	maxUnread      = 64 << 20
	progressEvery  = 5 * time.Second
	drainTime      = 2 * time.Second
	parentInterval = time.Second
)

func (o Options) withDefaults() Options {
	o.MaxLine = cmp.Or(o.MaxLine, maxLine)
	o.MaxPending = cmp.Or(o.MaxPending, maxPending)
	o.MaxUnread = cmp.Or(o.MaxUnread, maxUnread)
	o.Progress = cmp.Or(o.Progress, progressEvery)
	o.Drain = cmp.Or(o.Drain, drainTime)
	o.ParentInterval = cmp.Or(o.ParentInterval, parentInterval)
	return o
}

// server serves one client.
type server struct {
	opts   Options
	mcp    *mcp.Server
	out    io.Writer
	lines  chan written
	unread atomic.Int64  // bytes of answers that are to be written
	ended  chan struct{} // closed when pending requests had the time to be answered
	tools  *livetool.Tools

	listing sync.Mutex
	listed  []string // names of the session's tools that are MCP tools of their own

	ctx    context.Context //nolint:containedctx // the connection's lifetime: work for requests ends with it
	cancel context.CancelCauseFunc

	conn *conn // reads what the client sends since its last initialize
}

var errInputEnded = errors.New("the client closed the connection")

// Serve answers requests from in on out until in ends, ctx is cancelled or the parent process ends, and then closes the
// live session. The error says why it ended otherwise than by the end of in. A read of in and a write on out that are
// pending then are abandoned.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := &server{opts: o.withDefaults(), out: out, lines: make(chan written), ended: make(chan struct{})}
	go s.write(s.ended)
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.opts.Tools.ToolsChanged = s.toolsChanged
	s.tools = livetool.New(s.ctx, s.opts.Tools)
	s.mcp = s.newMCP()
	if err := s.connect(); err != nil {
		close(s.ended)
		return err
	}
	lines := readLines(in, s.opts.MaxLine, s.ctx.Done())
	parent := s.watchParent()
	err := s.serve(lines)
	s.cancel(cmp.Or(err, errInputEnded))
	s.conn.drain(s.opts.Drain)
	close(s.ended)
	s.conn.end()
	s.tools.Close(context.WithoutCancel(ctx))
	<-parent
	if errors.Is(err, errParentEnded) {
		return nil
	}
	return err
}

// serve passes the client's messages on until there are no more. The error is nil when the input ended.
func (s *server) serve(lines <-chan line) error {
	for {
		select {
		case l, ok := <-lines:
			if !ok {
				return nil
			}
			s.receive(l)
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
}

var errParentEnded = errors.New("the parent process ended")

// watchParent ends the server when the parent process ends. The returned channel is closed when it has stopped looking.
func (s *server) watchParent() <-chan struct{} {
	done := make(chan struct{})
	if s.opts.Parent == nil {
		close(done)
		return done
	}
	parent := s.opts.Parent()
	go func() {
		defer close(done)
		ticker := time.NewTicker(s.opts.ParentInterval)
		defer ticker.Stop()
		for {
			select {
			case <-s.ctx.Done():
				return
			case <-ticker.C:
				if s.opts.Parent() != parent {
					s.cancel(errParentEnded)
				}
			}
		}
	}()
	return done
}

// newMCP returns the SDK's server with the tools.
func (s *server) newMCP() *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "trailblaze", Version: s.opts.Version}, &mcp.ServerOptions{
		Instructions: livetool.Instructions,
		Capabilities: &mcp.ServerCapabilities{
			Tools:     &mcp.ToolCapabilities{ListChanged: s.opts.Tools.AllTools},
			Resources: &mcp.ResourceCapabilities{},
		},
		SubscribeHandler:   func(_ context.Context, req *mcp.SubscribeRequest) error { return onlyRegistry(req.Params.URI) },
		UnsubscribeHandler: func(_ context.Context, req *mcp.UnsubscribeRequest) error { return onlyRegistry(req.Params.URI) },
	})
	m.AddResource(registryResource(), s.readRegistry)
	m.AddReceivingMiddleware(s.recoverPanics)
	for _, d := range s.tools.List() {
		s.addTool(m, d)
	}
	return m
}

// listTools makes the tools that the open session offers MCP tools of their own.
func (s *server) listTools() {
	s.listing.Lock()
	defer s.listing.Unlock()
	s.mcp.RemoveTools(s.listed...)
	s.listed = nil
	for _, d := range s.tools.Offered() {
		s.listed = append(s.listed, d.Name)
		s.addTool(s.mcp, d)
	}
}

// recoverPanics answers a request whose handler panics with an internal error.
func (s *server) recoverPanics(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				result, err = nil, s.internalError("internal error: "+fault.Panicked(p).Message)
			}
		}()
		return next(ctx, method, req)
	}
}

// internalError returns an error for an answer, as the agent may see it.
func (s *server) internalError(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: s.opts.Tools.Output(message)}
}

var errNotRead = errors.New("the client does not read")

// written is a line that is to be written, and what became of it.
type written struct {
	line []byte
	err  chan error // receives one value
}

// write writes lines one after another until stop is closed. A write that is pending then is abandoned.
func (s *server) write(stop <-chan struct{}) {
	for {
		select {
		case w := <-s.lines:
			_, err := s.out.Write(w.line)
			w.err <- err
		case <-stop:
			return
		}
	}
}

// send writes a message as a line. It fails when the client does not read the line before stop is closed.
func (s *server) send(data []byte, stop <-chan struct{}) error {
	w := written{append(data, '\n'), make(chan error, 1)}
	select {
	case s.lines <- w:
	case <-stop:
		return errNotRead
	}
	select {
	case err := <-w.err:
		if err != nil {
			s.cancel(fmt.Errorf("%w: %w", errNotRead, err))
		}
		return err
	case <-stop:
		return errNotRead
	}
}
