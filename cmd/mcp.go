package cmd

import (
	"context"
	"maps"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/livetool"
	"github.com/trailblaze/trailblaze/pkg/mcpserver"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// mcpCommand is the name of the command whose stdout holds only messages.
const mcpCommand = "mcp"

type mcpFlags struct {
	liveFlags
	tools string
}

func (a *app) newMCP() *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use:   mcpCommand,
		Short: "Serve coding agents over MCP: drive the app, record trails",
		Long: `Serve an agent over the Model Context Protocol on stdin and stdout. It has seven tools, with which it sees the
screen, makes calls that are recorded, and saves what it recorded as a trail. Nothing is started before the first of
them needs it. The end of stdin, a signal or the end of the parent process ends the session.

Agents may load pages only from the origins of the project's targets and of --allow-origin, or if there are none from
that of the first page that they open. They may call restricted tools only with --allow or allow: in trailblaze.yaml.`,
		Example: `  trailblaze init --agent claude     write the entry for Claude Code, which then starts this
  trailblaze mcp --driver playwright-native --secret PASSWORD`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.serveMCP(c.Context(), f) },
	}
	f.bind(a, c)
	flags := c.Flags()
	flags.StringSliceVar(&f.allow, "allow", nil, "`TOOLS` that agents may call although they are restricted, such as web_evaluate")
	flags.StringVar(&f.tools, "tools", "core",
		"what agents are shown: `core|all`; all lists every tool of the session, too, once one is open")
	complete(c, "tools", []string{"core", "all"})
	return c
}

func (a *app) serveMCP(ctx context.Context, f mcpFlags) error {
	if err := checkMode("--tools", f.tools, []string{"core", "all"}); err != nil {
		return err
	}
	choice, err := f.choice(ctx, a)
	if err != nil {
		return err
	}
	choice.agent, choice.name = true, mcpCommand
	o := liveOpener{app: a, choice: choice}
	err = mcpserver.Serve(ctx, a.Stdin, a.Stdout, mcpserver.Options{
		Version: a.Build.Version, Parent: a.Parent,
		Tools: livetool.Options{Open: o.open, Output: o.output, AllTools: f.tools == "all"},
	})
	if fault.As(err) == nil && err != nil {
		return fault.Wrap(fault.Server, err, "", "serve MCP")
	}
	return err
}

// liveOpener opens the live sessions of an agent, one after another.
type liveOpener struct {
	app    *app
	choice liveChoice
	last   *live.Session
}

// open implements livetool.Options.Open. It reads the project each time, so that changes of it take effect.
func (o *liveOpener) open(ctx context.Context, s livetool.Start) (livetool.Opened, error) {
	c := o.choice
	c.before, c.Memory = o.last, maps.Clone(c.Memory)
	maps.Copy(c.Memory, s.Memory)
	for name := range s.Memory {
		if !trail.IsValueName(name) {
			return livetool.Opened{}, fault.New(fault.InvalidArguments, "use letters, digits, _, . and -, start with a letter or _",
				"memory: %q is not a valid name", name)
		}
	}
	if s.Device != "" {
		c.Devices = []string{s.Device}
	}
	if s.Target != "" {
		c.Target = s.Target
	}
	w, notes, err := o.app.agentProject(&c)
	if err != nil {
		return livetool.Opened{}, err
	}
	o.app.reap()
	notes = append(notes, o.app.lostRecordings(w.Project)...)
	opened, err := o.app.openLive(ctx, w, c)
	if err != nil {
		return livetool.Opened{}, err
	}
	o.last = opened
	return livetool.Opened{Session: opened, Notes: notes}, nil
}

// output implements livetool.Options.Output.
func (o *liveOpener) output(text string) string {
	redactor := o.app.redactor.Redactor()
	return redactor.Text(report.Clean(redactor.Text(text)))
}

// agentProject returns the project. Without one it is an empty project in the working directory, for web pages.
func (a *app) agentProject(c *liveChoice) (*workspace.Workspace, []string, error) {
	_, given := a.Getenv("TRAILBLAZE_PROJECT")
	if _, err := a.findRoot(); a.project != "" || given || err == nil {
		w, err := a.loadProject()
		return w, nil, err
	}
	w, problems := a.opener.Load(a.Dir) // there are no files to read
	if err := problems.Err(); err != nil {
		return nil, nil, err
	}
	w.Project.Target, w.Project.Platform, c.withoutTarget = "app", "web", true // a scope needs a target
	return w, []string{
		"no project (trailblaze.yaml) was found from " + a.Dir + " upwards, so the session is for web pages; " +
			"`trailblaze init` makes a project, which `trailblaze run` needs to replay trails",
	}, nil
}
