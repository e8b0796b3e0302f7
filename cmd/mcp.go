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
	allow []string
	tools string
}

func newMCP(p *program) *cobra.Command {
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
		RunE: func(c *cobra.Command, _ []string) error { return serveMCP(c.Context(), p, f) },
	}
	f.bind(p, c)
	flags := c.Flags()
	flags.StringSliceVar(&f.allow, "allow", nil, "`TOOLS` that agents may call although they are restricted, such as web_evaluate")
	flags.StringVar(&f.tools, "tools", "core",
		"what agents are shown: `core|all`; all lists every tool of the session, too, once one is open")
	complete(c, "tools", []string{"core", "all"})
	return c
}

func serveMCP(ctx context.Context, p *program, f mcpFlags) error {
	if err := checkMode("--tools", f.tools, []string{"core", "all"}); err != nil {
		return err
	}
	choice, err := f.choice(ctx, p)
	if err != nil {
		return err
	}
	o := agentSessions{liveOpener: liveOpener{p}, choice: choice, allow: f.allow}
	err = mcpserver.Serve(ctx, p.Stdin, p.Stdout, mcpserver.Options{
		Version: p.Build.Version, Parent: p.Parent,
		Tools: livetool.Options{Open: o.open, Output: o.output, AllTools: f.tools == "all"},
	})
	if fault.As(err) == nil && err != nil {
		return fault.Wrap(fault.Server, err, "", "serve MCP")
	}
	return err
}

// agentSessions opens the live sessions of an agent, one after another.
type agentSessions struct {
	liveOpener
	choice workspace.Choice
	allow  []string // tools that the agent may call although they are restricted
	last   *live.RedactedSession
}

// open implements livetool.Options.Open. It reads the project each time, so that changes of it take effect.
func (o *agentSessions) open(ctx context.Context, s livetool.Start) (livetool.Opened, error) {
	c := o.choice
	c.Memory = maps.Clone(c.Memory)
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
	w, notes, err := o.projectOrWeb()
	if err != nil {
		return livetool.Opened{}, err
	}
	o.reap()
	opened, err := o.openLive(ctx, w, c, live.Options{Name: mcpCommand, Agent: true, Allow: o.allow, Before: o.last})
	if err != nil {
		return livetool.Opened{}, err
	}
	o.last = opened
	return livetool.Opened{Session: opened, Notes: append(notes, o.lostRecordings(w.Project)...)}, nil
}

// output returns a text of a session as agents and models may see it.
func (p *program) output(text string) string {
	redactor := p.redactor.Redactor()
	return redactor.Text(report.Clean(redactor.Text(text)))
}
