package event_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
)

func TestModelUseIsSummedUp(t *testing.T) {
	t.Parallel()
	priced := event.LLMFinished{Tokens: 1000, CachedTokens: 600, OutputTokens: 50, Cost: new(0.1)}
	unpriced := event.LLMFinished{Tokens: 1, Estimated: true}
	use := func(requests ...event.LLMFinished) *event.ModelUse {
		u := &event.ModelUse{Mode: event.Recorded}
		for _, r := range requests {
			u.AddRequest(r)
		}
		return u
	}
	for name, tt := range map[string]struct{ got, want *event.ModelUse }{
		"no model":         {(*event.ModelUse)(nil).Plus(nil), nil},
		"no request":       {use(), &event.ModelUse{Mode: event.Recorded}},
		"one":              {use(priced), &event.ModelUse{event.Assisted, 1, 1000, 600, 50, false, new(0.1)}},
		"cents stay cents": {use(priced, priced, priced), &event.ModelUse{event.Assisted, 3, 3000, 1800, 150, false, new(0.3)}},
		"without a price":  {use(priced, unpriced), &event.ModelUse{event.Assisted, 2, 1001, 600, 50, true, nil}},
		"of two attempts":  {use(priced).Plus(use()), &event.ModelUse{event.Assisted, 1, 1000, 600, 50, false, new(0.1)}},
		"the other way":    {use().Plus(use(priced)), &event.ModelUse{event.Assisted, 1, 1000, 600, 50, false, new(0.1)}},
		"of one of two":    {(*event.ModelUse)(nil).Plus(use(priced)), use(priced)},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRunCountsAssistedTrails(t *testing.T) {
	t.Parallel()
	assisted := &event.ModelUse{Mode: event.Assisted, Requests: 2, Tokens: 10}
	var run event.RunFinished
	run.Count(event.Passed, false, assisted)
	run.Count(event.Failed, false, assisted)
	run.Count(event.Passed, false, &event.ModelUse{Mode: event.Recorded})
	run.Count(event.Skipped, false, nil)
	want := event.RunFinished{
		Passed: 2, Failed: 1, Skipped: 1, Assisted: 1, ModelUse: &event.ModelUse{Mode: event.Assisted, Requests: 4, Tokens: 20},
	}
	if diff := cmp.Diff(want, run); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEndsOfTrailsHaveModelUse(t *testing.T) {
	t.Parallel()
	for _, e := range []event.Event{event.TrailFinished{Artifacts: []string{}}, event.RunFinished{NotRun: []event.NotRun{}}} {
		without, err := json.Marshal(record(nil, "", "", e))
		if err != nil || strings.Contains(string(without), "mode") || strings.Contains(string(without), "requests") {
			t.Errorf("without a model: %s, %v", without, err)
		}
		use := &event.ModelUse{Mode: event.Recorded}
		switch with := e.(type) {
		case event.TrailFinished:
			with.ModelUse = use
			e = with
		case event.RunFinished:
			with.ModelUse = use
			e = with
		}
		line := encode(t, record(nil, "", "", e))
		if !strings.Contains(string(line), `"mode":"recorded","requests":0,"tokens":0,"cachedTokens":0,"outputTokens":0`) {
			t.Errorf("%s", line)
		}
		decoded, err := event.Decode(line)
		if diff := cmp.Diff(e, decoded.Event, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".NotRun" }, cmp.Ignore())); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}
