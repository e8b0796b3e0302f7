// Package run replays trails: it plans which trail is replayed on which device, replays the plans with as many workers
// as requested, retries, and counts. Each attempt at a trail has a session of its own ([session.Open]); what happens is
// sent as events. It does not depend on flags, terminals, processes and YAML. Two runs share nothing.
package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/picture"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// SessionLog writes the events of one session to a file.
type SessionLog interface {
	event.Handler
	Close() error
}

// Options are the options of a run.
type Options struct {
	session.Setup
	Devices        []session.Device // each trail is replayed on each; at least one
	Paths          []string         // trail files in order, relative to Cwd or absolute
	Searched       []string         // the files, folders and globs in which they were looked for
	Tags           []string         // only trails with any of these tags; empty: all
	Grep           string           // only trails with this text in title, id or path, in any case; empty: all
	RepeatEach     int              // replay each case so often; 0: once
	Workers        int              // sessions at once; 0: one for each device
	Shard          Shard            // only this part of the trails; zero: all
	Durations      Durations        // by which shards are balanced; nil: by the number of trails
	Memory         map[string]string
	Secrets        map[string]string
	Args           map[string]string
	ArgRows        []map[string]any // one case per row; empty: one case
	SkipUnrecorded bool             // skip steps that need an agent instead of failing
	MaxFailures    int              // start no more trails after so many that did not pass; 0: no limit
	FailOnFlaky    bool             // the exit code of a run with a flaky trail is that of a failure
	LastFailed     bool             // an empty list of paths is not an error: nothing is left to do
	Last           []LastCase       // replay paths only on these devices, where it names any; empty: all
	DryRun         bool
	Retries        int
	TeardownLimit  time.Duration  // how long a teardown may run after an interruption; 0: 10s
	Screenshots    picture.Update // which pictures beside the trails are written
	Evidence       string         // EvidenceOnFailure, EvidenceAlways or EvidenceOff
	Trace          string         // config.TraceOn, config.TraceOnFailure or config.TraceOff; empty for TraceOff
	Record         string         // file that the one trail is recorded to; empty for none
	// Contents are what is replayed in place of the content of trail files, by their absolute paths. May be nil.
	Contents map[string][]byte
	// WithoutHistory leaves the files for --last-failed and for balanced shards as they are.
	WithoutHistory bool
	// Assist is called before the first step of a trail that has a step for which somebody else has to make the calls:
	// one without a recording, which is neither the trailhead nor in the teardown. It sets the hooks of the walk. Such
	// sessions restrict the pages that may be opened. It is also called for a trail that calls [tool.AssertWithModel],
	// to set who makes these calls, and for one with servers that may ask a model. Nil if nobody makes such calls.
	Assist func(Assisted)
	// WithoutTasks gives Assist no steps: a step without a recording fails as without it. It may still judge claims.
	WithoutTasks bool
	// Judge is called before anything starts, unless Assist is set, with the trails of the run that call
	// [tool.AssertWithModel]. It returns what Assist is for those; an error ends the run. May be nil.
	Judge func(trails []string) (assist func(Assisted), err error)
	// Proof gives Assist only steps with recordable: false: what was recorded has to pass without it.
	Proof bool
	// IgnoreRecordings leaves out the recordings of steps and checks that Assist has calls for.
	IgnoreRecordings bool
	// Heal repairs trails whose recordings broke. Nil if nobody does.
	Heal *Healing
	// Reset brings the app into the state in which recordings begin, before one that was assisted or repaired is proven. Nil
	// if nobody has said how.
	Reset func(ctx context.Context) error
	// RestrictOrigins restricts the pages that may be opened to AllowedOrigins and others, see [device.Session].
	RestrictOrigins bool
	AllowedOrigins  []string
	OpenLog         func(path string, onError func(error)) SessionLog
	Commit          string // of the project in git, for reports; may be empty
	// BeforeTrails is called before the first trail is replayed, unless there is none or DryRun is set. targets returns
	// the ids of the trails' targets. stop is called after the last trail. With an error nothing is replayed. May be nil.
	BeforeTrails func(ctx context.Context, targets func() []string) (stop func(), err error)
	again        *again // of a replay of a trail that broke
	// StopShared stops the server processes that were launched as shared. May be nil.
	StopShared func(ctx context.Context) error
}

// Assisted is an attempt at a trail with steps for which somebody else makes the calls.
type Assisted struct {
	Session *session.Session
	Walk    *replay.Walk
	Scope   scope.Scope
	Device  session.Device
	Path    string // of the trail, relative to Options.Cwd or absolute
	Dir     string // the folder of the session, where evidence is kept; empty for none
	Emit    *event.Emitter
	Tasks   bool // the trail has a step for which somebody else makes the calls
	// Replay says which replay it belongs to: its attempts, and the proof of its recording, have the same.
	Replay string
	Use    *event.ModelUse // to which requests are added
}

// Values of Options.Evidence: when evidence of the device is kept.
const (
	EvidenceOnFailure = "failure"
	EvidenceAlways    = "always"
	EvidenceOff       = "off"
)

// Summary is how a run ended.
type Summary struct {
	event.RunFinished
	Failed []string // paths of trails whose outcome is failed or error
	NotRun []string // paths of trails that were not started
}

// Run replays the trails on every device. The error is what ended the run from outside (a signal, a time limit) or made
// it impossible; failed trails are counted in the summary, whose exit code already covers everything.
func Run(ctx context.Context, o Options) (Summary, error) {
	r := &runner{Options: o, started: o.Now()}
	r.devices = newDevices(o.Devices)
	if len(o.Devices) > 1 && !o.DryRun {
		r.shared = session.ShareServers(o.Setup, o.StopShared, r.warnUnwritable)
	}
	cases, err := r.cases()
	if err != nil {
		return Summary{}, err
	}
	mine, plan := r.shard(cases)
	if err := r.findJudge(mine); err != nil {
		return Summary{}, err
	}
	if o.BeforeTrails != nil && len(mine) > 0 && !o.DryRun {
		stop, err := o.BeforeTrails(ctx, func() []string { return r.targets(mine) })
		if err != nil {
			return Summary{}, err
		}
		defer stop()
	}
	o.Stream.Emit(r.startedEvent(len(mine), plan))
	if len(mine) == 0 {
		r.info(nothingToDo(len(cases), o.Shard))
	} else if o.Shard.Of > 0 {
		r.info(fmt.Sprintf("shard %s: %d of %d to replay", o.Shard, len(mine), len(cases)))
	}
	r.replayAll(ctx, mine)
	r.writeHealed(ctx)
	r.shared.Close(ctx)
	if n := r.summary.Flaky; n > 0 && o.FailOnFlaky {
		o.Stream.Emit(event.Log{
			Level: "error", Source: "run", Message: fmt.Sprintf("the run failed because of %s", text.Count(n, "flaky trail")),
			Hint: "leave out --fail-on-flaky or run.failOnFlaky to accept trails that pass when they are retried",
		})
	}
	cause := session.Interruption(ctx)
	if r.panicked != nil {
		cause = r.panicked
	}
	if cause != nil {
		if !isInterruption(cause) {
			o.Stream.Emit(event.Log{Level: "error", Source: "run", Message: cause.Error(), Hint: session.Hint(cause)})
		}
		r.summary.ExitCode = fault.Worst(r.summary.ExitCode, fault.ExitCode(cause))
	}
	if !o.DryRun && !o.WithoutHistory {
		if err := errors.Join(r.saveLast(), r.saveDurations()); err != nil {
			r.warnUnwritable(err)
		}
	}
	r.summary.DurationMs = o.Now().Sub(r.started).Milliseconds()
	o.Stream.Emit(r.summary.RunFinished)
	return r.summary, cause
}

// isInterruption reports whether a signal ended the run. The caller of Run has logged that when it came.
func isInterruption(cause error) bool {
	kind := fault.KindOf(cause)
	return kind == fault.Interrupted || kind == fault.Terminated
}

func (r *runner) info(message string) {
	r.Stream.Emit(event.Log{Level: "info", Source: "run", Message: message})
}

func (r *runner) startedEvent(cases int, plan string) event.RunStarted {
	e := event.RunStarted{
		Trails: cases, DryRun: r.DryRun, Shard: r.Shard.String(), Plan: plan, Root: r.Project.Root, Dir: r.Cwd,
		Version: r.Version, Commit: r.Commit,
	}
	if n := r.workers(cases); n > 1 {
		e.Workers = n
	}
	return e
}

// runner is one run.
type runner struct {
	Options
	started  time.Time
	devices  []*deviceQueue
	shared   *session.Servers // nil when nothing is shared
	prefetch *prefetcher      // nil when sessions are not opened before their turn
	listings sync.Map         // of dry runs, which list a scope once
	warned   sync.Map         // the warnings about arguments that were logged

	mu       sync.Mutex // guards the rest
	summary  Summary
	measured Measured
	panicked error
	lastCase []LastCase // for --last-failed
	held     []held

	unwritableOnce sync.Once
}

// testCase is one trail file with one set of arguments, on one device.
type testCase struct {
	n      int // its index in the order of all cases
	path   string
	row    row
	device *deviceQueue
	repeat repeat
}

// row is a row of arguments: its number, from 1, and its name. The zero value is a case without one.
type row struct {
	n    int
	name string
}

// repeat is the number of a repetition, from 1, and how many there are. The zero value is a case that is not repeated.
type repeat struct{ n, of int }

// title returns the name of a trail with the row of its arguments and the number of its repetition.
func (c testCase) title(name string) string {
	if c.row.n > 0 {
		name = fmt.Sprintf("%s [%s]", name, c.row.name)
	}
	return name + c.event().RepeatSuffix()
}

// event returns which of the replays of its trail the case is.
func (c testCase) event() event.Case {
	return event.Case{Row: c.row.n, Repeat: c.repeat.n, Repeats: c.repeat.of}
}

// wanted reports whether a trail is replayed on a device. With --last-failed it is not, where it passed in the last
// run.
func (r *runner) wanted(path string, d *deviceQueue) bool {
	return len(r.Last) == 0 || slices.ContainsFunc(r.Last, func(c LastCase) bool {
		return string(c.Trail) == r.resolve(path) && (c.Device == d.Name || c.Device == "" || d.Name == "")
	})
}

// repeats returns the repetitions of each case.
func (r *runner) repeats() []repeat {
	if r.RepeatEach < 2 {
		return []repeat{{}}
	}
	all := make([]repeat, r.RepeatEach)
	for i := range all {
		all[i] = repeat{i + 1, r.RepeatEach}
	}
	return all
}

// cases returns the cases of the run, ordered by trail, then by row, then by device, then by repetition.
func (r *runner) cases() ([]testCase, error) {
	var cases []testCase
	rows := []row{{}}
	if len(r.ArgRows) > 0 {
		rows = nil
	}
	for i, name := range rowNames(r.ArgRows, r.Redactor) {
		rows = append(rows, row{i + 1, name})
	}
	trails := 0
	for _, path := range r.Paths {
		if !r.selected(path) {
			continue
		}
		trails++
		for _, row := range rows {
			for _, d := range r.devices {
				if !r.wanted(path, d) {
					continue
				}
				for _, repeat := range r.repeats() {
					cases = append(cases, testCase{len(cases), path, row, d, repeat})
				}
			}
		}
	}
	if trails == 0 && (!r.LastFailed || len(r.Tags) > 0 || r.Grep != "") {
		return nil, r.nothingToRun()
	}
	if r.Record != "" && len(cases) > 1 {
		return nil, fault.New(fault.Misuse,
			"name one trail and one device; every session leaves a recording.trail.yaml of its own in any case",
			"--record writes the recording of one trail, and these are %d", len(cases))
	}
	return cases, nil
}

func (r *runner) nothingToRun() error {
	if r.Grep != "" && len(r.Paths) > 0 {
		hint := "it is looked for in the title, the id and the path of each trail, in any case"
		if len(r.Tags) > 0 {
			hint += "; --tags also excludes trails"
		}
		return fault.New(fault.NothingMatched, hint, "no trail matches --grep %q; trails found: %d", r.Grep, len(r.Paths))
	}
	if len(r.Tags) > 0 && len(r.Paths) > 0 {
		return fault.New(fault.NothingMatched, "tags are in a trail's config: tags: [smoke]",
			"no trail has any of the tags %s; trails found: %d", strings.Join(r.Tags, ", "), len(r.Paths))
	}
	return fault.New(fault.NothingMatched, "trails are *.trail.yaml and trail.yaml files; name files or folders, or set trailsDir",
		"no trail to run; looked in %s", strings.Join(r.Searched, ", "))
}

// Selected returns the trails in Paths of options that their Tags and Grep select.
func Selected(o Options) []string {
	r := &runner{Options: o}
	return slices.DeleteFunc(slices.Clone(o.Paths), func(path string) bool { return !r.selected(path) })
}

// selected reports whether a trail has one of the wanted tags, and the wanted text in its title, id or path. It returns
// true for a file that cannot be read, so that its problems are reported.
func (r *runner) selected(path string) bool {
	if len(r.Tags) == 0 && r.Grep == "" {
		return true
	}
	file, problems := r.readTrail(path)
	if len(problems) > 0 {
		return true
	}
	c := file.Config
	tagged := slices.ContainsFunc(c.Tags, func(tag string) bool { return slices.Contains(r.Tags, tag) })
	found := slices.ContainsFunc([]string{c.Title, c.ID, filepath.ToSlash(path)}, func(text string) bool {
		return strings.Contains(strings.ToLower(text), strings.ToLower(r.Grep))
	})
	return (tagged || len(r.Tags) == 0) && found
}

// resolve makes a path absolute.
func (r *runner) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.Cwd, path)
}

// count adds a finished case to the summary.
func (r *runner) count(c testCase, res trailResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.summary
	switch {
	case res.held:
		return
	case res.Outcome == "":
		r.countNotRun(c)
		return
	}
	s.ExitCode = fault.Worst(s.ExitCode, res.exitCode())
	r.measured.Add(TrailKey(r.Project.Root, r.resolve(c.path)), res.Outcome, res.duration)
	s.Count(res.Outcome, res.flaky(), res.use)
	if res.healed > 0 && r.Heal.FailOnHealed {
		s.ExitCode = fault.Worst(s.ExitCode, fault.ExitFailed)
	}
	if r.FailOnFlaky && res.flaky() {
		s.ExitCode = fault.Worst(s.ExitCode, fault.ExitFailed)
	}
	if res.bad() {
		s.Failed = appendNew(s.Failed, c.path)
		r.lastCase = append(r.lastCase, LastCase{Path(r.resolve(c.path)), c.device.Name})
	}
}

// countNotRun adds a case that is not started to the summary. The caller holds r.mu.
func (r *runner) countNotRun(c testCase) {
	s := &r.summary
	s.NotRun = appendNew(s.NotRun, c.path)
	s.RunFinished.NotRun = append(s.RunFinished.NotRun,
		event.NotRun{Case: c.event(), File: c.path, Title: c.title(r.trailName(c.path)), Device: c.device.Name})
	r.lastCase = append(r.lastCase, LastCase{Path(r.resolve(c.path)), c.device.Name})
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
