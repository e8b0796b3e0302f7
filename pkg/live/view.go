package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// SnapshotOptions say what a snapshot shows.
type SnapshotOptions struct {
	Find       string `json:"find,omitempty"`     // only lines with this text, in any case
	Within     string `json:"within,omitempty"`   // a reference or a CSS selector; empty for the whole screen
	MaxBytes   int    `json:"maxBytes,omitempty"` // of the text; 0 for the default
	Screenshot bool   `json:"screenshot,omitempty"`
	// Show asks for the console or the requests of the page instead of the screen. Only Find and MaxBytes are used then.
	Show device.Show `json:"show,omitempty"`
}

// The default sizes of texts about the screen, in bytes.
const (
	snapshotBytes = 6000
	findBytes     = 2000
	changesBytes  = 1200
	logBytes      = 4000
)

// Snapshot is what the device shows.
type Snapshot struct {
	URL        string   `json:"url"`
	Title      string   `json:"title"`
	Text       string   `json:"snapshot"` // the text form of pkg/screen
	More       int      `json:"more"`     // elements that were left out
	Events     []string `json:"events,omitempty"`
	Messages   []string `json:"messages,omitempty"`   // see [StepReport]
	Screenshot []byte   `json:"screenshot,omitempty"` // PNG
	Withheld   string   `json:"withheld,omitempty"`   // why the screenshot that was asked for is missing
	Log        *PageLog `json:"log,omitempty"`        // instead of the screen
}

// PageLog is what a page wrote to the console, or requested, one line each, the newest last.
type PageLog struct {
	Earlier []string `json:"earlier"`         // before the last action
	Since   []string `json:"sinceLastAction"` // since it began
	More    int      `json:"more"`            // lines before these, which were left out
}

// Snapshot returns what the device shows. References in it stay valid in the session.
func (s *Session) Snapshot(ctx context.Context, o SnapshotOptions) (Snapshot, error) {
	release, err := s.acquire(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	defer release()
	if o.Show != device.ShowScreen {
		return s.pageLog(ctx, o)
	}
	view, err := s.readView(ctx, device.ViewOptions{Within: o.Within, Screenshot: o.Screenshot})
	if err != nil {
		return Snapshot{}, err
	}
	view = s.withUnreported(view)
	shot := Snapshot{URL: view.URL, Title: view.Title, Events: view.Events, Messages: s.messages(view)}
	s.show(view)
	if o.Find != "" {
		found := screen.Find(view.Part, o.Find, view.Ref, cmp.Or(o.MaxBytes, findBytes))
		shot.Text, shot.More = found.String(), found.Left
	} else {
		part := view.Part.Text(screen.TextOptions{
			MaxBytes: cmp.Or(o.MaxBytes, snapshotBytes), Ref: view.Ref, Whole: o.Within != "",
		})
		shot.Text, shot.More = part.String(), part.Left
	}
	if o.Screenshot {
		after, err := s.readView(ctx, device.ViewOptions{}) // the picture was taken after view was read
		if err != nil {
			return Snapshot{}, err
		}
		shot.Events = append(shot.Events, after.Events...)
		shot.Messages = append(shot.Messages, s.messages(after)...)
		switch {
		case view.Withheld != "":
			shot.Withheld = view.Withheld
		case s.showsSecret(view) || s.showsSecret(after):
			shot.Withheld = "the screen shows a secret"
		default:
			shot.Screenshot = view.Screenshot
		}
	}
	return shot, nil
}

// pageLog returns the last lines of the console or of the requests.
func (s *Session) pageLog(ctx context.Context, o SnapshotOptions) (Snapshot, error) {
	if o.Show != device.ShowConsole && o.Show != device.ShowRequests {
		return Snapshot{}, fault.New(fault.InvalidArguments, "use console or requests", "show: %q is not known", o.Show)
	}
	if o.Within != "" || o.Screenshot {
		return Snapshot{}, fault.New(fault.InvalidArguments, "leave it out, or show the screen", "within and screenshot cannot be used with show")
	}
	view, err := s.inner.View(ctx, device.ViewOptions{Show: o.Show})
	if err != nil {
		return Snapshot{}, err
	}
	if view.Log == nil {
		return Snapshot{}, fault.New(fault.ToolFailed, "only web pages have them", "the device has no %s that can be shown", o.Show)
	}
	left, log := cmp.Or(o.MaxBytes, logBytes), &PageLog{}
	lines := func(all []string) []string {
		kept := []string{}
		for _, line := range slices.Backward(all) {
			line = s.text(line) // what finds a line must not tell what a secret is
			switch {
			case o.Find != "" && !strings.Contains(strings.ToLower(line), strings.ToLower(o.Find)):
			case len(line) > left:
				left = 0
				log.More++
			default:
				left -= len(line) + 1
				kept = append(kept, line)
			}
		}
		slices.Reverse(kept)
		return kept
	}
	log.Since = lines(view.Log.Since)
	log.Earlier = lines(view.Log.Earlier)
	return Snapshot{Log: log}, nil
}

// showsSecret reports whether a secret can be read in a view.
func (s *Session) showsSecret(view device.View) bool {
	text := wholeText(view)
	return s.text(text) != text
}

// readView returns what is on the screen, and remembers its texts.
func (s *Session) readView(ctx context.Context, o device.ViewOptions) (device.View, error) {
	s.looked = time.Now()
	view, err := s.inner.View(ctx, o)
	if err == nil {
		s.seen.add(view)
	}
	return view, err
}

// show remembers the last view as what the caller knows of the screen.
func (s *Session) show(view device.View) {
	view.Screenshot = nil
	s.shown, s.shownAt, s.unreported = &view, s.looked, nil
}

// lastView returns what the screen showed last, also to other processes; nil when nothing was shown yet.
func (s *Session) lastView() *device.View { return cmp.Or(s.unreported, s.shown) }

// withUnreported returns a view for a report, with what calls of other processes did since the last one.
func (s *Session) withUnreported(view device.View) device.View {
	view = *following(s.unreported, view)
	if s.otherCalls > 0 {
		view.Events = append([]string{"other processes made " + text.Count(s.otherCalls, "call") + " since the last report"}, view.Events...)
		s.otherCalls = 0
	}
	return view
}

// maxMessages is how many texts that are gone a report has: the last ones.
const maxMessages = 5

// messages returns in words what came on the screen and was gone again before a view, and what the caller has not seen
// therefore.
func (s *Session) messages(view device.View) []string {
	var texts []string
	for _, m := range view.Messages {
		if !m.Began.Before(s.shownAt) {
			texts = append(texts, fmt.Sprintf("shown for %.1fs since the last call: %s %q", m.For.Seconds(), m.Role, m.Text))
		}
	}
	return texts[max(0, len(texts)-maxMessages):]
}

// reportScreen adds to a report what changed on the screen since the caller saw it. Nothing is added when no call
// reached the device. blocked are the pages that calls led to and that were blocked. After calls of another process, what
// changed is kept for the next report.
func (s *Session) reportScreen(ctx context.Context, other bool, report *StepReport) (blocked []string, err error) {
	if !s.inner.UsedDevice() {
		return nil, nil
	}
	view, err := s.settledView(ctx)
	switch {
	case err == nil:
	case view.Tree == nil || fault.KindOf(err) != fault.CallTimeout || ctx.Err() != nil:
		report.Warnings = append(report.Warnings, "the screen could not be read: "+err.Error())
		return nil, session.Interruption(ctx)
	default:
		report.Warnings = append(report.Warnings, "the screen may have changed since it was read, and could not be read again: "+err.Error())
	}
	view = *following(s.between, view)
	blocked = view.Blocked
	if other {
		s.unreported = following(s.unreported, view)
		return blocked, nil
	}
	view = s.withUnreported(view)
	if s.shown == nil || s.shown.URL != view.URL {
		report.URL = view.URL
	}
	report.OtherDocument = s.shown != nil && screen.OtherDocument(s.shown.Screen(), view.Screen())
	report.Events, report.Messages = view.Events, s.messages(view)
	report.Changes = s.changes(view)
	s.show(view)
	return blocked, nil
}

// changes returns what a view shows that the caller does not know.
func (s *Session) changes(view device.View) string {
	before := screen.View{Tree: screen.NewTree(nil, 0, 0)}
	if s.shown != nil {
		before = screen.View{URL: s.shown.URL, Tree: s.shown.Tree, Ref: s.shown.Ref}
	}
	return screen.Changes(before, view.Screen(), changesBytes)
}

// interrupted reports whether the last call led to another document, a dialog or a tab.
func (s *Session) interrupted(ctx context.Context) bool {
	if !s.inner.UsedDevice() {
		return false
	}
	now, err := s.readView(ctx, device.ViewOptions{})
	if err != nil {
		return true
	}
	before, other := cmp.Or(s.between, s.lastView()), len(now.Blocked) > 0
	if before != nil {
		other = other || screen.OtherDocument(before.Screen(), now.Screen())
	}
	for _, e := range now.Events {
		kind, _, _ := strings.Cut(e, ":")
		other = other || slices.Contains([]string{"dialog", "window opened", "tab", "crash"}, kind)
	}
	s.between = following(s.between, now)
	return other
}

// following returns a view with what happened until the one before it, too.
func following(before *device.View, v device.View) *device.View {
	if before != nil {
		v.Events = slices.Concat(before.Events, v.Events)
		v.Blocked = slices.Concat(before.Blocked, v.Blocked)
		v.Messages = slices.Concat(before.Messages, v.Messages)
	}
	return &v
}

// quietIntervals is for how many intervals the screen has to stay the same: it may be waiting for an answer of its
// server.
const quietIntervals = 3

// settledView returns the screen when it has not changed for some intervals, or at the limit of [Settle]. With an error
// it returns the last one that could be read, without a tree if there is none.
func (s *Session) settledView(ctx context.Context) (device.View, error) {
	limit := time.NewTimer(s.opts.Settle.limit())
	defer limit.Stop()
	view, err := s.readView(ctx, device.ViewOptions{})
	for last, same := "", 0; err == nil; {
		text := view.URL + "\n" + view.Tree.Text(screen.TextOptions{}).String()
		if same++; text != last {
			last, same = text, 0
		}
		if same == quietIntervals {
			return view, nil
		}
		select {
		case <-limit.C:
			return view, nil
		case <-ctx.Done():
			return view, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for the screen")
		case <-time.After(s.opts.Settle.interval()):
		}
		var next device.View
		if next, err = s.readView(ctx, device.ViewOptions{}); err == nil {
			view = *following(&view, next)
		}
	}
	return view, err
}
