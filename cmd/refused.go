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

// refusedName is the file and the title of a run that did not start, in its reports.
const refusedName = "trailblaze run"

// refused replaces the reports of --junit and --html by ones that have err as their only result, when err says that a
// run did not start: reports of an earlier run, or empty ones, would look like a success. It also annotates the run. It
// returns err.
func (cmd *runCommand) refused(f runFlags, err error) error {
	var reported exitCode
	if err == nil || errors.As(err, &reported) {
		return err
	}
	junit, html := report.NewJUnit(), report.NewHTML("")
	annotations, writeAnnotations := cmd.annotations()
	stream := event.NewStream(cmd.Now, cmd.redactor.Redactor(), junit, html, annotations)
	why := session.Errored(err)
	stream.Emit(event.RunStarted{Trails: 1, Dir: cmd.Dir})
	stream.Emit(event.TrailFinished{
		File: refusedName, Title: refusedName, Outcome: event.Error, Reason: "the run did not start: " + why.Reason,
		Hint: why.Hint, Attempts: 1, Used: firstPosition(err),
	})
	stream.Emit(event.RunFinished{Errors: 1, ExitCode: fault.ExitCode(err)})
	cmd.warnUnwritten(err, writeAnnotations())
	unwritten := cmd.prepareJUnit(f.junit)
	if f.junit != "" && unwritten == nil {
		unwritten = cmd.writeReport(nil, "JUnit", f.junit, junit.Write)
	}
	cmd.warnUnwritten(err, unwritten)
	unwritten = cmd.prepareHTML(f.html)
	if f.html != "" && unwritten == nil {
		unwritten = cmd.writeReport(nil, "HTML", htmlFile(f.html), html.Write)
	}
	cmd.warnUnwritten(err, unwritten)
	return err
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
func (cmd *runCommand) warnUnwritten(known, err error) {
	if err != nil && !strings.Contains(known.Error(), err.Error()) {
		cmd.notice("warning: " + cmd.redactor.Text(err.Error()))
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
