package web

import (
	"bytes"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/picture"
)

// A page whose animations never end, with a caret, a transition and a place that looks different each time.
const restlessPage = `<style>
	body { margin: 0; font: 16px sans-serif } #spin { width: 40px; height: 40px; background: teal; animation: s 1s linear infinite }
	@keyframes s { to { transform: rotate(360deg) } } #slow { width: 300px; height: 20px; background: navy; transition: width 60s }
	#long { height: 820px; background: linear-gradient(red, blue) } iframe { border: 3px solid; padding: 5px }
	</style><div id=spin></div><div id=slow></div><input autofocus value=caret><p id=time>1</p>
	<iframe srcdoc="<body style='margin:0'><p id=in style='width:50px;height:20px;background:lime'>"></iframe><div id=long></div>
	<script>let n = 0; setInterval(() => time.textContent = Math.random() + " " + n++, 10); slow.offsetWidth; slow.style.width = "20px"</script>`

func TestVerifyScreenshot(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a.screens")
	pictures := func(u picture.Update) device.Session {
		return device.Session{Width: 500, Height: 300, Baselines: picture.Baselines{Dir: dir, Device: "web-linux", Update: u}}
	}
	mask := []any{map[string]any{"ref": "css=#time"}}
	calls := [][]any{
		{"name", "page", "timeoutMs", 30000, "mask", mask},
		{"name", "whole", "timeoutMs", 30000, "mask", mask, "fullPage", true},
		{"name", "spin", "timeoutMs", 30000, "ref", "css=#spin"},
		{"name", "long", "timeoutMs", 30000, "ref", "css=#long"},
		{"name", "framed", "timeoutMs", 30000, "nodeSelector", map[string]any{"web": map[string]any{"cssSelector": "#in"}}},
	}
	u := openSessionIn(t, sharedBrowser.get(t), pictures(picture.UpdateMissing))
	u.show(restlessPage)
	for _, args := range calls {
		if got := u.mustCall("verifyScreenshot", args...); !strings.Contains(got, "was written") {
			t.Errorf("%v: %s", args, got)
		}
	}
	for name, want := range map[string]image.Point{
		"page": {500, 300}, "spin": {40, 40}, "framed": {50, 20}, "long": {500, 820}, "whole": {500, 0},
	} {
		data, err := os.ReadFile(filepath.Join(dir, name+"-web-linux.png"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := picture.DecodePNG(data)
		if err != nil || p.Rect.Dx() != want.X || want.Y > 0 && p.Rect.Dy() != want.Y || p.Rect.Dy() < want.Y {
			t.Errorf("%s: %v, %v", name, p.Rect, err)
		}
		if lime := p.RGBAAt(25, 10); name == "framed" && (lime.G != 255 || lime.R != 0) {
			t.Errorf("the element in the frame is %v", lime)
		}
	}
	u = openSessionIn(t, sharedBrowser.get(t), pictures(picture.UpdateNone))
	u.show(restlessPage)
	for _, args := range calls {
		if got := u.mustCall("verifyScreenshot", args...); !strings.Contains(got, "the screen is as in a.screens/") {
			t.Errorf("%v: %s", args, got)
		}
	}
	if got := u.mustEval("document.adoptedStyleSheets.length + ' ' + document.getAnimations()[0].playState"); got != "0 running" {
		t.Errorf("afterwards the page has %s", got)
	}
	u.mustEval("document.querySelector('#spin').style.background = 'crimson'")
	got := u.mustFailInTime("verifyScreenshot", []any{"name", "spin", "ref", "css=#spin"}, "the screen is not as in a.screens/spin-web-linux.png", "pixels differ")
	if len(got.Attachments) != 3 || bytes.Equal(got.Attachments[0].Data, got.Attachments[1].Data) {
		t.Errorf("%d pictures", len(got.Attachments))
	}
	u.mustFailInTime("verifyScreenshot", []any{"name", "gone", "ref", "css=#none"}, "#none was not found")
	u.mustFailInTime("verifyScreenshot", []any{"name", "time", "ref", "css=#time"}, "did not stay the same")
	u.mustFail("verifyScreenshot", []any{"name", "new", "ref", "css=#slow", "timeoutMs", 30000}, "a.screens/new-web-linux.png does not exist")
}
