package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func (cmd *toolCommands) newToolbox() *cobra.Command {
	c := &cobra.Command{
		Use:   "toolbox",
		Short: "Show the tools of a scope",
		Args:  cobra.ArbitraryArgs,
		RunE:  cmd.helpOrUnknown,
	}
	c.AddCommand(cmd.newToolboxList())
	return c
}

func (cmd *toolCommands) newToolboxList() *cobra.Command {
	var f scopeFlags
	var named sessionFlag
	var o listOptions
	c := &cobra.Command{
		Use:   "list",
		Short: "List the tools of a scope, grouped by toolset",
		Long: `List the tools of a scope: of a target, driver and agent mode. The servers of the scope are started, asked for
their tools and stopped; no tool is called. With --session, list the tools of a session that runs.`,
		Example: `  trailblaze toolbox list --target myapp --driver ios-host
  trailblaze toolbox list -v                  # with the arguments of each tool
  trailblaze toolbox list --platform web --why
  trailblaze toolbox list --group checkout    # one toolset, enabled or not
  trailblaze toolbox list --json | jq '.tools[].name'`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("group") && len(o.groups) == 0 {
				return fault.New(fault.Misuse, "`trailblaze toolbox list` lists the toolsets", "--group is empty")
			}
			if cmd.session(named) != "" {
				return cmd.listToolsInSession(c.Context(), named, o)
			}
			return cmd.listTools(c.Context(), f, o)
		},
	}
	f.bind(cmd.program, c)
	named.bind(c)
	c.Flags().BoolVar(&o.why, "why", false, "also list the tools that the scope leaves out, with the reason")
	c.Flags().StringSliceVar(&o.groups, "group", nil,
		"list only the tools of the toolset `ID`, enabled or not (repeatable, or comma-separated)")
	return c
}

// listOptions select the tools of a scope that are listed.
type listOptions struct {
	why    bool
	groups []string // ids of toolsets; empty for the tools that the scope offers
}

func (cmd *toolCommands) listTools(ctx context.Context, f scopeFlags, o listOptions) error {
	s, sc, err := cmd.sessions(ctx, f)
	if err != nil {
		return err
	}
	var warned []string
	warn := func(text string) {
		warned = append(warned, text)
		cmd.notice("warning: " + text)
	}
	for _, w := range s.Project.Notes() {
		warn(w.Error())
	}
	s.NewStream(warnings(warn), cmd.debugLogs())
	defer logStop(ctx, cmd.notice)()
	registry, err := s.ListTools(ctx, sc)
	if err == nil && len(o.groups) > 0 {
		registry, err = onlyGroups(registry, o.groups)
	}
	if err != nil {
		return cmd.withWarnings(err, warned)
	}
	view := newToolboxView(sc, registry, warned)
	for i, t := range view.Tools {
		view.Tools[i].Description = cmd.redactor.Text(t.Description)
		view.Tools[i].InputSchema = s.Redactor.Bytes(t.InputSchema)
	}
	return cmd.showToolbox(s.Project, view, o)
}

// showToolbox prints a listing.
func (cmd *toolCommands) showToolbox(project *config.Project, view toolboxView, o listOptions) error {
	if cmd.json {
		return cmd.writeJSON(view)
	}
	return cmd.printToolbox(project, view, o)
}

// onlyGroups returns a registry with the tools of some toolsets only, whether the scope offers them or not.
func onlyGroups(r *discover.Registry, groups []string) (*discover.Registry, error) {
	var known []string
	for _, ts := range r.Toolsets {
		known = append(known, ts.ID)
	}
	for _, id := range groups {
		if !slices.Contains(known, id) {
			hint := fault.DidYouMeanListed(id, known, "`trailblaze toolbox list` lists the toolsets")
			return nil, fault.New(fault.Misuse, hint, "--group: unknown toolset %q", id)
		}
	}
	in := func(ids []string) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(groups, id) })
	}
	var of discover.Registry
	for _, t := range r.Tools {
		if in(t.Toolsets) {
			of.Offered = append(of.Offered, t)
		}
	}
	for _, s := range r.Skipped {
		if s.Reason != discover.ByToolset && in(s.Toolsets) {
			of.Skipped = append(of.Skipped, s)
		}
	}
	for _, ts := range r.Toolsets {
		if in([]string{ts.ID}) {
			of.Toolsets = append(of.Toolsets, ts)
		}
	}
	return &of, nil
}

// warnings returns a handler that calls warn for each warning and error that a session logs.
func warnings(warn func(text string)) event.Handler {
	return event.HandlerFunc(func(r event.Record) {
		if l, ok := r.Event.(event.Log); ok && (l.Level == "warn" || l.Level == "error") {
			warn(l.Source + ": " + withHint(l.Message, l.Hint))
		}
	})
}

// toolboxView is the JSON output of toolbox list.
type toolboxView struct {
	Target   string        `json:"target"`
	Driver   string        `json:"driver"`
	Platform string        `json:"platform"`
	Agent    string        `json:"agent"`
	Tools    []toolView    `json:"tools"`
	Skipped  []skippedView `json:"skipped"`
	Toolsets []toolsetView `json:"toolsets"`
	Warnings []string      `json:"warnings"`
}

type toolView struct {
	Name               string          `json:"name"`
	Description        string          `json:"description"`
	Source             tool.Source     `json:"source"`
	Toolsets           []string        `json:"toolsets"`
	InputSchema        json.RawMessage `json:"inputSchema"`
	IsForLLM           bool            `json:"isForLlm"`
	IsRecordable       bool            `json:"isRecordable"`
	IsDelegating       bool            `json:"isDelegating"`
	RequiresHost       bool            `json:"requiresHost"`
	RequiresContext    bool            `json:"requiresContext"`
	SupportedDrivers   []string        `json:"supportedDrivers"`
	SupportedPlatforms []string        `json:"supportedPlatforms"`
	usage              func() string
}

type skippedView struct {
	Name   string          `json:"name"`
	Source tool.Source     `json:"source"`
	Reason discover.Reason `json:"reason"`
	Detail string          `json:"detail"`
}

type toolsetView struct {
	ID             string           `json:"id"`
	Description    string           `json:"description"`
	Platforms      []scope.Platform `json:"platforms"`
	Drivers        []string         `json:"drivers"`
	AlwaysEnabled  bool             `json:"alwaysEnabled"`
	DefaultEnabled bool             `json:"defaultEnabled"`
	Active         bool             `json:"active"`
	Tools          []string         `json:"tools"`
}

func newToolboxView(sc scope.Scope, r *discover.Registry, warnings []string) toolboxView {
	v := toolboxView{
		Target: sc.Target.ID, Driver: sc.Driver.Key, Platform: string(sc.Driver.Platform), Agent: string(sc.AgentMode),
		Tools: []toolView{}, Skipped: []skippedView{}, Toolsets: []toolsetView{}, Warnings: list(warnings),
	}
	for _, t := range r.Offered {
		schema := t.InputSchema
		if len(schema) == 0 {
			schema = json.RawMessage("{}")
		}
		v.Tools = append(v.Tools, toolView{
			t.Name, t.Description, t.Source, list(t.Toolsets), schema, t.IsForLLM, t.IsRecordable, t.IsDelegating,
			t.RequiresHost, t.RequiresContext, list(t.SupportedDrivers), list(t.SupportedPlatforms), t.Usage,
		})
	}
	for _, s := range r.Skipped {
		v.Skipped = append(v.Skipped, skippedView{s.Name, s.Source, s.Reason, s.Detail})
	}
	for _, ts := range r.Toolsets {
		v.Toolsets = append(v.Toolsets, toolsetView{
			ts.ID, ts.Description, list(ts.Platforms), list(ts.Drivers),
			ts.AlwaysEnabled, !ts.OffByDefault, ts.Enabled, list(ts.Tools),
		})
	}
	return v
}

func (cmd *toolCommands) printToolbox(project *config.Project, v toolboxView, o listOptions) error {
	style := cmd.style(cmd.OutTTY)
	target := v.Target
	if target == "" {
		target = "(no target)"
	}
	fmt.Fprintf(cmd.Stdout, "%s · %s · %s agent\n", report.Clean(target), v.Driver, v.Agent)
	for _, group := range grouped(v, o) {
		fmt.Fprintf(cmd.Stdout, "\n%s\n", report.Clean(group.title))
		rows := make([][]string, len(group.tools))
		for i, t := range group.tools {
			rows[i] = []string{"  " + t.Name, t.Source.Name, strings.TrimSpace(firstLine(t.Description) + t.marks())}
			if cmd.verbose > 0 {
				rows[i][0] += "(" + report.Clean(cmd.redactor.Text(t.usage())) + ")"
			}
		}
		report.Table(cmd.Stdout, style, rows)
	}
	switch {
	case len(v.Tools) > 0:
	case len(o.groups) > 0:
		fmt.Fprintf(cmd.Stdout, "\nno tools of %s in this scope\n", report.Clean(strings.Join(o.groups, ", ")))
	default:
		fmt.Fprintf(cmd.Stdout, "\nno tools: the project has %s for this target\n",
			text.Count(len(project.ServersFor(v.Target)), "server"))
	}
	switch {
	case o.why && len(v.Skipped) == 0:
		fmt.Fprintf(cmd.Stdout, "\n%s\n", nothingExcluded(project.ServersFor(v.Target)))
	case o.why:
		fmt.Fprintf(cmd.Stdout, "\nleft out\n")
		rows := make([][]string, len(v.Skipped))
		for i, s := range v.Skipped {
			rows[i] = []string{"  " + s.Name, s.Source.Name, string(s.Reason) + ": " + s.Detail}
		}
		report.Table(cmd.Stdout, style, rows)
	}
	cmd.printToolboxSummary(v, o.why)
	return nil
}

// nothingExcluded returns what --why prints when the scope excludes no tool. The entries of servers may.
func nothingExcluded(servers []config.Server) string {
	if slices.ContainsFunc(servers, func(s config.Server) bool { return len(s.Exclude) > 0 }) {
		return "No tool is excluded, except by exclude: in the entries of servers."
	}
	return "No tool is excluded."
}

func (cmd *toolCommands) printToolboxSummary(v toolboxView, why bool) {
	fmt.Fprintf(cmd.Stdout, "\n%s", text.Count(len(v.Tools), "tool"))
	if n := len(v.Skipped); n > 0 {
		fmt.Fprintf(cmd.Stdout, ", %d left out", n)
		if !why {
			fmt.Fprint(cmd.Stdout, " (--why lists them)")
		}
	}
	fmt.Fprintln(cmd.Stdout)
}

// marks returns how a tool differs from the usual one, in parentheses.
func (t toolView) marks() string {
	var marks []string
	for _, m := range []struct {
		is   bool
		text string
	}{{!t.IsForLLM, "hidden from agents"}, {!t.IsRecordable, "not recorded"}, {t.IsDelegating, "delegates"}} {
		if m.is {
			marks = append(marks, m.text)
		}
	}
	if len(marks) == 0 {
		return ""
	}
	return " (" + strings.Join(marks, ", ") + ")"
}

// title returns the heading of a toolset.
func (ts toolsetView) title() string {
	title := ts.ID
	if ts.Description != "" {
		title += " — " + firstLine(ts.Description)
	}
	switch {
	case ts.Active:
	case ts.DefaultEnabled:
		title += " (not enabled here)"
	default:
		title += " (not enabled by default)"
	}
	return title
}

type toolGroup struct {
	title string
	tools []toolView
}

// grouped returns the tools by toolset, in the order of the toolsets. A tool is in its first active toolset, or with
// --group in its first toolset of those; tools without one come last.
func grouped(v toolboxView, o listOptions) []toolGroup {
	var groups []toolGroup
	left := slices.Clone(v.Tools)
	for _, ts := range v.Toolsets {
		g := toolGroup{title: ts.title()}
		left = slices.DeleteFunc(left, func(t toolView) bool {
			in := (ts.Active || len(o.groups) > 0) && slices.Contains(t.Toolsets, ts.ID)
			if in {
				g.tools = append(g.tools, t)
			}
			return in
		})
		if len(g.tools) > 0 {
			groups = append(groups, g)
		}
	}
	if len(left) > 0 {
		groups = append(groups, toolGroup{"without a toolset", left})
	}
	return groups
}

func firstLine(s string) string { return report.Clean(text.FirstLine(s)) }
