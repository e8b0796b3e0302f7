//go:build unix

package background_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// filled is a session that keeps requests, and whose answers have a value in each field.
type filled struct {
	*session
	t       *testing.T
	request any
}

func fill[T any](t *testing.T) (value T) {
	t.Helper()
	n := 0
	fillValue(t, reflect.ValueOf(&value).Elem(), &n)
	return value
}

// fillValue puts a value of its own into each field of v.
func fillValue(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v.Interface().(type) {
	case *discover.Registry:
		v.Set(reflect.ValueOf(registry(t)))
		return
	case json.RawMessage:
		v.SetBytes(fmt.Appendf(nil, `{"n":%d}`, *n))
		return
	case yamldoc.Positions: // they hold themselves
		v.Set(reflect.ValueOf(yamldoc.Positions{Line: *n, Fields: map[string]yamldoc.Positions{"a": {Line: 1, Items: []yamldoc.Positions{{Column: 2}}}}}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"big": int64(9007199254740993), "list": []any{true, nil, json.Number("1.50")}}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillValue(t, v.Index(0), n)
		fillValue(t, v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillValue(t, key, n)
		fillValue(t, value, n)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fillValue(t, field, n)
		}
	default:
		t.Fatalf("no value for %s", v.Type())
	}
}

// registry returns a registry with tools that are offered, skipped, missing and off.
func registry(t *testing.T) *discover.Registry {
	t.Helper()
	schema := json.RawMessage(`{"type":"object","properties":{"appId":{"type":"string"},"n":{"const":9007199254740993}}}`)
	r, err := discover.Build(discover.Scope{Driver: "playwright-native", Platform: scope.Web}, []discover.Source{
		{
			Source: tool.Source{Kind: tool.FromDevice, Name: "web"}, Missing: []string{"swipe"}, Instead: map[string]string{"launch": "use open"},
			Tools: []tool.Advertised{
				{Name: "open", Description: "Opens.", InputSchema: schema, OutputSchema: json.RawMessage(`{"type":"array"}`)},
				{Name: "phone", Meta: map[string]any{"trailblaze/supportedPlatforms": []any{"android"}}},
			},
		},
		{
			Source: tool.Source{Kind: tool.FromServer, Name: "shop"},
			Tools:  []tool.Advertised{{Name: "buy", Meta: map[string]any{"trailblaze/toolset": "shop", "trailblaze/isRecordable": false}}},
		},
	}, []discover.Toolset{{ID: "shop", Tools: []string{"nothing*"}, OffByDefault: true}}, discover.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// answerOf returns the answer to a request, which it keeps.
func answerOf[T any](f *filled, request any) T {
	f.request = request
	return fill[T](f.t)
}

func (f *filled) Status(context.Context) (live.Status, error) { return fill[live.Status](f.t), nil }

func (f *filled) Snapshot(_ context.Context, o live.SnapshotOptions) (live.Snapshot, error) {
	return answerOf[live.Snapshot](f, o), nil
}

func (f *filled) Step(_ context.Context, r live.StepRequest) (live.StepReport, error) {
	return answerOf[live.StepReport](f, r), nil
}

func (f *filled) Edit(_ context.Context, e live.Edit) (string, error) {
	if e == (live.Edit{}) {
		return "", nil // the server looks at the recording after each request
	}
	return answerOf[string](f, e), nil
}

func (f *filled) Save(_ context.Context, r live.SaveRequest) (live.SaveReport, error) {
	return answerOf[live.SaveReport](f, r), nil
}

func (f *filled) RunTrail(_ context.Context, r live.TrailRequest) (live.TrailReport, error) {
	return answerOf[live.TrailReport](f, r), nil
}

func (f *filled) Toolbox(context.Context) (live.Toolbox, error) { return fill[live.Toolbox](f.t), nil }

// TestClientIsASession makes each request of live.API, with a value in each field, to a session and to its client.
func TestClientIsASession(t *testing.T) {
	t.Parallel()
	s := &filled{session: newSession(), t: t}
	client := serve(t, s, 0)
	equal := []cmp.Option{
		cmpopts.IgnoreUnexported(discover.Registry{}, discover.Tool{}),
		cmpopts.IgnoreFields(discover.Tool{}, "Caller", "Check"),
	}
	for method := range reflect.TypeFor[live.API]().Methods() {
		if method.Type.NumOut() < 2 { // Err and Close
			continue
		}
		var answers, requests []any
		for _, to := range []live.API{s, client.Client} {
			in, n := []reflect.Value{reflect.ValueOf(t.Context())}, 0
			if method.Type.NumIn() > 1 {
				request := reflect.New(method.Type.In(1)).Elem()
				fillValue(t, request, &n)
				in = append(in, request)
			}
			out := reflect.ValueOf(to).MethodByName(method.Name).Call(in)
			if !out[1].IsNil() {
				t.Fatal(method.Name, out[1])
			}
			answers, requests = append(answers, out[0].Interface()), append(requests, s.request)
		}
		if diff := cmp.Diff(answers[0], answers[1], equal...); diff != "" {
			t.Errorf("answer of %s (-session +client):\n%s", method.Name, diff)
		}
		if diff := cmp.Diff(requests[0], requests[1]); diff != "" {
			t.Errorf("request of %s (-session +client):\n%s", method.Name, diff)
		}
	}
}

func TestClientFindsToolsAsTheSessionDoes(t *testing.T) {
	t.Parallel()
	s := &filled{session: newSession(), t: t}
	box, err := serve(t, s, 0).Toolbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"open", "buy", "opne", "phone", "swipe", "launch"} {
		want, wantErr := registry(t).Find(name)
		got, gotErr := box.Registry.Find(name)
		if (want == nil) != (got == nil) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if diff := cmp.Diff(fault.As(wantErr), fault.As(gotErr)); diff != "" {
			t.Errorf("%s (-session +client):\n%s", name, diff)
		}
	}
}
