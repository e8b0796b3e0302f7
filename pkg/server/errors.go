package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// log logs a message that begins with the server's name.
func (s *Server) log(level, message, hint string) {
	s.cfg.Log(level, fmt.Sprintf("server %q %s", s.cfg.Name, message), hint)
}

// newError returns an error whose message begins with the server's name.
func (s *Server) newError(kind fault.Kind, hint, format string, args ...any) *fault.Error {
	return fault.New(kind, hint, "server %q: %s", s.cfg.Name, fmt.Sprintf(format, args...))
}

// startTimeout returns the error of a phase of the start that exceeded its limit.
func (s *Server) startTimeout(format string, args ...any) *fault.Error {
	return s.newError(fault.Server,
		"trying again can help on a busy machine; startupTimeout in its entry sets the limit", format, args...)
}

// cancelledError returns the error of a phase that ended because ctx did.
func (s *Server) cancelledError(ctx context.Context, phase string) *fault.Error {
	err := s.newError(fault.Cancelled, "", "%s: cancelled: %v", phase, context.Cause(ctx))
	err.Cause = context.Cause(ctx)
	return err
}

// stoppedError returns the error of a call that was made after Stop, or was pending during it.
func (s *Server) stoppedError(phase string) *fault.Error {
	return s.newError(fault.Cancelled, "", "%s: cancelled: the server is being stopped", phase)
}

// launchError adds the server's name to an error of Launch.
func (s *Server) launchError(err error) *fault.Error {
	known := fault.As(err)
	if known == nil {
		known = &fault.Error{Kind: fault.Server, Message: err.Error()}
	}
	named := *known
	named.Cause = err
	named.Message = fmt.Sprintf("server %q: start: %s", s.cfg.Name, named.Message)
	return &named
}

// transportError is an error that a link delivers in place of a response; it wraps a *fault.Error.
type transportError interface {
	error
	Disconnected() bool  // the link cannot be used any more
	MaybeExecuted() bool // the server may have executed the request
}

// asTransportError returns the transportError in err, or nil.
func asTransportError(err error) transportError {
	if err == nil {
		return nil
	}
	var failure transportError
	_ = errors.As(err, &failure)
	return failure
}

// phaseError returns the error of a phase that failed with err on p, without an explanation by the link. If p ended, it
// is the error that p ended with.
func (s *Server) phaseError(p *peer, phase string, err error) *fault.Error {
	known := fault.As(err)
	if asTransportError(err) != nil {
		return s.newError(known.Kind, known.Hint, "%s: %s", phase, known.Message)
	}
	if rpc := (*jsonrpc.Error)(nil); errors.As(err, &rpc) {
		kind := fault.ProtocolError
		if known != nil { // the link replaced the response
			kind = known.Kind
		}
		return s.newError(kind, "", "%s: protocol error %d: %s", phase, rpc.Code, rpc.Message)
	}
	if known != nil {
		return known
	}
	if p.current() < peerLost {
		return s.newError(fault.ProtocolError, "", "%s: %v", phase, err)
	}
	<-p.ended
	return s.exitFailure(p, "during "+phase)
}

// exitedWithCode0 is how pkg/spawn reports the exit of a script that has nothing left to do.
const exitedWithCode0 = "exited with code 0"

const hintNotServing = "end the script with `await trailblaze.run()` (Python: `serve(…)`), or connect an MCP server to its stdin and stdout"

// exitFailure returns the error that says how p ended. p has ended.
func (s *Server) exitFailure(p *peer, when string) *fault.Error {
	if p.exitErr == nil {
		return s.newError(fault.Cancelled, "", "stopped %s", when)
	}
	if when == "during "+methodInitialize && p.exitErr.Message == exitedWithCode0 {
		err := s.newError(p.exitErr.Kind, hintNotServing, "%s %s, without serving MCP", exitedWithCode0, when)
		err.Details, err.Cause = p.exitErr.Details, p.exitErr
		return err
	}
	how := "crashed " + when
	if s.cfg.Reconnect {
		how = strings.TrimPrefix(when, "during ")
	}
	err := s.newError(p.exitErr.Kind, p.exitErr.Hint, "%s: %s", how, p.exitErr.Message)
	err.Details, err.Cause = p.exitErr.Details, p.exitErr
	return err
}
