package web

import (
	"context"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// BenchmarkClick is a click on a ready element, found in different ways, beside the round trips that no click can do
// without.
func BenchmarkClick(b *testing.B) {
	backend := sharedBrowser.get(b)
	d := backend.Open(device.Session{
		Log:    func(string, string, string) {},
		Broken: func(err error) { b.Error(err) },
	}).(*webDevice)
	defer func() { _ = d.Close(context.WithoutCancel(b.Context())) }()
	ctx := b.Context()
	tab, err := d.waitForPage(ctx)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := navigate(ctx, tab,
		map[string]any{"url": "data:text/html,<h1>Counting</h1><button onclick='n=(window.n||0)+1'>Count</button>"}); err != nil {
		b.Fatal(err)
	}
	for name, ref := range map[string]string{
		"css": "css=button", "role": `button "Count"`, "text": "Count",
		"number": "e2",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := webClick(ctx, tab, map[string]any{"ref": ref}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			var at struct {
				Result struct{ Value struct{ X, Y float64 } }
			}
			find := `(() => { const r = document.querySelector("button").getBoundingClientRect(); return { x: r.x + r.width / 2, y: r.y + r.height / 2 } })()`
			if err := tab.target.Call(ctx, "Runtime.evaluate",
				map[string]any{"expression": find, "returnByValue": true}, &at); err != nil {
				b.Fatal(err)
			}
			for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
				event := map[string]any{
					"type":       kind,
					"x":          at.Result.Value.X,
					"y":          at.Result.Value.Y,
					"button":     "left",
					"clickCount": 1,
				}
				if err := tab.target.Call(ctx, "Input.dispatchMouseEvent", event, nil); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
