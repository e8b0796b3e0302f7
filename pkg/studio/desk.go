package studio

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
	"github.com/trailblaze/trailblaze/pkg/studio/history"
	words "github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// outlet is where the desk shows what changed.
type outlet interface {
	push(on string, body any)
	picture(m pictureMessage, data []byte)
}

// desk carries out what people ask for in a live session. It has one document and at most one session at a time. Its
// methods may be called from any goroutine.
type desk struct {
	opts    Options
	ctx     context.Context //nolint:containedctx // ends with the studio
	out     outlet
	line    line // requests that use the session
	history *history.History
	work    sync.WaitGroup

	mu       sync.Mutex
	state    state
	choice   Choice
	session  *openSession          // nil while none is open
	keeper   *live.RedactedSession // keeps the recording in its folder: the session, else the one that was open last
	left     []string              // recordings of others, to be forgotten when keeper has the recording
	doc      *document.Document
	base     []byte // what the file had when it was read or written last; nil for a new file
	saved    string // the text that was saved or opened last
	selected string // the step or call after which the next one goes; empty for the end
	cursor   string // the call that was made last in the session; empty for none
	marks    map[string]mark
	at       place  // of a replay
	hint     string // the text of the step that the next call begins; empty for one that is made up
	newStep  bool   // the next call begins a step

	typing      *typing
	keys        *keys              // that wait in the line; nil if the next key joins it
	selectedAll bool               // all of the focused field is selected
	stray       int                // the characters in a row that no field took, see notePressed
	dialogs     []trail.Call       // that answer dialogs as the person did, for the trail
	clicked     clicked            // what the last call was, if that was a recorded click
	ids         int                // of asks and notices
	asks        []*asking          // what waits for answers of the person, the newest last
	stopRun     context.CancelFunc // stops what runs; nil while nothing does
	caughtUp    chan struct{}      // closed when the events are known that a replay waits for; nil while none does
	lines       []logLine
	visible     int
	seen        time.Time // when that changed last
	byOthers    bool      // what runs was asked for by others, see [Shared]
	looking     func()    // stops the pictures; nil while none are sent
	pictures    int

	viewed     viewKey   // of the view that was pushed last
	marked     int       // how often marks have changed
	problems   []problem // that the session found in the document
	checks     int       // how often problems were found
	checking   job
	keeping    job
	showing    job
	refreshing job
}

// viewKey is what decides how the document is shown.
type viewKey struct {
	doc              *document.Document
	session          *openSession
	version          int
	selected, cursor string
	marked, checks   int
}

// mark is how a call ended that was made last.
type mark struct {
	outcome outcome
	message string
}

func newDesk(ctx context.Context, o Options, out outlet) *desk {
	d := &desk{opts: o, ctx: ctx, out: out, marks: map[string]mark{}, choice: o.Choice, history: history.New(o.Project.LogsDir)}
	d.state = state{
		Project: filepath.Base(o.Project.Root), Devices: []DeviceOption{}, Activity: opening, Doing: "opening the device",
		TrailsDir: d.relative(o.Project.TrailsDir) + "/", Notices: []notice{}, Variables: []variable{}, Past: o.Past,
		Device: o.Choice.Device, Recording: o.Trail == "",
	}
	d.problems = []problem{}
	if o.Past != "" {
		d.history, d.state.Past = historyOf(o.Project.LogsDir, o.Past)
	}
	d.doc = document.New(document.Options{Config: trail.Config{Target: o.Project.Target}})
	return d
}

// historyOf returns the sessions with the one in a folder, which need not be below the folder of logs, and its name there.
func historyOf(logsDir, folder string) (h *history.History, name string) {
	if rel, err := filepath.Rel(logsDir, folder); err == nil && filepath.IsLocal(rel) {
		return history.New(logsDir), filepath.ToSlash(rel)
	}
	return history.New(filepath.Dir(folder)), filepath.Base(folder)
}

// start opens the document and the session.
func (d *desk) start() error {
	if d.opts.Trail != "" {
		if err := d.openTrail(d.relative(d.opts.Trail)); err != nil {
			return err
		}
	}
	d.findKept()
	if d.opts.Past != "" {
		d.set(func() { d.state.Activity, d.state.Doing = idle, "" })
	} else {
		d.inTurn(d.openFirst)
	}
	d.work.Go(d.listDevices)
	return nil
}

// inTurn does something that nobody waits for when its turn comes.
func (d *desk) inTurn(f func(ctx context.Context) error) {
	turn := d.join()
	d.work.Go(func() {
		leave, err := turn(d.ctx)
		if err != nil {
			return
		}
		defer leave()
		if err := f(d.ctx); err != nil {
			d.log("error", err.Error())
		}
	})
}

// close ends the session. The context of the studio has ended.
func (d *desk) close() {
	d.work.Wait()
	d.closeSession()
	if d.keeper != nil && !d.opts.shared {
		d.leaveDraft()
	}
}

// unsaved reports whether something would be lost at the end.
func (d *desk) unsaved() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.isUnsaved()
}

func (d *desk) isUnsaved() bool { return string(d.doc.Text()) != d.saved }

// greet implements handler.
func (d *desk) greet() []push {
	d.mu.Lock()
	defer d.mu.Unlock()
	return []push{{onState, d.stateNow()}, {onDocument, d.view()}, {onLog, logMessage{append([]logLine{}, d.lines...)}}}
}

// file implements handler.
func (d *desk) file(w http.ResponseWriter, r *http.Request) {
	d.history.ServeFile(w, r, strings.TrimPrefix(r.URL.Path, "/past/"))
}

// set changes the desk and shows the change.
func (d *desk) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc, version := d.doc, d.doc.Version()
	change()
	if d.doc != doc || d.doc.Version() != version {
		d.want(&d.keeping, d.keep)
		d.want(&d.checking, d.check)
	}
	d.out.push(onState, d.stateNow())
	d.pushDocument()
}

// pushDocument shows the document, if what is shown of it has changed. The caller holds mu.
func (d *desk) pushDocument() {
	key := viewKey{d.doc, d.session, d.doc.Version(), d.selected, d.cursor, d.marked, d.checks}
	if key != d.viewed {
		d.viewed = key
		d.out.push(onDocument, d.view())
	}
}

func (d *desk) stateNow() state {
	s := d.state
	s.Unsaved = d.isUnsaved()
	s.Notices = append([]notice{}, s.Notices...)
	s.Doing = d.clean(s.Doing)
	if d.typing != nil {
		s.Typing = &typingState{Field: d.typing.field, Text: d.clean(d.typing.shown())}
	}
	if asked := d.asked(); asked != nil {
		s.Ask = &asked.ask
	}
	return s
}

// clean returns a text without secrets.
func (d *desk) clean(text string) string {
	if d.opts.Output == nil {
		return text
	}
	return d.opts.Output(text)
}

// begin implements handler.
func (d *desk) begin(name string, params json.RawMessage) func(ctx context.Context) (any, error) {
	r, ok := requests[name]
	if !ok {
		return func(context.Context) (any, error) {
			return nil, fault.New(fault.InvalidArguments, "", "the request %q is not known", name)
		}
	}
	return r(d, params)
}

type request func(d *desk, params json.RawMessage) func(ctx context.Context) (any, error)

// requests are what pages can ask for, by the name.
var requests = map[string]request{ //nolint:gochecknoglobals // a constant table
	"act":            beginAct,
	"navigate":       afterTyping((*desk).navigate),
	"locate":         atOnce((*desk).locate),
	"look":           atOnce((*desk).lookNow),
	"assert":         afterTyping((*desk).assert),
	"call":           afterTyping((*desk).callTool),
	"tools":          atOnce((*desk).tools),
	"edit":           editing((*desk).edit),
	"yaml":           editing((*desk).yaml),
	"nameStep":       editing((*desk).nameStep),
	"undo":           editing((*desk).undo),
	"redo":           editing((*desk).redo),
	"select":         atOnce((*desk).selectNumber),
	"replay":         afterTyping((*desk).replay),
	"stop":           atOnce((*desk).stop),
	"record":         atOnce((*desk).record),
	"device":         afterTyping((*desk).chooseDevice),
	"answer":         atOnce((*desk).answer),
	"notice":         inLine((*desk).notice),
	"variable":       afterTyping((*desk).setVariable),
	"removeVariable": afterTyping((*desk).removeVariable),
	"save":           afterTyping((*desk).save),
	"restore":        editing((*desk).restore),
	"pageLog":        atOnce((*desk).pageLog),
	"sessions":       atOnce((*desk).sessions),
	"past":           atOnce((*desk).past),
	"openPast":       afterTyping((*desk).openPast),
}

// atOnce is a request that does not wait for others.
func atOnce[P any](f func(*desk, context.Context, P) (any, error)) request {
	return func(d *desk, params json.RawMessage) func(context.Context) (any, error) {
		return func(ctx context.Context) (any, error) {
			p, err := decode[P](params)
			if err != nil {
				return nil, err
			}
			return f(d, ctx, p)
		}
	}
}

// inLine is a request that has its turn after those before it.
func inLine[P any](f func(*desk, context.Context, P) (any, error)) request {
	return func(d *desk, params json.RawMessage) func(context.Context) (any, error) {
		turn := d.join()
		return func(ctx context.Context) (any, error) {
			leave, err := turn(ctx)
			if err != nil {
				return nil, err
			}
			defer leave()
			p, err := decode[P](params)
			if err != nil {
				return nil, err
			}
			return f(d, ctx, p)
		}
	}
}

// afterTyping is a request in the line that ends what is typed.
func afterTyping[P any](f func(*desk, context.Context, P) (any, error)) request {
	return inLine(func(d *desk, ctx context.Context, p P) (any, error) {
		if err := d.endTyping(ctx); err != nil {
			return nil, err
		}
		return f(d, ctx, p)
	})
}

// editing is a request that changes the document: behind the calls before it, but it does not wait for a replay.
func editing[P any](f func(*desk, context.Context, P) (any, error)) request {
	return func(d *desk, params json.RawMessage) func(context.Context) (any, error) {
		if err := d.mayEdit(); err != nil {
			return func(context.Context) (any, error) { return nil, err }
		}
		return inLine(f)(d, params)
	}
}

// join joins the line. Keys that are typed from now on come behind.
func (d *desk) join() (turn func(ctx context.Context) (leave func(), err error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys = nil
	return d.line.join()
}

func decode[P any](params json.RawMessage) (p P, err error) {
	if err := json.Unmarshal(params, &p); err != nil {
		return p, fault.New(fault.InvalidArguments, "", "the request could not be read: %v", err)
	}
	return p, nil
}

type nothing struct{}

// log adds a line to the region Log.
func (d *desk) log(level, text string) {
	const kept, longest = 2000, 4000
	d.mu.Lock()
	defer d.mu.Unlock()
	l := logLine{Time: d.opts.Now(), Level: level, Text: words.Shorten(d.clean(text), longest)}
	d.lines = append(d.lines, l)
	if len(d.lines) > kept {
		d.lines = append([]logLine{}, d.lines[len(d.lines)-kept/2:]...)
	}
	d.out.push(onLog, logMessage{[]logLine{l}})
}

// notify shows a notice until somebody answers it.
func (d *desk) notify(kind, text string) {
	d.set(func() {
		for i, n := range d.state.Notices {
			if isProgress(n, kind, text) {
				d.state.Notices[i].Text = text
				return
			}
		}
		d.ids++
		d.state.Notices = append(d.state.Notices, notice{d.ids, kind, text})
		if len(d.state.Notices) > 20 {
			d.state.Notices = d.state.Notices[1:]
		}
	})
}

// isProgress reports whether a notice says how the download went on that another one told the beginning of.
func isProgress(n notice, kind, text string) bool {
	name, _, begun := strings.Cut(n.Text, " from ")
	return begun && kind == "download" && n.Kind == kind && strings.HasPrefix(text, name+" is ")
}

// current returns the session, or why there is none.
func (d *desk) current() (*live.RedactedSession, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isOpen() {
		return d.session.RedactedSession, nil
	}
	why, hint := "no device is open yet", "wait until it is"
	if d.state.Activity == lost {
		why, hint = d.state.Doing, "choose a device, or Replay"
	} else if d.opts.Past != "" {
		hint = "choose a device"
	}
	return nil, fault.New(fault.Device, hint, "%s", why)
}

// isOpen reports whether a session is open and can be used. The caller holds mu.
func (d *desk) isOpen() bool { return d.session != nil && d.session.Err() == nil }

// device returns the device as gestures see it.
func (d *desk) device() gesture.Device {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := gesture.Device{Platform: d.state.Platform, Width: d.state.Screen.Width, Height: d.state.Screen.Height}
	if d.session != nil {
		g.Has = d.session.has
	}
	return g
}

// busy says what runs, until done is called. What stop cancels is the returned context.
func (d *desk) busy(ctx context.Context, a activity, doing string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	after, why := idle, ""
	d.set(func() {
		if d.state.Activity == lost && a != opening {
			after, why = lost, d.state.Doing
		}
		d.state.Activity, d.state.Doing, d.stopRun = a, doing, cancel
	})
	return ctx, func() {
		cancel()
		d.set(func() {
			d.stopRun = nil
			if d.state.Activity != lost {
				d.state.Activity, d.state.Doing = after, why
			}
		})
	}
}

func (d *desk) stop(context.Context, nothing) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopRun != nil {
		d.stopRun()
	}
	return nil, nil
}

func (d *desk) relative(path string) string {
	if rel, err := filepath.Rel(d.opts.Project.Root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}
