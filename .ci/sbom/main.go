// Command sbom writes the list of what a built trailblaze consists of, as CycloneDX 1.5 in JSON: the Go modules that
// the toolchain recorded in the binary, and the npm packages of the files that it embeds. The arguments are the lists of
// their licenses.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
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
	out := flag.String("out", "", "`file` to write")
	flag.Parse()
	if err := write(*binary, *version, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(binary, version, out string, licenses []string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	d := document{Format: "CycloneDX", SpecVersion: "1.5", Version: 1, Components: goModules(info)}
	d.Metadata.Component = component{"application", "trailblaze", version, "pkg:golang/" + info.Main.Path + "@" + version}
	for _, file := range licenses {
		packages, err := npmPackages(file)
		if err != nil {
			return err
		}
		d.Components = append(d.Components, packages...)
	}
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

// heading is above the license of a package, as pkg/embedded writes it.
var heading = regexp.MustCompile(`(?m)^-{80}\n(\S+) (\S+) \(`)

// npmPackages returns the packages whose licenses are in a file.
func npmPackages(file string) ([]component, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []component
	for _, match := range heading.FindAllStringSubmatch(string(text), -1) {
		name, version := match[1], match[2]
		out = append(out, component{"library", name, version, "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + version})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no licenses", file)
	}
	return out, nil
}
