package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/builtin"
	"github.com/trailblaze/trailblaze/pkg/composed"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

func (cmd *checkCommands) newCheck() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check [TRAIL...]",
		Short: "Check project and trail files without starting anything",
		Long: `Check the project file, targets, toolsets and trails. Arguments are trail files, folders or globs, as for run. The
arguments of recorded calls of built-in tools and device commands are checked, too. No server is started, so it does not
check that the tools of servers exist and accept their arguments; ` + "`trailblaze run --dry-run`" + ` does.`,
		Example: "  trailblaze check\n  trailblaze check trails/new.trail.yaml --secret PASSWORD --json",
		RunE:    func(c *cobra.Command, args []string) error { return cmd.check(c.Context(), f, args) },
	}
	c.Flags().StringArrayVar(&f.memory, "memory", nil, "`NAME` or NAME=VALUE that run will get; trails may use it")
	c.Flags().StringArrayVar(&f.secrets, "secret", nil, "`NAME` that run will get; trails may use it")
	return c
}

type checkFlags struct{ memory, secrets []string }

// names returns the names of the values that run will get.
func (f checkFlags) names() []string {
	var names []string
	for _, flag := range slices.Concat(f.memory, f.secrets) {
		name, _, _ := strings.Cut(flag, "=")
		names = append(names, name)
	}
	return names
}

// checkView is the JSON output of check.
type checkView struct {
	OK       bool           `json:"ok"`
	Files    int            `json:"files"`
	Problems fault.Problems `json:"problems"`
	Warnings fault.Problems `json:"warnings"`
}

func (cmd *checkCommands) check(ctx context.Context, f checkFlags, args []string) error {
	root, err := cmd.findRoot()
	if err != nil {
		return err
	}
	w, problems := cmd.opener.Load(root)
	project := w.Project
	v := checkView{
		Files: project.Files, Problems: append(problems, project.LeftOut...), Warnings: append(project.Warnings, project.Remarks...),
	}
	paths, err := trail.Find(cmd.Dir, project.TrailsDir, project.LogsDir, args)
	if err != nil {
		return errors.Join(problems.Err(), err)
	}
	tools, err := cmd.toolsWithoutServers(project)
	if err != nil {
		return err
	}
	v.Warnings = append(v.Warnings, misnamedTrails(cmd.Dir, project, args)...)
	broken, err := cmd.brokenFunctions(ctx, project)
	if err != nil {
		return err
	}
	v.Problems = append(v.Problems, broken...)
	loader := trail.Loader{Root: project.Root, Cwd: cmd.Dir}
	checker := replay.Checker{Project: project, Loader: loader, Names: f.names(), Tools: tools}
	for _, path := range paths {
		v.Files++
		problems, warnings := checker.Check(path, cmd.abs(path))
		v.add(problems)
		v.Warnings = append(v.Warnings, warnings...)
	}
	v.OK = len(v.Problems) == 0
	if err := cmd.printCheck(v); err != nil {
		return err
	}
	if !v.OK {
		return exitCode(fault.ExitMisuse)
	}
	return nil
}

// misnamedTrails warns of files that look like trails and are never run.
func misnamedTrails(dir string, project *config.Project, args []string) fault.Problems {
	var warnings fault.Problems
	for _, path := range trail.Misnamed(dir, project.TrailsDir, project.LogsDir, args) {
		warnings = append(warnings, fault.Problem{
			Kind: fault.Trail, File: path, Message: "this file is never run; to make it a trail, rename it to end in .trail.yaml",
		})
	}
	return warnings
}

// toolsWithoutServers returns what is known of tools without starting a server. Any tool but built-in ones and device
// commands may be that of a server, if the project has one.
func (p *program) toolsWithoutServers(project *config.Project) (trail.Tools, error) {
	registries, err := ownTools(p.Devices, composed.Sources(project.Composed)...)
	hasServers := len(project.AllServers()) > 0
	return trail.Tools{
		FromServer: func(name string) bool {
			for _, r := range registries {
				if t, known := r.Lookup(name); known {
					return t.Source.Kind.OfProject()
				}
			}
			return hasServers && name != tool.ReloadTools
		},
		CheckCall: func(platform scope.Platform, call trail.Call) []fault.Problem {
			t, err := cmp.Or(registries[platform], registries[""]).Find(call.Tool)
			switch {
			case err == nil:
				return session.CallProblems(t, call)
			case hasServers || platform == "": // then it may be that of another device
				return nil
			}
			return []fault.Problem{session.UnknownTool(err, call)}
		},
	}, err
}

// ownTools returns the built-in tools, more of the project, and the device commands of each platform; under "" those that
// no platform has.
func ownTools(kinds []device.Kind, more ...discover.Source) (map[scope.Platform]*discover.Registry, error) {
	builtins := append([]discover.Source{builtin.Source(), builtin.ExecSource(nil)}, more...)
	onAll, err := discover.Build(discover.Scope{}, builtins, nil, discover.Selection{})
	registries := map[scope.Platform]*discover.Registry{"": onAll}
	for _, k := range kinds {
		driver, _ := scope.ParseDriver(k.Drivers[0])
		commands := discover.Source{Source: tool.Source{Kind: tool.FromDevice, Name: k.Name}, Tools: k.Commands()}
		var failed error
		registries[driver.Platform], failed = discover.Build(discover.Scope{Driver: driver.Key, Platform: driver.Platform},
			append([]discover.Source{commands}, builtins...), nil, discover.Selection{})
		err = errors.Join(err, failed)
	}
	return registries, err
}

// add adds problems that are not there yet: those of a trail that several others use come more than once.
func (v *checkView) add(problems fault.Problems) {
	for _, p := range problems {
		same := func(q fault.Problem) bool {
			return p.File == q.File && p.Line == q.Line && p.Column == q.Column && p.Message == q.Message
		}
		if !slices.ContainsFunc(v.Problems, same) {
			v.Problems = append(v.Problems, p)
		}
	}
}

func (cmd *checkCommands) printCheck(v checkView) error {
	if cmd.json {
		v.Problems, v.Warnings = list(v.Problems), list(v.Warnings)
		return cmd.writeJSON(v)
	}
	style := cmd.style(cmd.ErrTTY)
	if len(v.Problems) > 0 {
		report.Error(cmd.Stderr, style, v.Problems)
	}
	for _, w := range v.Warnings {
		fmt.Fprintf(cmd.Stderr, "trailblaze: warning: %s\n", report.Clean(w.Error()))
	}
	_, err := fmt.Fprintf(cmd.Stdout, "%s: %s, %s\n", text.Count(v.Files, "file"), text.Count(len(v.Problems), "problem"),
		text.Count(len(v.Warnings), "warning"))
	return err
}
