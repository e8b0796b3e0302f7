package trail_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/trail"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

func schema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(trail.Schema(), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// validate checks a YAML file against the schema; isYAML is false when it cannot be read as YAML values in the first
// place.
func validate(t *testing.T, data []byte) (invalid error, isYAML bool) {
	t.Helper()
	doc, root := yamldoc.Parse("f.yaml", fault.Trail, data)
	value := root.Value()
	if len(doc.Problems()) > 0 {
		return nil, false
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var instance any
	if err := json.Unmarshal(encoded, &instance); err != nil {
		t.Fatal(err)
	}
	schema, err := compiledSchema()
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(instance), true
}

var compiledSchema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(trail.Schema(), &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
})

func TestSchemaAcceptsEveryGoodFile(t *testing.T) {
	t.Parallel()
	for name, data := range files(t, "good") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if invalid, isYAML := validate(t, data); invalid != nil || !isYAML {
				t.Errorf("invalid: %v", invalid)
			}
		})
	}
}

func TestSchemaRejectsBadStructure(t *testing.T) {
	t.Parallel()
	// A schema cannot check the meaning of text and relations between parts of a file.
	beyond := []string{"driver-of-another-platform", "malformed-tokens", "undeclared-argument", "undeclared-argument-none"}
	var accepted []string
	for name, data := range files(t, "bad") {
		if invalid, isYAML := validate(t, data); isYAML && invalid == nil {
			accepted = append(accepted, name)
		}
	}
	slices.Sort(accepted)
	if !slices.Equal(accepted, beyond) {
		t.Errorf("the schema accepts %v, and should accept only %v", accepted, beyond)
	}
}

func TestSchemaListsTheDrivers(t *testing.T) {
	t.Parallel()
	var want []string
	for _, key := range scope.DriverKeys() {
		want = append(want, key, strings.ToUpper(strings.ReplaceAll(key, "-", "_")))
	}
	var got []string
	for _, v := range schema(t).Defs["driver"].Enum {
		got = append(got, v.(string))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("drivers %v, want %v", got, want)
	}
}
