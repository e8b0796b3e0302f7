package android

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

func TestSizeAndDensity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size, density         string
		width, height, dotsPI int
		tablet                bool
	}{
		{"Physical size: 1080x2400\n", "Physical density: 420\n", 1080, 2400, 420, false},
		{"Physical size: 1440x3120\r\nOverride size: 1080x2340\r\n", "Physical density: 560\nOverride density: 420\n", 1080, 2340, 420, false},
		{"Physical size: 2560x1600", "Physical density: 320", 2560, 1600, 320, true},
		{"Physical size: 1600x2560", "wm: not found", 1600, 2560, 0, true},
		{"Error: null", "", 0, 0, 0, false},
		{"Physical size: 0x0", "Physical density: 0", 0, 0, 0, false},
	} {
		width, height, ok := parseSize(c.size)
		density := parseDensity(c.density)
		got := []any{width, height, density, ok, isTablet(width, height, density)}
		if diff := cmp.Diff([]any{c.width, c.height, c.dotsPI, c.width > 0, c.tablet}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.size, diff)
		}
	}
}

func TestResumedActivities(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		out  string
		want []string
	}{
		"Android 14": {`  * Task{8d1b2c3 #12 type=standard A=10123:com.shop.app U=0 visible=true}
    topResumedActivity=ActivityRecord{5a3f1c2 u0 com.shop.app/.MainActivity t12}
  ResumedActivity: ActivityRecord{5a3f1c2 u0 com.shop.app/.MainActivity t12}
`, []string{"com.shop.app"}},
		"Android 9": {`    mResumedActivity: ActivityRecord{77c3d5e u0 com.android.settings/.Settings t3}
  ResumedActivity:ActivityRecord{77c3d5e u0 com.android.settings/.Settings t3}
`, []string{"com.android.settings"}},
		"a permission dialog over the app": {
			`  ResumedActivity: ActivityRecord{1 u0 com.google.android.permissioncontroller/com.android.permissioncontroller.permission.ui.GrantPermissionsActivity t7}
`, []string{"com.google.android.permissioncontroller"},
		},
		"split screen": {`    mResumedActivity: ActivityRecord{1 u0 com.a.b/.A t1}
    mResumedActivity: ActivityRecord{2 u0 com.c.d/.C t2}
  ResumedActivity: ActivityRecord{2 u0 com.c.d/.C t2}
`, []string{"com.c.d", "com.a.b"}},
		"locked": {"  ResumedActivity: null\n  mLastPausedActivity: ActivityRecord{2 u0 com.c.d/.C t2}\n", nil},
	} {
		if diff := cmp.Diff(c.want, parseResumed(c.out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestKeyboard(t *testing.T) {
	t.Parallel()
	const shown = `Current Input Method Manager state:
  Input Methods: mMethodMapUpdateCount=4
  mCurMethodId=com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME
  mInputShown=true
  mCurToken=android.os.Binder@2a8e
Input method client state for ...
Input method service state for com.google.android.inputmethod.latin
  mDecorViewVisible=true mWindowVisible=true
  mIsInputViewShown=true mStatusIcon=0
Last computed insets:
  contentTopInsets=1475 visibleTopInsets=1475 touchableInsets=3 touchableRegion=SkRegion((0,1475,1080,2274))
`
	for out, want := range map[string][2]bool{
		shown: {true, true},
		"  mInputShown=false\n  mShowRequested=true":                                   {false, true},
		strings.Replace(shown, "mIsInputViewShown=true", "mIsInputViewShown=false", 1): {false, true},  // a hardware keyboard
		strings.Replace(shown, "mIsInputViewShown=true", "", 1):                        {false, false}, // a keyboard that does not respond
	} {
		if shown, known := parseInputShown(out); [2]bool{shown, known} != want {
			t.Errorf("%q: shown %v, known %v, want %v", out, shown, known, want)
		}
	}
	for _, c := range []struct {
		out  string
		want *screen.Rect
	}{
		{shown, &screen.Rect{Top: 1475, Right: 1080, Bottom: 2274}},
		{"  contentTopInsets=0 visibleTopInsets=1500 touchableInsets=0 touchableRegion=SkRegion()", &screen.Rect{Top: 1500, Right: 1080, Bottom: 2400}},
		{"mInputShown=true", nil},
		// Gboard below the status bar, as Android 10 and Android 13 write the frame of its window.
		{
			"touchableRegion=SkRegion((0,1321,1080,2196)) frame=[0,1][2,3]\nWINDOW MANAGER WINDOWS (dumpsys window windows)\n  Window #3 Window{1 u0 InputMethod}:\n    mFrame=[0,84][1080,2280]",
			&screen.Rect{Top: 1405, Right: 1080, Bottom: 2280},
		},
		{
			"touchableRegion=SkRegion((0,1321,1080,2196))\nWINDOW MANAGER WINDOWS (dumpsys window windows)\n    Frames: parent=[0,0][1080,2400] display=[0,0][1080,2400] frame=[0,84][1080,2280] last=[0,0][0,0]",
			&screen.Rect{Top: 1405, Right: 1080, Bottom: 2280},
		},
		{"visibleTopInsets=99999999999999999999999", nil},
	} {
		if diff := cmp.Diff(c.want, parseInputArea(c.out, 1080, 2400)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.out, diff)
		}
	}
}

func TestInputMethods(t *testing.T) {
	t.Parallel()
	out := "Pixel 7\n14\n34\ncom.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME\r\n" +
		"com.miui.securityinputmethod/.SecurityInputMethod\nPhysical size: 1080x2400\n"
	want := []string{"com.google.android.inputmethod.latin", "com.miui.securityinputmethod"}
	if diff := cmp.Diff(want, parseInputMethods(out)); diff != "" {
		t.Error(diff)
	}
	if got := parseInputMethods("Error: java.lang.SecurityException: a.b/c is not allowed\n"); got != nil {
		t.Error(got)
	}
}

func TestPackage(t *testing.T) {
	t.Parallel()
	const out = `Activity Resolver Table:
  Non-Data Actions:
      android.intent.action.MAIN:
        5f7d com.shop.app/.MainActivity filter 3b1
Packages:
  Package [com.shop.app] (ab12cd3):
    userId=10123
    versionCode=42 minSdk=26 targetSdk=34
    versionName=1.2.3
    flags=[ HAS_CODE ALLOW_CLEAR_USER_DATA ]
    firstInstallTime=2026-01-01 10:00:00
    lastUpdateTime=2026-02-03 10:00:00
    requested permissions:
      android.permission.CAMERA
      android.permission.ACCESS_FINE_LOCATION: restricted=true
    install permissions:
      android.permission.INTERNET: granted=true
    User 0: ceDataInode=1 installed=true
      runtime permissions:
        android.permission.CAMERA: granted=false
Hidden system packages:
  Package [com.shop.app] (77):
    versionName=0.9
Package [com.shop.app.other] (1):
    versionName=9.9
`
	want := installedPackage{
		Installed: true, Users: []string{"0"}, Version: "1.2.3", Updated: "2026-02-03 10:00:00",
		Permissions: []string{"android.permission.CAMERA", "android.permission.ACCESS_FINE_LOCATION"},
	}
	if diff := cmp.Diff(want, parsePackage(out, "com.shop.app", "0")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := parsePackage("Dexopt state:\n  Unable to find package: com.none\n", "com.none", "0"); got.Installed {
		t.Error("a package that is not installed was found")
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"a.b", "c.d"}, appium.Packages("package:c.d\r\npackage:a.b\nWARNING: linker\n")); diff != "" {
		t.Error(diff)
	}
	if got := parseActivity("priority=0 preferredOrder=0 isDefault=true\ncom.shop.app/.MainActivity\n", "com.shop.app"); got != "com.shop.app/.MainActivity" {
		t.Errorf("parseActivity: %q", got)
	}
	if got := parseActivity("priority=0\nandroid/com.android.internal.app.ResolverActivity\n", "com.shop.app"); got != "" {
		t.Errorf("parseActivity: %q", got)
	}
	const several = "2 activities found:\n  Activity #0:\n    priority=0\n    com.shop.app/.MainActivity\n  Activity #1:\n    com.shop.app/leak.Launcher\n"
	if got := parseActivity(several, "com.shop.app"); got != "com.shop.app/.MainActivity" {
		t.Errorf("parseActivity: %q", got)
	}
	if got := parseActivity("No activity found\n", "com.shop.app"); got != "" {
		t.Errorf("parseActivity: %q", got)
	}
	for out, want := range map[string]string{
		"Starting: Intent { cmp=a/.B }\nStatus: ok\nLaunchState: COLD\nComplete\n":                                                                     "",
		"Starting: Intent { cmp=a/.B }\nError type 3\nError: Activity class {a/a.B} does not exist.\n":                                                 "Activity class {a/a.B} does not exist.",
		"Starting: Intent { cmp=a/.B }\nError type 3\n":                                                                                                "Error type 3",
		"\nException occurred while executing 'start':\njava.lang.SecurityException: Permission Denial: starting Intent { }\n\tat android.os.Parcel\n": "java.lang.SecurityException: Permission Denial: starting Intent { }",
		"Starting: Intent { dat=x }\nError: Activity not started, unable to resolve Intent { }\n":                                                      "Activity not started, unable to resolve Intent { }",
		"Starting: Intent { cmp=a/.B }\nStatus: timeout\nLaunchState: UNKNOWN (0)\nActivity: a/.B\nWaitTime: 10013\nComplete\n":                        "",
	} {
		if got := parseStart(out); got != want {
			t.Errorf("parseStart(%q) = %q, want %q", out, got, want)
		}
	}
}

func TestInstrumentations(t *testing.T) {
	t.Parallel()
	const out = `ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)
  Active instrumentation:
    Instrumentation #0: ActiveInstrumentation{3c5a1b2 {dev.mobile.maestro.test/androidx.test.runner.AndroidJUnitRunner} 1 procs}
      mClass=ComponentInfo{dev.mobile.maestro.test/androidx.test.runner.AndroidJUnitRunner} mFinished=false
`
	if diff := cmp.Diff([]string{"dev.mobile.maestro.test"}, parseInstrumentations(out)); diff != "" {
		t.Error(diff)
	}
	for out, want := range map[string]string{
		"INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n":                                                                       "Process crashed.",
		"INSTRUMENTATION_RESULT: shortMsg=java.lang.OutOfMemoryError\nINSTRUMENTATION_RESULT: longMsg=java.lang.OutOfMemoryError: x\n":                       "java.lang.OutOfMemoryError: x",
		"java.lang.IllegalStateException: UiAutomationService android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@5d4 already registered!\n": "java.lang.IllegalStateException: UiAutomationService android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@5d4 already registered!",
		"\nOK (1 test)\n": "",
	} {
		if got := parseCrash(out); got != want {
			t.Errorf("parseCrash(%q) = %q, want %q", out, got, want)
		}
	}
}

func TestServerAPKsAreFoundUpwards(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	apks := filepath.Join(root, "node_modules", "appium-uiautomator2-server", "apks")
	inner := filepath.Join(root, "app", "trails")
	for _, dir := range []string{apks, inner} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o := options{dir: inner}
	if _, ok, err := o.findAPKs(inner); ok || err != nil {
		t.Fatalf("found in an empty folder: %v", err)
	}
	for _, name := range []string{"appium-uiautomator2-server-v9.11.1.apk", "appium-uiautomator2-server-v10.6.6.apk", testAPK} {
		if err := os.WriteFile(filepath.Join(apks, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, ok, err := o.findAPKs(inner)
	want := serverAPKs{server: filepath.Join(apks, "appium-uiautomator2-server-v10.6.6.apk"), test: filepath.Join(apks, testAPK), version: "10.6.6"}
	if !ok || err != nil || got != want {
		t.Errorf("got %+v, %v, %v", got, ok, err)
	}
	if _, _, err := (options{server: inner}).findAPKs(); err == nil {
		t.Error("a folder without APKs was accepted")
	}
	if old := (serverAPKs{version: "10.4.9"}).ageNote(); old == "" || want.ageNote() != "" {
		t.Errorf("ageNote: %q, %q", old, want.ageNote())
	}
}

func TestActivityBelowAnother(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]bool{
		"    * Hist  #1: ActivityRecord{2b u0 a.b/.Code t12}\n    * Hist  #0: ActivityRecord{1a u0 a.b/.Pin t12}\n":                      true,
		"    * Hist #1: ActivityRecord{2b u0 a.b/.Code t12}\n      packageName=a.b\n    * Hist #0: ActivityRecord{1a u0 a.b/.Pin t12}\n": true,
		"    * Hist  #0: ActivityRecord{2b u0 a.b/.Code t13}\n    * Hist  #0: ActivityRecord{1a u0 a.b/.Pin t12}\n":                      false, // another task
		"    * Hist  #1: ActivityRecord{1a u0 a.b/.Pin t12 f}}\n    * Hist  #0: ActivityRecord{2b u0 a.b/.Code t12}\n":                   false, // it is being left
		"    * Hist  #1: ActivityRecord{1a u0 a.b/.Pin t12}\n    * Hist  #0: ActivityRecord{2b u0 a.b/.Code t12}\n":                      false, // above it
		"    * Hist  #0: ActivityRecord{2b u0 a.b/.Code t12}\n":                                                                          false,
		"    ResumedActivity: ActivityRecord{2b u0 a.b/.Code t12}\n":                                                                     false,
	} {
		if got := isBelow(out, "a.b/.Pin", "a.b/.Code"); got != want {
			t.Errorf("%q: %v", out, got)
		}
	}
}
