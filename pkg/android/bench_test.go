package android

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// newTap returns a tap on an element that a recording names, and the session of the server that it uses. The wait
// between the two reads of the screen is left out.
func newTap(t testing.TB) (tap func(), session *webdriver.Session, p *phones.Android) {
	t.Helper()
	d := newDesk(t)
	p = d.phone(phones.AndroidOptions{Server: serverVersion})
	opened, closeAll := d.open()
	t.Cleanup(closeAll)
	p.App.Show(app.SignIn)
	limits := mobile.DefaultLimits("")
	limits.Stable, limits.Poll = time.Nanosecond, time.Nanosecond
	open := func(context.Context) (mobile.Driver, error) { return keptDriver{opened}, nil }
	s := mobile.NewDevice(mobile.Options{Platform: mobile.Android, Limits: limits, Open: open}, d.session())
	t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
	selector := map[string]any{"nodeSelector": map[string]any{
		"androidAccessibility": map[string]any{"resourceIdRegex": ".*:id/email"},
	}}
	tap = func() {
		if result := call(t, s, "tapOnElementBySelector", selector); !result.OK {
			t.Fatal(result.Text)
		}
	}
	tap()
	return tap, opened.server.session, p
}

// keptDriver is a driver that is not closed with its session.
type keptDriver struct{ mobile.Driver }

func (keptDriver) Close(context.Context) error { return nil }

func TestTapReadsTwiceAndTouchesOnce(t *testing.T) {
	t.Parallel()
	tap, _, p := newTap(t)
	before := len(p.Requests())
	tap()
	if sent := p.Requests()[before:]; len(sent) != 3 {
		t.Errorf("requests of a tap: %q", sent)
	}
}

// BenchmarkTap measures a tap, and reports its ratio to the requests that it cannot do without: two reads of the screen
// and the touch. The phone is simulated.
func BenchmarkTap(b *testing.B) {
	tap, session, _ := newTap(b)
	bare := func() {
		for range 2 {
			if _, err := session.Source(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		finger := webdriver.Finger{Path: []webdriver.Point{{X: 540, Y: 624}}, Hold: 100 * time.Millisecond}
		if err := session.Actions(b.Context(), finger); err != nil {
			b.Fatal(err)
		}
	}
	var taps, bares []time.Duration
	for b.Loop() {
		taps, bares = append(taps, timeOf(tap)), append(bares, timeOf(bare))
	}
	b.ReportMetric(float64(median(taps).Microseconds()), "µs/tap")
	b.ReportMetric(float64(median(taps))/float64(median(bares)), "tap/bare")
}

func timeOf(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
