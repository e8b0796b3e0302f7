// Command npm-packages makes the npm packages of the program from built binaries: one for each platform, with a binary,
// and trailblaze, which has the others as optional dependencies and runs the binary. Run it at the root of the
// repository.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// platform is a platform in the words of Go and of Node.js.
type platform struct{ goos, goarch, os, cpu string }

func platforms() []platform {
	return []platform{
		{"linux", "amd64", "linux", "x64"},
		{"linux", "arm64", "linux", "arm64"},
		{"darwin", "amd64", "darwin", "x64"},
		{"darwin", "arm64", "darwin", "arm64"},
		{"windows", "amd64", "win32", "x64"},
		{"windows", "arm64", "win32", "arm64"},
	}
}

func (p platform) name() string { return "@trailblaze/cli-" + p.os + "-" + p.cpu }

func (p platform) binary() string {
	if p.goos == "windows" {
		return "trailblaze.exe"
	}
	return "trailblaze"
}

func main() {
	binaries := flag.String("binaries", "dist", "`folder` with a folder for each platform, as GoReleaser makes them")
	only := flag.String("only", "", "the only `platform` to make a package for, such as linux/amd64")
	version := flag.String("version", "", "`version` of the packages; default: the one in metadata.json of the binaries")
	out := flag.String("out", "dist/npm", "`folder` for the packed files")
	flag.Parse()
	if err := pack(*binaries, *only, *version, *out); err != nil {
		fmt.Fprintln(os.Stderr, "npm-packages:", err)
		os.Exit(1)
	}
}

func pack(binaries, only, version, out string) error {
	if version == "" {
		var err error
		if version, err = releasedVersion(binaries); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "npm-packages-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	launcher := filepath.Join(dir, "trailblaze")
	errs := []error{writeLauncher(launcher, version), npmPack(launcher, out)}
	for _, p := range platforms() {
		if only == "" || only == p.goos+"/"+p.goarch {
			folder := filepath.Join(dir, p.os+"-"+p.cpu)
			if err := p.write(binaries, folder, version); err != nil {
				return errors.Join(append(errs, err)...)
			}
			errs = append(errs, npmPack(folder, out))
		}
	}
	return errors.Join(errs...)
}

// releasedVersion reads the version that GoReleaser gave to the binaries.
func releasedVersion(binaries string) (string, error) {
	var metadata struct{ Version string }
	text, err := os.ReadFile(filepath.Join(binaries, "metadata.json"))
	if err == nil {
		err = json.Unmarshal(text, &metadata)
	}
	return metadata.Version, err
}

// writeLauncher writes the package that runs the binary of another.
func writeLauncher(folder, version string) error {
	text, err := os.ReadFile("npm/package.json")
	if err != nil {
		return err
	}
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return fmt.Errorf("npm/package.json: %w", err)
	}
	dependencies := map[string]string{}
	for _, p := range platforms() {
		dependencies[p.name()] = version
	}
	manifest["version"], manifest["optionalDependencies"] = version, dependencies
	return errors.Join(
		writeManifest(folder, manifest),
		copyFile("npm/trailblaze.js", filepath.Join(folder, "trailblaze.js"), 0o755),
		copyFile("npm/README.md", filepath.Join(folder, "README.md"), 0o644),
		copyFile("LICENSE", filepath.Join(folder, "LICENSE"), 0o644))
}

// write writes the package that has the binary of a platform.
func (p platform) write(binaries, folder, version string) error {
	pattern := filepath.Join(binaries, "trailblaze_"+p.goos+"_"+p.goarch+"*", p.binary())
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		return fmt.Errorf("expected one binary %s, found %d", pattern, len(found))
	}
	return errors.Join(
		writeManifest(folder, map[string]any{
			"name": p.name(), "version": version, "license": "Apache-2.0",
			"description": "The trailblaze binary for " + p.os + " on " + p.cpu,
			"repository":  map[string]string{"type": "git", "url": "git+https://github.com/trailblaze/trailblaze.git"},
			"os":          []string{p.os}, "cpu": []string{p.cpu}, "preferUnplugged": true,
		}),
		copyFile(found[0], filepath.Join(folder, "bin", p.binary()), 0o755),
		copyFile("pkg/engine/host/dist/LICENSES.txt", filepath.Join(folder, "LICENSES.txt"), 0o644),
		copyFile("pkg/studio/page/dist/LICENSES.txt", filepath.Join(folder, "LICENSES-studio.txt"), 0o644),
		copyFile("LICENSE", filepath.Join(folder, "LICENSE"), 0o644))
}

func writeManifest(folder string, manifest map[string]any) error {
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "package.json"), append(text, '\n'), 0o644)
}

func copyFile(from, to string, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// npmPack runs npm pack, which rejects a version that is not a semantic version.
func npmPack(folder, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	cmd := exec.Command("npm", "pack", "--silent", "--pack-destination", out)
	cmd.Dir = folder
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm pack: %w\n%s", err, strings.TrimSpace(string(text)))
	}
	return nil
}
