package cmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trailblaze/trailblaze/pkg/background"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// sessionVariable names the session in which commands work.
const sessionVariable = "TRAILBLAZE_SESSION"

// sessionCommands work in sessions that run in the background.
type sessionCommands struct{ answers }

// answers prints what sessions in the background answer.
type answers struct{ *program }

func (cmd *sessionCommands) newSession() *cobra.Command {
	c := &cobra.Command{
		Use:   "session",
		Short: "Keep a session open, work in it and save what it recorded",
		Long: `Keep a session open in the background: with its page, its memory and its servers. The commands tool, snapshot and
toolbox list work in it with --session or TRAILBLAZE_SESSION. Calls that succeed are recorded, and session save writes
them into a trail.`,
		Args: cobra.ArbitraryArgs,
		RunE: cmd.helpOrUnknown,
	}
	c.AddCommand(cmd.newSessionStart(), cmd.newSessionList(), cmd.newSessionStatus(), cmd.newSessionEnd(),
		cmd.newSessionDo(), cmd.newSessionRecording(), cmd.newSessionSave(), cmd.newSessionReplay())
	return c
}

// whichSession explains the argument NAME of commands, and --session.
const whichSession = `Without NAME it is the session that TRAILBLAZE_SESSION names, or else the only one that runs for the
project.`

func (cmd *sessionCommands) newSessionList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the sessions",
		Long: `List the sessions of all projects: those that run, and those that ended without "session end" in the last 7 days, with
the reason.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return cmd.listSessions(c.Context()) },
	}
}

func (cmd *sessionCommands) newSessionStatus() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show where a session stands",
		Long:  "Show where a session stands: what it is for, the page that it shows, and what it has recorded. " + whichSession,
		Args:  atMostOneSession,
		RunE: func(c *cobra.Command, args []string) error {
			name, err := oneSession(args, name)
			if err != nil {
				return err
			}
			r, err := cmd.findSession(name)
			if err != nil {
				return err
			}
			return cmd.printStatus(cmd.sessionView(c.Context(), r))
		},
	}
	bindSessionName(c, &name)
	return c
}

func (cmd *sessionCommands) newSessionEnd() *cobra.Command {
	var all bool
	var name string
	c := &cobra.Command{
		Use:   "end [NAME]",
		Short: "End a session",
		Long:  "End a session, and wait until its servers and its device are closed. " + whichSession,
		Args:  atMostOneSession,
		RunE: func(c *cobra.Command, args []string) error {
			name, err := oneSession(args, name)
			if err != nil {
				return err
			}
			if all && name != "" {
				return fault.New(fault.Misuse, "leave one of them out", "--all and the name of a session cannot be used together")
			}
			return cmd.endSessions(c.Context(), name, all)
		},
	}
	bindSessionName(c, &name)
	c.Flags().BoolVar(&all, "all", false, "end all sessions of all projects")
	return c
}

// atMostOneSession allows one argument, the name of a session.
func atMostOneSession(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fault.New(fault.Misuse, fmt.Sprintf("`%s --help` shows its usage", c.CommandPath()),
			"%s takes the name of one session, got %s", c.CommandPath(), text.Count(len(args), "argument"))
	}
	return nil
}

// bindSessionName adds the flag --session of the commands of a session.
func bindSessionName(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "session", "", "`NAME` of the session (env "+sessionVariable+")")
}

// oneSession returns the name of a session that is given as the argument or by --session.
func oneSession(args []string, flag string) (string, error) {
	if len(args) == 0 {
		return flag, nil
	}
	if flag != "" && flag != args[0] {
		return "", fault.New(fault.Misuse, "leave one of them out", "two sessions are named: %s and --session %s", args[0], flag)
	}
	return args[0], nil
}

// sessionFolder is the folder of the sessions of this user.
func (p *program) sessionFolder() background.Folder {
	f := background.Folder{Now: p.Now}
	if dir := p.cacheDir(); dir != "" {
		f.Dir = filepath.Join(dir, "sessions")
	}
	return f
}

// reap kills what a command or a session that was killed left running, with a warning for each process.
func (p *program) reap() {
	p.reapLeftovers(event.NewStream(p.Now, p.redactor.Redactor(), warnings(func(text string) {
		p.notice("warning: " + text)
	})))
}

// sessionName returns the name of the session that a flag or argument, or else the environment, names.
func (cmd *sessionCommands) sessionName(given string) string {
	return cmp.Or(given, cmd.env(sessionVariable))
}

// findSession returns the session that a command names, or else the environment, or else the only one. In a project it
// is a session of that project.
func (cmd *sessionCommands) findSession(given string) (background.Record, error) {
	cmd.reap()
	root, err := cmd.findRoot()
	if cmd.project != "" && err != nil {
		return background.Record{}, err
	}
	if name := cmd.sessionName(given); name != "" {
		return cmd.sessionFolder().Find(name, root)
	}
	records, err := cmd.sessionFolder().List()
	if err != nil {
		return background.Record{}, err
	}
	running, ended := []background.Record{}, background.Record{}
	for _, r := range records {
		switch {
		case root != "" && r.Project != root:
		case r.Ended == nil:
			running = append(running, r)
		case ended.Ended == nil || r.Ended.Time.After(ended.Ended.Time):
			ended = r
		}
	}
	switch {
	case len(running) == 1:
		return cmd.sessionFolder().Find(running[0].Name, root)
	case len(running) > 1:
		var names []string
		for _, r := range running {
			names = append(names, r.Name)
		}
		return background.Record{}, fault.New(fault.Misuse, "name one of them, or set "+sessionVariable,
			"%s are running: %s", text.Count(len(running), "session"), strings.Join(names, ", "))
	case ended.Ended != nil:
		return background.Record{}, ended.EndedError()
	}
	return background.Record{}, fault.New(fault.Misuse, "`trailblaze session start` starts one",
		"no session is running for this project")
}

// connect returns a client for the session that a command names.
func (cmd *sessionCommands) connect(given string) (*background.Client, error) {
	r, err := cmd.findSession(given)
	if err != nil {
		return nil, err
	}
	return cmd.sessionFolder().Connect(r, cmd.Build.Version)
}

// sessionView is a session in JSON output.
type sessionView struct {
	Session string    `json:"session"`
	Project string    `json:"project"`
	Target  string    `json:"target"`
	Driver  string    `json:"driver"`
	Device  string    `json:"device"`
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Log     string    `json:"log"`

	ID        string   `json:"id"`
	Folder    string   `json:"folder"`
	URL       string   `json:"url"`
	Title     string   `json:"title"`
	Busy      bool     `json:"busy"`
	IdleMs    int64    `json:"idleMs"`
	Steps     int      `json:"steps"`
	Calls     int      `json:"calls"`
	Unsaved   bool     `json:"unsaved"`
	Memory    []string `json:"memory"`  // names
	Secrets   []string `json:"secrets"` // names
	Recording string   `json:"recording,omitempty"`
	Studio    string   `json:"studio,omitempty"`    // the URL of its page
	Callbacks string   `json:"callbacks,omitempty"` // the file that says where other processes make calls in it

	State string            `json:"state"` // starting, running or ended
	Ended *background.Ended `json:"ended,omitempty"`
}

// The states of a session.
const (
	stateStarting = "starting"
	stateRunning  = "running"
	stateEnded    = "ended"
)

// sessionView returns a session as it is now.
func (cmd *sessionCommands) sessionView(ctx context.Context, r background.Record) sessionView {
	var info background.Info
	if r.Ended == nil && r.Socket != "" {
		info, _ = cmd.sessionFolder().Info(ctx, r) // an error means that it ended since the record was read
	}
	return newSessionView(r, info)
}

func newSessionView(r background.Record, info background.Info) sessionView {
	v := sessionView{
		Session: r.Name, Project: r.Project, Target: r.Target, Driver: r.Driver, Device: r.Device, Version: r.Version,
		PID: r.PID, Started: r.Started, Log: r.Log, ID: info.ID, Folder: info.Folder, URL: info.URL, Title: info.Title,
		Busy: info.Busy, IdleMs: info.Idle.Milliseconds(), Steps: info.Steps, Calls: info.Calls, Unsaved: info.Unsaved,
		Memory: list(info.Memory), Secrets: list(info.Secrets), Studio: info.Studio, Callbacks: info.Callbacks,
		State: stateRunning, Ended: r.Ended,
	}
	switch {
	case r.Ended != nil:
		v.State, v.Recording, v.Steps, v.Calls = stateEnded, r.Recording, r.Ended.Steps, r.Ended.Calls
	case r.Socket == "":
		v.State = stateStarting
	}
	return v
}

func (cmd *sessionCommands) listSessions(ctx context.Context) error {
	cmd.reap()
	records, err := cmd.sessionFolder().List()
	if err != nil {
		return err
	}
	views := []sessionView{}
	for _, r := range records {
		views = append(views, cmd.sessionView(ctx, r))
	}
	if cmd.json {
		return cmd.writeJSON(map[string]any{"sessions": views})
	}
	if len(views) == 0 {
		fmt.Fprintln(cmd.Stdout, "no sessions; `trailblaze session start` starts one")
		return nil
	}
	rows := [][]string{{"NAME", "PROJECT", "SCOPE", "IDLE", "STEPS", "URL"}}
	for _, v := range views {
		rows = append(rows, []string{
			v.Session, cmd.relative(v.Project), v.scope(), v.idle(), strconv.Itoa(v.Steps), cmp.Or(v.URL, v.Title, v.reason()),
		})
	}
	for _, row := range rows {
		for i := range row {
			row[i] = report.Clean(row[i])
		}
	}
	report.Table(cmd.Stdout, cmd.style(cmd.OutTTY), rows)
	return nil
}

// scope returns the target and the driver of a session, and its device.
func (v sessionView) scope() string {
	text := strings.TrimPrefix(v.Target+"/"+v.Driver, "/")
	if v.Device != "" {
		text += " on " + v.Device
	}
	return text
}

func (v sessionView) idle() string {
	switch {
	case v.State != stateRunning:
		return v.State
	case v.Busy:
		return "busy"
	}
	return (time.Duration(v.IdleMs) * time.Millisecond).Round(time.Second).String()
}

// reason returns why the session ended, if it did.
func (v sessionView) reason() string {
	if v.Ended == nil {
		return ""
	}
	return v.Ended.Time.Local().Format("15:04:05") + ": " + v.Ended.Reason
}

func (a answers) printStatus(v sessionView) error {
	if a.json {
		return a.writeJSON(v)
	}
	rows := [][]string{
		{"session", v.Session},
		{"project", v.Project},
		{"scope", v.scope()},
		{"url", v.URL},
		{"title", v.Title},
		{"recorded", text.Count(v.Steps, "step") + " with " + text.Count(v.Calls, "call")},
		{"memory", strings.Join(v.Memory, ", ")},
		{"secrets", strings.Join(v.Secrets, ", ")},
		{"idle", v.idle()},
		{"studio", v.Studio},
		{"started", v.Started.Local().Format(time.DateTime)},
		{"process", strconv.Itoa(v.PID)},
		{"folder", v.Folder},
		{"callbacks", v.Callbacks},
		{"log", v.Log},
	}
	if v.Unsaved {
		rows[5][1] += ", not saved"
	}
	rows = slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" })
	for _, row := range rows {
		row[1] = report.Clean(row[1])
	}
	report.Table(a.Stdout, a.style(a.OutTTY), rows)
	return nil
}

// endSessions ends a session or all of them. One that has ended already only loses its record.
func (cmd *sessionCommands) endSessions(ctx context.Context, given string, all bool) error {
	cmd.reap()
	folder := cmd.sessionFolder()
	var chosen []background.Record
	if all {
		records, err := folder.List()
		if err != nil {
			return err
		}
		chosen = records
	} else {
		r, err := cmd.findSession(given)
		if r.Ended == nil && err != nil {
			return err
		}
		chosen = []background.Record{r}
	}
	views := []sessionView{}
	for _, r := range chosen {
		v, err := cmd.endSession(ctx, folder, r)
		if err != nil {
			return err
		}
		views = append(views, v)
	}
	cmd.reap()
	if cmd.json {
		return cmd.writeJSON(map[string]any{"ended": views})
	}
	return nil
}

func (cmd *sessionCommands) endSession(ctx context.Context, folder background.Folder, r background.Record) (sessionView, error) {
	v := cmd.sessionView(ctx, r)
	if v.State == stateEnded {
		cmd.notice(fmt.Sprintf("session %s had ended already: %s", r.Name, r.Ended.Reason))
		return v, folder.Remove(ctx, r)
	}
	info, err := folder.End(ctx, r)
	if err != nil {
		return v, err
	}
	v = newSessionView(r, info)
	v.State, v.Callbacks = stateEnded, ""
	ended := "session " + r.Name + " ended"
	if v.Unsaved {
		ended += "; what it recorded was not saved"
		if _, err := os.Stat(r.Recording); err == nil {
			v.Recording = r.Recording
			ended += " and is in " + report.Clean(cmd.relative(r.Recording))
		}
	}
	cmd.notice(ended)
	return v, nil
}

// sessionFlag is the flag --session of a command that can work in a session.
type sessionFlag struct {
	name    string
	command *cobra.Command
}

func (f *sessionFlag) bind(c *cobra.Command) {
	f.command = c
	c.Flags().StringVar(&f.name, "session", "",
		"work in the session `NAME`, see `trailblaze session` (env "+sessionVariable+"; empty for none)")
}

// session returns the name of the session in which a command works, empty for none.
func (cmd *sessionCommands) session(f sessionFlag) string {
	if f.command.Flags().Changed("session") {
		return f.name
	}
	return cmd.env(sessionVariable)
}

// checkSessionFlags returns an error for a flag of the command that has no effect in a session. allowed are those that
// have one.
func (f sessionFlag) checkSessionFlags(allowed ...string) error {
	var wrong string
	f.command.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && flag.Name != "session" && !slices.Contains(allowed, flag.Name) {
			wrong = cmp.Or(wrong, flag.Name)
		}
	})
	switch wrong {
	case "":
		return nil
	case "save":
		return fault.New(fault.Misuse, "record the call with --step, then write `trailblaze session save FILE`",
			"--save cannot be used in a session")
	}
	return fault.New(fault.Misuse, "give it to `trailblaze session start`, or work outside of the session with --session ''",
		"--%s cannot be used in a session", wrong)
}
