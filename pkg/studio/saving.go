package studio

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/studio/document"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// openTrail makes a trail file the document.
func (d *desk) openTrail(name string) error {
	text, err := files.Read(filepath.Join(d.opts.Project.Root, name), trail.MaxSize)
	if err != nil {
		return fault.Wrap(fault.Misuse, err, "name a trail of the project", "read "+name)
	}
	doc, _ := document.Open(document.Options{Name: name, Lineage: d.lineage()}, text) // it shows its problems
	d.set(func() {
		d.doc, d.base, d.saved, d.state.File = doc, text, string(text), name
		d.selected, d.cursor, d.newStep, d.hint, d.clicked = "", "", false, "", clicked{}
		d.setMarks(map[string]mark{})
		d.state.Recording = false
	})
	return nil
}

func (d *desk) lineage() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session == nil {
		return nil
	}
	return d.session.Lineage()
}

// fileName is the name of the document's file, or one that a new file could have.
func (d *desk) fileName() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return cmp.Or(d.state.File, d.state.TrailsDir+"new.trail.yaml")
}

type saveParams struct {
	File      string
	Title     string
	NoReplay  bool
	Overwrite trail.Overwrite
}

// save replays the document in a session of its own and, when it passes, writes its file.
func (d *desk) save(ctx context.Context, p saveParams) (any, error) {
	report, err := d.saveFile(ctx, live.SaveRequest{File: p.File, Title: p.Title, NoReplay: p.NoReplay, Overwrite: p.Overwrite})
	return savedView{report.File, report.Written, report.Diff, append([]string{}, report.Warnings...), report.Replayed}, err
}

// saveFile saves the document as a request says, without its content.
func (d *desk) saveFile(ctx context.Context, r live.SaveRequest) (report live.SaveReport, err error) {
	d.mu.Lock()
	s := d.session // one that has ended can save, too
	d.mu.Unlock()
	if s == nil {
		_, err = d.current()
		return report, err
	}
	if err := d.name(r.Title); err != nil {
		return report, err
	}
	d.mu.Lock()
	r.Title, r.Content, r.Base = "", d.doc.Text(), d.base
	if r.Content == nil && d.opts.shared {
		r.Content = []byte{} // nil is the session's own recording, of what others did
	}
	if r.File != d.state.File {
		r.Base = nil
	}
	d.mu.Unlock()
	doing := "replaying the trail in a session of its own, then writing " + r.File
	if r.NoReplay {
		doing = "writing " + r.File
	}
	ctx, done := d.busy(ctx, saving, doing)
	defer done()
	if report, err = s.Save(ctx, r); err == nil && report.Written {
		err = d.wrote(report.File)
	}
	return report, err
}

// name gives a new trail its title.
func (d *desk) name(title string) error {
	if title == "" {
		return nil
	}
	return d.change(func() error { return d.doc.SetTitle(d.clean(title)) })
}

// wrote takes what a file has now as what was saved.
func (d *desk) wrote(file string) error {
	text, err := files.Read(filepath.Join(d.opts.Project.Root, file), trail.MaxSize)
	if err != nil {
		return fault.Wrap(fault.Misuse, err, "", "read "+file)
	}
	d.set(func() {
		d.doc.SetName(file)
		_ = d.doc.SetText(text, true) // it was parsed before it was written
		d.base, d.saved, d.state.File = text, string(text), file
	})
	return nil
}

// leaveDraft leaves what was not saved to the next studio. No session is open any more.
func (d *desk) leaveDraft() {
	d.keep()
	file := draftOf(d.keeper)
	switch {
	case !d.unsaved():
		live.ForgetRecording(file)
	case d.opts.OnUnsaved != nil:
		d.opts.OnUnsaved(d.relative(file))
	}
}

// draftOf returns the file in which a session keeps the recording.
func draftOf(s *live.RedactedSession) string { return filepath.Join(s.Folder(), live.RecordingName) }

// findKept looks for the recording of a session that was killed, or that ended with a recording that was not saved.
func (d *desk) findKept() {
	lost := live.LostRecordings(d.opts.Project.LogsDir)
	if len(lost) == 0 {
		return
	}
	newest := lost[len(lost)-1]
	for _, older := range lost[:len(lost)-1] {
		d.log("info", "another recording that was not saved is in "+d.relative(older)+"; a later studio offers it")
	}
	text, err := files.Read(newest, trail.MaxSize)
	if err != nil {
		return
	}
	doc, _ := document.Open(document.Options{Name: newest}, text)
	k := keptRecording{File: d.relative(newest), Steps: len(doc.Steps())}
	if info, err := os.Stat(newest); err == nil {
		k.When = info.ModTime()
	}
	d.set(func() { d.state.Kept = &k })
}

// restore makes the recording that was found the document, or forgets it. One with another title than the trail that is
// open is not the document's file.
func (d *desk) restore(ctx context.Context, p struct{ Keep bool }) (any, error) {
	d.mu.Lock()
	k := d.state.Kept
	d.mu.Unlock()
	if k == nil {
		return nil, fault.New(fault.Misuse, "", "no killed session left a recording to restore")
	}
	path := filepath.Join(d.opts.Project.Root, k.File)
	if !p.Keep {
		live.ForgetRecording(path)
		d.set(func() { d.state.Kept = nil })
		return nil, d.openApp(ctx)
	}
	text, err := files.Read(path, trail.MaxSize)
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, "", "read "+k.File)
	}
	return nil, d.change(func() error {
		title := d.doc.Title()
		if problems := d.doc.SetText(text, false); len(problems) > 0 {
			return problems
		}
		d.left = append(d.left, path)
		if d.state.Kept = nil; d.doc.Title() != title {
			d.base, d.saved, d.state.File = nil, "", ""
			d.doc.SetName("")
		}
		return nil
	})
}

func (d *desk) sessions(context.Context, nothing) (any, error) {
	return d.history.List(), nil
}

func (d *desk) past(_ context.Context, p struct{ Session string }) (any, error) {
	return d.history.Open(p.Session)
}

// openPast makes the trail of a finished session the document.
func (d *desk) openPast(ctx context.Context, p struct{ Session, Number string }) (any, error) {
	past, err := d.history.Open(p.Session)
	if err != nil {
		return nil, err
	}
	file := filepath.FromSlash(past.File)
	if filepath.IsAbs(file) {
		file = d.relative(file)
	}
	switch {
	case past.File == "":
		return nil, fault.New(fault.Misuse, "", "%s is not a session of a trail", p.Session)
	case !filepath.IsLocal(file):
		return nil, fault.New(fault.Misuse, "open a session of this project", "the trail %s is not in this project", past.File)
	case d.unsaved():
		return nil, fault.New(fault.Misuse, "save the recording, or undo its changes", "the recording has changes that are not saved")
	}
	if err := d.openTrail(filepath.ToSlash(file)); err != nil {
		return nil, err
	}
	if _, none := d.current(); none != nil {
		err = d.openFirst(ctx) // before: the device decides which calls the steps have
	}
	d.set(func() {
		if d.has(p.Number) {
			d.selected = p.Number
		}
	})
	return nil, err
}
