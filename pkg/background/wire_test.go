//go:build unix

package background_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/live/livetest"
)

// filled is a session that keeps requests, and whose answers have a value in each field.
type filled struct {
	*session
	t       *testing.T
	request any
}

func fill[T any](t *testing.T) T {
	t.Helper()
	return livetest.Fill(t, reflect.TypeFor[T](), "text").Interface().(T) //nolint:forcetypeassert // it is its type
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
		cmpopts.IgnoreUnexported(discover.Registry{}, discover.Tool{}, live.StepRequest{}),
		cmpopts.IgnoreFields(discover.Tool{}, "Caller", "Check"),
	}
	for method := range reflect.TypeFor[live.API]().Methods() {
		if method.Type.NumOut() < 2 { // Err and Close
			continue
		}
		var answers, requests []any
		for _, to := range []live.API{s, client.Client} {
			in := []reflect.Value{reflect.ValueOf(t.Context())}
			if method.Type.NumIn() > 1 {
				in = append(in, livetest.Fill(t, method.Type.In(1), "text"))
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
		if diff := cmp.Diff(requests[0], requests[1], equal...); diff != "" {
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
		want, wantErr := livetest.Registry(t, "text").Find(name)
		got, gotErr := box.Registry.Find(name)
		if (want == nil) != (got == nil) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if diff := cmp.Diff(fault.As(wantErr), fault.As(gotErr)); diff != "" {
			t.Errorf("%s (-session +client):\n%s", name, diff)
		}
	}
}
