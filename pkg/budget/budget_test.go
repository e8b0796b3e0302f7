package budget_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trailblaze/trailblaze/pkg/budget"
)

func TestSharesDivideABudget(t *testing.T) {
	t.Parallel()
	b := budget.New(10)
	one, two := b.Share(), b.Share()
	if !one.Resize(6) || two.Resize(5) || !two.Resize(4) || one.Resize(7) || !one.Resize(6) {
		t.Error("the shares are not bounded by what the other has")
	}
	if !one.Resize(2) || !two.Resize(8) {
		t.Error("a share that shrank did not leave room")
	}
	two.Release()
	two.Release()
	if !one.Resize(10) {
		t.Error("a released share did not leave room")
	}
	var unlimited *budget.Budget
	if !unlimited.Share().Resize(1<<40) || !unlimited.Share().Wait(t.Context(), 1<<40) {
		t.Error("no budget has a limit")
	}
}

func TestSharesWaitForRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(10)
		one, two := b.Share(), b.Share()
		one.Resize(6)
		go func() {
			<-time.After(time.Second)
			one.Resize(5)
			<-time.After(time.Second)
			one.Release()
		}()
		start := time.Now()
		if !two.Wait(t.Context(), 10) || time.Since(start) != 2*time.Second {
			t.Errorf("it got its share after %s", time.Since(start))
		}
		if one.Wait(t.Context(), 11) || time.Since(start) != 2*time.Second {
			t.Error("it got, or waited for, more than there is")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if one.Wait(ctx, 1) {
			t.Error("it got a share of a budget that is used up")
		}
	})
}

// TestSizesAreUpperBounds compares the sizes with what the decoder allocates and the encoder writes.
func TestSizesAreUpperBounds(t *testing.T) { //nolint:paralleltest // it measures what the whole process allocates
	var keys strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&keys, `"%d":0,`, i)
	}
	for _, text := range []string{
		`{` + keys.String() + `"":0}`, `[` + strings.Repeat(`{},`, 20_000) + `{}]`, `[` + strings.Repeat(`{"":0},`, 20_000) + `0]`,
		`[` + strings.Repeat(`[],`, 20_000) + `[]]`, `[` + strings.Repeat(`0,`, 20_000) + `0]`,
		`{` + strings.Repeat(`"":0,`, 20_000) + `"":0}`, `"` + strings.Repeat("x", 20_000) + `"`,
		`[` + strings.Repeat(`"x",`, 20_000) + `""]`, `[` + strings.Repeat(`1.5,`, 20_000) + `0]`,
	} {
		var value any
		held := math.MaxInt
		for range 3 { // the runtime allocates, too
			var before, after runtime.MemStats
			value = nil
			runtime.GC()
			runtime.ReadMemStats(&before)
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			held = min(held, int(after.HeapAlloc)-int(before.HeapAlloc))
		}
		if decoded := budget.Decoded(text); held > decoded+4096 {
			t.Errorf("%.20s takes %d bytes, expected at most %d", text, held, decoded)
		}
		encoded, err := json.Marshal(value)
		if size := budget.Value(value, 1<<40); err != nil || max(held, len(encoded)) > size+4096 {
			t.Errorf("the value of %.20s takes %d bytes, and %d as JSON, expected at most %d (%v)", text, held, len(encoded), size, err)
		}
		runtime.KeepAlive(value)
	}
	for _, text := range []string{"", "plain", "\x00\x1f\n\t", `"\`, "<&>", "ä€😀", "\u2028\u2029", "\xff\xc3", "\x7f"} {
		var b bytes.Buffer
		if err := json.NewEncoder(&b).Encode(text); err != nil {
			t.Fatal(err)
		}
		if n := b.Len() - 1; budget.Encoded(text) < n {
			t.Errorf("%q has %d bytes as JSON, expected at most %d", text, n, budget.Encoded(text))
		}
	}
	if size := budget.Value([]any{strings.Repeat("x", 100), strings.Repeat("x", 1<<20)}, 10); size > 1000 {
		t.Errorf("it counted %d bytes beyond the limit", size)
	}
}
