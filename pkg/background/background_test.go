//go:build unix

package background_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/background"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/live/livetest"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// session is a session whose calls do what a test says.
type session struct {
	livetest.Session
	others func(context.Context, live.StepRequest) (live.StepReport, error) // takes the requests of other processes
	step   func(ctx context.Context, r live.StepRequest) (live.StepReport, error)
	err    error
	done   chan struct{}
	closed chan struct{}
	steps  atomic.Int32 // recorded
}

func newSession() *session { return &session{done: make(chan struct{}), closed: make(chan struct{})} }

func (s *session) Status(context.Context) (live.Status, error) {
	steps := int(s.steps.Load())
	return live.Status{ID: "id", Driver: "playwright-native", Steps: steps, Unsaved: steps > 0}, s.err
}

func (s *session) Snapshot(context.Context, live.SnapshotOptions) (live.Snapshot, error) {
	return live.Snapshot{}, fault.New(fault.ToolFailed, "the hint", "the message")
}

func (s *session) Step(ctx context.Context, r live.StepRequest) (live.StepReport, error) {
	return s.step(ctx, r)
}

func (s *session) Edit(context.Context, live.Edit) (string, error) {
	return strings.Repeat("- step\n", int(s.steps.Load())), nil
}

func (s *session) Save(context.Context, live.SaveRequest) (live.SaveReport, error) {
	return live.SaveReport{}, errors.Join(
		fault.Problems{{Kind: fault.Trail, File: "a", Line: 3, Column: 4, Message: "wrong", Snippet: "> 3"}},
		fault.New(fault.Misuse, "", "second"))
}

func (s *session) PassOthersTo(step func(context.Context, live.StepRequest) (live.StepReport, error)) {
	s.others = step
}

func (s *session) Folder() string        { return "" }
func (s *session) Done() <-chan struct{} { return s.done }
func (s *session) Err() error            { return s.err }
func (s *session) Close(context.Context) { close(s.closed) }

// served is a session that is served, and the folder with its record.
type served struct {
	*background.Client
	folder background.Folder
	record background.Record
	stop   context.CancelCauseFunc
	ended  chan error
}

// serve serves a session until the test ends.
func serve(t *testing.T, s background.Session, idle time.Duration) *served {
	t.Helper()
	return serveWith(t, background.Options{Session: s, Idle: idle})
}

func serveWith(t *testing.T, o background.Options) *served {
	t.Helper()
	dir, err := os.MkdirTemp("", "bg") //nolint:usetesting // a socket needs a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	out := &served{folder: background.Folder{Dir: filepath.Join(dir, "sessions"), Now: time.Now}, ended: make(chan error, 1)}
	claim, err := out.folder.Claim(background.Record{Version: "1", Started: time.Now(), PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	server, err := claim.Listen(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	out.stop = stop
	// Before Run, which may end an idle session at once.
	if out.record, err = out.folder.Find(claim.Name(), ""); err != nil {
		t.Fatal(err)
	}
	if out.Client, err = out.folder.Connect(out.record, "1"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		out.ended <- server.Run(ctx)
		close(out.ended)
	})
	t.Cleanup(func() {
		stop(nil)
		wg.Wait()
	})
	return out
}

// end is Folder.End, which does not wait for the exit of the process: it is this one.
func (s *served) end(t *testing.T) background.Info {
	t.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", s.record.Socket)
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://session/end", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct{ Result background.Info }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer.Result
}

func TestRequestsKeepNumbersAndErrors(t *testing.T) {
	t.Parallel()
	s := newSession()
	args := map[string]any{"big": int64(9007199254740993), "list": []any{true, "x", nil}}
	s.step = func(_ context.Context, r live.StepRequest) (live.StepReport, error) {
		call := r.Calls[0]
		if call.Args["big"] != args["big"] || call.SaveAs != "name" || call.Timeout != time.Second || r.Text != "Do it" || r.Kind != trail.KindVerify {
			t.Errorf("%+v", r)
		}
		return live.StepReport{Step: 2, Calls: []live.CallReport{{Tool: call.Tool, OK: true}}}, nil
	}
	c := serve(t, s, 0)
	report, err := c.Step(t.Context(), live.StepRequest{Text: "Do it", Kind: trail.KindVerify, Calls: []trail.Call{
		{Tool: "tap", Args: args, SaveAs: "name", Timeout: time.Second},
	}})
	if err != nil || report.Step != 2 || !report.OK() {
		t.Errorf("%+v, %v", report, err)
	}

	_, err = c.Snapshot(t.Context(), live.SnapshotOptions{})
	if e := fault.As(err); e == nil || e.Kind != fault.ToolFailed || e.Message != "the message" || e.Hint != "the hint" {
		t.Errorf("%#v", err)
	}
	_, err = c.Save(t.Context(), live.SaveRequest{})
	parts := fault.Split(err)
	problems, ok := errors.AsType[fault.Problems](parts[0])
	if len(parts) != 2 || !ok || problems[0].Snippet != "> 3" || problems[0].Kind != fault.Trail || fault.ExitCode(err) != fault.ExitMisuse {
		t.Errorf("%#v", err)
	}
}

func TestClientThatLeavesCancelsItsCallOnly(t *testing.T) {
	t.Parallel()
	s := newSession()
	started, cancelled := make(chan struct{}), make(chan struct{})
	s.step = func(ctx context.Context, r live.StepRequest) (live.StepReport, error) {
		if r.Text == "quick" {
			return live.StepReport{Step: 1}, nil
		}
		close(started)
		<-ctx.Done()
		close(cancelled)
		return live.StepReport{}, context.Cause(ctx)
	}
	c := serve(t, s, 0)
	ctx, leave := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := c.Step(ctx, live.StepRequest{Text: "slow"})
		failed <- err
	}()
	<-started
	if info, err := c.folder.Info(t.Context(), c.record); err != nil || !info.Busy {
		t.Errorf("while a call is pending: %+v, %v", info, err)
	}
	leave()
	if err := <-failed; fault.KindOf(err) != fault.Cancelled {
		t.Errorf("the call that was left: %v", err)
	}
	<-cancelled
	if report, err := c.Step(t.Context(), live.StepRequest{Text: "quick"}); err != nil || report.Step != 1 {
		t.Errorf("the next call: %+v, %v", report, err)
	}
}

func TestRequestOfOtherProcessHasItsTurn(t *testing.T) {
	t.Parallel()
	s := newSession()
	started, proceed := make(chan struct{}), make(chan struct{})
	s.step = func(context.Context, live.StepRequest) (live.StepReport, error) {
		started <- struct{}{}
		<-proceed
		s.steps.Add(1)
		return live.StepReport{Step: 1}, nil
	}
	c := serve(t, s, 0)
	ended := make(chan error, 1)
	go func() {
		_, err := s.others(t.Context(), live.StepRequest{Other: true})
		ended <- err
	}()
	<-started
	if info, err := c.folder.Info(t.Context(), c.record); err != nil || !info.Busy || info.Idle != 0 {
		t.Errorf("while its call is pending: %+v, %v", info, err)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := s.others(ctx, live.StepRequest{Other: true}); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("the call of another one, which left: %v", err)
	}
	close(proceed)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if info, err := c.folder.Info(t.Context(), c.record); err != nil || info.Steps != 1 || !info.Unsaved {
		t.Errorf("after the call: %+v, %v", info, err)
	}
}

func TestEndOfSessionCancelsCallsOfOtherProcesses(t *testing.T) {
	t.Parallel()
	s := newSession()
	started, ended := make(chan struct{}), make(chan error, 2)
	s.step = func(ctx context.Context, _ live.StepRequest) (live.StepReport, error) {
		s.steps.Add(1)
		close(started)
		<-ctx.Done()
		return live.StepReport{}, context.Cause(ctx)
	}
	c := serve(t, s, 0)
	other := func() {
		_, err := s.others(t.Context(), live.StepRequest{Other: true})
		ended <- err
	}
	go other()
	<-started
	go other() // it waits for its turn, or has not come yet
	if info := c.end(t); info.Steps != 1 {
		t.Errorf("at the end: %+v", info)
	}
	for range 2 {
		if err := <-ended; fault.KindOf(err) != fault.Cancelled {
			t.Errorf("a call: %v", err)
		}
	}
	<-s.closed
	if _, err := s.others(t.Context(), live.StepRequest{Other: true}); fault.KindOf(err) != fault.Cancelled || s.steps.Load() != 1 {
		t.Errorf("a call after the end: %v; %d were made", err, s.steps.Load())
	}
}

// TestCallIsAnsweredWhenUserEndsSession: the process does not exit before pending requests have their answers.
func TestCallIsAnsweredWhenUserEndsSession(t *testing.T) {
	t.Parallel()
	s := newSession()
	started := make(chan struct{})
	s.step = func(ctx context.Context, _ live.StepRequest) (live.StepReport, error) {
		close(started)
		<-ctx.Done()
		<-time.After(50 * time.Millisecond) // a call does not end at once
		return live.StepReport{}, context.Cause(ctx)
	}
	c := serve(t, s, 0)
	answered := make(chan error, 1)
	go func() {
		_, err := c.Step(t.Context(), live.StepRequest{})
		answered <- err
	}()
	<-started
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = c.folder.End(ctx, c.record) // it waits for the exit of this process
	}()
	if err := <-answered; fault.KindOf(err) != fault.Cancelled || err.Error() != "the session was ended" {
		t.Errorf("the pending call: %v", err)
	}
	leave()
	<-ended
}

func TestPendingCallIsNotIdle(t *testing.T) {
	t.Parallel()
	// On a busy machine, the first request may come too late. It is then cancelled or does not reach the session at
	// all.
	for idle := 20 * time.Millisecond; idle < 10*time.Second; idle *= 4 {
		if pendingCallIsNotIdle(t, idle) {
			return
		}
	}
	t.Error("every session ended during its first call")
}

// pendingCallIsNotIdle returns false if the session ended without a result of the call.
func pendingCallIsNotIdle(t *testing.T, idle time.Duration) bool {
	t.Helper()
	s := newSession()
	s.step = func(ctx context.Context, _ live.StepRequest) (live.StepReport, error) {
		select {
		case <-time.After(5 * idle):
			return live.StepReport{Step: 1}, nil
		case <-ctx.Done():
			return live.StepReport{}, context.Cause(ctx)
		}
	}
	c := serve(t, s, idle)
	report, err := c.Step(t.Context(), live.StepRequest{})
	if err != nil {
		return false
	}
	if report.Step != 1 {
		t.Fatalf("the call during which nothing else was requested: %+v", report)
	}
	want := "no request for " + idle.String()
	if err := <-c.ended; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("ended with %v", err)
	}
	<-s.closed
	_, err = c.Step(t.Context(), live.StepRequest{})
	if err == nil || !strings.Contains(err.Error(), want) || fault.ExitCode(err) != fault.ExitInfra {
		t.Errorf("a call after the end: %v", err)
	}
	return true
}

// page is a page over a session, at which somebody looks until that was asked for so often.
type page struct{ looks atomic.Int32 }

func (p *page) URL() string { return "http://127.0.0.1:1/?token=t" }

func (p *page) Used() time.Time {
	if p.looks.Add(-1) > 0 {
		return time.Now()
	}
	return time.Time{}
}

func (p *page) Recording() (steps, calls int, unsaved bool) { return 3, 4, true }

func TestSessionWithAPage(t *testing.T) {
	t.Parallel()
	const idle = 20 * time.Millisecond
	p, began := &page{}, time.Now()
	p.looks.Store(8) // two for each look whether the session is idle
	c := serveWith(t, background.Options{Session: newSession(), Idle: idle, Page: p})
	if err := <-c.ended; err == nil || !strings.Contains(err.Error(), "no request for") || time.Since(began) < 3*idle {
		t.Errorf("ended after %v with %v", time.Since(began), err)
	}
	p = &page{}
	c = serveWith(t, background.Options{Session: newSession(), Page: p})
	want := background.Info{Status: live.Status{Steps: 3, Calls: 4, Unsaved: true}, Studio: p.URL()}
	info, err := c.folder.Info(t.Context(), c.record)
	if info.ID, info.Driver, info.Idle = "", "", 0; err != nil || !reflect.DeepEqual(info, want) {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestEndSaysWhatThePendingCallRecorded(t *testing.T) {
	t.Parallel()
	s := newSession()
	started := make(chan struct{})
	s.step = func(ctx context.Context, _ live.StepRequest) (live.StepReport, error) {
		close(started)
		<-ctx.Done()
		s.steps.Add(1)
		return live.StepReport{}, context.Cause(ctx)
	}
	c := serve(t, s, 0)
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = c.Step(t.Context(), live.StepRequest{Text: "Wait", Kind: trail.KindStep}) })
	<-started
	if info := c.end(t); info.Steps != 1 || !info.Unsaved {
		t.Errorf("%+v", info)
	}
	wg.Wait()
}

func TestFailureOfSessionEndsIt(t *testing.T) {
	t.Parallel()
	s := newSession()
	s.step = func(context.Context, live.StepRequest) (live.StepReport, error) {
		s.err = fault.New(fault.Crashed, "", "the browser exited")
		close(s.done)
		return live.StepReport{Step: 7}, nil
	}
	c := serve(t, s, 0)
	if report, err := c.Step(t.Context(), live.StepRequest{}); err != nil || report.Step != 7 {
		t.Errorf("the call that broke it: %+v, %v", report, err)
	}
	if err := <-c.ended; !errors.Is(err, s.err) {
		t.Errorf("ended with %v", err)
	}
	_, err := c.folder.Find(c.record.Name, "")
	if err == nil || !strings.Contains(err.Error(), "the browser exited") {
		t.Errorf("the record says %v", err)
	}
}

func TestOldRecordsAndLogsAreRemoved(t *testing.T) {
	t.Parallel()
	now := time.Now()
	f := background.Folder{Dir: filepath.Join(t.TempDir(), "sessions"), Now: func() time.Time { return now }}
	log, err := f.CreateLog()
	if err != nil {
		t.Fatal(err)
	}
	_ = log.Close()
	orphan, err := f.CreateLog()
	if err != nil {
		t.Fatal(err)
	}
	_ = orphan.Close()
	record := `{"name": "old", "pid": 1, "log": "` + log.Name() + `", "ended": {"time": "` + now.Format(time.RFC3339) + `", "reason": "idle"}}`
	if err := os.WriteFile(filepath.Join(f.Dir, "old.json"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Find("OLD", ""); err == nil || !strings.Contains(err.Error(), "session old ended at") {
		t.Errorf("%v", err)
	}
	now = now.Add(8 * 24 * time.Hour)
	if records, err := f.List(); err != nil || len(records) != 0 {
		t.Errorf("%v, %v", records, err)
	}
	if left, err := filepath.Glob(filepath.Join(f.Dir, "*")); err != nil || len(left) != 1 {
		t.Errorf("left: %q, %v", left, err) // the lock of the folder
	}
}

func TestInvalidRecordsAreIgnored(t *testing.T) {
	t.Parallel()
	f := background.Folder{Dir: t.TempDir(), Now: time.Now}
	for _, name := range []string{"broken.json", ".hidden.json", "a b.json"} {
		if err := os.WriteFile(filepath.Join(f.Dir, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if records, err := f.List(); err != nil || len(records) != 0 {
		t.Errorf("%v, %v", records, err)
	}
	if _, err := (background.Folder{Now: time.Now}).CreateLog(); fault.KindOf(err) != fault.Misuse {
		t.Errorf("without a cache folder: %v", err)
	}
}
