// Command check-release tries .goreleaser.yaml without GoReleaser and without a network: it runs the hooks, looks for
// every file that the archives carry, builds every target with the flags written there, and asks the binary of this
// machine for its version. Run it at the root of the repository.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	yaml "github.com/goccy/go-yaml"
)

// version is what the built binary must answer: a linker flag for a variable that does not exist is ignored in silence.
const version = "9.8.7-check"

type config struct {
	Version  int
	Before   struct{ Hooks []string }
	Builds   []build
	Archives []archive
}

type build struct {
	Main    string
	Env     []string
	Flags   []string
	Ldflags []string
	Goos    []string
	Goarch  []string
}

type archive struct {
	FormatOverrides []override `yaml:"format_overrides"`
	Files           []file
}

type override struct {
	Goos    string
	Formats []string
}

// file is a glob; GoReleaser accepts the mapping that holds it, or the glob alone.
type file struct{ Src string }

func (f *file) UnmarshalYAML(text []byte) error {
	type mapping file
	if err := yaml.Unmarshal(text, (*mapping)(f)); err == nil {
		return nil
	}
	return yaml.Unmarshal(text, &f.Src)
}

func main() {
	if err := check(); err != nil {
		fmt.Fprintln(os.Stderr, "check-release:", err)
		os.Exit(1)
	}
}

func check() error {
	text, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		return err
	}
	var c config
	if err := yaml.Unmarshal(text, &c); err != nil {
		return err
	}
	if c.Version != 2 || len(c.Builds) != 1 || len(c.Archives) != 1 {
		return errors.New("expected version 2, one build and one archive")
	}
	for _, hook := range c.Before.Hooks {
		if err := run(strings.Fields(hook)...); err != nil {
			return err
		}
	}
	return errors.Join(c.Archives[0].check(), c.Builds[0].check())
}

func (a archive) check() error {
	var errs []error
	for _, f := range a.Files {
		if found, err := filepath.Glob(f.Src); err != nil || len(found) == 0 {
			errs = append(errs, fmt.Errorf("archives: no file is %q", f.Src))
		}
	}
	if !slices.ContainsFunc(a.FormatOverrides, func(o override) bool {
		return o.Goos == "windows" && slices.Equal(o.Formats, []string{"zip"})
	}) {
		errs = append(errs, errors.New("archives: expected a zip file for windows"))
	}
	return errors.Join(errs...)
}

func (b build) check() error {
	switch {
	case !slices.Equal(b.Goos, []string{"linux", "darwin", "windows"}), !slices.Equal(b.Goarch, []string{"amd64", "arm64"}):
		return fmt.Errorf("builds: %v for %v; expected linux, darwin, windows for amd64, arm64", b.Goos, b.Goarch)
	case !slices.Contains(b.Env, "CGO_ENABLED=0"):
		return errors.New("builds: without CGO_ENABLED=0 binaries need the C library of the machine that built them")
	case !slices.Contains(b.Flags, "-trimpath"):
		return errors.New("builds: without -trimpath binaries name paths of the machine that built them")
	}
	dir, err := os.MkdirTemp("", "check-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, goos := range b.Goos {
		for _, goarch := range b.Goarch {
			if err := b.buildFor(goos, goarch, filepath.Join(dir, goos+"_"+goarch)); err != nil {
				return err
			}
		}
	}
	return checkVersion(filepath.Join(dir, runtime.GOOS+"_"+runtime.GOARCH))
}

func (b build) buildFor(goos, goarch, binary string) error {
	ldflags := strings.ReplaceAll(strings.Join(b.Ldflags, " "), "{{.Version}}", version)
	args := slices.Concat([]string{"env", "GOOS=" + goos, "GOARCH=" + goarch}, b.Env,
		[]string{"go", "build"}, b.Flags, []string{"-ldflags", ldflags, "-o", binary, b.Main})
	return run(args...)
}

func checkVersion(binary string) error {
	out, err := exec.Command(binary, "version").Output()
	if err != nil {
		return fmt.Errorf("%s version: %w", binary, err)
	}
	if !strings.Contains(string(out), version) {
		return fmt.Errorf("builds: the binary answers %q; -X in ldflags names no variable that it prints", out)
	}
	return nil
}

func run(args ...string) error {
	fmt.Println(strings.Join(args, " "))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return nil
}
