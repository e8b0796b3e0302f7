package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/report"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
	"github.com/trailblaze/trailblaze/pkg/spawn"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// program is what all commands use: the system, the global flags, the secrets that were read, and what opens projects
// and their sessions.
type program struct {
	System
	project string
	runtime string
	json    bool
	noColor bool
	quiet   bool
	verbose int // how often --verbose is given

	cancel     context.CancelCauseFunc
	redactor   *redact.Set // of all secrets that were read, for what does not go through an event stream
	runtimes   *jsruntime.Finder
	supervisor *spawn.Supervisor
	opener     *workspace.Opener
	annotate   io.Writer // for commands to the CI runner; stderr, in which other text cannot be taken for one
	serving    *serving  // in the process of a session in the background; else nil
}

// newProgram returns the program of a system. It starts nothing.
func newProgram(sys System, cancel context.CancelCauseFunc) *program {
	args := arguments(sys.Args)
	p := &program{System: sys, cancel: cancel, redactor: &redact.Set{}, json: slices.Contains(args, "--json")}
	p.redactor.Add(args.secrets(sys.env))
	force, forcedBy := args.last("--runtime"), "--runtime"
	if force == "" {
		force, forcedBy = sys.env("TRAILBLAZE_RUNTIME"), "TRAILBLAZE_RUNTIME"
	}
	p.runtimes = jsruntime.NewFinder(jsruntime.Options{
		PATH: sys.env("PATH"), Env: sys.Env, CacheDir: sys.cacheDir(), Force: force, ForcedBy: forcedBy,
	})
	p.supervisor = spawn.NewSupervisor(spawn.Options{
		StateDir: sys.stateDir(), Runtimes: p.runtimes, ExitGrace: sys.ExitGrace,
	})
	p.opener = workspace.NewOpener(workspace.Options{
		Env: sys.Env, Getenv: sys.Getenv, Dir: sys.Dir, StateDir: sys.stateDir(), Version: sys.Build.Version, Now: sys.Now,
		Kinds: sys.Devices, DeviceOptions: args.deviceOptions(p.options()), Runtimes: p.runtimes, Supervisor: p.supervisor,
		ExitGrace: sys.ExitGrace, Proxy: sys.Proxy, Secrets: p.redactor,
		Warn: func(err error) { fmt.Fprintf(sys.Stderr, "trailblaze: warning: %s\n", p.redactor.Text(err.Error())) },
	})
	return p
}

// fail prints err, unless it is an exitCode, and returns its exit code.
func (p *program) fail(err error) int {
	var code exitCode
	switch {
	case err == nil:
		return fault.ExitPassed
	case errors.As(err, &code):
		return int(code)
	}
	var text bytes.Buffer
	if p.json {
		report.ErrorJSON(&text, err)
		fmt.Fprint(p.Stdout, p.redactor.Text(text.String()))
	} else {
		report.Error(&text, p.style(p.ErrTTY), err)
		if e := fault.As(err); e != nil && e.Kind == fault.Bug && p.verbose > 0 {
			fmt.Fprintln(&text, e.Details["stack"])
		}
		fmt.Fprint(p.Stderr, p.withProgram(p.redactor.Text(text.String())))
	}
	return fault.ExitCode(err)
}

func (p *program) style(isTerminal bool) report.Style {
	// The old Windows console prints escape sequences as text. Windows Terminal, which does not, sets WT_SESSION.
	plain := p.noColor || goruntime.GOOS == "windows" && p.env("WT_SESSION") == ""
	style := report.DecideStyle(p.Getenv, isTerminal, p.Width, plain)
	style.Height = p.Height
	return style
}

// helpOrUnknown is run for a command that only groups others.
func (p *program) helpOrUnknown(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	return p.help(c)
}

// writeJSON writes one JSON value to stdout.
func (p *program) writeJSON(v any) error { return report.JSON(p.Stdout, v) }

// help prints the help of a command. With --json it returns an error instead, because help is not JSON.
func (p *program) help(c *cobra.Command) error {
	if p.json {
		hint := fmt.Sprintf("`%s --help` lists the commands", c.CommandPath())
		return fault.New(fault.Misuse, hint, "%s needs a command", c.CommandPath())
	}
	return c.Help()
}

// loadProject finds and reads the project. The caller shows the project's warnings. With an error about the content of
// its files it returns the project as far as it could be read.
func (p *program) loadProject() (*workspace.Workspace, error) {
	root, err := p.findRoot()
	if err != nil {
		return nil, err
	}
	w, problems := p.opener.Load(root)
	return w, problems.Err()
}

// loadProjectIfAny reads the project if there is one, for devices that are also used outside of one.
func (p *program) loadProjectIfAny() (*workspace.Workspace, error) {
	root, err := p.findRoot()
	switch {
	case err == nil:
		w, problems := p.opener.Load(root)
		return w, problems.Err()
	case p.project != "":
		return nil, err
	}
	return p.opener.Empty(), nil
}

func (p *program) findRoot() (string, error) { return p.opener.FindRoot(p.project) }

// notice prints a message to stderr, nothing with --json. It may have texts of apps, servers and models.
func (p *program) notice(message string) {
	if !p.json {
		fmt.Fprintf(p.Stderr, "trailblaze: %s\n", p.withProgram(report.Clean(message)))
	}
}

// debugLogs returns a handler that prints the debug messages of a session, for -vv.
func (p *program) debugLogs() event.Handler {
	return event.HandlerFunc(func(r event.Record) {
		if l, ok := r.Event.(event.Log); ok && l.Level == "debug" && p.verbose > 1 {
			p.notice("debug: " + l.Message)
		}
	})
}

// withWarnings returns the error of a listing with the warnings before it as a detail, for JSON output. Joined errors
// become one.
func (p *program) withWarnings(err error, warnings []string) error {
	if !p.json || len(warnings) == 0 {
		return err
	}
	var text bytes.Buffer
	report.ErrorJSON(&text, err)
	merged := struct{ Error fault.Error }{}
	if json.Unmarshal(text.Bytes(), &merged) != nil {
		return err
	}
	merged.Error.Cause, merged.Error.Details["warnings"] = err, warnings
	return &merged.Error
}
