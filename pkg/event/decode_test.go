package event_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/event"
)

func TestDecodeRecords(t *testing.T) {
	t.Parallel()
	events := append(everyEvent(),
		event.TrailFinished{File: "a.trail.yaml", Outcome: event.Error, Reason: "a.trail.yaml:3:5: unknown key", Line: 3, Artifacts: []string{}},
		event.TrailFinished{Outcome: event.Failed, Reason: "no\nhint: of the tool's own", Artifacts: []string{}},
		event.TrailFinished{Outcome: event.Failed, Artifacts: []string{}, Failures: []event.Failure{
			{Kind: "soft", Reason: "no", Step: "3.2", StepText: "Pay", Tool: "check", File: "a.trail.yaml", Line: 7},
		}},
		event.CallStarted{Call: "1", Args: map[string]any{"n": json.Number("12345678901234567890"), "deep": []any{nil, true, map[string]any{}}}},
		event.Log{Level: "warn", Source: "run", Message: "a\nb"},
	)
	for _, e := range events {
		want := record(nil, "s1", "a.trail.yaml", e)
		got, err := event.Decode(encode(t, want))
		if started, ok := want.Event.(event.TrailStarted); ok {
			started.Steps = 0 // it is not encoded
			want.Event = started
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", e.Type(), err, diff)
		}
	}
}

func encode(t *testing.T, r event.Record) []byte {
	t.Helper()
	line, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func TestDecodedLogHasHintInMessage(t *testing.T) {
	t.Parallel()
	got, err := event.Decode(encode(t, record(nil, "", "", event.Log{Level: "warn", Message: "m", Hint: "h"})))
	if diff := cmp.Diff(event.Event(event.Log{Level: "warn", Message: "m\nhint: h"}), got.Event); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		line, err string
		unknown   bool
	}{
		"unknown fields":        {line: `{"v":1,"type":"step.started","time":"2026-11-20T12:00:00Z","seq":3,"index":1,"colour":["red"],"at":{"x":1}}`},
		"missing fields":        {line: `{"v":1,"type":"trail.finished","time":"2026-11-20T12:00:00Z","seq":3}`},
		"an unknown type":       {line: `{"v":1,"type":"moon.rose","time":"2026-11-20T12:00:00Z","seq":3}`, err: `"moon.rose"`, unknown: true},
		"another version":       {line: `{"v":2,"type":"log","time":"2026-11-20T12:00:00Z","seq":3}`, err: "v is 2"},
		"another file":          {line: `{"name":"package"}`, err: "v is 0"},
		"half a line":           {line: `{"v":1,"type":"log","ti`, err: "unexpected end"},
		"a wrong type of field": {line: `{"v":1,"type":"step.started","time":"2026-11-20T12:00:00Z","seq":3,"index":"one"}`, err: "cannot unmarshal string"},
		"not an object":         {line: `[1]`, err: "cannot unmarshal array"},
		"nothing":               {line: ``, err: "unexpected end"},
	} {
		_, err := event.Decode([]byte(tt.line))
		if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) || errors.Is(err, event.ErrUnknown) != tt.unknown {
			t.Errorf("%s: %v, want %q", name, err, tt.err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, e := range everyEvent() {
		line, err := record(nil, "s1", "a.trail.yaml", e).MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := event.Decode(line)
		if err != nil {
			return
		}
		first := encode(t, r)
		again, err := event.Decode(first)
		if err != nil {
			t.Fatalf("%v in %s", err, first)
		}
		if second := encode(t, again); string(second) != string(first) {
			t.Fatalf("encoded again:\n%s\nwant\n%s", second, first)
		}
	})
}
