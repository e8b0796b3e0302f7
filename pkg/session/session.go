// Package session manages one session: it opens the tool servers and the device of a scope, registers their tools,
// makes calls, keeps the memory and what the calls record, and closes everything again. A trail that is replayed, a
// call by hand and a listing each have a session of their own.
//
// It is independent of the purpose of calls: plans, retries, reports and flags. Sessions share nothing except what
// [Options.Shared] holds.
package session

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/callback"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/picture"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Launch says how to start one server of a session, or how to connect to it.
type Launch struct {
	Server  config.Server
	Env     []string // the complete environment
	LogPath string   // file for stderr; empty for none
	Log     func(level, message, hint string)
	// Unwritable is called, from any goroutine, when the file at LogPath cannot be written. May be nil.
	Unwritable func(err error)
	// Shared identifies the process that several sessions share; it is started if it does not run. Empty for a process
	// of this session alone.
	Shared string
	Token  string // bearer token that the shared process expects; empty for none
	// OnDevice reports that tools run on the device, so that scripts run in the sandbox.
	OnDevice bool
	// Callback serves requests to CallbackURL without a socket, for servers in this process. Nil for none.
	Callback    http.Handler
	CallbackURL string
}

// setCallback sets where the tools of the server send callbacks. callbacks may be nil.
func (l *Launch) setCallback(callbacks *callback.Server) {
	if callbacks != nil {
		l.Callback, l.CallbackURL = callbacks.InProcess(), callbacks.URL()
	}
}

// Launcher starts a server, or connects to it, and returns the link to it.
type Launcher func(ctx context.Context, l Launch) (server.Link, error)

// Setup is the input that the sessions of one program have in common.
type Setup struct {
	Project  *config.Project
	Cwd      string   // absolute; paths of files in it are shown relative to it
	Version  string   // of trailblaze
	Env      []string // of this process
	Builtins []discover.Source
	Launch   Launcher
	// DeviceCommands returns the names of the commands of all kinds of device. A call to one that the session's device
	// lacks gets an error that says so. Nil if there are none.
	DeviceCommands func() []string
	// Sandboxes reports whether a script, when tools run on the device, runs in the sandbox, where it cannot listen for
	// several sessions. Nil if none does.
	Sandboxes func(config.Server) bool
	// Sampling says that servers with sampling: true may ask a model: somebody will call [Session.SetSampler].
	Sampling bool
	Redactor *redact.Redactor
	Stream   *event.Stream
	Now      func() time.Time
	Budgets  Budgets
	Wording  fault.Wording // of hints for those who make the requests
}

// Device is the device that a session is for.
type Device struct {
	Name          string            // in the project or on the command line; empty when there is only one
	ID            string            // of its platform: a serial number or a UDID; empty when it is not known
	Env           map[string]string // for the servers of its sessions
	Backends      []Backend         // at most one for each driver
	Width, Height int               // in pixels, 0 for unknown
	Classifiers   []string          // broadest first; empty: those that the backend reports
	// Request has the settings of flags, environment, project and device from which the scope of a session is resolved.
	Request scope.Request
}

// Options are the options of one session.
type Options struct {
	Setup
	Scope     scope.Scope
	Device    Device
	ID        string            // safe as a file name, see [NewID]
	Dir       string            // folder for its evidence; empty when nothing is kept
	Title     string            // of the trail; empty without one
	TrailDir  string            // absolute folder of the trail; empty without one
	Baselines picture.Baselines // of the trail
	Emit      *event.Emitter    // receives its events
	Values    *trail.Values     // its memory, arguments and secrets; nil for none
	Tools     []string          // tools that will be called, as far as that is known
	// Live is true for a session whose calls name elements by references of [Session.View]. RestrictOrigins restricts
	// the pages that may be opened to AllowedOrigins and others, see [device.Session].
	Live            bool
	RestrictOrigins bool
	References      *screen.References // see [device.Session]; nil for new ones
	AllowedOrigins  []string
	// Ask answers what the device asks, as [device.Session] says. Nil if nobody can be asked.
	Ask func(context.Context, device.Question) (device.Answer, bool)
	// DelayDevice delays the start of the device until [Session.StartDevice], for a prefetched session.
	DelayDevice  bool
	WithoutTrail bool // calls are made by hand, so advice about trails is left out
	// SuggestRetries adds --retries to the hint for a server that failed.
	SuggestRetries bool
	// Incidents says that [Session.Incidents] will be called.
	Incidents bool
	// Trace makes the device record its calls for [Session.KeepTrace]. With TraceWhole it takes a picture and the
	// elements of the screen after every call, which makes calls slower; without it, only after calls that fail.
	Trace, TraceWhole bool
	Shared            *Servers // server processes shared with other sessions; nil for none
	// Unwritable is called, from any goroutine, when evidence cannot be written. May be nil.
	Unwritable func(error)
}

// Session is a scope with its running servers, its device and their registered tools. Call, Registry, Err and Memory
// may be used from any goroutine; steps belong to one.
type Session struct {
	opts      Options
	entries   []config.Server
	servers   []*server.Server  // in configured order
	sources   []discover.Source // those that are not servers
	registry  atomic.Pointer[discover.Registry]
	reloaded  atomic.Bool       // reloadTools replaced the registry
	inUse     *files.LockedFile // its lock says that the session is open; nil without a folder
	callbacks *callback.Server  // of the servers that only this session has; nil when none can call back
	device    *usedDevice       // nil when nothing drives the scope's devices
	identity  device.Identity   // of the device before the session, for servers; its ID is the name if nothing else is known
	installed installedApp
	outcome   atomic.Pointer[device.Outcome]
	needed    bool         // Options.Tools names a command of the device
	step      atomic.Int32 // the running step, from 1; 0 outside of one
	judge     atomic.Pointer[Judge]
	sampler   atomic.Pointer[Sampler]

	memory   toolMemory
	calls    level
	graph    server.CallGraph      // of the calls to its servers
	recorded []trail.StepRecording // of the steps that were started

	recordedSize recordedSize

	made       map[string]Place // where recorded calls are, by their ids; nil when nobody asks
	unrecorded bool             // the running step is left out of recorded
	omitted    []string         // what had to be left out of the recording, for people

	ctx    context.Context //nolint:containedctx // the session's lifetime: cancelled with the cause when a server breaks
	cancel context.CancelCauseFunc
	watch  sync.WaitGroup

	notices  sync.WaitGroup // goroutines of announce, which end at the latest when stopped is closed
	stopped  chan struct{}  // closed when Close has stopped everything
	stopOnce sync.Once
}

// Open starts the servers of the scope at once, and the device if one of Options.Tools is its command, and registers
// their tools. When it fails everything it started is stopped. ctx bounds the lifetime of the session.
func Open(ctx context.Context, o Options) (*Session, error) {
	return open(ctx, o, false)
}

// open implements Open. With listOnly each server is stopped as soon as it is listed, and the device is not started.
func open(ctx context.Context, o Options, listOnly bool) (*Session, error) {
	s := newSession(ctx, o)
	s.inUse = markInUse(o.Dir)
	if !listOnly && slices.ContainsFunc(s.entries, s.callsBackHere) {
		s.listenForCallbacks()
	}
	if !listOnly {
		s.identify()
	}
	s.openDevice()
	err := s.startServers(listOnly)
	var registry *discover.Registry
	if err == nil {
		registry, err = s.register(s.listings())
	}
	if err != nil {
		s.Close(ctx)
		return nil, err
	}
	s.registry.Store(registry)
	s.warn(registry.Warnings, nil)
	return s, nil
}

func newSession(ctx context.Context, o Options) *Session {
	if o.Values == nil {
		o.Values = trail.NewValues(trail.Sources{})
	}
	o.Values.ChargeTo(o.Budgets.Values)
	if o.References == nil {
		o.References = &screen.References{}
	}
	s := &Session{opts: o, entries: o.Project.ServersFor(o.Scope.Target.ID), calls: level{depth: -1}, stopped: make(chan struct{})}
	d := o.Device
	s.identity = device.Identity{ID: cmp.Or(d.ID, d.Name), Width: d.Width, Height: d.Height}
	s.recordedSize.share = o.Budgets.Values.Share()
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return s
}

// callsBackHere reports whether tools of an entry send callbacks to this session's own callback server.
func (s *Session) callsBackHere(e config.Server) bool { return !s.shares(e) && !e.IsRemote() }

// listenForCallbacks starts the callback server. Without one the session works, but its tools cannot call others.
func (s *Session) listenForCallbacks() {
	callbacks, err := callback.Listen(s.opts.ID, s.opts.Budgets.Callbacks)
	if err != nil {
		s.opts.Emit.Log("warn", "callback", "tools cannot call other tools: "+err.Error(), "")
		return
	}
	callbacks.OnReject(func(message string) { s.opts.Emit.Log("warn", "callback", message, "") })
	s.callbacks = callbacks
}

// ID identifies the session.
func (s *Session) ID() string { return s.opts.ID }

// Registry returns the tools of the session. It changes only when a call of reloadTools replaces it.
func (s *Session) Registry() *discover.Registry { return s.registry.Load() }

// Memory returns the values of the session.
func (s *Session) Memory() *trail.Values { return s.opts.Values }

// Err returns why the session can no longer be used: a server failed, its context was cancelled, or it was closed. It
// is nil while the session can be used.
func (s *Session) Err() error {
	if s.ctx.Err() == nil {
		return nil
	}
	return context.Cause(s.ctx)
}

// Done is closed when the session can no longer be used, for the reason that Err returns.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Close stops all servers at the same time, closes the device, and waits for them. It logs errors as warnings. The
// cancellation of ctx does not interrupt it.
func (s *Session) Close(ctx context.Context) {
	s.cancel(errClosed)
	s.watch.Wait()
	interruptible := ctx
	ctx = context.WithoutCancel(ctx)
	warn := func(source, action string, err error) {
		if err != nil {
			s.opts.Emit.Log("warn", source, "could not be "+action+" cleanly: "+err.Error(), Hint(err))
		}
	}
	var wg sync.WaitGroup
	for _, srv := range s.servers {
		wg.Go(func() { warn(srv.Name(), "stopped", srv.Stop(ctx)) })
	}
	if s.device != nil {
		wg.Go(func() { warn("device", "closed", s.device.Close(interruptible)) })
	}
	wg.Wait()
	unmarkInUse(s.inUse)
	s.stopOnce.Do(func() { close(s.stopped) })
	s.notices.Wait()
	if s.callbacks != nil {
		warn("callback", "closed", s.callbacks.Close())
	}
	s.opts.Values.Uncharge()
	s.recordedSize.release()
}

// errClosed is why calls end that run when the session is closed.
var errClosed = fault.New(fault.Cancelled, "", "the session was closed")
