//go:build unix

package background_test

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/live/livetest"
	"github.com/trailblaze/trailblaze/pkg/trail"
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

func (f *filled) Look(_ context.Context, picture bool) (live.Look, error) {
	return answerOf[live.Look](f, picture), nil
}

func (f *filled) Locate(_ context.Context, at live.Place) (live.Location, error) {
	return answerOf[live.Location](f, at), nil
}

// TestClientIsASession makes each request of live.API, with a value in each field, to a session and to its client.
func TestClientIsASession(t *testing.T) {
	t.Parallel()
	s := &filled{session: newSession(), t: t}
	client := serve(t, s, 0)
	equal := []cmp.Option{
		cmpopts.IgnoreUnexported(discover.Registry{}, discover.Tool{}, live.StepRequest{}),
		cmpopts.IgnoreFields(discover.Tool{}, "Caller", "Check"),
		cmpopts.IgnoreFields(trail.Call{}, "Use"), // it is in the arguments, too, and not in JSON
	}
	for method := range reflect.TypeFor[live.API]().Methods() {
		if n := method.Type.NumOut(); n < 2 || method.Type.Out(1) != reflect.TypeFor[error]() { // Err, Close and Subscribe
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

// TestEmptyContentIsNotNone sends texts that are empty: none means the recording, and that a file did not exist.
func TestEmptyContentIsNotNone(t *testing.T) {
	t.Parallel()
	s := &filled{session: newSession(), t: t}
	client := serve(t, s, 0)
	for _, content := range [][]byte{nil, {}, []byte("trail: []")} {
		trailRequest, saveRequest := live.TrailRequest{Content: content}, live.SaveRequest{Content: content, Base: content}
		if _, err := client.RunTrail(t.Context(), trailRequest); err != nil || !reflect.DeepEqual(s.request, trailRequest) {
			t.Errorf("replay of %#v: %#v, %v", content, s.request, err)
		}
		if _, err := client.Save(t.Context(), saveRequest); err != nil || !reflect.DeepEqual(s.request, saveRequest) {
			t.Errorf("save of %#v: %#v, %v", content, s.request, err)
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

// observed is a session whose events a test sends.
type observed struct {
	*session
	events chan event.Event
	buffer int
	stops  atomic.Int32
}

func (o *observed) Subscribe(_ context.Context, buffer int) (events <-chan event.Event, stop func()) {
	o.buffer = buffer
	return o.events, func() { o.stops.Add(1) }
}

func TestClientReceivesEventsAndLooksOnDuringACall(t *testing.T) {
	t.Parallel()
	s := &observed{session: newSession(), events: make(chan event.Event)}
	began, proceed := make(chan struct{}), make(chan struct{})
	s.step = func(context.Context, live.StepRequest) (live.StepReport, error) {
		close(began)
		<-proceed
		return live.StepReport{}, nil
	}
	c := serve(t, s, 0)
	events, stop := c.Subscribe(t.Context(), 7)
	if s.buffer != 7 {
		t.Errorf("buffer %d", s.buffer)
	}
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = c.Step(t.Context(), live.StepRequest{}) })
	<-began
	for _, e := range []event.Event{
		event.CallStarted{Call: "1.1", Tool: "tap", Source: "device web", Args: map[string]any{"text": "Pay"}},
		event.Lost{Count: 3},
		event.StepFinished{Index: 1, Outcome: event.Passed},
	} {
		s.events <- e
		if diff := cmp.Diff(e, <-events); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := c.Look(t.Context(), false); err != nil {
		t.Error(err)
	}
	stop()
	if e, open := <-events; open {
		t.Errorf("after stop: %v", e)
	}
	ended, stopEnded := c.Subscribe(t.Context(), 1)
	defer stopEnded()
	close(proceed)
	wg.Wait()
	c.stop(nil) // which ends the session
	if e, open := <-ended; open {
		t.Errorf("after the end: %v", e)
	}
	<-c.ended
	if n := s.stops.Load(); n != 2 {
		t.Errorf("%d subscriptions were stopped", n)
	}
	if late, stopLate := c.Subscribe(t.Context(), 1); late != nil {
		defer stopLate()
		if e, open := <-late; open {
			t.Errorf("of a session that has ended: %v", e)
		}
	}
}
