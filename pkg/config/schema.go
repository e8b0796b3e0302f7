package config

import "embed"

//go:embed schema-project.json schema-target.json schema-toolset.json
var schemas embed.FS

// SchemaNames returns the kinds of file that have a JSON Schema.
func SchemaNames() []string { return []string{"project", "target", "toolset"} }

// Schema returns the JSON Schema (2020-12) of a kind of file, for editors. It has every key in both spellings. Load
// checks more: names across files, paths, and that a key is written in one spelling only.
func Schema(name string) ([]byte, bool) {
	data, err := schemas.ReadFile("schema-" + name + ".json")
	return data, err == nil
}
