// Package live is a session without a trail: it is opened once, takes calls one after another, and records those that
// succeed as the steps of a trail (specification, section 18). People use it from the command line, and agents over
// MCP.
//
// It is independent of how requests reach it and of how answers are shown: sockets, MCP, terminals. Only the calls of
// processes that the session did not start come to the session itself, over [callback]. What is handed out
// is [RedactedSession]; [Session] returns what it knows.
package live

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/callback"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Log writes the events of a session to a file.
type Log interface {
	event.Handler
	Close() error
}

// Options are the options of a live session.
type Options struct {
	session.Setup
	Scope  scope.Scope
	Device session.Device
	Name   string // the first part of its id; such as the name of a session that runs in the background

	// Lineage holds the classifiers of the device, narrow first. Calls are recorded under the first.
	Lineage []string
	// NameDriver writes the driver into new trails, because it is not the project's default.
	NameDriver bool
	Memory     map[string]string // initial values, which new trails get too
	Secrets    map[string]string // by name
	Dir        string            // paths of trails that exist are also accepted relative to it; absolute
	// Before is the session that the caller had before, whose references are not used again. Nil for none.
	Before *RedactedSession
	// Agent says that an agent makes the calls. It may call the restricted commands of the device only if Allow names
	// them, and open only pages of AllowedOrigins and others, see [device.Session]. Without it that counts for requests
	// with StepRequest.Agent.
	Agent          bool
	Allow          []string
	AllowedOrigins []string
	// CallbackToken is what processes send that the session did not start, to make calls in it; empty: none may. A file in
	// the folder of the session says where. They may do what an agent may.
	CallbackToken string
	// Replay replays a trail in a session of its own. contents take the place of what files have on the disk, by their
	// absolute paths.
	Replay func(ctx context.Context, path string, contents map[string][]byte, args map[string]string) (Replayed, error)
	// Reset brings the app into the state in which recordings begin. It is called before each replay of a save. Nil if
	// nobody has said how.
	Reset func(ctx context.Context) error
	// OtherTools returns what is known of the tools for devices of other platforms. Nil for nothing.
	OtherTools func() (trail.Tools, error)
	// Trace keeps what the device showed during its calls in the folder of the session, when that is closed; see
	// [session.Options].
	Trace bool
	// OpenLog opens the log of the session's events. May be nil.
	OpenLog func(path string, onError func(error)) Log
	// TargetChosen says that the user chose the target: trails for other targets are replayed in the session, too.
	TargetChosen bool
	// TeardownLimit is how long the teardown of a trail may run when the session is closed; 0 for 10s.
	TeardownLimit time.Duration
	// Ask answers what the device asks, such as dialogs of a page, in a person's name: ok is false if nobody answers. It
	// waits until ctx ends. Nil if nobody can be asked. Replays in sessions of their own ask nobody.
	Ask func(ctx context.Context, q device.Question) (a device.Answer, ok bool)
	// WatchInterval is how often Watch takes a picture of a device that does not send pictures; 0 for 500ms.
	WatchInterval time.Duration
	// Settle says how long to wait for the screen after calls. Zero for the default.
	Settle Settle
}

// Replayed is how a replay of a trail ended.
type Replayed struct {
	Outcome event.Outcome `json:"outcome"`
	Reason  string        `json:"reason,omitempty"`
	Hint    string        `json:"hint,omitempty"`
	Step    int           `json:"step,omitempty"`  // that did not pass, from 1; 0 for none
	Kind    string        `json:"kind,omitempty"`  // of that step
	Text    string        `json:"text,omitempty"`  // of that step
	Call    int           `json:"call,omitempty"`  // the number of the call that did not pass in its step, from 1; 0 for none
	Tool    string        `json:"tool,omitempty"`  // of that call
	Line    int           `json:"line,omitempty"`  // of that call
	Part    string        `json:"part,omitempty"`  // the trail with that step, when the replayed one uses it and can repair it
	Outer   int           `json:"outer,omitempty"` // the step of the replayed trail that uses Part; 0 without
	Millis  int64         `json:"durationMs,omitempty"`
	Folder  string        `json:"folder,omitempty"`  // with the evidence; empty when there is none
	Dialogs []string      `json:"dialogs,omitempty"` // that came during the replay, and how they were answered
}

// Passed reports whether the trail passed.
func (r Replayed) Passed() bool { return r.Outcome == event.Passed }

// Skipped reports whether the trail was not replayed, because the device skips it.
func (r Replayed) Skipped() bool { return r.Outcome == event.Skipped }

// Session is a live session. Its methods may be called from any goroutine. They run one after another, but Look, Locate
// and Subscribe, which do not wait for the others.
type Session struct {
	opts       Options
	inner      *session.Session
	log        Log
	dir        string
	references *screen.References
	slot       chan struct{} // holds a value while a method runs
	hurry      chan struct{} // has a sender while a request waits for the slot
	looks      sync.WaitGroup
	stands     atomic.Pointer[Status] // when the last method began, or since; nil before the first

	ctx    context.Context //nolint:containedctx // that of Open: no call is made after its end, but a teardown
	cancel context.CancelCauseFunc
	watch  func() bool // ends the watch over ctx
	emit   *event.Emitter
	events broadcast

	callbacks *callback.Server // for processes that the session did not start; nil if none may call
	others    atomic.Pointer[stepFunc]

	keepTrace sync.Once
	// lent is locked while a replay uses a device that only one session can use; looks hold it for reading.
	lent sync.RWMutex

	attached bool // it belongs to a walk that somebody else runs
	// walk has the recording, and the place at which the replay of its trail stopped: calls are recorded there.
	walk   *replay.Walk
	source *source                  // the trail that is replayed; nil for a new recording
	parts  map[string]*replay.Frame // the parts that were replayed, by their absolute paths
	// owesTeardown says that a trail was begun whose teardown has not run.
	owesTeardown atomic.Bool

	kept    keptRecording
	open    *files.LockedFile // says that the session is open; nil if that cannot be said
	shown   *device.View      // what the caller knows of the screen; nil when nothing was shown yet
	looked  time.Time         // when the last view was begun
	shownAt time.Time         // when that of shown was begun
	between *device.View      // the last screen between calls of the request, with what happened until then; nil for none
	// unreported is the last screen of calls of other processes since shown, with what happened until then; nil for none.
	unreported *device.View
	otherCalls int // made by other processes since the last report
	// beforeStep and beforeAction are the screens before the last step of the caller that changed it, and before the last
	// request of it that did; nil when they are not known.
	beforeStep, beforeAction *device.View
	lastStep                 stepName     // of the last request
	lastRunning              *replay.Step // the same, if the session is attached
	lastActed                bool         // a request of that step has changed the screen
	seen                     seenTexts
	unfinished               []stepName // the steps whose last request failed
	notPassed                []stepName // the steps with calls of tasks that did not pass
	unrecorded               int        // how many calls that may change the app were made without recording
	repairs                  []repair   // of trails, that were saved
	unsaved                  bool       // the recording was changed since it was saved or loaded
	omitted                  int        // how much of what could not be recorded was reported
}

// open is [Open] for a session whose answers may have secrets.
func open(ctx context.Context, o Options) (*Session, error) {
	id := session.NewID(o.Redactor.Text(o.Name), o.Now())
	s := &Session{opts: o, dir: filepath.Join(o.Project.LogsDir, id), slot: make(chan struct{}, 1), hurry: make(chan struct{})}
	s.parts, s.ctx = map[string]*replay.Frame{}, ctx
	if err := session.MakeDir(s.dir); err != nil {
		o.Stream.Emit(event.Log{
			Level: "warn", Source: "logs", Message: "evidence of the session cannot be written: " + err.Error(),
		})
		s.dir = ""
	} else if o.OpenLog != nil {
		s.log = o.OpenLog(filepath.Join(s.dir, "events.ndjson"), func(error) {})
		s.events.log = s.log
	}
	s.references = &screen.References{}
	if o.Before != nil {
		s.references = o.Before.session.references
	}
	var lifetime context.Context
	lifetime, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.watch = context.AfterFunc(ctx, s.interrupt)
	s.emit = o.Stream.Session(id, "", &s.events)
	inner, err := session.Open(lifetime, session.Options{
		Setup: o.Setup, Scope: o.Scope, Device: o.Device, ID: id, Dir: s.dir, TrailDir: o.Project.TrailsDir,
		Emit: s.emit, Live: true, WithoutTrail: true, References: s.references,
		RestrictOrigins: o.Agent, AllowedOrigins: o.restrictedTo(), Trace: o.Trace, Ask: o.Ask,
		Values: trail.NewValues(trail.Sources{Memory: o.Memory, Secrets: o.Secrets, Wording: o.Wording}),
	})
	if err != nil {
		s.watch()
		s.cancel(nil)
		s.endEvents()
		s.removeEmptyLog()
		return nil, err
	}
	s.inner = inner
	s.walk = s.newWalk(replay.Plan{})
	s.markOpen()
	return s, nil
}

// restrictedTo returns the origins to which the device is restricted, nil if it is not.
func (o Options) restrictedTo() []string {
	if !o.Agent {
		return nil
	}
	return o.AllowedOrigins
}

// interrupt ends the session when the context of Open has ended. If a teardown is still to run, Close does that later.
func (s *Session) interrupt() {
	if !s.owesTeardown.Load() {
		s.cancel(context.Cause(s.ctx))
	}
}

// Close ends the session: it runs the teardown of a trail that was begun and not replayed to its end, stops its servers
// and closes its device. One that is attached ends with its walk.
func (s *Session) Close(ctx context.Context) {
	if s.attached {
		return
	}
	s.closeToOthers()
	s.closeTrail(ctx)
	s.watch()
	s.keepTrace.Do(s.inner.KeepTrace)
	s.inner.Close(ctx)
	s.looks.Wait()
	s.cancel(nil)
	s.endEvents()
	s.markClosed()
}

// endEvents closes the log and ends all subscriptions.
func (s *Session) endEvents() {
	s.events.close()
	if s.log != nil {
		_ = s.log.Close() // an error was passed to onError
	}
}

// removeEmptyLog removes a log without events, and the folder if nothing else is in it.
func (s *Session) removeEmptyLog() {
	log := filepath.Join(s.dir, "events.ndjson")
	if info, err := os.Stat(log); s.log != nil && err == nil && info.Size() == 0 {
		_, _ = os.Remove(log), os.Remove(s.dir) // what is left is evidence of why the session did not open
	}
}

// Err returns why the session can no longer be used; nil while it can.
func (s *Session) Err() error {
	if err := s.inner.Err(); err != nil || s.ctx.Err() == nil {
		return err
	}
	return context.Cause(s.ctx)
}

// Done is closed when the session can no longer be used. After the end of the context of Open it may stay open until
// Close has run a teardown.
func (s *Session) Done() <-chan struct{} { return s.inner.Done() }

func (s *Session) tools() *discover.Registry { return s.inner.Registry() }

// limits returns which calls of a tool are not accepted, as [Toolbox] has it, "" for none: an agent may call a
// restricted command only if the user allows it, or with a switch that makes it harmless.
func (s *Session) limits(name string) string {
	if !s.opts.Agent {
		return ""
	}
	return s.agentLimits(name)
}

// agentLimits returns which calls of a tool are not accepted from an agent.
func (s *Session) agentLimits(name string) string {
	restricted := name == tool.Exec || slices.Contains(s.kind().Restricted, name)
	if !restricted || slices.Contains(s.opts.Allow, name) {
		return ""
	}
	if with := s.kind().AllowedWith[name]; with != "" {
		return "only with " + with + ": true"
	}
	return "not allowed"
}

// mayCall returns an error if the caller may not make a call.
func (s *Session) mayCall(call trail.Call) error {
	return s.within(s.limits(call.Tool), call)
}

// within returns an error for a call that limits do not accept.
func (s *Session) within(limits string, call trail.Call) error {
	if limits == "" {
		return nil
	}
	with := s.kind().AllowedWith[call.Tool]
	if on, _ := call.Args[with].(bool); on {
		return nil
	}
	hint := fmt.Sprintf("a person can allow it: `allow: [%s]` in trailblaze.yaml, which the next session reads, or --allow %[1]s",
		call.Tool)
	if with != "" {
		return fault.New(fault.PermissionDenied, hint, "tool %q is allowed for agents in this project %s", call.Tool, limits)
	}
	return fault.New(fault.PermissionDenied, hint, "tool %q is not allowed for agents in this project", call.Tool)
}

// Status says what a session is and where it stands.
type Status struct {
	ID       string   `json:"id"`
	Target   string   `json:"target,omitempty"`
	Driver   string   `json:"driver"`
	Platform string   `json:"platform"`
	Agent    string   `json:"agent"` // where tools run
	Device   string   `json:"device,omitempty"`
	URL      string   `json:"url,omitempty"` // what the device showed last
	Title    string   `json:"title,omitempty"`
	Steps    int      `json:"steps"`             // recorded so far
	Calls    int      `json:"calls"`             // in these steps
	Kept     int      `json:"kept"`              // steps of the recording, with those of a trail that are still to come
	Unsaved  bool     `json:"unsaved"`           // the recording has changes that are not in a file
	Memory   []string `json:"memory,omitempty"`  // names
	Given    []string `json:"given,omitempty"`   // those in Memory that have the value of the session's start
	Secrets  []string `json:"secrets,omitempty"` // names
	Folder   string   `json:"folder,omitempty"`  // with logs and evidence
	// Callbacks is the file that says where processes make calls that the session did not start; empty if none may.
	Callbacks string `json:"callbacks,omitempty"`
}

// Status returns where the session stands, or stood when it ended. While another method runs for longer than the screen
// takes to settle, it is where the session stood before that one.
func (s *Session) Status(ctx context.Context) (Status, error) {
	soon, cancel := context.WithTimeout(ctx, 2*s.opts.Settle.limit())
	defer cancel()
	release, err := s.acquireRecording(soon)
	if err == nil {
		defer release()
	} else if ctx.Err() != nil {
		return Status{}, err
	}
	return *s.stands.Load(), nil
}

// noteStatus notes where the session stands. The caller holds the slot.
func (s *Session) noteStatus() {
	st := &Status{
		ID: s.inner.ID(), Target: s.opts.Scope.Target.ID, Driver: s.opts.Scope.Driver.Key,
		Platform: s.opts.Scope.Driver.Platform.Lower(), Agent: string(s.opts.Scope.AgentMode),
		Device: s.opts.Device.Name, Folder: s.dir, Callbacks: s.callbacksFile(),
		Secrets: slices.Sorted(maps.Keys(s.opts.Secrets)),
		Memory:  slices.Sorted(maps.Keys(s.inner.Memory().Snapshot())),
		Given:   s.inner.Memory().Given(),
		Kept:    len(s.walk.Root.Steps),
		Unsaved: s.unsaved && len(s.walk.Root.Steps) > 0,
	}
	if last := s.lastView(); last != nil {
		st.URL, st.Title = last.URL, last.Title
	}
	for l := s.walk.Current; l != nil; l = l.Outer {
		for _, step := range l.Steps[:l.Next] {
			st.Steps++
			st.Calls += len(step.Calls)
		}
	}
	s.stands.Store(st)
}

// acquire waits until no other method runs. The caller calls release at its end. It fails when the session has ended.
func (s *Session) acquire(ctx context.Context) (release func(), err error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	return s.noted(s.enter(ctx, s.hurry))
}

// acquireRecording does what acquire does, also when the session has ended: its recording remains.
func (s *Session) acquireRecording(ctx context.Context) (release func(), err error) {
	return s.noted(s.enter(ctx, nil))
}

// noted notes where the session stands when a method begins.
func (s *Session) noted(release func(), err error) (func(), error) {
	if err == nil {
		s.noteStatus()
	}
	return release, err
}

// enter waits for the slot, and sends to hurry for as long.
func (s *Session) enter(ctx context.Context, hurry chan<- struct{}) (release func(), err error) {
	for {
		select {
		case s.slot <- struct{}{}:
			return func() { <-s.slot }, nil
		case hurry <- struct{}{}:
		case <-ctx.Done():
			return nil, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for an earlier request")
		}
	}
}

// text removes secrets from what is written to files, and tells whether a text has one. [RedactedSession] does that for
// answers.
func (s *Session) text(text string) string { return s.opts.Redactor.Text(text) }

// Settle says how the session waits for the screen after calls: it looks again every Interval until the screen stays
// the same for some of them, and for at most Limit.
type Settle struct{ Interval, Limit time.Duration }

func (s Settle) interval() time.Duration { return cmp.Or(s.Interval, 100*time.Millisecond) }

func (s Settle) limit() time.Duration { return cmp.Or(s.Limit, time.Second) }
