package mobile

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/picture"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// The fake's picture is a little higher than its screen, which does not matter: it has 100×200 pixels, the screen 1080×2400.
func TestPicturesOfAPhone(t *testing.T) {
	t.Parallel()
	f := &fake{
		nodes:   always(node("TextView", "Total", rect(108, 240, 648, 600)), node("TextView", "Clock", rect(108, 240, 216, 360))),
		picture: color.Gray{Y: 200}, statusBar: 120,
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

// A screenshot that is black, as of a screen that an app protects, is neither written as a baseline nor compared with one.
func TestPictureThatIsBlack(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]*fake{
		"all of it":    {nodes: always(node("TextView", "Total", rect(108, 240, 648, 600)))},
		"but for bars": {statusBar: 120, bar: color.Gray{Y: 200}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "a.screens")
			s := device.Session{Baselines: picture.Baselines{Dir: dir, Device: "android-android", Update: picture.UpdateMissing}}
			onPhone(t, f, s, func(p *phoneTest) {
				p.fails("verifyScreenshot", map[string]any{"name": "screen"},
					"the screenshot is black: the screen is off, or the app forbids screenshots of it")
				if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a baseline was written: %v", err)
				}
			})
		})
	}
}

// A screen is black for a moment when another one appears.
func TestPictureOfAScreenThatAppears(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a.screens")
	s := device.Session{Baselines: picture.Baselines{Dir: dir, Device: "android-android", Update: picture.UpdateMissing}}
	f := &fake{nodes: func(f *fake, at time.Duration) []*screen.Node {
		if at > time.Second {
			f.picture = color.Gray{Y: 200}
		}
		return nil
	}}
	onPhone(t, f, s, func(p *phoneTest) {
		if r := p.call("verifyScreenshot", map[string]any{"name": "screen"}); !r.OK {
			t.Error(r.Text)
		}
	})
}

// What readers know of the bars of the system does not count in a picture; all else does.
func TestBarsOfTheSystemMayDiffer(t *testing.T) {
	t.Parallel()
	const bars, pay = "com.android.systemui", "com.example.pay"
	const buttons = `<android.view.View class="android.view.View" resource-id="com.example.launcher:id/end_nav_buttons" />`
	android := func(windows ...string) (source.Result, error) { return windowsOf(2160, windows...) }
	ios := func(width, height int, child string) (source.Result, error) {
		return source.WDAJSON(fmt.Appendf(nil, `{"type": "Application", "rect": {"x": 0, "y": 0, "width": %d, "height": %d}, "children": [%s]}`,
			width, height, child), source.Options{})
	}
	for name, tt := range map[string]struct {
		platform  Platform
		statusBar int
		read      func() (source.Result, error)
		masked    int // of the 200 lines of the picture
	}{
		"Android": {Android, 0, func() (source.Result, error) {
			return android(window(bars, "[0,0][1080,108]"), window(bars, "[0,2052][1080,2160]"), window(pay, "[0,0][1080,2160]"))
		}, 20},
		"a tablet": {Android, 0, func() (source.Result, error) {
			return android(window("com.example.launcher", "[0,2052][1080,2160]", buttons), window(pay, "[0,0][1080,2160]"))
		}, 10},
		"a lock screen of Android": {Android, 0, func() (source.Result, error) {
			return android(window(bars, "[0,0][1080,108]"), window(bars, "[0,0][1080,2160]"))
		}, 10},
		"iOS 12": {IOS, 0, func() (source.Result, error) {
			return ios(390, 844, `{"type": "StatusBar", "rect": {"x": 0, "y": 0, "width": 390, "height": 42}}`)
		}, 11},
		"iOS 13":                   {IOS, 42, func() (source.Result, error) { return ios(390, 844, "") }, 11},
		"an iPhone that is turned": {IOS, 42, func() (source.Result, error) { return ios(844, 390, "") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := tt.read()
			if err != nil {
				t.Fatal(err)
			}
			f := &fake{platform: tt.platform, screen: &Screen{Tree: result.Tree, Bars: result.Bars}, statusBar: tt.statusBar, picture: color.Gray{Y: 90}}
			s := device.Session{Baselines: picture.Baselines{Dir: filepath.Join(t.TempDir(), "a.screens"), Device: "phone", Update: picture.UpdateMissing}}
			onPhone(t, f, s, func(p *phoneTest) {
				p.call("verifyScreenshot", map[string]any{"name": "screen"})
				f.picture = color.Gray{Y: 200}
				r := p.call("verifyScreenshot", map[string]any{"name": "screen"})
				if want := fmt.Sprintf("%d of 20000 pixels differ", 20000-100*tt.masked); r.OK || !strings.Contains(r.Text, want) {
					t.Errorf("%v %q, want %s", r.OK, r.Text, want)
				}
			})
		})
	}
}

// window returns a window of an app of Android as the UiAutomator2 server writes it.
func window(app, area string, inside ...string) string {
	return fmt.Sprintf(`<android.widget.FrameLayout class="android.widget.FrameLayout" package=%q bounds=%q dismissable="false">%s</android.widget.FrameLayout>`,
		app, area, strings.Join(inside, ""))
}

// button returns a button in a window.
func button(text, area string) string {
	return fmt.Sprintf(`<android.widget.Button class="android.widget.Button" text=%q clickable="true" bounds=%q />`, text, area)
}

// windowsOf reads a screen of windows, the topmost first.
func windowsOf(height int, windows ...string) (source.Result, error) {
	return source.UIAutomator2(fmt.Appendf(nil, `<hierarchy rotation="0" width="1080" height="%d">%s</hierarchy>`, height, strings.Join(windows, "")),
		source.Options{})
}
