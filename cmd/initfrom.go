package cmd

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// initFrom writes a project of ours beside the workspace of the JVM Trailblaze that a folder belongs to, and says what
// it does not have. The trails stay where they are.
func (cmd *initCommand) initFrom(dir string) error {
	root, err := cmd.opener.FindRootFrom(dir)
	if err != nil {
		return err
	}
	if config.IsRoot(root) {
		return fault.New(fault.Misuse, "--from takes a folder of a workspace of the JVM Trailblaze",
			"%s is a project of trailblaze already", root)
	}
	w, problems := cmd.opener.Load(root)
	if err := problems.Err(); err != nil {
		return err
	}
	names, err := writeFiles(root, projectFiles(w.Project), "logs/")
	if err != nil {
		return err
	}
	for _, note := range notCarriedOver(w.Project) {
		cmd.notice("warning: " + note)
	}
	return cmd.initDone(names, cmd.commandName()+" check. To use the workspace again, remove trailblaze.yaml and trailblaze-config")
}

// projectFiles returns the files of a project of ours that does what p does, by their paths.
func projectFiles(p *config.Project) map[string][]byte {
	content, lost := map[string][]byte{}, lostTools(p)
	head := "# The files in trails/config are not read any more.\n"
	if p.Target != "" {
		head += "target: " + yamlText(p.Target) + "\n"
	}
	content["trailblaze.yaml"] = []byte(head)
	for _, t := range p.Targets {
		content["trailblaze-config/targets/"+t.ID+".yaml"] = []byte(targetFile(p.Root, lost, t))
	}
	for _, ts := range p.Toolsets {
		if !ts.AlwaysEnabled && !isUsed(p, ts.ID) {
			continue
		}
		if tools := knownTools(lost, ts.Tools); len(tools) > 0 || isUsed(p, ts.ID) {
			ts.Tools = tools
			content["trailblaze-config/toolsets/"+ts.ID+".yaml"] = []byte(toolsetFile(ts))
		}
	}
	return content
}

func isUsed(p *config.Project, toolset string) bool {
	return slices.ContainsFunc(p.Targets, func(t config.Target) bool {
		for _, c := range t.Platforms {
			if slices.Contains(c.ToolSets, toolset) {
				return true
			}
		}
		return false
	})
}

// knownTools returns those of some tools that are not lost.
func knownTools(lost, tools []string) []string {
	return slices.DeleteFunc(slices.Clone(tools), func(name string) bool { return slices.Contains(lost, name) })
}

// lostTools returns the names of the tools that only the workspace has, sorted.
func lostTools(p *config.Project) []string {
	var names []string
	for _, c := range p.Composed {
		names = append(names, c.Name)
	}
	for _, t := range p.Targets {
		for _, s := range t.Servers {
			for _, f := range s.Functions {
				names = append(names, f.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func targetFile(root string, lost []string, t config.Target) string {
	var b strings.Builder
	fmt.Fprintf(&b, "id: %s\n", yamlText(t.ID))
	if t.DisplayName != "" {
		fmt.Fprintf(&b, "display_name: %s\n", yamlText(t.DisplayName))
	}
	b.WriteString(electronEntry(root, t.Electron))
	if len(t.PlatformOrder) > 0 {
		b.WriteString("platforms:\n")
	}
	for _, platform := range t.PlatformOrder {
		c := t.Platforms[platform]
		entry := yamlList("    app_ids", c.AppIDs) + yamlList("    tool_sets", c.ToolSets) + yamlList("    tools", knownTools(lost, c.Tools)) +
			yamlList("    excluded_tools", knownTools(lost, c.ExcludedTools))
		if c.BaseURL != "" {
			entry += "    base_url: " + yamlText(c.BaseURL) + "\n"
		}
		if entry == "" {
			fmt.Fprintf(&b, "  %s: {}\n", platform.Lower())
		} else {
			fmt.Fprintf(&b, "  %s:\n%s", platform.Lower(), entry)
		}
	}
	return b.String()
}

// electronEntry returns the Electron app of a target; nothing without one. A command below root is written relative to it.
func electronEntry(root string, e config.Electron) string {
	if e.Command == "" && e.URL == "" {
		return ""
	}
	literal := func(s string) string { return strings.ReplaceAll(s, "${", "$${") }
	command, args := e.Command, make([]string, len(e.Args))
	if rel, err := filepath.Rel(root, command); err == nil && filepath.IsAbs(command) && filepath.IsLocal(rel) {
		command = "./" + filepath.ToSlash(rel)
	}
	for i, arg := range e.Args {
		args[i] = literal(arg)
	}
	var b strings.Builder
	b.WriteString("electron:\n")
	for _, entry := range [][2]string{{"command", command}, {"cdpUrl", e.URL}} {
		if entry[1] != "" {
			fmt.Fprintf(&b, "  %s: %s\n", entry[0], yamlText(literal(entry[1])))
		}
	}
	fmt.Fprintf(&b, "%s  cdpPort: %d\n", yamlList("  args", args), e.Port)
	if e.Timeout > 0 {
		fmt.Fprintf(&b, "  cdpTimeoutSeconds: %d\n", e.Timeout/time.Second)
	}
	if e.Headless {
		b.WriteString("  headless: true\n")
	}
	if len(e.Env) > 0 {
		b.WriteString("  env:\n")
	}
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		fmt.Fprintf(&b, "    %s: %s\n", yamlText(name), yamlText(literal(e.Env[name])))
	}
	return b.String()
}

func toolsetFile(ts config.Toolset) string {
	platforms := make([]string, len(ts.Platforms))
	for i, p := range ts.Platforms {
		platforms[i] = p.Lower()
	}
	out := "id: " + yamlText(ts.ID) + "\n"
	if ts.Description != "" {
		out += "description: " + yamlText(ts.Description) + "\n"
	}
	if ts.AlwaysEnabled {
		out += "always_enabled: true\n"
	}
	return out + yamlList("platforms", platforms) + yamlList("drivers", ts.Drivers) + yamlList("tools", ts.Tools)
}

// yamlList returns a key, which may be indented, with a list of texts; nothing for an empty one.
func yamlList(key string, texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = yamlText(t)
	}
	return key + ": [" + strings.Join(quoted, ", ") + "]\n"
}

var plainWord = lazyregexp.New(`^[A-Za-z][\w.-]*$`)

// yamlText writes a text. What is not a plain word is written as JSON, which YAML can read, too.
func yamlText(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
	default:
		if plainWord().MatchString(s) {
			return s
		}
	}
	quoted, _ := json.Marshal(s) // a text can be encoded
	return string(quoted)
}

// notCarriedOver says what the files of projectFiles do not have.
func notCarriedOver(p *config.Project) []string {
	var notes []string
	if lost := lostTools(p); len(lost) > 0 {
		notes = append(notes, fmt.Sprintf("%s cannot be carried over, and trails that call them fail until a tool server has them: %s",
			text.Count(len(lost), "tool"), strings.Join(lost, ", ")))
	}
	for _, t := range p.Targets {
		for _, platform := range t.PlatformOrder {
			if drivers := t.Platforms[platform].Drivers; len(drivers) > 0 && !slices.Contains(drivers, scope.DriversOf(platform)[0]) {
				notes = append(notes, fmt.Sprintf("target %q uses the driver %s on %s: name it with driver: or --driver", t.ID,
					strings.Join(drivers, " or "), platform.Lower()))
			}
		}
	}
	for _, problem := range p.LeftOut {
		notes = append(notes, "left out: "+problem.Error())
	}
	return notes
}
