package cmd

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/studio"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/webserver"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

type studioFlags struct {
	liveFlags
	pageFlags
}

// pageFlags say where the page of a studio is served, and whether it is opened.
type pageFlags struct {
	port   int
	noOpen bool
}

func (f *pageFlags) bind(c *cobra.Command) {
	c.Flags().IntVar(&f.port, "port", 0, "serve the page on the port `N` of 127.0.0.1 (default: a free one)")
	c.Flags().BoolVar(&f.noOpen, "no-open", false, "only print the URL of the page, do not open the browser")
}

func newStudio(p *program) *cobra.Command {
	var f studioFlags
	c := &cobra.Command{
		Use:   "studio [TRAIL|SESSION]",
		Short: "Record and repair trails in your browser, look back at runs",
		Long: `Serve a page on which you record by acting on a picture of the screen, edit steps and calls, replay, repair and save.
TRAIL opens a trail to replay and change. SESSION looks back at a finished session: a folder of logsDir, ` + "`latest`" + `,
another folder of a session, or a name of ` + "`session list`" + `. Without either, it is an empty recording.

The page is for you alone: its URL has a token. It is opened in your browser and printed, and works until the studio ends:
after Ctrl-C, or a minute after the last page was closed, if nothing is unsaved.`,
		Example: `  trailblaze studio
  trailblaze studio trails/checkout.trail.yaml
  trailblaze studio latest
  trailblaze studio --platform android --no-open --port 4600`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fault.New(fault.Misuse, "open another studio for each",
					"studio takes one trail or session, got %s", text.Count(len(args), "argument"))
			}
			return (&studioSessions{liveOpener: liveOpener{p}}).serve(c.Context(), f, strings.Join(args, ""))
		},
	}
	f.liveFlags.bind(p, c)
	f.pageFlags.bind(c)
	return c
}

// studioSessions opens the live sessions of a studio, one after another.
type studioSessions struct {
	liveOpener
	flags  studioFlags
	choice workspace.Choice
	last   *live.RedactedSession
	used   *resources // the web servers of the project
}

// serve runs the studio about a trail or a session; about is empty for a new recording.
func (o *studioSessions) serve(ctx context.Context, f studioFlags, about string) error {
	var err error
	o.flags = f
	if o.choice, err = f.choice(ctx, o.program); err != nil {
		return err
	}
	w, notes, err := o.projectOrWeb()
	if err != nil {
		return err
	}
	for _, note := range notes {
		o.notice(note)
	}
	options := studio.Options{
		Token: tool.NewCapability(), Project: w.Project, Devices: o.devices, Open: o.open, Output: o.output, Now: o.Now,
		Choice: studio.Choice{Device: f.device, Memory: o.choice.Memory, Secrets: o.choice.Secrets},
	}
	if options.Trail, options.Past, err = o.find(ctx, w.Project, about); err != nil {
		return err
	}
	o.scopeOf(w, cmp.Or(options.Trail, trailOf(w.Project, options.Past)))
	o.reap()
	if options.Listener, err = listenLocally(ctx, f.port); err != nil {
		return err
	}
	o.used = &resources{program: o.program, reuse: true}
	defer o.used.stop(ctx)
	var opened browserFile
	defer opened.remove()
	options.OnUnsaved = func(file string) {
		o.notice(report.Clean(o.redactor.Text(file)) + " has what was not saved; the next studio offers to restore it")
	}
	options.OnReady = func(url string) { o.ready(url, &opened) }
	if err := studio.Run(ctx, options); err != nil {
		return err
	}
	return context.Cause(ctx) // nil when the last page was closed
}

// listenLocally listens where only this machine can connect.
func listenLocally(ctx context.Context, port int) (net.Listener, error) {
	if port < 0 || port > 65535 {
		return nil, fault.New(fault.Misuse, "use a number up to 65535", "--port: %d is not a port", port)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fault.Wrap(fault.IO, err, "leave --port out to use a free one", "serve the page")
	}
	return l, nil
}

// ready prints the URL, and opens it where there is a display.
func (o *studioSessions) ready(url string, opened *browserFile) {
	if o.json {
		_ = o.writeJSON(map[string]string{"url": url})
	} else {
		fmt.Fprintln(o.Stdout, url)
	}
	o.notice("the studio runs; Ctrl-C ends it")
	if !o.flags.noOpen {
		o.showPage(url, opened)
	}
}

// output implements studio.Options.Output.
func (o *studioSessions) output(text string) string { return o.redactor.Text(text) }

// find returns the trail or the folder of the session that an argument names, absolute.
func (o *studioSessions) find(ctx context.Context, project *config.Project, about string) (trailFile, past string, err error) {
	if about == "" {
		return "", "", nil
	}
	for _, path := range []string{o.abs(about), filepath.Join(project.Root, about)} {
		if isFile(path) {
			return path, "", nil
		}
	}
	dir, err := (&reportCommands{o.program}).sessionDir(about)
	if err != nil {
		if folder := o.folderOf(ctx, about); folder != "" {
			return "", folder, nil
		}
	}
	switch {
	case strings.HasSuffix(about, ".yaml"):
		return "", "", fault.New(fault.Misuse, "leave it out to record a new trail, and name the file when you save it",
			"the trail %s does not exist", about)
	case err != nil:
		return "", "", err
	case !isFile(filepath.Join(dir, report.EventsFile)):
		return "", "", fault.New(fault.Misuse, "give a trail, or the folder of a session",
			"%s is not the folder of a session: %s was not found", about, report.EventsFile)
	}
	if name, err := os.Readlink(dir); err == nil && filepath.Base(dir) == latest {
		dir = filepath.Join(filepath.Dir(dir), filepath.Base(name)) // the page names the session
	}
	return "", dir, nil
}

// folderOf returns the folder of a session in the background, empty if it is not known.
func (o *studioSessions) folderOf(ctx context.Context, name string) string {
	records, _ := o.sessionFolder().List()
	for _, r := range records {
		switch {
		case !strings.EqualFold(r.Name, name):
		case r.Recording != "":
			return filepath.Dir(r.Recording)
		case r.Ended == nil && r.Socket != "":
			info, _ := o.sessionFolder().Info(ctx, r) // an error means that it ended since the record was read
			return info.Folder
		}
	}
	return ""
}

// trailOf returns the trail of a session, by its folder; empty if there is none.
func trailOf(project *config.Project, past string) string {
	run := report.NewRun("")
	if past == "" || run.AddSession(past) != nil {
		return "" // the studio says why
	}
	file := filepath.FromSlash(run.Cases[len(run.Cases)-1].File)
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(project.Root, file)
}

// scopeOf completes the choice with what a trail is for, as a run does.
func (o *studioSessions) scopeOf(w *workspace.Workspace, path string) {
	if path == "" || len(o.choice.Devices) > 0 {
		return
	}
	file, _ := (trail.Loader{Root: w.Project.Root, Cwd: o.Dir}).Load(path, path)
	if file == nil {
		return // the studio says why
	}
	request := run.RequestFor(w.Request(o.choice), file, o.choice.Classifiers)
	found, err := scope.Resolve(request)
	switch {
	case err != nil:
		return // opening the session says why
	case o.choice.Driver != "":
	case request.TrailDriver == found.Driver.Key:
		o.choice.Driver = found.Driver.Key
	default:
		o.choice.Platform = cmp.Or(o.choice.Platform, found.Driver.Platform.Lower())
	}
	if !w.NoTarget {
		o.choice.Target = found.Target.ID
	}
}

// devices implements studio.Options.Devices.
func (o *studioSessions) devices(ctx context.Context) []studio.DeviceOption {
	options := []studio.DeviceOption{}
	w, _, err := o.projectOrWeb()
	if err != nil {
		return options // opening a session says why
	}
	found, _ := w.ListDevices(ctx, "")
	for _, d := range found {
		option := studio.DeviceOption{Name: d.Use, Platform: d.Platform}
		if !d.Ready() {
			option.Why = o.output(d.State)
		}
		options = append(options, option)
	}
	return options
}

// open implements studio.Options.Open. It reads the project each time, so that changes of it take effect.
func (o *studioSessions) open(ctx context.Context, c studio.Choice) (studio.Opened, error) {
	w, _, err := o.projectOrWeb()
	if err != nil {
		return studio.Opened{}, err
	}
	choice := o.choice
	choice.Memory, choice.Secrets = c.Memory, c.Secrets
	if c.Device != "" && c.Device != o.flags.device { // the flags describe another one
		choice.Devices, choice.Driver, choice.Platform = []string{c.Device}, "", ""
		choice.Classifiers, choice.Width, choice.Height, choice.Options = nil, 0, 0, w.WithoutIDs(choice.Options)
	}
	options := live.Options{
		Name: "studio", Before: o.last, Ask: c.Ask,
		Settle: live.Settle{Interval: 50 * time.Millisecond, Limit: 300 * time.Millisecond}, // a person sees the rest in the picture
	}
	s, err := o.liveSessions(ctx, w, choice, &options)
	if err != nil {
		return studio.Opened{}, err
	}
	if err := o.startServers(ctx, s); err != nil {
		s.Close(ctx)
		return studio.Opened{}, err
	}
	session, err := o.openIn(ctx, w, s, options, func(*run.Options) {})
	if err != nil {
		return studio.Opened{}, err
	}
	o.last = session
	app, err := appOf(ctx, w.Project, session)
	if err != nil {
		session.Close(context.WithoutCancel(ctx))
	}
	return studio.Opened{Session: session, App: app}, err
}

// startServers starts the web servers that a session needs, which run until the studio ends.
func (o *studioSessions) startServers(ctx context.Context, s *workspace.Sessions) error {
	sc, err := s.Scope()
	if err != nil {
		return err
	}
	for _, server := range s.Project.WebServers {
		if server.ServesAny([]string{sc.Target.ID}) && !webserver.InUse(ctx, server.URL) {
			o.notice("starting webServer: " + report.Clean(o.redactor.Text(server.Command)))
		}
	}
	o.used.sessions = s
	defer o.used.endRun() // what the servers do later is printed
	return o.used.start(ctx, []string{sc.Target.ID})
}

// appOf returns the app under test of a session.
func appOf(ctx context.Context, project *config.Project, session *live.RedactedSession) (studio.App, error) {
	status, err := session.Status(ctx)
	platform, _ := scope.ParsePlatform(status.Platform)
	app := studio.App{BaseURL: project.BaseURLFor(status.Target, platform)}
	if target, found := project.FindTarget(status.Target); found && len(target.Platforms[platform].AppIDs) == 1 {
		app.ID = target.Platforms[platform].AppIDs[0]
	}
	return app, err
}
