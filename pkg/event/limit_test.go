package event_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/event"
)

func TestTextOfCallsIsLimited(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2"
	for name, tt := range map[string]struct {
		text string
		kept int // bytes; 0 for all
	}{
		"the most":             {strings.Repeat("x", event.MaxText), 0},
		"one byte more":        {strings.Repeat("x", event.MaxText) + "y", event.MaxText},
		"much more":            {strings.Repeat("x", 1<<20), event.MaxText},
		"a divided character":  {strings.Repeat("x", event.MaxText-2) + "𝄞y", event.MaxText - 2},
		"a divided secret":     {strings.Repeat("x", event.MaxText-2) + secret, event.MaxText},
		"bytes without UTF-8":  {strings.Repeat("\x80", event.MaxText+10), event.MaxText - utf8.UTFMax},
		"secrets that shorten": {strings.Repeat(secret, event.MaxText/len(secret)+1), 0},
	} {
		for _, e := range []event.Event{
			event.CallFinished{Call: "1", Text: tt.text},
			event.CallFinished{Call: "1", Error: tt.text},
			event.CallStarted{Call: "1", Args: map[string]any{"list": []any{"", map[string]any{"text": tt.text}}}},
			event.CallProgress{Call: "1", Message: tt.text},
			event.TrailFinished{Reason: tt.text},
		} {
			var got string
			switch e := record(map[string]string{"S": secret}, "", "", e).Event.(type) {
			case event.CallFinished:
				got = e.Text + e.Error
			case event.CallStarted:
				list, _ := e.Args["list"].([]any)
				args, _ := list[1].(map[string]any)
				got, _ = args["text"].(string)
			case event.CallProgress:
				got = e.Message
			case event.TrailFinished:
				got = e.Reason
			}
			redacted := strings.ReplaceAll(tt.text, secret, "{{S}}")
			want := redacted
			if tt.kept > 0 {
				want = redacted[:tt.kept] + fmt.Sprintf("… [%d bytes left out]", len(redacted)-tt.kept)
				want = strings.Replace(want, "[1 bytes", "[1 byte", 1)
			}
			if got != want {
				t.Errorf("%s: %d bytes, …%q, want %d bytes, …%q", name, len(got), got[max(0, len(got)-40):], len(want), want[max(0, len(want)-40):])
			}
		}
	}
}
