package mobile

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestExtrasOfAndroidApps(t *testing.T) {
	t.Parallel()
	// Numbers are int64 in a trail, and json.Number in the call of a script.
	extras, err := Extras(map[string]any{
		"a": "5", "b": true, "c": 3, "d": int64(1 << 40), "e": json.Number("7"), "f": 2.5, "g": 3e6, "h": json.Number("0.5"),
	})
	want := []string{
		"--es", "a", "5", "--ez", "b", "true", "--ei", "c", "3", "--el", "d", "1099511627776", "--ei", "e", "7",
		"--ef", "f", "2.5", "--ei", "g", "3000000", "--ef", "h", "0.5",
	}
	if got := ExtraWords(extras); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q %v\nwant %q", got, err, want)
	}
	arguments := map[string]any{"launchApp": map[string]any{"appId": "a", "arguments": map[string]any{"x": []any{}}}}
	_, err = readMaestro(Android, device.Arguments{"commands": []any{arguments}})
	if fault.KindOf(err) != fault.InvalidArguments {
		t.Errorf("a list: %v", err)
	}
}
