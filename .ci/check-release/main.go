// Command check-release tries .goreleaser.yaml without GoReleaser and without a network: it runs the hooks, looks for
// every file that the archives and packages carry, builds every target with the flags written there, checks their size,
// asks the binary of this machine for its version, and lists what that consists of. Run it at the root of the
// repository.
package main

import (
	"encoding/json"
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

// What the built binary must print: a linker flag for a variable that does not exist is ignored without an error.
const (
	version = "9.8.7-check"
	commit  = "0123456789abcdef0123456789abcdef01234567"
	date    = "2026-11-22T10:40:36Z"
)

// maxSize is the most that a binary may have, in bytes.
const maxSize = 45 << 20

type config struct {
	Version  int
	Before   struct{ Hooks []string }
	Builds   []build
	Archives []archive
	Nfpms    []linuxPackages
	Checksum struct {
		ExtraFiles []struct{ Glob string } `yaml:"extra_files"`
	}
}

type linuxPackages struct {
	Formats  []string
	Contents []file
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
type file struct {
	Src, Dst string
	Packager string // format of the only packages that have it; empty for all
}

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
	return errors.Join(c.Archives[0].check(), c.checkFiles(), c.Builds[0].check())
}

// checkFiles looks for the files of Linux packages, and for those that are published beside the archives.
func (c config) checkFiles() error {
	var errs []error
	for _, packages := range c.Nfpms {
		errs = append(errs, checkFiles("nfpms", packages.Contents), packages.checkZsh())
	}
	for _, extra := range c.Checksum.ExtraFiles {
		errs = append(errs, checkFiles("checksum", []file{{Src: extra.Glob}}))
	}
	return errors.Join(errs...)
}

// checkZsh expects the completions for zsh where the zsh of each kind of system reads them.
func (p linuxPackages) checkZsh() error {
	var errs []error
	for _, format := range p.Formats {
		want := "/usr/share/zsh/site-functions/_trailblaze"
		if format == "deb" {
			want = "/usr/share/zsh/vendor-completions/_trailblaze"
		}
		var got []string
		for _, f := range p.Contents {
			if strings.HasSuffix(f.Src, ".zsh") && (f.Packager == "" || f.Packager == format) {
				got = append(got, f.Dst)
			}
		}
		if !slices.Equal(got, []string{want}) {
			errs = append(errs, fmt.Errorf("nfpms: %s packages have the completions for zsh at %q; expected %s", format, got, want))
		}
	}
	return errors.Join(errs...)
}

func checkFiles(section string, files []file) error {
	var errs []error
	for _, f := range files {
		if found, err := filepath.Glob(f.Src); err != nil || len(found) == 0 {
			errs = append(errs, fmt.Errorf("%s: no file is %q", section, f.Src))
		}
	}
	return errors.Join(errs...)
}

func (a archive) check() error {
	errs := []error{checkFiles("archives", a.Files)}
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
	binary := filepath.Join(dir, runtime.GOOS+"_"+runtime.GOARCH)
	return errors.Join(checkVersion(binary), checkSBOM(binary))
}

func (b build) buildFor(goos, goarch, binary string) error {
	ldflags := strings.NewReplacer("{{.Version}}", version, "{{.FullCommit}}", commit, "{{.CommitDate}}", date).
		Replace(strings.Join(b.Ldflags, " "))
	args := slices.Concat([]string{"env", "GOOS=" + goos, "GOARCH=" + goarch}, b.Env,
		[]string{"go", "build"}, b.Flags, []string{"-ldflags", ldflags, "-o", binary, b.Main})
	if err := run(args...); err != nil {
		return err
	}
	info, err := os.Stat(binary)
	if err == nil && info.Size() > maxSize {
		err = fmt.Errorf("builds: the binary for %s/%s has %.1f MB; at most %d are allowed",
			goos, goarch, float64(info.Size())/(1<<20), maxSize>>20)
	}
	return err
}

func checkVersion(binary string) error {
	out, err := exec.Command(binary, "version", "--json").Output()
	if err != nil {
		return fmt.Errorf("%s version: %w", binary, err)
	}
	var got struct{ Version, Commit, Date string }
	if err := json.Unmarshal(out, &got); err != nil {
		return fmt.Errorf("%s version --json: %w", binary, err)
	}
	if got.Version != version || got.Commit != commit || got.Date != date {
		return fmt.Errorf("builds: version --json prints %s; expected %s, %s and %s", out, version, commit, date)
	}
	return nil
}

// checkSBOM expects a module of Go and packages of npm in the list of what a binary consists of.
func checkSBOM(binary string) error {
	file := binary + ".cdx.json"
	err := run("go", "run", "./.ci/sbom", "-version", version, "-binary", binary, "-out", file,
		"pkg/engine/host/dist/LICENSES.txt", "pkg/studio/page/dist/LICENSES.txt")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, part := range []string{"pkg:golang/github.com/spf13/cobra@v", "pkg:npm/%40frida/assert@", "pkg:npm/preact@"} {
		if !strings.Contains(string(text), part) {
			err = errors.Join(err, fmt.Errorf("sboms: %s is missing in %s", part, text))
		}
	}
	return err
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
