package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// JUnit collects a run for a JUnit file: a suite per trail file, a case per trail.finished. It keeps only what is written.
type JUnit struct {
	suites map[string]*suite // by file
	open   []started         // trails without their end
	last   time.Time
	shard  string // that the records are of; may be empty
}

type started struct {
	event.TrailStarted
	at time.Time
}

type suite struct {
	XMLName    xml.Name `xml:"testsuite"`
	Name       string   `xml:"name,attr"`
	Tests      int      `xml:"tests,attr"`
	Failures   int      `xml:"failures,attr"`
	Errors     int      `xml:"errors,attr"`
	Skipped    int      `xml:"skipped,attr"`
	Time       string   `xml:"time,attr"`
	Timestamp  string   `xml:"timestamp,attr"`
	File       string   `xml:"file,attr"`
	Properties *properties
	Cases      []testCase `xml:"testcase"`

	took  time.Duration
	began time.Time
	flaky int
	shard string
}

type properties struct {
	XMLName xml.Name   `xml:"properties"`
	List    []property `xml:"property"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testCase struct {
	Name      string  `xml:"name,attr"`
	Classname string  `xml:"classname,attr"`
	Time      string  `xml:"time,attr"`
	Skipped   *detail `xml:"skipped"`
	Error     *detail `xml:"error"`
	Failure   *detail `xml:"failure"`
	Output    string  `xml:"system-out,omitempty"`

	which which
}

type detail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Body    string `xml:",innerxml"`
}

// NewJUnit returns an empty JUnit.
func NewJUnit() *JUnit { return &JUnit{suites: map[string]*suite{}} }

// Handle implements event.Handler.
func (j *JUnit) Handle(r event.Record) {
	if e, ok := r.Event.(event.RunStarted); ok {
		j.abandon() // what an earlier run left open
		j.shard = e.Shard
	}
	j.last = r.Time
	switch e := r.Event.(type) {
	case event.TrailStarted:
		j.open = without(j.open, which{e.File, e.Device, e.Title}) // an earlier attempt
		j.open = append(j.open, started{e, r.Time})
	case event.TrailFinished:
		j.open = without(j.open, whichOf(e))
		j.add(e, r.Time)
	case event.RunFinished:
		for _, n := range e.NotRun {
			j.add(event.TrailFinished{
				File: n.File, Title: n.Title, Device: n.Device, Outcome: event.Skipped, Reason: "not run: the run ended before its turn",
			}, r.Time)
		}
	}
}

// without takes a trail off those that have no end yet.
func without(open []started, w which) []started {
	return slices.DeleteFunc(open, func(s started) bool { return which{s.File, s.Device, s.Title} == w })
}

func (j *JUnit) add(e event.TrailFinished, at time.Time) {
	took := time.Duration(e.DurationMs) * time.Millisecond
	s := j.suite(e.File)
	if began := at.Add(-took); s.began.IsZero() || began.Before(s.began) {
		s.began = began
	}
	s.took += took
	s.Tests++
	c := testCase{Classname: classname(e.File), Time: surefire(took), which: whichOf(e)}
	switch e.Outcome {
	case event.Passed:
		if e.Flaky {
			s.flaky++
			c.Output = fmt.Sprintf("flaky: passed at attempt %d", e.Attempts)
		}
	case event.Skipped:
		s.Skipped++
		c.Skipped = &detail{Message: oneLine(head(e.Reason, maxReason))}
	case event.Failed:
		s.Failures++
		c.Failure = explain(e)
	case event.Error:
		s.Errors++
		c.Error = explain(e)
	}
	s.Cases = append(s.Cases, c)
}

func (j *JUnit) suite(file string) *suite {
	file = pathText(file)
	if s := j.suites[file]; s != nil {
		return s
	}
	s := &suite{Name: file, File: file, shard: j.shard}
	j.suites[file] = s
	return s
}

// finish puts the cases in order and names them: no two of a suite alike, or readers would take them for one.
func (s *suite) finish() {
	slices.SortStableFunc(s.Cases, func(a, b testCase) int { return inOrder(a.which, b.which) })
	used := map[string]bool{}
	for i := range s.Cases {
		title := called(s.Cases[i].which.title, s.Cases[i].which.file, s.Cases[i].which.device)
		unused := title
		for n := 2; used[unused]; n++ {
			unused = fmt.Sprintf("%s #%d", title, n)
		}
		used[unused] = true
		s.Cases[i].Name = unused
	}
	s.Time, s.Timestamp = surefire(s.took), s.began.UTC().Format("2006-01-02T15:04:05")
	s.Properties = s.properties()
}

// properties are what there is to say of all cases together; nil for nothing.
func (s *suite) properties() *properties {
	var list []property
	if s.flaky > 0 {
		list = append(list, property{"flaky", fmt.Sprint(s.flaky)})
	}
	for _, d := range devices(s.Cases, func(c testCase) string { return c.which.device }) {
		list = append(list, property{"device", oneLine(d)})
	}
	if s.shard != "" {
		list = append(list, property{"shard", oneLine(s.shard)})
	}
	if len(list) == 0 {
		return nil
	}
	return &properties{List: list}
}

// classname is the trail's folder.
func classname(file string) string { return path.Dir(filepath.ToSlash(pathText(file))) }

func explain(e event.TrailFinished) *detail {
	e.Reason = head(e.Reason, maxReason)
	body := slices.Concat(place(e), textLines(e.Reason), snippetLines(e.Snippet), advice(e))
	return &detail{Message: firstLine(e.Reason), Type: string(e.Outcome), Body: xmlText(strings.Join(body, "\n"))}
}

// xmlText is s as XML, with the line ends and quotes that encoding/xml would escape for no need.
func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return strings.NewReplacer("&#xA;", "\n", "&#x9;", "\t", "&#34;", `"`, "&#39;", "'").Replace(b.String())
}

// surefire is a duration in the form that the schema asks for.
func surefire(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// abandon ends the trails that are open, with an error: the run ended before they did.
func (j *JUnit) abandon() {
	for _, t := range j.open {
		j.add(cutShort(t.TrailStarted, j.last.Sub(t.at)), j.last)
	}
	j.open = nil
}

// cutShort is the end of a trail that has none.
func cutShort(e event.TrailStarted, took time.Duration) event.TrailFinished {
	return event.TrailFinished{
		File: e.File, Title: e.Title, Device: e.Device, Outcome: event.Error, Reason: "the run ended before this trail did",
		DurationMs: took.Milliseconds(), Attempts: 1, Artifacts: []string{},
	}
}

// Write writes what was collected. A trail that has started and not ended is an error.
func (j *JUnit) Write(w io.Writer) error {
	j.abandon()
	all := struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Time     string   `xml:"time,attr"`
		Suites   []*suite
	}{Name: "trailblaze"}
	var took time.Duration
	for _, file := range slices.Sorted(maps.Keys(j.suites)) {
		s := j.suites[file]
		s.finish()
		all.Suites = append(all.Suites, s)
		all.Tests, all.Failures, all.Errors, took = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, took+s.took
	}
	all.Time = surefire(took)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
