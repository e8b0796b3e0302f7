package run_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/redact"
	"github.com/trailblaze/trailblaze/pkg/run"
)

// TestMemoryStaysFlatInALongRun is not parallel, since it measures the heap of the process.
func TestMemoryStaysFlatInALongRun(t *testing.T) { //nolint:paralleltest // see above
	few, many := 200, 2000
	if testing.Short() {
		few, many = 100, 400
	}
	heap := map[int]uint64{}
	finished := 0
	measure := event.HandlerFunc(func(r event.Record) {
		if _, ok := r.Event.(event.TrailFinished); !ok {
			return
		}
		if finished++; finished == few || finished == many {
			runtime.GC()
			runtime.GC() // frees what finalizers kept
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heap[finished] = m.HeapAlloc
		}
	})
	o := options(t, &records{}, call("one", "one"), "one")
	o.Stream = event.NewStream(time.Now, redact.New(nil), measure)
	o.RepeatEach = many
	if summary, err := run.Run(t.Context(), o); err != nil || summary.Passed != many {
		t.Fatalf("%v, %+v", err, summary)
	}
	ratio := float64(heap[many]) / float64(heap[few])
	t.Logf("heap after %d trails: %d KiB, after %d: %d KiB, ratio %.2f", few, heap[few]>>10, many, heap[many]>>10, ratio)
	if ratio > 1.25 {
		t.Errorf("the heap after %d trails is %.2f times that after %d, want at most 1.25", many, ratio, few)
	}
}
