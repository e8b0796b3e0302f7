package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// pendingCall is a request that was sent, or waits to be sent, to the server: a tools/call, or a tools/list when tool
// is empty.
type pendingCall struct {
	tool   string
	token  string // of its progress notifications
	peer   *peer  // the process it is sent to, nil before; guarded by Server.mu
	cancel context.CancelFunc
	done   chan struct{} // closed when the call has returned

	ctx       context.Context //nolint:containedctx // of the requests for a model that its tool makes; unset for a listing
	sampling  sync.WaitGroup  // those that are being answered; added to only under Server.mu, before the call returns
	samplings int             // how many there were; guarded by Server.mu

	progressed chan struct{} // has a value when progress was received that the call has not seen
	progress   []string      // the progress messages that the call has not seen; guarded by Server.mu
}

// progressBuffer is the number of progress messages kept for a slow reader; later ones are dropped, but still restart
// the limit.
const progressBuffer = 64

// Call runs a tool. It satisfies tool.Caller and may be called concurrently: calls then run one after another in the
// order in which they were made, unless the server is parallel. A nested call does not wait for calls that wait for it.
// A call's limit does not include the time that it waits for its turn or for a new process. The error is a
// *fault.Error: the server failed, or ctx ended.
func (s *Server) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	if _, found := call.Args[tool.ReservedArg]; found {
		return s.failedResult(call.Tool, fault.InvalidArguments,
			"remove it from the recording; trailblaze sets it itself",
			"the argument %q is reserved", tool.ReservedArg), nil
	}
	if !s.cfg.Parallel {
		t, err := s.acquireTurn(ctx, call)
		if err != nil {
			return tool.Result{}, err
		}
		defer s.cfg.Calls.release(t)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := s.register(call.Tool, cancel)
	if err != nil {
		return tool.Result{}, err
	}
	defer s.unregister(c)
	c.ctx = ctx
	return s.sendWithRetry(ctx, c, call)
}

// sendWithRetry sends a call. It sends it a second time only if the connection was lost before the server received it.
func (s *Server) sendWithRetry(ctx context.Context, c *pendingCall, call tool.Call) (tool.Result, error) {
	var notReceived transportError
	for {
		if err := s.acquirePeer(ctx, c, call.Nested()); err != nil {
			return tool.Result{}, err
		}
		if notReceived != nil {
			s.logReconnected(fmt.Sprintf("it did not receive the call of %s: %v", c.phase(), notReceived))
		}
		params, err := s.contexts.callParams(call, c.token, s.listing.Load().strict[call.Tool], c.peer.meta)
		if err != nil {
			return s.failedResult(call.Tool, fault.InvalidArguments, "", "its arguments cannot be encoded as JSON: %v",
				err), nil
		}
		result, err := s.roundTrip(ctx, c, params, call)
		failure := asTransportError(err)
		switch {
		case failure == nil:
			return result, err
		case notReceived != nil || failure.MaybeExecuted() || !failure.Disconnected():
			return s.transportFailure(ctx, c, failure), nil //nolint:nilerr // the failure is the result
		}
		notReceived = failure
		s.dropPeer(ctx, s.releasePeer(c))
	}
}

// transportFailure returns the result of a call that ended with a transport error.
func (s *Server) transportFailure(ctx context.Context, c *pendingCall, failure transportError) tool.Result {
	if failure.Disconnected() {
		s.dropPeer(ctx, c.peer)
	}
	known := fault.As(failure)
	if failure.MaybeExecuted() {
		return s.maybeExecuted(c.tool, known)
	}
	return s.failedResult(c.tool, known.Kind, known.Hint, "%s", known.Message)
}

func (s *Server) maybeExecuted(name string, cause *fault.Error) tool.Result {
	return s.failedResult(name, cause.Kind, cause.Hint, "%s; the call may have executed", cause.Message)
}

// register adds a pending call, or a listing when name is empty, which Stop then cancels. It fails when the server has
// failed or stopped.
func (s *Server) register(name string, cancel context.CancelFunc) (*pendingCall, error) {
	c := &pendingCall{tool: name, cancel: cancel, done: make(chan struct{}), progressed: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return nil, s.err
	case s.stopped:
		return nil, s.stoppedError(c.phase())
	}
	s.lastToken++
	c.token = strconv.Itoa(s.lastToken)
	s.pending[c.token] = c
	return c, nil
}

func (s *Server) unregister(c *pendingCall) {
	s.mu.Lock()
	delete(s.pending, c.token)
	s.mu.Unlock()
	c.cancel()
	c.sampling.Wait()
	close(c.done)
}

// acquirePeer sets c.peer to the running process, and starts one if needed. A nested call does not wait for the
// previous process to exit, because its caller may be a call of that process.
func (s *Server) acquirePeer(ctx context.Context, c *pendingCall, nested bool) error {
	for {
		stopping, err := s.useOrStartPeer(ctx, c, nested)
		if stopping == nil {
			return err
		}
		select { // without holding s.launching, which a nested call may need before the process can be stopped
		case <-stopping.stopped:
		case <-ctx.Done():
			return s.contextError(ctx, c)
		}
	}
}

// useOrStartPeer sets c.peer, or returns the previous process, which the call has to wait for: two processes at once
// could need the same port or device.
func (s *Server) useOrStartPeer(ctx context.Context, c *pendingCall, nested bool) (stopping *peer, err error) {
	select {
	case s.launching <- struct{}{}:
		defer func() { <-s.launching }()
	case <-ctx.Done():
		return nil, s.contextError(ctx, c)
	}
	if s.useCurrentPeer(c) {
		return nil, nil
	}
	s.mu.Lock()
	previous, failure, stopped := s.previous, s.err, s.stopped
	s.mu.Unlock()
	switch {
	case failure != nil:
		return nil, failure
	case stopped:
		return nil, s.stoppedError(c.phase())
	case !nested && previous.current() < peerStopped:
		return previous, nil
	}
	p, err := s.startPeer(ctx)
	if err != nil {
		return nil, s.restartError(ctx, c, err)
	}
	if !s.usePeer(ctx, c, p) {
		_ = p.stop(context.WithoutCancel(ctx))
		return nil, s.stoppedError(c.phase())
	}
	if s.cfg.Reconnect && previous.hasEnded() && previous.exitErr != nil {
		s.logReconnected(previous.exitErr.Message)
	}
	return nil, nil
}

// maxReconnectWarnings is the number of reconnections that are logged as warnings; later ones are logged for debugging.
const maxReconnectWarnings = 3

// logReconnected logs that a connection was replaced without failing a call.
func (s *Server) logReconnected(why string) {
	s.mu.Lock()
	s.reconnections++
	level := "warn"
	if s.reconnections > maxReconnectWarnings {
		level = "debug"
	}
	s.mu.Unlock()
	s.log(level, "reconnected: "+why, "state that the server kept for this session, such as a login, is lost")
}

// useCurrentPeer sets c.peer to the process in use, and reports whether it can be used.
func (s *Server) useCurrentPeer(c *pendingCall) bool {
	s.mu.Lock()
	c.peer = s.peer
	s.mu.Unlock()
	if c.peer == nil {
		return false
	}
	if c.peer.current() == peerReady {
		return true
	}
	p := s.releasePeer(c)
	<-p.ended
	s.handleExit(p)
	return false
}

// releasePeer clears c.peer, to which nothing was sent, and returns it.
func (s *Server) releasePeer(c *pendingCall) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := c.peer
	c.peer = nil
	return p
}

// usePeer makes p the process in use and sets c.peer to it. It returns false if the server was stopped meanwhile.
func (s *Server) usePeer(ctx context.Context, c *pendingCall, p *peer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	c.peer = p
	s.setPeer(ctx, p)
	return true
}

// restartError fails the server because a process could not be started again with err, unless ctx ended.
func (s *Server) restartError(ctx context.Context, c *pendingCall, err error) error {
	if ctx.Err() != nil {
		return s.contextError(ctx, c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(fault.As(err))
	return err
}

// roundTrip sends a call and waits for its response, its time limit, or the end of the process.
func (s *Server) roundTrip(
	ctx context.Context, c *pendingCall, params json.RawMessage, call tool.Call,
) (tool.Result, error) {
	limited, timeout := context.WithCancel(ctx)
	defer timeout()
	t := startTimer(s.callLimit(call), s.cfg.timing.maxExtension, func() {
		if len(c.progressed)+len(call.Callbacks) == 0 { // else the loop below restarts the limit
			timeout()
		}
	})
	defer t.timer.Stop()
	req, err := c.peer.send(limited, methodCall, params)
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return s.giveUp(ctx, c, t, call), nil
	case err != nil:
		return s.callResult(ctx, c, nil, err)
	}
	defer c.peer.finish(ctx, req)
	for {
		select {
		case <-call.Callbacks:
			t.restart()
			continue
		case <-c.progressed:
			t.restart()
			s.reportProgress(c, call)
			continue
		case <-limited.Done():
			if ctx.Err() == nil && !req.isDone() {
				return s.giveUp(ctx, c, t, call), nil
			}
		case <-req.done:
		}
		raw, err := c.peer.await(ctx, req)
		s.reportProgress(c, call)
		return s.callResult(ctx, c, raw, err)
	}
}

// giveUp ends a call that exceeded its limit.
func (s *Server) giveUp(ctx context.Context, c *pendingCall, t *callTimer, call tool.Call) tool.Result {
	s.dropPeer(ctx, c.peer)
	_, remote := c.peer.link.(RemoteLink)
	return s.timeoutResult(c.tool, t, nextCallHint(call, remote))
}

// nextCallHint says where the call after one that timed out is sent.
func nextCallHint(call tool.Call, remote bool) string {
	switch {
	case call.WithoutTrail: // there is no next call
		return ""
	case remote:
		return ": the next call reconnects"
	}
	return ": the next call starts a new process"
}

// reportProgress reports the progress messages that were received since the last time.
func (s *Server) reportProgress(c *pendingCall, call tool.Call) {
	s.mu.Lock()
	messages := c.progress
	c.progress = nil
	s.mu.Unlock()
	for _, text := range messages {
		if call.Progress != nil && text != "" {
			call.Progress(text)
		}
	}
}

// callResult turns the response to a call, or the error in its place, into what Call returns.
func (s *Server) callResult(ctx context.Context, c *pendingCall, raw json.RawMessage, err error) (tool.Result, error) {
	var rpc *jsonrpc.Error
	switch {
	case err == nil:
		return s.decodeResult(c.tool, raw), nil
	case ctx.Err() != nil:
		s.dropPeer(ctx, c.peer)
		return tool.Result{}, s.contextError(ctx, c)
	case asTransportError(err) != nil:
		return tool.Result{}, err
	case errors.As(err, &rpc):
		return s.rpcErrorResult(c.tool, err, rpc), nil
	}
	<-c.peer.ended
	s.handleExit(c.peer)
	if err := s.Err(); err != nil {
		return tool.Result{}, err
	}
	failure := c.peer.failure
	switch {
	case c.peer.exitErr == nil:
		return tool.Result{}, failure
	case s.cfg.Reconnect:
		return s.maybeExecuted(c.tool, c.peer.exitErr), nil
	}
	return tool.Result{Kind: failure.Kind, Text: failure.Message, Hint: failure.Hint}, nil
}

// contextError returns the error of a call whose ctx ended: that of the server if it failed or was stopped, since that
// ends the contexts of calls too.
func (s *Server) contextError(ctx context.Context, c *pendingCall) error {
	if err := s.Err(); err != nil {
		return err
	}
	select {
	case <-s.stopping:
		return s.stoppedError(c.phase())
	default:
		return s.cancelledError(ctx, c.phase())
	}
}

// phase names the request in messages.
func (c *pendingCall) phase() string {
	if c.tool == "" {
		return methodList
	}
	return toolPhase(c.tool)
}

func toolPhase(name string) string { return fmt.Sprintf("tool %q", name) }

// callLimit is the time limit of a call.
type callLimit struct {
	duration time.Duration
	source   string // where it was set
	change   string // how to change it
}

// callLimit returns the most specific limit of a call.
func (s *Server) callLimit(call tool.Call) callLimit {
	own, found := s.listing.Load().timeouts[call.Tool]
	orInTrail := ", or set `timeout:` on the recorded call"
	if call.WithoutTrail || call.Nested() {
		orInTrail = ""
	}
	switch {
	case call.Timeout > 0:
		return callLimit{call.Timeout, "the timeout of the recorded call", "change its `timeout:` in the trail"}
	case found:
		return callLimit{own, `the tool's own limit, _meta["trailblaze/timeoutMs"]`, "change it there" + orInTrail}
	case s.cfg.CallTimeout > 0:
		return callLimit{s.cfg.CallTimeout, "the server's callTimeout", "change that key in its entry" + orInTrail}
	}
	return callLimit{
		defaultCallTimeout, "the default limit of a call",
		"set `callTimeout` in the server's entry" + orInTrail,
	}
}

// callTimer is a running call limit, which progress restarts up to a maximum in total.
type callTimer struct {
	callLimit
	timer   *time.Timer
	started time.Time
	max     time.Duration // of the call in total
}

// startTimer starts a limit, which calls f. maxExtension bounds what progress can extend it to, unless the limit itself
// is longer.
func startTimer(limit callLimit, maxExtension time.Duration, f func()) *callTimer {
	return &callTimer{
		callLimit: limit, timer: time.AfterFunc(limit.duration, f), started: time.Now(),
		max: max(limit.duration, maxExtension),
	}
}

func (t *callTimer) restart() { t.timer.Reset(min(t.duration, t.remaining())) }

// remaining returns how much longer the call may run if it keeps reporting progress.
func (t *callTimer) remaining() time.Duration { return t.max - time.Since(t.started) }

// timeoutResult returns the result of a call that exceeded its limit.
func (s *Server) timeoutResult(name string, t *callTimer, next string) tool.Result {
	what := fmt.Sprintf("no response within %s, %s (%s)", t.duration, t.source, t.change)
	if t.max > t.duration && t.remaining() <= 0 {
		what = fmt.Sprintf("still reporting progress or calling tools after %s, the most that this can extend %s (%s)", t.max,
			t.source, t.change)
	}
	return s.failedResult(name, fault.CallTimeout, "trying again can help"+next,
		"timeout: %s; the call may have executed", what)
}
