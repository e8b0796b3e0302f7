package studio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/studio/gesture"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// openSession is the session that people work in.
type openSession struct {
	*live.RedactedSession
	registry *discover.Registry
	app      App
	unwatch  func()             // stops what reads its events, and waits until that has ended
	end      context.CancelFunc // ends its lifetime
	followed chan struct{}      // closed when nothing reads its events any more
}

// has reports whether the session has a tool.
func (s *openSession) has(tool string) bool {
	_, ok := s.registry.Lookup(tool)
	return ok
}

// openFirst opens the session that the studio begins with, and in an empty recording the app.
func (d *desk) openFirst(ctx context.Context) error {
	if err := d.open(ctx); err != nil || d.opts.shared {
		return nil //nolint:nilerr // the state says it
	}
	return d.openApp(ctx)
}

// openApp makes the first call of a new recording: it opens the app under test, if the project says which it is.
func (d *desk) openApp(ctx context.Context) error {
	d.mu.Lock()
	if d.session == nil || d.doc.Text() != nil || d.state.Kept != nil {
		d.mu.Unlock()
		return nil
	}
	platform, c := d.state.Platform, trail.Call{}
	switch app := d.session.app; {
	case platform == "web" && app.BaseURL != "":
		c = trail.Call{Tool: "web_navigate", Args: map[string]any{"url": app.pathOf(app.BaseURL)}}
	case platform != "web" && app.ID != "":
		c = trail.Call{Tool: launchApp, Args: map[string]any{"appId": app.ID, "launchMode": "FORCE_RESTART"}}
	}
	d.mu.Unlock()
	if c.Tool == "" {
		return nil
	}
	m, err := d.make(ctx, trail.KindStep, c)
	if err == nil && m.OK && c.Tool == launchApp {
		d.notify("data", fmt.Sprint(c.Args["appId"], " was started with the data that it has, so a replay begins with what you leave in it"))
	}
	return err
}

const launchApp = "launchApp"

// startFresh starts the app again without the data that it had, and has the call that started it do so, too.
func (d *desk) startFresh(ctx context.Context) (any, error) {
	number, before := d.launch()
	if number == "" {
		return nil, fault.New(fault.Misuse, "undo that, or call launchApp in Tools", "the trail no longer has a call that starts the app")
	}
	fresh := trail.Call{Tool: launchApp, Args: maps.Clone(before.Args)}
	fresh.Args["launchMode"] = "REINSTALL"
	if err := d.must(ctx, false, fresh); err != nil {
		_ = d.must(ctx, false, before) // it may have been ended
		return nil, err
	}
	var err error
	d.set(func() {
		if err = d.doc.Replace(number, fresh, false); err == nil {
			d.cursor = number
			d.setMarks(map[string]mark{number: {outcome: passed}})
		}
	})
	return nil, err
}

// launch returns the first call of the document that starts an app, and its number; empty if there is none.
func (d *desk) launch() (number string, c trail.Call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.doc.Steps() {
		for _, c := range s.Calls {
			if c.Tool == launchApp {
				return c.Number, trail.Call{Tool: c.Tool, Args: c.Args}
			}
		}
	}
	return "", c
}

// open opens a session of the choice, in place of the one that is open.
func (d *desk) open(ctx context.Context) error {
	d.closeSession()
	d.mu.Lock()
	choice := d.choice
	d.mu.Unlock()
	choice.Ask = d.askDialog
	ctx, done := d.busy(ctx, opening, "opening "+cmp.Or(choice.Device, "the device"))
	defer done()
	s, status, values, err := d.openSession(ctx, choice)
	if err != nil {
		d.lose(err)
		return err
	}
	s.unwatch = d.follow(s)
	if status.Callbacks != "" {
		d.log("info", "other processes make calls in the session with the token of callbacks, see "+status.Callbacks)
	}
	d.set(func() {
		d.session, d.cursor, d.dialogs, d.clicked, d.selectedAll = s, "", nil, clicked{}, false
		d.keepIn(s.RedactedSession)
		d.setMarks(map[string]mark{})
		d.doc.SetLineage(s.Lineage())
		d.state.Platform, d.state.URL, d.state.Title, d.state.Screen = status.Platform, "", "", size{}
		d.state.Device = cmp.Or(choice.Device, status.Device, status.Platform)
		d.addDevice()
		d.state.Variables, d.state.Notices = d.variables(values), []notice{}
	})
	d.look()
	return nil
}

// openSession opens a session that outlives ctx, whose end stops the opening.
func (d *desk) openSession(ctx context.Context, c Choice) (s *openSession, status live.Status, values []live.Variable, err error) {
	lifetime, end := context.WithCancel(d.ctx)
	isWanted := context.AfterFunc(ctx, end)
	opened, err := d.opts.Open(lifetime, c)
	if err != nil {
		end()
		return nil, status, nil, err
	}
	s = &openSession{RedactedSession: opened.Session, app: opened.App, end: end, followed: make(chan struct{})}
	if !d.opts.shared { // else they come by way of the commands
		s.PassOthersTo((&Shared{RedactedSession: s.RedactedSession, desk: d}).Step)
	}
	status, err = s.Status(ctx)
	var tools live.Toolbox
	if err == nil {
		tools, err = s.Toolbox(ctx)
	}
	if err == nil {
		values, err = s.Variables(ctx)
	}
	if !isWanted() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		d.release(s)
		end()
	}
	s.registry = tools.Registry
	return s, status, values, err
}

// lose ends the session in the state, and says why.
func (d *desk) lose(err error) {
	if errors.Is(err, context.Canceled) { // by a person, or the end of the studio
		err = fault.New(fault.Cancelled, "choose a device, or Replay", "opening the device was stopped")
	}
	d.log("error", err.Error())
	text := err.Error()
	if e := fault.As(err); e != nil && e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	d.set(func() { d.state.Activity, d.state.Doing = lost, text })
}

// closeSession closes the session, if one is open.
func (d *desk) closeSession() {
	d.mu.Lock()
	s := d.session
	d.session, d.typing, d.asks = nil, nil, nil
	d.mu.Unlock()
	if s == nil {
		return
	}
	d.unlook()
	if !d.opts.shared {
		d.keep()
		s.LeaveDraft()
	}
	d.release(s)
	s.unwatch()
	s.end()
}

// release closes a session, unless others work in it, too.
func (d *desk) release(s *openSession) {
	if !d.opts.shared {
		s.Close(context.WithoutCancel(d.ctx))
	}
}

// follow reads the events of a session until it is closed.
func (d *desk) follow(s *openSession) (stop func()) {
	events, end := s.Subscribe(context.WithoutCancel(d.ctx), 10_000)
	go func() {
		defer close(s.followed)
		done := s.Done()
		for {
			select {
			case e, open := <-events:
				if !open {
					return
				}
				d.happened(e)
			case <-done:
				done = nil
				if err := s.Err(); err != nil && d.isCurrent(s) && d.ctx.Err() == nil {
					d.lose(err)
				}
			}
		}
	}()
	return func() {
		end()
		<-s.followed
	}
}

// catchUp waits until everything is known that has happened in a session so far.
func (d *desk) catchUp(s *openSession) {
	known := make(chan struct{})
	d.mu.Lock()
	d.caughtUp = known
	d.mu.Unlock()
	s.SendMarker()
	select {
	case <-known:
	case <-s.followed:
	}
}

// markSeen says that everything is known that happened before a mark.
func (d *desk) markSeen() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.caughtUp != nil {
		close(d.caughtUp)
		d.caughtUp = nil
	}
}

func (d *desk) isCurrent(s *openSession) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session == s
}

// happened shows an event of the session.
func (d *desk) happened(e event.Event) {
	switch e := e.(type) {
	case event.StepStarted:
		d.stepStarted(e)
	case event.CallStarted:
		d.callStarted(e)
	case event.CallFinished:
		d.callFinished(e)
	case event.DeviceNoted:
		d.noted(e)
	case event.Log:
		d.log(level(e.Level), strings.TrimSpace(e.Source+" "+e.Message))
	case event.Lost:
		if e.Count == 0 {
			d.markSeen()
			return
		}
		d.log("warn", "lines were left out, because there were too many")
	}
}

func level(l string) string {
	if l == "error" || l == "warn" {
		return l
	}
	return "info"
}

// noted shows what happened on the device without a call that asked for it.
func (d *desk) noted(e event.DeviceNoted) {
	d.mu.Lock()
	isOwn := d.isOwn()
	d.mu.Unlock()
	switch {
	case !isOwn, e.Kind == "console", e.Kind == "dialog":
		d.log("info", e.Text)
	case e.Kind == "chooser":
		d.askOf(gesture.Question{Kind: "files", Text: e.Text, Multiple: true})
	default:
		d.log("info", e.Text)
		d.notify(e.Kind, e.Text)
	}
}

// watched implements handler: pictures are sent while somebody looks.
func (d *desk) watched(pages int) {
	d.mu.Lock()
	d.visible, d.seen = pages, d.opts.Now()
	d.mu.Unlock()
	if pages > 0 {
		d.look()
	} else {
		d.unlook()
	}
}

// pictureRetry is how long pictures pause when they have stopped.
const pictureRetry = time.Second

// look begins to send pictures of the session, if a page is visible.
func (d *desk) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.looking != nil || d.session == nil || d.visible == 0 {
		return
	}
	ctx, cancel := context.WithCancel(d.ctx)
	s, ended := d.session, make(chan struct{})
	d.looking = func() {
		cancel()
		<-ended
	}
	go func() {
		defer close(ended)
		d.watch(ctx, s)
	}()
}

// watch sends pictures of a session until ctx or the session ends, and begins again when they stop.
func (d *desk) watch(ctx context.Context, s *openSession) {
	for {
		err := s.Watch(ctx, d.frame)
		if ctx.Err() != nil || s.Err() != nil {
			return
		}
		if err != nil {
			d.log("warn", "pictures stopped, and begin again: "+err.Error())
		}
		select {
		case <-time.After(pictureRetry):
		case <-ctx.Done():
		}
	}
}

func (d *desk) unlook() {
	d.mu.Lock()
	stop := d.looking
	d.looking = nil
	d.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// frame sends a picture of the screen.
func (d *desk) frame(f live.Frame) {
	d.mu.Lock()
	d.pictures++
	m := pictureMessage{Seq: d.pictures, Width: f.Width, Height: f.Height, Withheld: f.Withheld}
	resized := d.state.Screen != (size{f.Width, f.Height}) && f.Width > 0
	d.mu.Unlock()
	if resized {
		d.set(func() { d.state.Screen = size{f.Width, f.Height} })
	}
	d.out.picture(m, f.Picture)
}

// listDevices asks which devices there are.
func (d *desk) listDevices() {
	devices := d.opts.Devices(d.ctx)
	d.set(func() {
		d.state.Devices = devices
		d.addDevice()
	})
}

// addDevice adds the chosen device to those that can be chosen, if it is not one of them.
func (d *desk) addDevice() {
	if name := d.state.Device; name != "" && !slices.ContainsFunc(d.state.Devices, func(o DeviceOption) bool { return o.Name == name }) {
		d.state.Devices = append([]DeviceOption{{Name: name, Platform: d.state.Platform}}, d.state.Devices...)
	}
}

func (d *desk) chooseDevice(ctx context.Context, p struct{ Name string }) (any, error) {
	if err := d.mayOpen(); err != nil {
		return nil, err
	}
	d.set(func() { d.choice.Device, d.state.Device = p.Name, p.Name })
	return nil, d.openFirst(ctx)
}

// setVariable gives the session a value.
func (d *desk) setVariable(ctx context.Context, p live.Variable) (any, error) {
	if !trail.IsValueName(p.Name) {
		return nil, fault.New(fault.InvalidArguments, "use letters, digits, _, . and -, and begin with a letter or _", "%q is not a name for a value", p.Name)
	}
	if err := d.reopen(ctx, p.Name, func(c *Choice) {
		if p.Secret {
			c.Secrets[p.Name] = p.Value
		} else {
			c.Memory[p.Name] = p.Value
		}
	}); err != nil || !p.Secret {
		return nil, err
	}
	return nil, d.hideSecrets()
}

// removeVariable takes back a value that the studio was given. The project may have one with that name, too.
func (d *desk) removeVariable(ctx context.Context, p struct{ Name string }) (any, error) {
	return nil, d.reopen(ctx, p.Name, func(*Choice) {})
}

// reopen opens the session again without a value, or with another one that add adds: what is secret in a session never
// changes.
func (d *desk) reopen(ctx context.Context, name string, add func(*Choice)) error {
	if err := d.mayOpen(); err != nil {
		return err
	}
	d.mu.Lock()
	before := d.choice
	c := &d.choice
	c.Memory, c.Secrets = maps.Collect(maps.All(c.Memory)), maps.Collect(maps.All(c.Secrets)) // those of before may be nil
	delete(c.Memory, name)
	delete(c.Secrets, name)
	add(c)
	d.mu.Unlock()
	if err := d.open(ctx); err != nil {
		d.set(func() { d.choice = before })
		return err
	}
	return d.openApp(ctx)
}

// variables returns values as the page gets them. The caller holds mu.
func (d *desk) variables(values []live.Variable) []variable {
	out := []variable{}
	for _, v := range values {
		_, isMemory := d.choice.Memory[v.Name]
		_, isSecret := d.choice.Secrets[v.Name]
		out = append(out, variable{v, isMemory || isSecret})
	}
	return out
}

// refresh shows where the device is after a call.
func (d *desk) refresh(ctx context.Context) {
	s, err := d.current()
	if err != nil {
		return
	}
	status, err := s.Status(ctx)
	if err != nil {
		return
	}
	values, err := s.Variables(ctx)
	if err != nil {
		return
	}
	d.set(func() {
		if d.session != nil && d.session.RedactedSession == s { // else another one was opened meanwhile
			d.state.URL, d.state.Title, d.state.Variables = status.URL, status.Title, d.variables(values)
		}
	})
}

// job is something that is done in the background whenever it is wanted, once at a time.
type job struct{ wanted, runs bool }

// want has a job done. The caller holds mu.
func (d *desk) want(j *job, do func()) {
	j.wanted = true
	if j.runs || d.ctx.Err() != nil {
		return
	}
	j.runs = true
	d.work.Go(func() {
		for d.isWanted(j) {
			do()
		}
	})
}

func (d *desk) isWanted(j *job) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	j.runs, j.wanted = j.wanted, false
	return j.runs
}

// keepIn has a session that was opened keep the recording from now on. The caller holds mu.
func (d *desk) keepIn(s *live.RedactedSession) {
	if s.Folder() == "" {
		return
	}
	if d.keeper != nil {
		d.left = append(d.left, draftOf(d.keeper))
	}
	d.keeper = s
}

// keep writes the recording where it is found when the process is killed.
func (d *desk) keep() {
	d.mu.Lock()
	s, left, text := d.keeper, d.left, []byte(nil)
	if d.isUnsaved() {
		text = d.doc.Text()
	}
	if s != nil {
		d.left = nil
	}
	d.mu.Unlock()
	if s == nil {
		return
	}
	if err := s.SaveDraft(text); err != nil {
		d.log("warn", "the recording could not be kept: "+err.Error())
		d.mu.Lock()
		defer d.mu.Unlock()
		d.left = append(left, d.left...)
		return
	}
	for _, path := range left {
		live.ForgetRecording(path)
	}
}

// check finds out what is wrong with the document.
func (d *desk) check() {
	file := d.fileName()
	d.mu.Lock()
	s, text, parses := d.session, d.doc.Text(), len(d.doc.Problems()) == 0
	d.mu.Unlock()
	found := []problem{}
	if s != nil && len(text) > 0 && parses {
		all, err := s.Check(d.ctx, file, text)
		if err != nil {
			return // replaying says it, too
		}
		found = append(problemsOf(all.Problems, "error"), problemsOf(all.Warnings, "warning")...)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(found, d.problems) {
		d.problems = found
		d.checks++
		d.pushDocument()
	}
}
