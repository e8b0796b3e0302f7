package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func (s *Server) log(level, message, hint string) {
	s.cfg.Log(level, fmt.Sprintf("server %q %s", s.cfg.Name, message), hint)
}

// fault makes an error that names the server.
func (s *Server) fault(kind fault.Kind, hint, format string, args ...any) *fault.Error {
	return fault.New(kind, hint, "server %q: %s", s.cfg.Name, fmt.Sprintf(format, args...))
}

// overLimit is the error of a phase that took too long.
func (s *Server) overLimit(format string, args ...any) *fault.Error {
	return s.fault(fault.Server, "trying again can help on a busy machine; or give it more with the key startupTimeout of its entry", format, args...)
}

// cancelled is the error of something that ended because ctx did.
func (s *Server) cancelled(ctx context.Context, phase string) *fault.Error {
	err := s.fault(fault.Cancelled, "", "%s: cancelled: %v", phase, context.Cause(ctx))
	err.Cause = context.Cause(ctx)
	return err
}

// stoppedFault is the error of a call that came after Stop, or was in flight during it.
func (s *Server) stoppedFault(phase string) *fault.Error {
	return s.fault(fault.Cancelled, "", "%s: cancelled: the server is being stopped", phase)
}

// launchFault names the server in what Launch said.
func (s *Server) launchFault(err error) *fault.Error {
	known := fault.As(err)
	if known == nil {
		known = &fault.Error{Kind: fault.Server, Message: err.Error()}
	}
	named := *known
	named.Cause = err
	named.Message = fmt.Sprintf("server %q: start: %s", s.cfg.Name, named.Message)
	return &named
}

// substitute is an error that a link puts in the place of an answer; it wraps a *fault.Error.
type substitute interface {
	error
	Lost() bool   // nothing more is to be expected of the link
	Unsure() bool // the server may or may not have done what it was asked for
}

// substituted is the substitute in err, nil when there is none.
func substituted(err error) substitute {
	var in substitute
	_ = errors.As(err, &in)
	return in
}

// reason turns what came instead of an answer from p into an error, unexplained. When p ended, how it ended is the reason.
func (s *Server) reason(p *peer, phase string, err error) *fault.Error {
	known := fault.As(err)
	if substituted(err) != nil {
		return s.fault(known.Kind, known.Hint, "%s: %s", phase, known.Message)
	}
	if rpc := (*jsonrpc.Error)(nil); errors.As(err, &rpc) {
		kind := fault.ProtocolError
		if known != nil { // the link said so, in the server's place
			kind = known.Kind
		}
		return s.fault(kind, "", "%s: protocol error %d: %s", phase, rpc.Code, rpc.Message)
	}
	if known != nil {
		return known
	}
	select {
	case <-p.wire.broken:
	case <-p.ended:
	default:
		return s.fault(fault.ProtocolError, "", "%s: %v", phase, err)
	}
	<-p.ended
	return s.died(p, "during "+phase)
}

// died says how p ended. The caller has seen p.ended.
func (s *Server) died(p *peer, when string) *fault.Error {
	if p.fate == nil {
		return s.fault(fault.Cancelled, "", "stopped %s", when)
	}
	how := "crashed " + when
	if s.cfg.Reconnect {
		how = strings.TrimPrefix(when, "during ")
	}
	err := s.fault(p.fate.Kind, p.fate.Hint, "%s: %s", how, p.fate.Message)
	err.Details, err.Cause = p.fate.Details, p.fate
	return err
}
