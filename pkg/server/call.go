package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// flight is one call in progress, or one listing.
type flight struct {
	tool     string // empty for a listing
	token    string
	peer     *peer // on which it was sent, nil before; guarded by Server.mu
	cancel   context.CancelFunc
	progress chan string   // what the tool says meanwhile, in order before its answer
	landed   chan struct{} // closed when the call has returned
}

// unheard is how many progress messages may wait for a slow listener; more are dropped, the limit restarts all the same.
const unheard = 64

// Call runs a tool. It satisfies tool.Caller and may be called concurrently: calls then wait for each other in the order in
// which they came, unless the server is parallel or the call is nested. Waiting does not count against a call's limit, nor does starting a fresh
// process. The error is a *fault.Error: the server broke, or ctx ended.
func (s *Server) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	if _, taken := call.Args[tool.ReservedArg]; taken {
		return s.failure(call.Tool, fault.InvalidArguments, "remove it from the recording; trailblaze writes it itself",
			"the argument %q is reserved", tool.ReservedArg), nil
	}
	if !s.cfg.Parallel && !call.Nested() {
		if err := s.takeTurn(ctx, call.Tool); err != nil {
			return tool.Result{}, err
		}
		defer func() { <-s.turn }()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f, err := s.depart(call.Tool, cancel)
	if err != nil {
		return tool.Result{}, err
	}
	defer s.land(f)
	return s.carry(ctx, f, call)
}

// carry sends a call, and once more when a link that came back had not taken it.
func (s *Server) carry(ctx context.Context, f *flight, call tool.Call) (tool.Result, error) {
	var untaken substitute
	for {
		if err := s.board(ctx, f, call.Nested()); err != nil {
			return tool.Result{}, err
		}
		if untaken != nil {
			s.reconnected(fmt.Sprintf("it did not take the call of %s: %v", f.phase(), untaken))
		}
		params, err := f.peer.params(envelope(call, f.token, s.listing.Load().closed[call.Tool]))
		if err != nil {
			return s.failure(call.Tool, fault.InvalidArguments, "", "its arguments cannot be written as JSON: %v", err), nil
		}
		result, err := s.fly(ctx, f, params, call)
		in := substituted(err)
		switch {
		case in == nil:
			return result, err
		case untaken != nil || in.Unsure() || !in.Lost():
			return s.instead(ctx, f, in), nil //nolint:nilerr // what failed is the result
		}
		untaken = in
		s.retire(ctx, s.disembark(f))
	}
}

// instead is the result of a call that a link answered in the server's place.
func (s *Server) instead(ctx context.Context, f *flight, in substitute) tool.Result {
	if in.Lost() {
		s.retire(ctx, f.peer)
	}
	known := fault.As(in)
	if in.Unsure() {
		return s.unsure(f.tool, known)
	}
	return s.failure(f.tool, known.Kind, known.Hint, "%s", known.Message)
}

func (s *Server) unsure(name string, why *fault.Error) tool.Result {
	return s.failure(name, why.Kind, why.Hint, "%s; the call may or may not have happened", why.Message)
}

// takeTurn waits in the queue, in which a channel keeps its senders.
func (s *Server) takeTurn(ctx context.Context, name string) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return s.cancelled(ctx, toolPhase(name))
	case <-s.broken:
		return s.Err()
	case <-s.stopping:
		return s.stoppedFault(toolPhase(name))
	}
}

// depart puts a call, or a listing when name is empty, among those that Stop cancels.
func (s *Server) depart(name string, cancel context.CancelFunc) (*flight, error) {
	f := &flight{tool: name, cancel: cancel, progress: make(chan string, unheard), landed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return nil, s.err
	case s.stopped:
		return nil, s.stoppedFault(f.phase())
	}
	s.tokens++
	f.token = strconv.Itoa(s.tokens)
	s.flights[f.token] = f
	return f, nil
}

func (s *Server) land(f *flight) {
	s.mu.Lock()
	delete(s.flights, f.token)
	s.mu.Unlock()
	close(f.landed)
}

// board finds the process for a call, and starts one when there is none. A nested call does not wait for the end of the process
// before: who asks for it may be aboard that one, waiting for the answer.
func (s *Server) board(ctx context.Context, f *flight, nested bool) error {
	select {
	case s.launching <- struct{}{}:
		defer func() { <-s.launching }()
	case <-ctx.Done():
		return s.interrupted(ctx, f)
	}
	if s.boardCurrent(f) {
		return nil
	}
	s.mu.Lock()
	last, broken, stopped := s.last, s.err, s.stopped
	s.mu.Unlock()
	switch {
	case broken != nil:
		return broken
	case stopped:
		return s.stoppedFault(f.phase())
	}
	if !nested {
		select { // two at once would fight over whatever the first one holds: a port, a device
		case <-last.stopped:
		case <-ctx.Done():
			return s.interrupted(ctx, f)
		}
	}
	p, err := s.connect(ctx)
	if err != nil {
		return s.relaunchFault(ctx, f, err)
	}
	if !s.boardFresh(ctx, f, p) {
		_ = p.stop(context.WithoutCancel(ctx))
		return s.stoppedFault(f.phase())
	}
	if s.cfg.Reconnect && last.hasEnded() && last.fate != nil {
		s.reconnected(last.fate.Message)
	}
	return nil
}

// maxReconnections is how many reconnections of a server are worth a warning each.
const maxReconnections = 3

// reconnected says that a conversation was begun anew without a call that failed.
func (s *Server) reconnected(why string) {
	s.mu.Lock()
	s.reconnections++
	level := "warn"
	if s.reconnections > maxReconnections {
		level = "debug"
	}
	s.mu.Unlock()
	s.log(level, "was connected to again: "+why, "what it kept for this session, such as who is signed in, is gone, unless it keeps that elsewhere")
}

// boardCurrent boards the process in use, unless it is gone.
func (s *Server) boardCurrent(f *flight) bool {
	s.mu.Lock()
	f.peer = s.peer
	s.mu.Unlock()
	if f.peer == nil {
		return false
	}
	select {
	case <-f.peer.wire.broken:
	case <-f.peer.ended:
	default:
		return true
	}
	gone := s.disembark(f)
	<-gone.ended
	s.settle(gone)
	return false
}

// disembark leaves a process before anything was sent to it.
func (s *Server) disembark(f *flight) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := f.peer
	f.peer = nil
	return p
}

// boardFresh makes p the process in use, unless the server was stopped meanwhile.
func (s *Server) boardFresh(ctx context.Context, f *flight, p *peer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	f.peer = p
	s.adopt(ctx, p)
	return true
}

// relaunchFault breaks the server when a process could not be replaced.
func (s *Server) relaunchFault(ctx context.Context, f *flight, err error) error {
	if ctx.Err() != nil {
		return s.interrupted(ctx, f)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breakWith(fault.As(err))
	return err
}

// fly sends a call and waits for what becomes of it.
func (s *Server) fly(ctx context.Context, f *flight, params json.RawMessage, call tool.Call) (tool.Result, error) {
	c := startClock(s.allowance(call), s.cfg.timing.stretch)
	defer c.timer.Stop()
	writing, cancel := context.WithDeadline(ctx, c.begun.Add(c.time))
	defer cancel()
	ex, err := f.peer.send(writing, methodCall, params)
	switch {
	case err != nil && writing.Err() != nil && ctx.Err() == nil:
		return s.giveUp(ctx, f, c, call), nil
	case err != nil:
		return s.arrived(ctx, f, nil, err)
	}
	defer f.peer.finish(ctx, ex)
	for {
		select {
		case text := <-f.progress:
			c.restart()
			report(call, text)
			continue
		case <-c.timer.C:
			if ex.isDone() || len(f.progress) > 0 {
				continue
			}
			return s.giveUp(ctx, f, c, call), nil
		case <-ex.done: // the usual case; await returns at once
		case <-ctx.Done():
		case <-f.peer.wire.broken:
		case <-f.peer.ended:
		}
		raw, err := f.peer.await(ctx, ex)
		for len(f.progress) > 0 {
			report(call, <-f.progress)
		}
		return s.arrived(ctx, f, raw, err)
	}
}

// giveUp ends a call that is over its limit.
func (s *Server) giveUp(ctx context.Context, f *flight, c *clock, call tool.Call) tool.Result {
	s.retire(ctx, f.peer)
	_, lasts := f.peer.link.(RemoteLink)
	return s.overdue(f.tool, c, nextCall(call, lasts))
}

// nextCall says what the call after one that was given up finds.
func nextCall(call tool.Call, lasts bool) string {
	switch {
	case call.WithoutTrail: // there is none
		return ""
	case lasts:
		return ": the next call connects again"
	}
	return ": the next call gets a fresh process"
}

func report(call tool.Call, text string) {
	if call.Progress != nil && text != "" {
		call.Progress(text)
	}
}

// arrived turns what came back into what Call returns.
func (s *Server) arrived(ctx context.Context, f *flight, raw json.RawMessage, err error) (tool.Result, error) {
	var rpc *jsonrpc.Error
	in := substituted(err)
	switch {
	case err == nil:
		return s.result(f.tool, raw), nil
	case ctx.Err() != nil:
		s.retire(ctx, f.peer)
		return tool.Result{}, s.interrupted(ctx, f)
	case in != nil:
		return tool.Result{}, err
	case errors.As(err, &rpc):
		return s.rejected(f.tool, err, rpc), nil
	}
	<-f.peer.ended
	s.settle(f.peer)
	if err := s.Err(); err != nil {
		return tool.Result{}, err
	}
	verdict := f.peer.verdict
	switch {
	case f.peer.fate == nil:
		return tool.Result{}, verdict
	case s.cfg.Reconnect:
		return s.unsure(f.tool, f.peer.fate), nil
	}
	return tool.Result{Kind: verdict.Kind, Text: verdict.Message, Hint: verdict.Hint}, nil
}

// interrupted says whose doing it was that ctx ended. Whoever watches Broken may well end it.
func (s *Server) interrupted(ctx context.Context, f *flight) error {
	if err := s.Err(); err != nil {
		return err
	}
	select {
	case <-s.stopping:
		return s.stoppedFault(f.phase())
	default:
		return s.cancelled(ctx, f.phase())
	}
}

// phase names what is in progress, for messages.
func (f *flight) phase() string {
	if f.tool == "" {
		return methodList
	}
	return toolPhase(f.tool)
}

func toolPhase(name string) string { return fmt.Sprintf("tool %q", name) }

// allowance is a limit with where it comes from.
type allowance struct {
	time   time.Duration
	source string
	change string
}

// allowance picks the most specific limit.
func (s *Server) allowance(call tool.Call) allowance {
	own, has := s.listing.Load().limits[call.Tool]
	orInTrail := ", or set `timeout:` on the recorded call"
	if call.WithoutTrail {
		orInTrail = ""
	}
	switch {
	case call.Timeout > 0:
		return allowance{call.Timeout, "the timeout of the recorded call", "change its `timeout:` in the trail"}
	case has:
		return allowance{own, `the tool's own limit, _meta["trailblaze/timeoutMs"]`, "change it there" + orInTrail}
	case s.cfg.CallTimeout > 0:
		return allowance{s.cfg.CallTimeout, "the server's callTimeout", "change that key of its entry" + orInTrail}
	}
	return allowance{defaultCall, "the default limit of a call", "set `callTimeout` in the server's entry" + orInTrail}
}

// clock runs a limit that progress restarts, up to an end.
type clock struct {
	allowance
	timer *time.Timer
	begun time.Time
	total time.Duration // the most that progress can make of it
}

func startClock(a allowance, stretch time.Duration) *clock {
	total := max(a.time, stretch) // a limit that somebody set higher than progress may go is meant
	return &clock{allowance: a, timer: time.NewTimer(a.time), begun: time.Now(), total: total}
}

func (c *clock) restart() { c.timer.Reset(min(c.time, c.left())) }

// left is how long the call may go on if it keeps reporting progress.
func (c *clock) left() time.Duration { return c.total - time.Since(c.begun) }

// overdue is the result of a call that was given up.
func (s *Server) overdue(name string, c *clock, next string) tool.Result {
	what := fmt.Sprintf("no answer within %s, %s (%s)", c.time, c.source, c.change)
	if c.total > c.time && c.left() <= 0 {
		what = fmt.Sprintf("still reporting progress after %s, the most that progress can extend %s (%s)", c.total, c.source, c.change)
	}
	return s.failure(name, fault.CallTimeout, "trying again can help"+next,
		"timeout: %s; the call may or may not have happened", what)
}
