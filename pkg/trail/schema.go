package trail

import (
	"bytes"
	_ "embed" // carries schema.json
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (2020-12) of trail files, for editors. Parse checks more than the schema.
func Schema() []byte { return bytes.Clone(schema) }
