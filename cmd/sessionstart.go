package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/background"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

type startFlags struct {
	liveFlags
	pageFlags
	name   string
	idle   time.Duration
	studio bool
}

func (cmd *sessionCommands) newSessionStart() *cobra.Command {
	var f startFlags
	c := &cobra.Command{
		Use:   "start",
		Short: "Start a session in the background and print its name",
		Long: `Start a session in the background and print its name. It ends with session end, after --idle without a command, and
when its device or one of its servers breaks. Its device starts with the first call that needs it.

With --studio, a page like that of ` + "`trailblaze studio`" + ` is served over the session until it ends. It is opened in your browser,
and its URL is printed after the name. People and commands then write one recording together: session save saves what the
page shows.`,
		Example: `  trailblaze session start
  trailblaze session start --target shop --platform web --headed --name checkout
  trailblaze session start --studio --no-open --port 4600
  TOKEN=… trailblaze session start --secret TOKEN --idle 2h`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if cmd.serving != nil {
				return cmd.serveSession(c.Context(), f)
			}
			return cmd.startSession(c.Context(), f)
		},
	}
	f.liveFlags.bind(cmd.program, c)
	f.pageFlags.bind(c)
	c.Flags().StringVar(&f.name, "name", "", "`NAME` of the session (default: s1, s2 and so on)")
	c.Flags().DurationVar(&f.idle, "idle", 30*time.Minute, "end the session after this time without a command; 0 for never")
	c.Flags().BoolVar(&f.studio, "studio", false, "also serve a page over the session, in which people record and edit")
	return c
}

func (f startFlags) check() error {
	if f.command.Flags().Changed("name") {
		if err := background.CheckName(f.name); err != nil {
			return err
		}
	}
	for _, name := range []string{"port", "no-open"} {
		if f.command.Flags().Changed(name) && !f.studio {
			return fault.New(fault.Misuse, "add --studio", "--%s is about the page of a studio", name)
		}
	}
	if f.idle < 0 {
		return fault.New(fault.Misuse, "write --idle 0 for no limit", "--idle %s is less than 0", f.idle)
	}
	return nil
}

// serveArgs are the arguments of the process that serves a session. It reads a startRequest from stdin.
func serveArgs() []string { return []string{"session", "serve"} }

// startRequest is what `session start` sends to the process that serves the session. Secrets are on no command line.
type startRequest struct {
	Args           []string          `json:"args"` // of `session start`
	Secrets        map[string]string `json:"secrets"`
	Log            string            `json:"log"` // the path of the process's stderr
	OutTTY, ErrTTY bool
	Width          int
}

// startReply is the answer: what `session start` prints, and whether the session runs.
type startReply struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Code   int    `json:"code"` // exit code, when the session does not run
	Ready  bool   `json:"ready"`
}

// startSession starts a process that serves a session, and prints what it reports.
func (cmd *sessionCommands) startSession(ctx context.Context, f startFlags) error {
	secrets, err := cmd.readSecrets(ctx, f.secrets)
	if err != nil {
		return err
	}
	log, err := cmd.sessionFolder().CreateLog()
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	process, err := spawn.StartDetached(spawn.DetachedSpec{
		Path: cmd.Executable, Args: serveArgs(), Dir: cmd.Dir, Env: cmd.Env, Stderr: log,
	})
	if err != nil {
		_ = os.Remove(log.Name())
		return fault.Wrap(fault.Server, err, "", "start the process of the session")
	}
	// The process ends the start when its stdin ends.
	stop := context.AfterFunc(ctx, func() { _ = process.Stdin.Close() })
	reply, err := exchange(process, startRequest{
		Args: cmd.Args, Secrets: secrets, Log: log.Name(), OutTTY: cmd.OutTTY, ErrTTY: cmd.ErrTTY, Width: cmd.Width,
	})
	stop()
	fmt.Fprint(cmd.Stderr, reply.Stderr)
	fmt.Fprint(cmd.Stdout, reply.Stdout)
	if err == nil && reply.Ready {
		return process.Release()
	}
	code := process.Wait()
	switch {
	case ctx.Err() != nil:
		_ = os.Remove(log.Name())
		return context.Cause(ctx)
	case err != nil:
		cmd.reap()
		return fault.Wrap(fault.Server, err, "the log is "+log.Name(),
			fmt.Sprintf("the process of the session ended with exit code %d before it was ready", code))
	}
	_ = os.Remove(log.Name())
	return exitCode(reply.Code)
}

// exchange sends the request, reads the reply and confirms it when the session is ready.
func exchange(process *spawn.Detached, request startRequest) (startReply, error) {
	var reply startReply
	err := json.NewEncoder(process.Stdin).Encode(request)
	if err == nil {
		err = json.NewDecoder(process.Stdout).Decode(&reply)
	}
	if err == nil && reply.Ready {
		_, err = io.WriteString(process.Stdin, "confirmed\n")
	}
	return reply, err
}

// serving is the connection of the process that serves a session with the command that starts it.
type serving struct {
	request startRequest
	in      *bufio.Reader
	out     io.Writer     // of the process
	log     io.Writer     // of the process
	watched chan struct{} // closed when watch has ended; nil before it begins
	gone    error         // why the command is gone, when watched is closed

	mu             sync.Mutex
	stdout, stderr bytes.Buffer // for the command
	replied        bool
}

// serve runs the process that serves a session.
func serve(sys System) int {
	s := &serving{in: bufio.NewReader(sys.Stdin), out: sys.Stdout, log: sys.Stderr}
	line, err := s.in.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s.request)
	}
	if err != nil {
		fmt.Fprintf(sys.Stderr, "trailblaze: error: only `trailblaze session start` starts this command: %v\n", err)
		return fault.ExitMisuse
	}
	sys.Args, sys.Stdin = s.request.Args, strings.NewReader("")
	sys.OutTTY, sys.ErrTTY, sys.Width = s.request.OutTTY, s.request.ErrTTY, s.request.Width
	sys.Stdout, sys.Stderr = servingStdout{s}, servingStderr{s}
	code := runProgram(sys, s)
	s.reply(startReply{Code: code})
	if s.watched != nil {
		<-s.watched
	}
	return code
}

// watch calls cancel when the command that starts the session ends before it has confirmed that the session is ready.
func (s *serving) watch(cancel context.CancelCauseFunc) {
	s.watched = make(chan struct{})
	go func() {
		defer close(s.watched)
		if _, err := s.in.ReadString('\n'); err != nil {
			s.gone = fault.New(fault.Interrupted, "", "the command that starts the session was ended")
			cancel(s.gone)
		}
	}()
}

// ready reports that the session runs, and waits until the command has confirmed it.
func (s *serving) ready() error {
	s.reply(startReply{Ready: true})
	<-s.watched
	return s.gone
}

// reply sends what was printed so far. Only the first call has an effect.
func (s *serving) reply(r startReply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replied {
		return
	}
	s.replied = true
	r.Stdout, r.Stderr = s.stdout.String(), s.stderr.String()
	_ = json.NewEncoder(s.out).Encode(r) // a command that is gone closed stdin too
}

// servingStdout keeps what is written for the command.
type servingStdout struct{ *serving }

func (s servingStdout) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replied {
		return len(p), nil
	}
	return s.stdout.Write(p)
}

// servingStderr keeps what is written for the command, later it writes to the log.
type servingStderr struct{ *serving }

func (s servingStderr) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replied {
		return s.log.Write(p)
	}
	return s.stderr.Write(p)
}

// serveSession opens a session and serves requests to it until it ends. It runs in the process of the session.
func (cmd *sessionCommands) serveSession(ctx context.Context, f startFlags) error {
	cmd.serving.watch(cmd.cancel)
	choice, err := f.choice(ctx, cmd.program)
	if err != nil {
		return err
	}
	w, err := cmd.loadProject()
	if err != nil {
		return err
	}
	cmd.reap()
	claim, err := cmd.sessionFolder().Claim(background.Record{
		Name: f.name, PID: os.Getpid(), Started: cmd.Now(), Version: cmd.Build.Version, Project: w.Project.Root,
		Log: cmd.serving.request.Log,
	})
	if err != nil {
		return err
	}
	var opened browserFile
	defer opened.remove()
	server, err := cmd.openSession(ctx, w, choice, f, claim, &opened)
	if err != nil {
		claim.Release()
		return err
	}
	return server.Run(ctx)
}

// openSession opens the session of a claimed name, and reports to the command that starts it.
func (cmd *sessionCommands) openSession(
	ctx context.Context, w *workspace.Workspace, choice workspace.Choice, f startFlags, claim *background.Claim, opened *browserFile,
) (*background.Server, error) {
	for _, note := range (liveOpener{cmd.program}).lostRecordings(w.Project) {
		cmd.notice(note)
	}
	served, err := cmd.openServed(ctx, w, choice, f, "session-"+claim.Name())
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	server, err := claim.Listen(ctx, served)
	if err == nil {
		err = cmd.printStarted(server)
		cmd.noticeWebServers(ctx, w.Project, server.Record().Target)
	}
	if err == nil && served.Page != nil && !f.noOpen {
		cmd.showPage(served.Page.URL(), opened)
	}
	if err == nil {
		err = cmd.serving.ready()
	}
	if err != nil {
		served.Session.Close(ctx)
		return nil, err
	}
	return server, nil
}

// openServed opens a session, and with --studio its page.
func (cmd *sessionCommands) openServed(
	ctx context.Context, w *workspace.Workspace, choice workspace.Choice, f startFlags, name string,
) (background.Options, error) {
	var person lateAsk
	o := live.Options{Name: name}
	if f.studio {
		o.Ask = person.ask
	}
	session, err := liveOpener{cmd.program}.openLive(ctx, w, choice, o)
	if err != nil || !f.studio {
		return background.Options{Session: session, Idle: f.idle}, err
	}
	shared, err := cmd.share(ctx, w, session, f.port, &person)
	if err != nil {
		session.Close(ctx)
	}
	return background.Options{Session: shared, Idle: f.idle, Page: shared}, err
}

// printStarted prints the name of a session for the command that starts it.
func (a answers) printStarted(server *background.Server) error {
	r := server.Record()
	fmt.Fprintf(a.serving.log, "session %s of process %d for %s\n", r.Name, r.PID, r.Project)
	if a.json {
		return a.writeJSON(newSessionView(r, server.Info()))
	}
	fmt.Fprintln(a.Stdout, r.Name)
	if url := server.Info().Studio; url != "" {
		fmt.Fprintln(a.Stdout, url)
	}
	a.notice(fmt.Sprintf("started session %s; work in it with --session %[1]s, end it with `trailblaze session end %[1]s`", r.Name))
	if file := server.Info().Callbacks; file != "" {
		a.notice("other processes make calls in it with the token of callbacks, see " + a.relative(file))
	}
	return nil
}
