package trail

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/budget"
)

// TestMemoryIsBounded sets values of about 1000 bytes in a memory of 10,000, or in one that shares 10,000 with others.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 1000)
	for name, put := range map[string]func(v *Values, name string) error{
		"text":       func(v *Values, name string) error { return v.Set(name, text) },
		"list":       func(v *Values, name string) error { return v.Set(name, []any{text}) },
		"escapes":    func(v *Values, name string) error { return v.Set(name, strings.Repeat("\x01", 160)) },
		"JSON":       func(v *Values, name string) error { return v.Set(name, "["+strings.Repeat(`{},`, 2)+"0]") },
		"structured": func(v *Values, name string) error { return v.SetResult(name, "ok", json.RawMessage("[{},{},0]")) },
		"result":     func(v *Values, name string) error { return v.SetResult(name, "[{},{},0]", nil) },
		"delta":      func(v *Values, name string) error { return v.Apply(map[string]any{name: text}, nil) },
		"long names": func(v *Values, name string) error { return v.Set(name+text, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shared := budget.New(10_000)
			session, all := NewValues(Sources{}), NewValues(Sources{})
			session.limit = 10_000
			all.ChargeTo(shared)
			for whose, v := range map[string]*Values{"the memory of a session": session, "the memory of all sessions that run": all} {
				var err error
				n := 0
				for ; err == nil && n < 1000; n++ {
					err = put(v, fmt.Sprint("v", n))
				}
				if want := `the value "v`; err == nil || n < 5 || n > 13 || !strings.HasPrefix(err.Error(), want) ||
					!strings.Contains(err.Error(), ", and "+whose+" has ") || len(v.memory) != n-1 {
					t.Errorf("%s has %d values after %d: %v", whose, len(v.memory), n, err)
				}
				if err := put(v, "v1"); err != nil {
					t.Errorf("%s: a value cannot be replaced: %v", whose, err)
				}
			}
			all.Uncharge()
			if !shared.Share().Resize(10_000) {
				t.Error("the memory of a session that ended is not given back")
			}
		})
	}
}

func TestDeletedValuesLeaveRoom(t *testing.T) {
	t.Parallel()
	v := NewValues(Sources{})
	v.limit = 10_000
	for i := range 100 {
		if err := v.Apply(map[string]any{"v": strings.Repeat("x", 8000)}, []string{"v"}); err != nil {
			t.Fatalf("value %d: %v", i, err)
		}
		v.Delete(fmt.Sprint("never set ", i))
	}
	if len(v.changed) != 1 {
		t.Errorf("%d names are kept", len(v.changed))
	}
}

func TestChangeSize(t *testing.T) {
	t.Parallel()
	v := NewValues(Sources{Memory: map[string]string{"old": strings.Repeat("x", 5000)}})
	version := v.Version()
	if n := v.ChangeSize(version); n != 0 {
		t.Errorf("%d bytes without a change", n)
	}
	_ = v.Apply(map[string]any{"new": strings.Repeat("x", 1000), "gone": "y"}, []string{"gone"})
	if n := v.ChangeSize(version); n < 1000 || n > 2000 {
		t.Errorf("%d bytes", n)
	}
}
