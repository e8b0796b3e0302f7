package cmd

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
)

// skill tells an agent how to write trails.
//
//go:embed skill/SKILL.md
var skill string

// agentFile is a file of an agent's client, and how init changes it.
type agentFile struct {
	name string // relative to the project, with slashes
	// change returns the new content of the file: equal to the old one when it has the entry already. old is nil if
	// the file does not exist.
	change func(old []byte) ([]byte, error)
}

// agentClients returns the files of each client that init knows, by its name. The words start the server.
func agentClients(server []string) map[string][]agentFile {
	stdioEntry := fmt.Sprintf(`{"command": %q, "args": [%s]}`, server[0], quoted(server[1:]))
	section := agentFile{"AGENTS.md", addSection}
	return map[string][]agentFile{
		"claude":   {{".mcp.json", addEntry("mcpServers", stdioEntry)}, {".claude/skills/trailblaze/SKILL.md", newSkill}},
		"codex":    {{".codex/config.toml", addTOMLEntry(server)}, section},
		"cursor":   {{".cursor/mcp.json", addEntry("mcpServers", stdioEntry)}, section},
		"gemini":   {{".gemini/settings.json", addEntry("mcpServers", stdioEntry)}, {"GEMINI.md", addSection}},
		"goose":    {section}, // its configuration is the user's, not the project's
		"opencode": {{"opencode.json", addEntry("mcp", fmt.Sprintf(`{"type": "local", "command": [%s], "enabled": true}`, quoted(server)))}, section},
		"vscode":   {{".vscode/mcp.json", addEntry("servers", `{"type": "stdio", `+stdioEntry[1:])}, section},
	}
}

// quoted returns words as they are in lists of JSON and TOML.
func quoted(words []string) string {
	var list []string
	for _, word := range words {
		list = append(list, strconv.Quote(word))
	}
	return strings.Join(list, ", ")
}

// server returns the words that start the server for agents.
func (cmd *initCommand) server() []string { return append(strings.Fields(cmd.commandName()), "mcp") }

// agentNames are the values of init --agent.
func agentNames() []string { return slices.Sorted(maps.Keys(agentClients([]string{""}))) }

// gooseEntry has the places of the command and of its arguments.
const gooseEntry = `
Goose reads its extensions from ~/.config/goose/config.yaml. Add this one:

extensions:
  trailblaze:
    name: trailblaze
    type: stdio
    enabled: true
    cmd: %s
    args: [%s]
    timeout: 300
`

// agentChange is a file that init writes for an agent.
type agentChange struct {
	name, path string
	data       []byte
}

// agentChanges returns the files of a client that are to be written below dir. It writes nothing.
func agentChanges(dir, agent string, server []string) ([]agentChange, error) {
	list, ok := agentClients(server)[agent]
	if !ok {
		return nil, fault.New(fault.Misuse, "use one of: "+strings.Join(agentNames(), ", "),
			"--agent: unknown client %q", agent)
	}
	var changes []agentChange
	for _, f := range list {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		old, err := files.Read(path, maxAgentFile)
		if errors.Is(err, fs.ErrNotExist) {
			old, err = nil, nil
		}
		if err != nil {
			return nil, fault.Wrap(fault.Misuse, err, "", "read "+f.name)
		}
		data, err := f.change(old)
		if err != nil {
			hint := "correct it, or add the server trailblaze by hand: command " + server[0] + ", arguments " + strings.Join(server[1:], " ")
			return nil, fault.New(fault.Misuse, hint, "%s cannot be changed: %v", f.name, err)
		}
		if !bytes.Equal(old, data) {
			changes = append(changes, agentChange{f.name, path, data})
		}
	}
	return changes, nil
}

// maxAgentFile is the size of the largest file of a client in bytes.
const maxAgentFile = 4 << 20

// write replaces the file, through a symbolic link if it is one.
func (c agentChange) write() error {
	path := c.path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.Replace(path, func(f *os.File) error {
		_, err := f.Write(c.data)
		return errors.Join(err, f.Chmod(mode))
	})
}

func newSkill(old []byte) ([]byte, error) {
	if old != nil {
		return old, nil // it may have been changed
	}
	return []byte(skill), nil
}

// sectionMark is the first line of the section of AGENTS.md.
const sectionMark = "# UI tests with trailblaze"

func addSection(old []byte) ([]byte, error) {
	_, body, _ := strings.Cut(skill, "\n"+sectionMark)
	body = sectionMark + body
	if len(bytes.TrimSpace(old)) == 0 {
		return []byte(body), nil
	}
	if bytes.Contains(old, []byte(strings.TrimPrefix(sectionMark, "#"))) {
		return old, nil
	}
	out := slices.Clone(old)
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	return append(out, "\n"+strings.ReplaceAll(body, "\n## ", "\n### ")...), nil
}

func addTOMLEntry(server []string) func(old []byte) ([]byte, error) {
	entry := fmt.Sprintf("[mcp_servers.trailblaze]\ncommand = %q\nargs = [%s]\n", server[0], quoted(server[1:]))
	return func(old []byte) ([]byte, error) { return addTOML(old, entry) }
}

// addTOML adds an entry, unless the file has one.
func addTOML(old []byte, entry string) ([]byte, error) {
	var config struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	if _, err := toml.Decode(string(old), &config); err != nil {
		return nil, err
	}
	if config.Servers["trailblaze"] != nil {
		return old, nil
	}
	out := slices.Clone(old)
	if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	if len(out) > 0 {
		out = append(out, '\n')
	}
	out = append(out, entry...)
	if _, err := toml.Decode(string(out), &config); err != nil {
		return nil, errors.New("mcp_servers is not written as tables")
	}
	return out, nil
}

// addEntry returns a function that adds the server's entry to an object of a JSON file, by the object's name.
func addEntry(object, entry string) func(old []byte) ([]byte, error) {
	return func(old []byte) ([]byte, error) {
		if len(bytes.TrimSpace(old)) == 0 {
			return fmt.Appendf(nil, "{\n  %q: {\n    \"trailblaze\": %s\n  }\n}\n", object, entry), nil
		}
		return addMembers(old, map[string]json.RawMessage{object: json.RawMessage(`{"trailblaze": ` + entry + `}`)})
	}
}

// addMembers adds the members that a JSON object lacks, and those that the objects in it lack. Every other byte stays.
func addMembers(data []byte, wanted map[string]json.RawMessage) ([]byte, error) {
	var has map[string]json.RawMessage
	if err := json.Unmarshal(data, &has); err != nil {
		return nil, err
	}
	if has == nil {
		return nil, errors.New("it is not a JSON object")
	}
	var err error
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		var inner map[string]json.RawMessage
		switch {
		case has[name] == nil:
			data, err = insertMember(data, nil, fmt.Sprintf("%q: %s", name, wanted[name]))
		case json.Unmarshal(wanted[name], &inner) == nil:
			data, err = addInnerMembers(data, name, has[name], inner)
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

// addInnerMembers adds the members that the object with a name lacks.
func addInnerMembers(data []byte, name string, object json.RawMessage, wanted map[string]json.RawMessage) ([]byte, error) {
	var has map[string]json.RawMessage
	if err := json.Unmarshal(object, &has); err != nil || has == nil {
		return nil, fmt.Errorf("%s is not an object", name)
	}
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if has[key] != nil {
			continue
		}
		var err error
		if data, err = insertMember(data, []string{name}, fmt.Sprintf("%q: %s", key, wanted[key])); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// insertMember adds a member at the end of the object at a path.
func insertMember(data []byte, path []string, member string) ([]byte, error) {
	end, last, err := objectEnd(data, path)
	if err != nil {
		return nil, err
	}
	if last < 0 { // an empty object
		return slices.Concat(data[:end], []byte(member), data[end:]), nil
	}
	space := data[last:end] // between the last member and the closing brace
	separator := ", "
	if i := bytes.LastIndexByte(space, '\n'); i >= 0 {
		separator = "," + string(newline(data)) + string(space[i+1:]) + indentStep(data)
	}
	return slices.Concat(data[:last], []byte(separator+member), data[last:]), nil
}

func newline(data []byte) []byte {
	if bytes.Contains(data, []byte("\r\n")) {
		return []byte("\r\n")
	}
	return []byte("\n")
}

// indentStep returns the spaces or tabs before the first member, two spaces if there are none.
func indentStep(data []byte) string {
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	indent := rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))]
	return cmp.Or(string(indent), "  ")
}

// objectEnd returns the offset of the brace that closes the object at a path, and the end of its last member, -1 for
// an empty object.
func objectEnd(data []byte, path []string) (end, last int, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return 0, 0, err
	}
	last = -1
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return 0, 0, err
		}
		if len(path) > 0 && key == path[0] {
			start := int(dec.InputOffset())
			start += bytes.IndexByte(data[start:], '{')
			var inner json.RawMessage
			if err := dec.Decode(&inner); err != nil {
				return 0, 0, err
			}
			end, last, err := objectEnd(inner, path[1:])
			if last >= 0 {
				last += start
			}
			return end + start, last, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return 0, 0, err
		}
		last = int(dec.InputOffset())
	}
	if len(path) > 0 {
		return 0, 0, fmt.Errorf("%s was not found", path[0])
	}
	if _, err := dec.Token(); err != nil {
		return 0, 0, err
	}
	return int(dec.InputOffset()) - 1, last, nil
}
