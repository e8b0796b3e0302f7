package cmd

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// Build describes how the program was built.
type Build struct {
	Version  string // of the release or the Go module, dev when there is none
	Commit   string // hash of the Git commit, empty when unknown
	Date     string // time of the commit (RFC 3339), empty when unknown
	Modified bool   // whether the sources differed from the commit
}

// unversioned is the version of a build of which nothing is known.
const unversioned = "dev"

// NewBuild returns the description of a build with a version that the linker set, empty for none. info is what the Go
// toolchain recorded, nil for nothing.
func NewBuild(version string, info *debug.BuildInfo) Build {
	b := Build{Version: version}
	if info == nil {
		info = &debug.BuildInfo{}
	}
	if module := info.Main.Version; module != "(devel)" {
		b.Version = cmp.Or(b.Version, module)
	}
	b.Version = cmp.Or(b.Version, unversioned)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// details returns what is known of the commit, for people.
func (b Build) details() string {
	var parts []string
	if b.Commit != "" {
		commit := "commit " + b.Commit[:min(len(b.Commit), 12)]
		if b.Modified {
			commit += " with changes"
		}
		parts = append(parts, commit)
	} else if b.Version == unversioned {
		parts = append(parts, "built outside of Git or with -buildvcs=false, which record no commit")
	}
	if b.Date != "" {
		parts = append(parts, b.Date)
	}
	return strings.Join(append(parts, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), ", ")
}

// bindVersion adds --version to the root command. Cobra's own flag prints by a template, and for
// templates, which can call any method, the linker keeps all of them.
func (a *app) bindVersion(root *cobra.Command) {
	version := root.Flags().Bool("version", false, "version for trailblaze")
	root.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case !*version:
			return a.helpOrUnknown(c, args)
		case a.json:
			return a.writeJSON(map[string]string{"version": a.Build.Version})
		}
		_, err := fmt.Fprintf(a.Stdout, "trailblaze %s\n", a.Build.Version)
		return err
	}
}

func (a *app) newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and its date",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := a.Build
			if a.json {
				return a.writeJSON(map[string]any{
					"version": b.Version, "commit": b.Commit, "date": b.Date, "modified": b.Modified,
					"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(a.Stdout, "trailblaze %s (%s)\n", b.Version, b.details())
			return err
		},
	}
}
