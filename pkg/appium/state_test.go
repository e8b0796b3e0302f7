package appium_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// changeState uses the capabilities that both platforms have.
func changeState(ctx context.Context, d mobile.Driver) error {
	turner, ok := d.(mobile.OrientationSetter)
	placer, also := d.(mobile.LocationSetter)
	styler, finally := d.(mobile.AppearanceSetter)
	if !ok || !also || !finally {
		return errors.New("a capability is missing")
	}
	_, placeErr := placer.SetLocation(ctx, mobile.Location{Latitude: 52.5, Longitude: 13.25})
	style, styleErr := styler.SetStyle(ctx, mobile.Dark)
	size, sizeErr := styler.SetFontSize(ctx, mobile.LargeFont)
	return errors.Join(turner.SetOrientation(ctx, mobile.Landscape), placeErr, equal(style, mobile.Dark, styleErr), equal(size, mobile.LargeFont, sizeErr))
}

func TestStateIsPutBack(t *testing.T) {
	t.Parallel()
	both := map[string]reply{"GET /orientation": value(`"PORTRAIT"`), "POST /orientation": {}}
	for platform, c := range map[mobile.Platform]struct {
		replies map[string]reply
		want    []string
	}{
		mobile.Android: {
			map[string]reply{
				"mobile: setGeolocation": {}, "mobile: getGeolocation": value(`{"latitude": 52.5, "longitude": 13.25}`), "mobile: resetGeolocation": {},
				"mobile: getUiMode": value(`"yes"`), "mobile: setUiMode": {}, "mobile: shell": value(`{"stdout": "1.15\n", "stderr": ""}`),
			},
			[]string{
				`mobile: shell {"args":["'put'","'system'","'font_scale'","'1.15'"],"command":"'settings'","includeStderr":true}`,
				`mobile: setUiMode {"mode":"night","value":"yes"}`, "mobile: resetGeolocation",
			},
		},
		mobile.IOS: {
			map[string]reply{
				"mobile: setSimulatedLocation": {}, "mobile: getSimulatedLocation": value(`{"latitude": 52.5, "longitude": 13.25}`), "mobile: resetSimulatedLocation": {},
				"mobile: getAppearance": value(`{"style": "dark"}`), "mobile: setAppearance": {},
				"mobile: contentSize": value(`"extra-large"`), "mobile: setContentSize": {},
			},
			[]string{
				`mobile: setContentSize {"size":"extra-large"}`, `mobile: setAppearance {"style":"dark"}`, "mobile: resetSimulatedLocation",
			},
		},
	} {
		t.Run(string(platform), func(t *testing.T) {
			t.Parallel()
			s := startServer(t, c.replies)
			for call, answer := range both {
				s.set(call, answer)
			}
			d, err := appium.Open(t.Context(), s.options(platform))
			if err != nil {
				t.Fatal(err)
			}
			if err := changeState(t.Context(), d); err != nil {
				t.Error(err)
			}
			s.take()
			if err := d.Close(t.Context()); err != nil {
				t.Error(err)
			}
			want := slices.Concat([]string{`POST /orientation {"orientation":"PORTRAIT"}`}, c.want, []string{"DELETE "})
			if diff := cmp.Diff(want, s.take()); diff != "" {
				t.Errorf("closing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStateThatAServerRefuses(t *testing.T) {
	t.Parallel()
	s := startServer(t, map[string]reply{
		"GET /orientation": value(`"PORTRAIT"`), "POST /orientation": {}, "mobile: setGeolocation": {}, "mobile: resetGeolocation": {},
		"mobile: getUiMode": failure(http.StatusForbidden, "unknown error", "not allowed here"),
	})
	d := s.open(mobile.Android)
	err := changeState(t.Context(), d)
	var said *fault.Error
	if !errors.As(err, &said) || said.Kind != fault.ToolFailed {
		t.Errorf("got %v", err)
	}
	note, err := d.(mobile.LocationSetter).SetLocation(t.Context(), mobile.Location{}) //nolint:forcetypeassert // changeState has checked it
	if err != nil || note == "" {
		t.Errorf("a location that cannot be read back: %q %v", note, err)
	}
}

func TestTransfers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	picture := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(picture, []byte("PNG"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, map[string]reply{
		"mobile: installApp": {}, "mobile: removeApp": value("true"), "mobile: pushFile": {}, "mobile: fingerprint": {},
	})
	runSteps(t, s, s.open(mobile.Android), []step{
		{"install", func(d mobile.Driver) error { return d.(mobile.Installer).Install(ctx, "/a.apk") }, []string{`mobile: installApp {"appPath":"/a.apk"}`}},
		{"uninstall", func(d mobile.Driver) error { return d.(mobile.Installer).Uninstall(ctx, appName) }, []string{`mobile: removeApp {"appId":"com.example"}`}},
		{"media", func(d mobile.Driver) error {
			_, err := d.(mobile.MediaAdder).AddMedia(ctx, []string{picture})
			return err
		}, []string{
			`mobile: pushFile {"payload":"UE5H","remotePath":"/sdcard/Pictures/trailblaze/a.png"}`,
		}},
		{"finger", func(d mobile.Driver) error { return d.(mobile.BiometricSensor).SendBiometric(ctx, true) }, []string{`mobile: fingerprint {"fingerprintId":1}`}},
	})
	s.set("mobile: removeApp", value("false"))
	if err := s.open(mobile.Android).(mobile.Installer).Uninstall(ctx, appName); fault.KindOf(err) != fault.ToolFailed {
		t.Errorf("an app that is not installed: %v", err)
	}
	i := startServer(t, map[string]reply{
		"mobile: installApp": {}, "mobile: removeApp": value("true"), "mobile: pushFile": {}, "mobile: pushNotification": {}, "mobile: clearKeychains": {},
		"mobile: isBiometricEnrolled": value("false"), "mobile: enrollBiometric": {}, "mobile: sendBiometricMatch": {},
	})
	runSteps(t, i, i.open(mobile.IOS), []step{
		{"install", func(d mobile.Driver) error { return d.(mobile.Installer).Install(ctx, "/a.app") }, []string{`mobile: installApp {"app":"/a.app"}`}},
		{"uninstall", func(d mobile.Driver) error { return d.(mobile.Installer).Uninstall(ctx, appName) }, []string{`mobile: removeApp {"bundleId":"com.example"}`}},
		{"media", func(d mobile.Driver) error {
			_, err := d.(mobile.MediaAdder).AddMedia(ctx, []string{picture})
			return err
		}, []string{
			`mobile: pushFile {"payload":"UE5H","remotePath":"a.png"}`,
		}},
		{"push", func(d mobile.Driver) error {
			return d.(mobile.NotificationPusher).PushNotification(ctx, appName, []byte(`{"aps":{}}`))
		}, []string{`mobile: pushNotification {"bundleId":"com.example","payload":{"aps":{}}}`}},
		{"keychain", func(d mobile.Driver) error { return d.(mobile.KeychainClearer).ClearKeychain(ctx) }, []string{"mobile: clearKeychains"}},
		{"face", func(d mobile.Driver) error { return d.(mobile.BiometricSensor).SendBiometric(ctx, false) }, []string{
			"mobile: isBiometricEnrolled", `mobile: enrollBiometric {"isEnabled":true}`,
			`mobile: sendBiometricMatch {"match":false,"type":"touchId"}`, `mobile: sendBiometricMatch {"match":false,"type":"faceId"}`,
		}},
	})
}

func TestRecording(t *testing.T) {
	t.Parallel()
	s := startServer(t, map[string]reply{"POST /appium/start_recording_screen": {}, "POST /appium/stop_recording_screen": value(`"TVA0"`)})
	d := s.open(mobile.IOS)
	recorder, ok := d.(mobile.Recorder)
	if !ok {
		t.Fatal("the driver cannot record")
	}
	if err := recorder.StartRecording(t.Context()); err != nil {
		t.Error(err)
	}
	if video, err := recorder.StopRecording(t.Context()); err != nil || string(video) != "MP4" {
		t.Errorf("got %q %v", video, err)
	}
	s.set("POST /appium/stop_recording_screen", value(`""`))
	if _, err := recorder.StopRecording(t.Context()); fault.KindOf(err) != fault.ToolFailed {
		t.Errorf("an empty video: %v", err)
	}
}

func TestStatusBarOfIOS(t *testing.T) {
	t.Parallel()
	const ask = "mobile: deviceScreenInfo"
	s := startServer(t, map[string]reply{ask: {}})
	d, ok := s.open(mobile.IOS).(mobile.StatusBarReader)
	if !ok {
		t.Fatal("the driver does not read the status bar")
	}
	for _, tt := range []struct {
		answer reply
		want   int
	}{
		{failure(http.StatusNotFound, "unknown command", "Unknown mobile command"), 0},
		{value(`{"statusBarSize": {"width": 0, "height": 0}, "scale": 3}`), 0},             // of an iPhone that is turned
		{value(`{"statusBarSize": {"width": 53.67, "height": 844}, "scale": 3}`), 54},      // as the screen is turned
		{failure(http.StatusNotFound, "unknown command", "it stays as it was before"), 54}, // which is not asked for
	} {
		s.set(ask, tt.answer)
		if got := d.StatusBar(t.Context()); got != tt.want {
			t.Errorf("%d points, want %d", got, tt.want)
		}
	}
}
