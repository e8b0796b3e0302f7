package cmd

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/session"
)

// refusedFile is the file of what did not start, in its reports.
const refusedFile = "trailblaze"

// refused replaces the reports of --junit and --html by ones that have err as their only result, when err says that a
// run did not start. It also annotates the run. It returns err.
func (cmd *runCommand) refused(f runFlags, err error) error {
	var reported exitCode
	if err == nil || errors.As(err, &reported) {
		return err
	}
	annotations, writeAnnotations := cmd.annotations()
	cmd.reportRefusal(f.junit, f.html, "trailblaze run", "the run did not start", err, annotations)
	cmd.warnUnwritten(err, writeAnnotations())
	return err
}

// reportRefusal replaces reports by ones that have err as their only result: reports of an earlier run, or empty ones,
// would look like a success. title names the command, and what says what it did not do.
func (p *program) reportRefusal(junitFile, htmlDir, title, what string, err error, others ...event.Handler) {
	junit, html := report.NewJUnit(), report.NewHTML("")
	stream := event.NewStream(p.Now, p.redactor.Redactor(), append(others, junit, html)...)
	stream.Emit(event.RunStarted{Trails: 1, Dir: p.Dir})
	result := refusal(title, err)
	result.Reason = what + ": " + result.Reason
	stream.Emit(result)
	stream.Emit(event.RunFinished{Errors: 1, ExitCode: fault.ExitCode(err)})
	unwritten := p.prepareJUnit(junitFile)
	if junitFile != "" && unwritten == nil {
		unwritten = p.writeReport(nil, "JUnit", junitFile, junit.Write)
	}
	p.warnUnwritten(err, unwritten)
	unwritten = p.prepareHTML(htmlDir)
	if htmlDir != "" && unwritten == nil {
		unwritten = p.writeReport(nil, "HTML", htmlFile(htmlDir), html.Write)
	}
	p.warnUnwritten(err, unwritten)
}

// refusal returns the result of a command because of err, as reports show it.
func refusal(title string, err error) event.TrailFinished {
	why := session.Errored(err)
	return event.TrailFinished{
		File: refusedFile, Title: title, Outcome: event.Error, Reason: why.Reason, Hint: why.Hint, Attempts: 1,
		Used: firstPosition(err),
	}
}

// firstPosition returns the position of the first problem of files, nil for another error.
func firstPosition(err error) *event.Position {
	problems, ok := errors.AsType[fault.Problems](err)
	if !ok || len(problems) == 0 || problems[0].Line == 0 {
		return nil
	}
	return &event.Position{File: problems[0].File, Line: problems[0].Line}
}

// warnUnwritten warns of a report that could not be written, unless known, which is printed anyway, says so.
func (p *program) warnUnwritten(known, err error) {
	if err != nil && !strings.Contains(known.Error(), err.Error()) {
		p.notice("warning: " + p.redactor.Text(err.Error()))
	}
}

// refuseInvalid calls refused for a command line of run that cobra did not accept. It reads the arguments itself, since
// cobra stops at the first invalid one.
func (cmd *runCommand) refuseInvalid(root *cobra.Command, err error) {
	if c, _, findErr := root.Find(cmd.Args); findErr != nil || c.Name() != "run" {
		return
	}
	args := arguments(cmd.Args)
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	_ = cmd.refused(runFlags{junit: args.last("--junit"), html: args.last("--html")}, err) // the caller has err
}
