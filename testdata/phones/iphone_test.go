package phones_test

import (
	"encoding/base64"
	"encoding/json"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// startIPhone starts an iPhone, and a session with WebDriverAgent in which the app is in front.
func startIPhone(t *testing.T, o phones.IPhoneOptions) (*phones.IPhone, *webDriver) {
	t.Helper()
	p, err := phones.StartIPhone(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	s := &webDriver{t: t, client: &http.Client{Transport: transport}, url: p.URL()}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		p.Close()
		if unknown := p.UnknownRoutes(); len(unknown) > 0 {
			t.Errorf("unknown: %q", unknown)
		}
	})
	s.start(map[string]any{"bundleId": app.ShopID})
	return p, s
}

func TestSignInThroughWebDriverAgent(t *testing.T) {
	t.Parallel()
	p, s := startIPhone(t, phones.IPhoneOptions{DismissWait: time.Millisecond})
	tapAt := func(x, y int) { s.call("POST", s.session+"/actions", tap(screen.Point{X: x, Y: y})) }
	tapAt(195, 208)
	s.call("POST", s.session+"/wda/keys", map[string]any{"value": strings.Split(app.Email, "")})
	tapAt(195, 288)
	s.call("POST", s.session+"/element/active/value", map[string]any{"value": []string{app.Password}})
	tapAt(195, 628) // the keyboard covers the button
	if _, status, err := s.try("POST", s.session+"/wda/keyboard/dismiss", map[string]any{}); err != nil || status != http.StatusBadRequest {
		t.Errorf("the keyboard of an iPhone is dismissed: %d %v", status, err)
	}
	s.call("POST", s.session+"/actions", drag(screen.Point{X: 195, Y: 422}, screen.Point{X: 195, Y: 397}))
	tapAt(195, 628)
	if !p.App.SignedIn() || p.App.WrongTouches() != 1 {
		t.Fatalf("touches: %+v", p.App.Touches())
	}
	info := s.call("GET", s.session+"/wda/activeAppInfo", nil).(map[string]any)
	if info["bundleId"] != "com.apple.springboard" {
		t.Errorf("the alert is not in front: %v", info)
	}
	if text := s.call("GET", s.session+"/alert/text", nil); !strings.Contains(text.(string), "Notifications") {
		t.Errorf("alert: %v", text)
	}
	s.call("POST", s.session+"/alert/dismiss", map[string]any{"name": "Don’t Allow"})
	source, err := json.Marshal(s.call("GET", s.session+"/source?format=json", nil))
	if err != nil || !strings.Contains(string(source), `"label":"Order 1120"`) {
		t.Errorf("rows below the screen are missing: %s", source)
	}
	xml := s.call("GET", s.session+"/source", nil).(string)
	if !strings.Contains(xml, `<XCUIElementTypeCell type="XCUIElementTypeCell" name="row" enabled="true" visible="false"`) {
		t.Errorf("rows that are not visible are missing: %s", xml)
	}
}

func TestWebDriverAgentAndApps(t *testing.T) {
	t.Parallel()
	p, s := startIPhone(t, phones.IPhoneOptions{})
	p.App.Show(app.Orders)
	state := func() any { return s.call("POST", s.session+"/wda/apps/state", map[string]any{"bundleId": app.ShopID}) }
	if state() != 4.0 {
		t.Errorf("state: %v", state())
	}
	s.call("POST", "/wda/homescreen", map[string]any{})
	if state() != 3.0 {
		t.Errorf("state: %v", state())
	}
	s.call("POST", s.session+"/url", map[string]any{"url": "shop://orders/1147"})
	if p.App.Screen() != app.Order {
		t.Errorf("screen: %v", p.App.Screen())
	}
	if ended := s.call("POST", s.session+"/wda/apps/terminate", map[string]any{"bundleId": app.ShopID}); ended != true || state() != 1.0 {
		t.Errorf("terminated: %v, state: %v", ended, state())
	}
	picture, err := base64.StdEncoding.DecodeString(s.call("GET", "/screenshot", nil).(string))
	if err != nil {
		t.Fatal(err)
	}
	if config, err := png.DecodeConfig(strings.NewReader(string(picture))); err != nil || config.Width != 1170 {
		t.Errorf("screenshot: %v %v", config, err)
	}
	content := base64.StdEncoding.EncodeToString([]byte(app.Characters))
	s.call("POST", "/wda/setPasteboard", map[string]any{"content": content})
	if got := s.call("POST", "/wda/getPasteboard", map[string]any{}); got != "" {
		t.Errorf("clipboard behind another app: %v", got)
	}
	s.call("POST", s.session+"/wda/apps/activate", map[string]any{"bundleId": phones.RunnerID})
	s.call("POST", "/wda/setPasteboard", map[string]any{"content": content})
	if got := s.call("POST", "/wda/getPasteboard", map[string]any{}); got != content {
		t.Errorf("clipboard: %v", got)
	}
}

func TestFaultsOfWebDriverAgent(t *testing.T) {
	t.Parallel()
	p, s := startIPhone(t, phones.IPhoneOptions{})
	p.App.Show(app.Orders)
	p.LoseNextAnswer()
	if _, _, err := s.try("POST", s.session+"/actions", tap(screen.Point{X: 100, Y: 140})); err == nil {
		t.Error("the touch was answered")
	}
	if p.App.Screen() != app.Order || len(p.App.Touches()) != 1 {
		t.Errorf("screen %q, touches: %+v", p.App.Screen(), p.App.Touches())
	}
	if requests := p.Requests(); requests[len(requests)-1] != "POST "+s.session+"/actions" {
		t.Errorf("requests: %q", requests)
	}
	hanging := make(chan struct{})
	p.SetIntercept(func(_ http.ResponseWriter, r *http.Request) bool {
		close(hanging)
		<-r.Context().Done()
		return true
	})
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, _, err := s.try("GET", s.session+"/source", nil); err == nil {
			t.Error("the source was answered")
		}
	})
	<-hanging
	p.Close() // ends what hangs
	wait.Wait()
}
