package mobile

import (
	"image"
	"image/color"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/picture"
)

// The fake's picture is a little higher than its screen, which does not matter: it has 100×200 pixels, the screen 1080×2400.
func TestPicturesOfAPhone(t *testing.T) {
	t.Parallel()
	bar := node("View", "12:30", rect(0, 0, width, 120))
	bar.ID = new("com.android.systemui:id/status_bar")
	f := &fake{
		nodes:   always(bar, node("TextView", "Total", rect(108, 240, 648, 600)), node("TextView", "Clock", rect(108, 240, 216, 360))),
		picture: color.Gray{Y: 200},
	}
	dir := filepath.Join(t.TempDir(), "a.screens")
	s := device.Session{Baselines: picture.Baselines{Dir: dir, Device: "android-android", Update: picture.UpdateMissing}}
	onPhone(t, f, s, func(p *phoneTest) {
		masked := map[string]any{"name": "total", "mask": []any{byText("Clock")}}
		maps.Copy(masked, byText("Total"))
		for range 2 {
			p.call("verifyScreenshot", map[string]any{"name": "screen"})
			if r := p.call("verifyScreenshot", masked); !r.OK {
				t.Error(r.Text)
			}
		}
		f.picture = color.Gray{Y: 90}
		r := p.call("verifyScreenshot", map[string]any{"name": "screen"})
		if r.OK || !strings.Contains(r.Text, "18900 of 20000 pixels differ") || len(r.Attachments) != 3 {
			t.Errorf("another screen: %v %q", r.OK, r.Text) // but for the bar
		}
		p.call("verifyScreenshot", map[string]any{"name": "none", "nodeSelector": byText("Nobody")["nodeSelector"], "timeoutMs": 100})
	})
	data, err := os.ReadFile(filepath.Join(dir, "total-android-android.png"))
	if err != nil {
		t.Fatal(err)
	}
	taken, err := picture.DecodePNG(data)
	if err != nil || taken.Rect != image.Rect(0, 0, 50, 34) {
		t.Fatalf("the element is %v, %v", taken.Rect, err)
	}
	if hidden, shown := taken.RGBAAt(5, 5), taken.RGBAAt(30, 20); hidden != (color.RGBA{255, 0, 255, 255}) || shown != (color.RGBA{200, 200, 200, 255}) {
		t.Errorf("the clock is %v, the rest %v", hidden, shown)
	}
}
