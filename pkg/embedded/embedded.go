// Package embedded has what programs share that bundle npm packages into files that Go embeds: writing and comparing the
// files, and the licenses of the packages in them.
package embedded

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Licenses is the name of the file with the licenses of the packages in the other files.
const Licenses = "LICENSES.txt"

// Files has the contents of files by their slash-separated paths in the directory that is embedded.
type Files map[string][]byte

// Build runs esbuild. It returns the files below options.Outdir, and Licenses, which begins with a line of introduction.
func Build(options api.BuildOptions, introduction string) (Files, error) {
	options.Write = false
	options.Metafile = true
	options.LogLevel = api.LogLevelSilent
	options.LegalComments = api.LegalCommentsNone
	options.Charset = api.CharsetUTF8
	result := api.Build(options)
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
	}
	out := Files{}
	for _, file := range result.OutputFiles {
		name, err := filepath.Rel(options.Outdir, file.Path)
		if err != nil {
			return nil, err
		}
		out[filepath.ToSlash(name)] = file.Contents
	}
	licenses, err := licenseTexts(options.AbsWorkingDir, result.Metafile)
	out[Licenses] = append([]byte(introduction+"\n"), licenses...)
	return out, err
}

// Zip returns an archive of the files. Its bytes depend on nothing else.
func (f Files) Zip() ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		file, err := archive.Create(name) // without a time
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(f[name]); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return out.Bytes(), err
}

// dist is the directory with what is embedded, in that of the sources.
const dist = "dist"

// Main is the main function of a program that is run in the directory of its sources, and writes what build returns for
// it into dist.
func Main(build func(dir string) (Files, error)) {
	files, err := build(".")
	if err == nil {
		err = files.Write(dist)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err) //nolint:forbidigo // of a program of its own
		os.Exit(1)                   //nolint:forbidigo // of a program of its own
	}
}

// CheckDist returns an error that names the files in dist, in the directory of the sources, that are not what build
// returns for it.
func CheckDist(dir string, build func(dir string) (Files, error)) error {
	files, err := build(dir)
	if err != nil {
		return err
	}
	outdated, err := files.Outdated(filepath.Join(dir, dist))
	if err == nil && len(outdated) > 0 {
		err = fmt.Errorf("%s/%s: out of date, run make generate", dist, strings.Join(outdated, ", "+dist+"/"))
	}
	return err
}

// Write replaces the contents of a directory.
func (f Files) Write(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, text := range f {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Outdated returns the files that a directory lacks, has with other contents, or has too many, sorted.
func (f Files) Outdated(dir string) ([]string, error) {
	seen := map[string]bool{}
	var out []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		seen[name] = true
		if want, ok := f[name]; !ok || string(got) != string(want) {
			out = append(out, name)
		}
		return err
	})
	for name := range f {
		if !seen[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, err
}

// licenseTexts returns the licenses of all packages that a build used, sorted by name.
func licenseTexts(dir, metafile string) ([]byte, error) {
	var meta struct {
		Inputs map[string]struct{} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, fmt.Errorf("read esbuild's list of inputs: %w", err)
	}
	var roots []string
	for input := range meta.Inputs {
		if root := packageRoot(input); root != "" && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	var text []byte
	for _, root := range roots {
		one, err := licenseText(filepath.Join(dir, filepath.FromSlash(root)))
		if err != nil {
			return nil, err
		}
		text = append(text, one...)
	}
	return text, nil
}

// packageRoot returns the directory of the package that an input belongs to; "" for our own sources.
func packageRoot(input string) string {
	at := strings.LastIndex(input, "node_modules/")
	if at < 0 {
		return ""
	}
	start := at + len("node_modules/")
	parts := strings.Split(input[start:], "/")
	if strings.HasPrefix(parts[0], "@") {
		return input[:start] + parts[0] + "/" + parts[1]
	}
	return input[:start] + parts[0]
}

// licenseText returns the license of a package. It fails for a license that requires more than including its text.
func licenseText(root string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(root, "package.json"))
	if err != nil {
		return nil, err
	}
	var about struct{ Name, Version, License string }
	if err := json.Unmarshal(raw, &about); err != nil {
		return nil, fmt.Errorf("read %s/package.json: %w", root, err)
	}
	if !slices.Contains([]string{"MIT", "ISC", "BSD-3-Clause", "Apache-2.0"}, about.License) {
		return nil, fmt.Errorf("%s has the license %q, which is not in the list of permissive licenses", about.Name, about.License)
	}
	found, err := filepath.Glob(filepath.Join(root, "[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*"))
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("%s has no license file", about.Name)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	body := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
	return fmt.Appendf(nil, "\n%s\n%s %s (%s)\n\n%s\n", strings.Repeat("-", 80), about.Name, about.Version, about.License, body), nil
}
