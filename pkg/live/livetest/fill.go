package livetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// TB is the part of testing.TB that is needed.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Fill returns a value of a type with something in every part of it: in texts a text, and in texts of other types than
// string another one.
func Fill(t TB, typ reflect.Type, text string) reflect.Value {
	t.Helper()
	v := reflect.New(typ).Elem()
	(&filler{t: t, text: text}).fill(v)
	return v
}

type filler struct {
	t    TB
	text string
	n    int // of values so far
	// within are the types of the structs around the value.
	within []reflect.Type
}

func (f *filler) fill(v reflect.Value) {
	f.t.Helper()
	f.n++
	if v.Type() == reflect.TypeFor[*discover.Registry]() {
		v.Set(reflect.ValueOf(Registry(f.t, f.text)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("word %d", f.n))
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(fmt.Sprintf("%s %d", f.text, f.n))
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.n))
	case reflect.Float64:
		v.SetFloat(float64(f.n) + 0.5)
	case reflect.Uint8:
		v.SetUint(uint64(f.n % 256))
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{
			"big": int64(9007199254740993), "list": []any{true, nil, json.Number("1.50"), f.text}, f.text: "a key",
		}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key)
		f.fill(value)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if slices.Contains(f.within, v.Type()) { // it may hold values of its own type for ever
			return
		}
		f.within = append(f.within, v.Type())
		for field, value := range v.Fields() {
			if field.IsExported() {
				f.fill(value)
			}
		}
		f.within = f.within[:len(f.within)-1]
	default:
		f.t.Fatalf("no value for %s", v.Type())
	}
}

// Registry returns a registry with tools that are offered, skipped, missing and off. A text is in its descriptions,
// schemas and errors.
func Registry(t TB, text string) *discover.Registry {
	t.Helper()
	schema := fmt.Appendf(nil, `{"properties":{"appId":{"default":%q},"n":{"const":9007199254740993}},"type":"object"}`, text)
	r, err := discover.Build(discover.Scope{Driver: "playwright-native", Platform: scope.Web}, []discover.Source{
		{
			Source: tool.Source{Kind: tool.FromDevice, Name: "web"}, OfKind: func() []string { return []string{"swipe"} }, Instead: map[string]string{"launch": "use " + text},
			Tools: []tool.Advertised{
				{Name: "open", Description: text, InputSchema: schema, OutputSchema: fmt.Appendf(nil, `{"title":%q}`, text)},
				{Name: "phone", Meta: map[string]any{"trailblaze/supportedPlatforms": []any{"android"}}},
			},
		},
		{
			Source: tool.Source{Kind: tool.FromServer, Name: "shop"},
			Tools:  []tool.Advertised{{Name: "buy", Meta: map[string]any{"trailblaze/toolset": "shop", "trailblaze/isRecordable": false}}},
		},
	}, []discover.Toolset{{ID: "shop", Tools: []string{"nothing*"}, OffByDefault: true}}, discover.Selection{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}
