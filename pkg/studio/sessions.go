package studio

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// openSession is the session that people work in.
type openSession struct {
	*live.Redacted
	registry *discover.Registry
	app      App
	lineage  []string
	unwatch  func() // stops what reads its events, and waits until that has ended
}

// has reports whether the session has a tool.
func (s *openSession) has(tool string) bool {
	_, ok := s.registry.Lookup(tool)
	return ok
}

// openFirst opens the session that the studio begins with, and in an empty recording the app.
func (d *desk) openFirst(ctx context.Context) error {
	if err := d.open(ctx); err != nil {
		return nil //nolint:nilerr // the state says it
	}
	d.mu.Lock()
	empty := d.doc.Text() == nil && d.state.Kept == nil
	d.mu.Unlock()
	if !empty {
		return nil
	}
	return d.openApp(ctx)
}

// openApp makes the first call of a new recording: it opens the app under test, if the project says which it is.
func (d *desk) openApp(ctx context.Context) error {
	d.mu.Lock()
	platform, c := d.state.Platform, trail.Call{}
	switch app := d.session.app; {
	case platform == "web" && app.BaseURL != "":
		c = trail.Call{Tool: "web_navigate", Args: map[string]any{"url": app.BaseURL}}
	case platform != "web" && app.ID != "":
		c = trail.Call{Tool: "launchApp", Args: map[string]any{"appId": app.ID, "launchMode": "FORCE_RESTART"}}
	}
	d.mu.Unlock()
	if c.Tool == "" {
		return nil
	}
	_, err := d.make(ctx, trail.KindStep, true, c)
	return err
}

// open opens a session of the choice, in place of the one that is open.
func (d *desk) open(ctx context.Context) error {
	d.closeSession()
	d.mu.Lock()
	choice := d.choice
	d.mu.Unlock()
	choice.Ask = d.askDialog
	ctx, done := d.busy(ctx, opening, "opening "+nameOr(choice.Device, "the device"))
	defer done()
	opened, err := d.opts.Open(d.ctx, choice)
	if err != nil {
		d.lose(err)
		return err
	}
	s := &openSession{Redacted: opened.Session, app: opened.App, lineage: opened.Session.Lineage()}
	status, err := s.Status(ctx)
	var tools live.Toolbox
	if err == nil {
		tools, err = s.Toolbox(ctx)
	}
	var values []live.Variable
	if err == nil {
		values, err = s.Variables(ctx)
	}
	if err != nil {
		s.Close(context.WithoutCancel(ctx))
		d.lose(err)
		return err
	}
	s.registry = tools.Registry
	s.unwatch = d.follow(s)
	d.set(func() {
		d.session, d.cursor, d.policy = s, "", ""
		d.marks = map[string]mark{}
		d.doc.SetLineage(s.lineage)
		d.state.Platform = status.Platform
		d.state.Device = nameOr(choice.Device, nameOr(status.Device, status.Platform))
		d.addDevice()
		d.state.Variables = values
	})
	d.look()
	return nil
}

// lose says that there is no session, and why.
func (d *desk) lose(err error) {
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
	d.session, d.typing, d.keys, d.state.Ask = nil, nil, nil, nil
	d.mu.Unlock()
	if s == nil {
		return
	}
	d.unlook()
	s.Close(context.WithoutCancel(d.ctx))
	s.unwatch()
}

// follow reads the events of a session until it is closed.
func (d *desk) follow(s *openSession) (stop func()) {
	events, end := s.Subscribe(d.ctx, 10_000)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for e := range events {
			d.happened(e)
		}
		if err := s.Err(); err != nil && d.isCurrent(s) && d.ctx.Err() == nil {
			d.lose(err)
		}
	}()
	return func() {
		end()
		<-ended
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
	switch e.Kind {
	case "chooser":
		d.ask(ask{Kind: "files", Text: e.Text, Multiple: true})
	case "console":
		d.log("info", e.Text)
	case "dialog":
		d.log("info", e.Text)
	default:
		d.log("info", e.Text)
		d.notify(e.Kind, e.Text)
	}
}

// watched implements handler: pictures are sent while somebody looks.
func (d *desk) watched(pages int) {
	d.mu.Lock()
	d.visible = pages
	d.mu.Unlock()
	if pages > 0 {
		d.look()
	} else {
		d.unlook()
	}
}

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
		if err := s.Watch(ctx, d.frame); err != nil && ctx.Err() == nil {
			d.log("warn", "pictures stopped: "+err.Error())
		}
	}()
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
	if err := d.endTyping(ctx); err != nil {
		return nil, err
	}
	d.set(func() { d.choice.Device, d.state.Device = p.Name, p.Name })
	return nil, d.openFirst(ctx)
}

// setVariable gives the session a value, by opening it again: what is secret in a session never changes.
func (d *desk) setVariable(ctx context.Context, p live.Variable) (any, error) {
	if !trail.IsValueName(p.Name) {
		return nil, fault.New(fault.InvalidArguments, "use letters, digits, _, . and -, and begin with a letter or _", "%q is not a name for a value", p.Name)
	}
	d.mu.Lock()
	c := &d.choice
	c.Memory, c.Secrets = maps.Clone(c.Memory), maps.Clone(c.Secrets)
	if p.Secret {
		c.Secrets = with(c.Secrets, p.Name, p.Value)
		delete(c.Memory, p.Name)
	} else {
		c.Memory = with(c.Memory, p.Name, p.Value)
	}
	d.mu.Unlock()
	return nil, d.open(ctx)
}

func with(m map[string]string, name, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[name] = value
	return m
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
		d.state.URL, d.state.Title, d.state.Variables = status.URL, status.Title, values
	})
}

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// keep writes the recording where it is found when the process is killed.
func (d *desk) keep() {
	if d.session == nil {
		return
	}
	var text []byte
	if d.isUnsaved() {
		text = d.doc.Text()
	}
	if err := d.session.Keep(text); err != nil {
		d.lines = append(d.lines, logLine{Time: d.opts.Now(), Level: "warn", Text: "the recording could not be kept: " + err.Error()})
	}
}
