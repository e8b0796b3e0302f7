package config

import "embed"

//go:embed schema-project.json schema-target.json schema-toolset.json
var schemas embed.FS

// SchemaNames lists the kinds of file that have a JSON Schema.
func SchemaNames() []string { return []string{"project", "target", "toolset"} }

// Schema returns the JSON Schema (2020-12) of a kind of file. It is for editors: it knows every key in both spellings, but not
// what spans files, what needs the disk, and that a key may stand in one spelling only.
func Schema(name string) ([]byte, bool) {
	data, err := schemas.ReadFile("schema-" + name + ".json")
	return data, err == nil
}
