package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// JUnit collects a run for a JUnit file: a suite per trail file, a case per trail.finished. It keeps only what is written.
type JUnit struct {
	suites []*suite
	open   []started // trails without their end
	last   time.Time
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
	flaky int
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
}

type detail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Body    string `xml:",innerxml"`
}

// NewJUnit returns an empty JUnit.
func NewJUnit() *JUnit { return &JUnit{} }

// Handle implements event.Handler.
func (j *JUnit) Handle(r event.Record) {
	j.last = r.Time
	switch e := r.Event.(type) {
	case event.TrailStarted:
		j.close(e.File, e.Title) // an earlier attempt
		j.open = append(j.open, started{e, r.Time})
	case event.TrailFinished:
		j.close(e.File, e.Title)
		j.add(e, r.Time)
	}
}

func (j *JUnit) close(file, title string) {
	j.open = slices.DeleteFunc(j.open, func(s started) bool { return s.File == file && s.Title == title })
}

func (j *JUnit) add(e event.TrailFinished, at time.Time) {
	took := time.Duration(e.DurationMs) * time.Millisecond
	s := j.suite(e.File, at.Add(-took))
	s.took += took
	s.Time = surefire(s.took)
	s.Tests++
	c := testCase{Name: s.unused(name(e.Title, e.File)), Classname: classname(e.File), Time: surefire(took)}
	switch e.Outcome {
	case event.Passed:
		if e.Flaky {
			s.flaky++
			s.Properties = &properties{List: []property{{"flaky", fmt.Sprint(s.flaky)}}}
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

func (j *JUnit) suite(file string, started time.Time) *suite {
	file = pathText(file)
	if i := slices.IndexFunc(j.suites, func(s *suite) bool { return s.File == file }); i >= 0 {
		return j.suites[i]
	}
	s := &suite{Name: file, File: file, Timestamp: started.UTC().Format("2006-01-02T15:04:05")}
	j.suites = append(j.suites, s)
	return s
}

// unused makes a name that no other case of the suite has, or readers would take two cases for one.
func (s *suite) unused(title string) string {
	candidate := title
	for n := 2; slices.ContainsFunc(s.Cases, func(c testCase) bool { return c.Name == candidate }); n++ {
		candidate = fmt.Sprintf("%s #%d", title, n)
	}
	return candidate
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

// Write writes what was collected. A trail that has started and not ended is an error: the run ended before it did.
func (j *JUnit) Write(w io.Writer) error {
	for _, t := range j.open {
		j.add(event.TrailFinished{
			File: t.File, Title: t.Title, Outcome: event.Error, Reason: "the run ended before this trail did", DurationMs: j.last.Sub(t.at).Milliseconds(),
		}, j.last)
	}
	j.open = nil
	all := struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Time     string   `xml:"time,attr"`
		Suites   []*suite
	}{Name: "trailblaze", Suites: j.suites}
	var took time.Duration
	for _, s := range j.suites {
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
