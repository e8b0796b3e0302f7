// Command sbom writes the list of what a built trailblaze consists of, as CycloneDX 1.5 in JSON: the Go modules that
// the toolchain recorded in the binary, and the npm packages of the embedded engine.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

type document struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

func main() {
	binary := flag.String("binary", "", "`file` to describe")
	version := flag.String("version", "", "`version` of the program")
	npm := flag.String("npm", "", "package.json `file` whose devDependencies are part of the binary")
	out := flag.String("out", "", "`file` to write")
	flag.Parse()
	if err := write(*binary, *version, *npm, *out); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(binary, version, npm, out string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	packages, err := npmPackages(npm)
	if err != nil {
		return err
	}
	d := document{Format: "CycloneDX", SpecVersion: "1.5", Version: 1}
	d.Metadata.Component = component{"application", "trailblaze", version, "pkg:golang/" + info.Main.Path + "@" + version}
	d.Components = append(goModules(info), packages...)
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

func goModules(info *buildinfo.BuildInfo) []component {
	toolchain := strings.TrimPrefix(info.GoVersion, "go")
	out := []component{{"library", "std", toolchain, "pkg:golang/std@" + toolchain}}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		out = append(out, component{"library", module.Path, module.Version, "pkg:golang/" + module.Path + "@" + module.Version})
	}
	return out
}

// npmPackages returns the packages that package.json names; all have exact versions.
func npmPackages(file string) ([]component, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var manifest struct{ DevDependencies map[string]string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var out []component
	for _, name := range slices.Sorted(maps.Keys(manifest.DevDependencies)) {
		version := manifest.DevDependencies[name]
		out = append(out, component{"library", name, version, "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + version})
	}
	return out, nil
}
