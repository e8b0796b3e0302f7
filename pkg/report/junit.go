package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// JUnit collects a run for a JUnit file, with a suite for each trail file and a case for each trail.finished.
type JUnit struct {
	suites map[string]*suite // by file
	run    *Run
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
	use   *event.ModelUse
	heals []string
	run   event.RunStarted
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
	File      string  `xml:"file,attr"`
	Line      int     `xml:"line,attr,omitempty"` // of the call that failed
	Skipped   *detail `xml:"skipped"`
	Error     *detail `xml:"error"`
	Failure   *detail `xml:"failure"`
	Earlier   []earlierAttempt
	Output    string `xml:"system-out,omitempty"`

	id      trailID
	product string
}

type detail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Body    string `xml:",innerxml"`
}

// earlierAttempt is an attempt before the last one, as Maven Surefire reports it.
type earlierAttempt struct {
	XMLName    xml.Name
	Message    string `xml:"message,attr"`
	Type       string `xml:"type,attr"`
	StackTrace string `xml:"stackTrace"`
	Output     string `xml:"system-out,omitempty"`
}

// earlierAttempts returns the attempts before the last one. A trail that passed with a repaired recording is not flaky:
// healedAttempts has those of it.
func earlierAttempts(e event.TrailFinished) []earlierAttempt {
	if e.Outcome == event.Passed && !e.Flaky {
		return nil
	}
	var all []earlierAttempt
	for _, a := range e.Earlier {
		name := map[bool]string{true: "flaky", false: "rerun"}[e.Flaky]
		name += map[bool]string{true: "Error", false: "Failure"}[a.Outcome == event.Error]
		reason := truncate(a.Reason, maxReason)
		out := earlierAttempt{
			XMLName: xml.Name{Local: name}, Message: firstLine(reason), Type: string(a.Outcome),
			StackTrace: strings.Join(textLines(reason), "\n"),
		}
		if a.Session != "" {
			out.Output = "session " + oneLine(a.Session)
		}
		all = append(all, out)
	}
	return all
}

// healedAttempts returns lines about the attempts before a trail passed with a repaired recording.
func healedAttempts(e event.TrailFinished) []string {
	var lines []string
	for i, a := range e.Earlier {
		line := fmt.Sprintf("attempt %d %s: %s", i+1, a.Outcome, firstLine(a.Reason))
		if a.Session != "" {
			line += ", session " + oneLine(a.Session)
		}
		lines = append(lines, line)
	}
	return lines
}

// IsJUnit reports whether the start of a file, or all of it, is that of a JUnit report, so that it may be overwritten.
func IsJUnit(text []byte) bool {
	for decoder := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := decoder.RawToken()
		if err != nil {
			return false
		}
		if start, ok := token.(xml.StartElement); ok {
			return start.Name.Local == "testsuites" || start.Name.Local == "testsuite"
		}
		if other, ok := token.(xml.CharData); ok && len(bytes.TrimSpace(other)) > 0 {
			return false
		}
	}
}

// NewJUnit returns an empty JUnit.
func NewJUnit() *JUnit { return &JUnit{suites: map[string]*suite{}, run: newStreamedRun()} }

// Handle implements event.Handler.
func (j *JUnit) Handle(r event.Record) {
	if _, ok := r.Event.(event.RunStarted); ok {
		j.addInterrupted() // of an earlier run
	}
	c := j.run.Fold(r)
	switch e := r.Event.(type) {
	case event.TrailFinished:
		j.add(*c.Finished, r.Time, noteLines(c)...)
		j.addHeals(c)
	case event.RunFinished:
		for _, n := range e.NotRun {
			j.add(event.TrailFinished{
				Case: n.Case, File: n.File, Title: n.Title, Device: n.Device, Outcome: event.Skipped, Reason: "not run: the run ended before its turn",
			}, r.Time)
		}
	}
}

// addInterrupted adds the trails that are running, as errors.
func (j *JUnit) addInterrupted() {
	for _, r := range j.run.endings() {
		j.Handle(r)
	}
}

// noteLines returns the notes of the calls of a trail that passed, as lines.
func noteLines(c *Case) []string {
	if c.Finished.Outcome != event.Passed {
		return nil
	}
	var lines []string
	for _, n := range c.Notes {
		step := ""
		if n.Step != nil {
			step = oneLine("step " + n.Step.Number() + ": " + n.Step.Text)
		}
		lines = append(lines, fitWidth("note: "+joinNonEmpty(", ", step, oneLine(n.About))+": "+oneLine(n.Text), maxColumns, "..."))
	}
	if c.MoreNotes > 0 {
		lines = append(lines, fmt.Sprintf("%d more notes of calls", c.MoreNotes))
	}
	return lines
}

// add adds a finished trail, with lines for the output of its test case.
func (j *JUnit) add(e event.TrailFinished, at time.Time, output ...string) {
	took := time.Duration(e.DurationMs) * time.Millisecond
	s := j.suite(e.File)
	if began := at.Add(-took); s.began.IsZero() || began.Before(s.began) {
		s.began = began
	}
	s.took += took
	s.Tests++
	c := testCase{
		Classname: classname(e.File), Time: formatSeconds(took), File: pathText(e.File), Line: e.Line,
		Earlier: earlierAttempts(e), id: finishedID(e), product: e.Product,
	}
	s.use = s.use.Plus(e.ModelUse)
	switch e.Outcome {
	case event.Passed:
		if e.Flaky {
			s.flaky++
			output = append([]string{fmt.Sprintf("flaky: passed on attempt %d", e.Attempts)}, output...)
		} else {
			output = append(healedAttempts(e), output...)
		}
	case event.Skipped:
		s.Skipped++
		c.Skipped = &detail{Message: oneLine(e.Reason)}
	case event.Failed:
		s.Failures++
		c.Failure = failureDetail(e)
	case event.Error:
		s.Errors++
		c.Error = failureDetail(e)
	}
	c.Output = strings.Join(output, "\n")
	s.Cases = append(s.Cases, c)
}

// addHeals adds the repairs of a trail that was just added. A proposal is a failure of the type healed.
func (j *JUnit) addHeals(c *Case) {
	s := j.suite(c.Finished.File)
	for _, h := range c.Heals {
		s.heals = append(s.heals, oneLine(fmt.Sprintf("%s: step %s, %s", h.Class, h.Step, h.Tool)))
	}
	if last := &s.Cases[len(s.Cases)-1]; last.Failure != nil && c.proposed() {
		last.Failure.Type = string(event.Healed)
	}
}

func (j *JUnit) suite(file string) *suite {
	file = pathText(file)
	if s := j.suites[file]; s != nil {
		return s
	}
	s := &suite{Name: file, File: file, run: j.run.Current}
	j.suites[file] = s
	return s
}

// finish sorts the cases and makes their names unique in the suite, as programs that read the report expect.
func (s *suite) finish() {
	slices.SortStableFunc(s.Cases, func(a, b testCase) int { return a.id.compare(b.id) })
	used := map[string]bool{}
	for i := range s.Cases {
		title := s.Cases[i].id.displayName()
		unused := title
		for n := 2; used[unused]; n++ {
			unused = fmt.Sprintf("%s #%d", title, n)
		}
		used[unused] = true
		s.Cases[i].Name = unused
	}
	s.Time, s.Timestamp = formatSeconds(s.took), s.began.UTC().Format("2006-01-02T15:04:05")
	s.Properties = s.properties()
}

// properties returns the properties of the suite, nil for none.
func (s *suite) properties() *properties {
	var list []property
	if s.flaky > 0 {
		list = append(list, property{"flaky", fmt.Sprint(s.flaky)})
	}
	list = append(list, useProperties(s.use)...)
	for _, heal := range s.heals {
		list = append(list, property{"heal", heal})
	}
	for _, d := range distinctNames(s.Cases, func(c testCase) string { return c.id.device }) {
		list = append(list, property{"device", oneLine(d)})
	}
	for _, product := range distinctNames(s.Cases, func(c testCase) string { return c.product }) {
		list = append(list, property{"product", oneLine(product)})
	}
	if s.run.DryRun {
		list = append(list, property{"dryRun", "true"})
	}
	for _, p := range []property{{"shard", s.run.Shard}, {"trailblaze", s.run.Version}, {"commit", s.run.Commit}} {
		if p.Value = oneLine(p.Value); p.Value != "" {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return &properties{List: list}
}

// useProperties returns the properties of trails in which a model may be asked, nil for others.
func useProperties(u *event.ModelUse) []property {
	if u == nil {
		return nil
	}
	list := []property{{"mode", string(u.Mode)}, {"requests", fmt.Sprint(u.Requests)}}
	if u.Cost != nil {
		list = append(list, property{"cost", strconv.FormatFloat(*u.Cost, 'f', -1, 64)})
	}
	return list
}

// classname returns the path of the trail as the name of a class in a package. Its dots separate folders, since programs
// that read the report cut it there.
func classname(file string) string {
	file = filepath.ToSlash(pathText(file))
	file = strings.TrimSuffix(strings.TrimSuffix(file, ".yaml"), ".trail")
	parts := strings.FieldsFunc(path.Clean(file), func(r rune) bool { return r == '/' })
	for len(parts) > 0 && parts[0] == ".." {
		parts = parts[1:]
	}
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(part, ".", "_")
	}
	return strings.Join(parts, ".")
}

func failureDetail(e event.TrailFinished) *detail {
	body := slices.Concat(location(e), textLines(e.Reason), snippetLines(e.Snippet), hintLines(e), artifactLines(e.Artifacts))
	return &detail{Message: firstLine(e.Reason), Type: string(e.Outcome), Body: xmlText(strings.Join(body, "\n"))}
}

// artifactLines lists files, or only their folder when there are more than maxArtifacts.
func artifactLines(files []string) []string {
	if len(files) > maxArtifacts {
		return []string{fmt.Sprintf("see %s (%d files)", pathText(commonDir(files)), len(files))}
	}
	var lines []string
	for _, f := range files {
		lines = append(lines, "see "+pathText(f))
	}
	return lines
}

// xmlText escapes s for XML, but for line ends and quotation marks, which encoding/xml escapes without need.
func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // writing to a Builder cannot fail
	return strings.NewReplacer("&#xA;", "\n", "&#x9;", "\t", "&#34;", `"`, "&#39;", "'").Replace(b.String())
}

// formatSeconds formats a duration as the schema requires.
func formatSeconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// Write writes the file. A trail that has started and not finished is an error in it.
func (j *JUnit) Write(w io.Writer) error {
	j.addInterrupted()
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
	all.Time = formatSeconds(took)
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
