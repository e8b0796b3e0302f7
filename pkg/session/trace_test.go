package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// filmedDevice returns moments one after another.
type filmedDevice struct {
	moments []device.Moment
	whole   []bool
}

func (*filmedDevice) StartTrace(device.TraceOptions) {}

func (f *filmedDevice) Moment(_ context.Context, whole bool) device.Moment {
	f.whole = append(f.whole, whole)
	m := f.moments[0]
	f.moments = f.moments[1:]
	return m
}

// describe returns the calls of a trace in words: the pictures before and after it, and the elements of the screen.
func describe(t *trace) string {
	name := func(p *device.Picture) string {
		if p == nil {
			return "-"
		}
		return string(p.Data[:1])
	}
	var words []string
	for _, c := range t.calls {
		words = append(words, fmt.Sprintf("%s:%s%s%.1s", c.call, name(c.before), name(c.after.Picture), c.after.Tree))
	}
	return strings.Join(words, " ")
}

func TestTraceRemovesOldestParts(t *testing.T) {
	t.Parallel()
	const part = 1000
	picture := func(letter string) *device.Picture {
		return &device.Picture{Data: []byte(strings.Repeat(letter, part))}
	}
	a, b, c := picture("a"), picture("b"), picture("c")
	tree := strings.Repeat("t", part)
	moments := []device.Moment{
		{Picture: a, Tree: tree},
		{Picture: a, Tree: tree},
		{Before: b, Picture: b},
		{Picture: c, Tree: tree},
		{Picture: c, Tree: tree},
		{Picture: c, Tree: tree},
		{Picture: c, Tree: tree},
	}
	for name, tt := range map[string]struct {
		limit   int
		whole   bool
		want    string
		removed tracedRemoval
	}{
		"everything":       {1 << 20, true, "1:-at 2:abt 3:bb 4:bct 5:cct 6:cct 7:cct", tracedRemoval{}},
		"the last trees":   {1 << 20, false, "1:-a 2:ab 3:bb 4:bct 5:cct 6:cct 7:cct", tracedRemoval{}},
		"pictures first":   {9*part + 500, true, "1:--t 2:-bt 3:bb 4:bct 5:cct 6:cct 7:cct", tracedRemoval{pictures: 1}},
		"then trees":       {4*part + 500, true, "1:-- 2:-- 3:-- 4:-- 5:--t 6:--t 7:--t", tracedRemoval{pictures: 3, trees: 3}},
		"then whole calls": {3 * entryBytes, true, "5:-- 6:-- 7:--", tracedRemoval{3, 6, 4}},
	} {
		tr := &trace{device: &filmedDevice{moments: moments}, whole: tt.whole, limit: tt.limit}
		for i := range moments {
			tr.add(t.Context(), tool.Call{ID: fmt.Sprint(i + 1)}, false)
		}
		if got := describe(tr); got != tt.want || tr.removed != tt.removed || tr.size > tt.limit {
			t.Errorf("%s: %s, want %s; removed %+v; %d bytes", name, got, tt.want, tr.removed, tr.size)
		}
	}
}

func TestFailedCallsAreTracedWhole(t *testing.T) {
	t.Parallel()
	f := &filmedDevice{moments: make([]device.Moment, 2)}
	tr := &trace{device: f, limit: maxTrace}
	tr.add(t.Context(), tool.Call{}, false)
	tr.add(t.Context(), tool.Call{}, true)
	if f.whole[0] || !f.whole[1] {
		t.Errorf("whole: %v", f.whole)
	}
}
