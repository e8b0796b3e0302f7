package live_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/live/livetest"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// TestAnswersHaveNoSecrets puts a secret into every text of each answer.
func TestAnswersHaveNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "98761234"
	redactor := redact.New(map[string]string{"PIN": secret})
	equal := []cmp.Option{
		cmpopts.IgnoreUnexported(discover.Registry{}, discover.Tool{}), cmpopts.IgnoreFields(discover.Tool{}, "Caller", "Check"),
		cmpopts.IgnoreFields(trail.Call{}, "Use"), // it is in the arguments, too, and not in JSON
	}
	for method := range reflect.TypeFor[live.API]().Methods() {
		if n := method.Type.NumOut(); n < 2 || method.Type.Out(1) != reflect.TypeFor[error]() { // Err, Close and Subscribe
			continue
		}
		answer := livetest.Fill(t, method.Type.Out(0), secret)
		got := live.CleanValue(redactor, answer).Interface()
		want := livetest.Fill(t, method.Type.Out(0), "{{PIN}}").Interface()
		if diff := cmp.Diff(want, got, equal...); diff != "" {
			t.Errorf("%s (-want +got):\n%s", method.Name, diff)
		}
		if diff := cmp.Diff(livetest.Fill(t, method.Type.Out(0), secret).Interface(), answer.Interface(), equal...); diff != "" {
			t.Errorf("%s changed what the session has:\n%s", method.Name, diff)
		}
	}
}

func TestErrorsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	cause := errors.New("the cause")
	var replayErr error
	f := open(t, func(o *live.Options) {
		o.Replay = func(context.Context, string, map[string][]byte, map[string]string) (live.Replayed, error) {
			return live.Replayed{}, replayErr
		}
	})
	answers := map[string]error{
		"fault": &fault.Error{Kind: fault.Crashed, Message: "a 98761234", Hint: "b 98761234", Details: map[string]any{"c": "98761234"}, Cause: cause},
		"joined": errors.Join(fault.Problems{{Kind: fault.Trail, File: "f", Line: 3, Message: "a 98761234", Hint: "b 98761234", Snippet: "> 98761234"}},
			errors.New("a 98761234"), cause),
	}
	for name, err := range answers {
		replayErr = err
		_, got := f.RunTrail(t.Context(), live.TrailRequest{File: f.write("a.trail.yaml", "trail: [{step: a, recording: {web: [{tap: {text: a}}]}}]")})
		text := got.Error() + strings.Join(fault.Hints(got), "")
		if e := fault.As(got); e != nil {
			text += e.Details["c"].(string) //nolint:forcetypeassert // it is one
		}
		if problems, ok := errors.AsType[fault.Problems](got); ok {
			text += problems[0].Hint + problems[0].Snippet
		}
		if n := strings.Count(text, "{{PIN}}"); strings.Contains(text, "98761234") || n < 3 || fault.KindOf(got) != fault.KindOf(err) || !errors.Is(got, cause) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestPanicIsAnError(t *testing.T) {
	t.Parallel()
	f := open(t, func(o *live.Options) {
		o.Replay = func(context.Context, string, map[string][]byte, map[string]string) (live.Replayed, error) {
			panic("a bug with 98761234")
		}
	})
	_, err := f.RunTrail(t.Context(), live.TrailRequest{File: f.write("a.trail.yaml", "trail: [{step: a, recording: {web: [{tap: {text: a}}]}}]")})
	if fault.KindOf(err) != fault.Bug || !strings.Contains(err.Error(), "a bug with {{PIN}}") {
		t.Errorf("%v", err)
	}
	if _, err := f.Status(t.Context()); err != nil {
		t.Error(err)
	}
}
