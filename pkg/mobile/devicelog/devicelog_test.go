package devicelog

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const shop = "com.example.shop"

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05.000", text)
	if err != nil {
		panic(err)
	}
	return t
}

// java is a crash as Android 13 logs it, in the words of a common question on Stack Overflow.
const javaLog = `--------- beginning of crash
07-14 11:05:20.482  8342  8342 E AndroidRuntime: FATAL EXCEPTION: main
07-14 11:05:20.482  8342  8342 E AndroidRuntime: Process: com.example.shop, PID: 8342
07-14 11:05:20.482  8342  8342 E AndroidRuntime: java.lang.RuntimeException: Unable to start activity ComponentInfo{com.example.shop/com.example.shop.MainActivity}: java.lang.NullPointerException: Attempt to invoke virtual method 'void android.widget.Button.setOnClickListener(android.view.View$OnClickListener)' on a null object reference
07-14 11:05:20.482  8342  8342 E AndroidRuntime: 	at android.app.ActivityThread.performLaunchActivity(ActivityThread.java:3449)
07-14 11:05:20.482  8342  8342 E AndroidRuntime: 	at android.os.Looper.loop(Looper.java:223)
07-14 11:05:20.482  8342  8342 E AndroidRuntime: 	at com.android.internal.os.ZygoteInit.main(ZygoteInit.java:947)
07-14 11:05:20.482  8342  8342 E AndroidRuntime: Caused by: java.lang.NullPointerException: Attempt to invoke virtual method 'void android.widget.Button.setOnClickListener(android.view.View$OnClickListener)' on a null object reference
07-14 11:05:20.482  8342  8342 E AndroidRuntime: 	at android.view.View.findViewById(View.java:1)
07-14 11:05:20.482  8342  8342 E AndroidRuntime: 	at com.shop.orders.Orders.open(Orders.kt:12)
07-14 11:05:20.482  8342  8342 E AndroidRuntime: 	at android.app.Activity.performCreate(Activity.java:8000)
07-14 11:05:20.482  8342  8342 E AndroidRuntime: 	... 11 more
`

// native is the example of a tombstone in the documentation of AOSP (Diagnosing native crashes), of another program.
const nativeLog = `--------- beginning of crash
02-15 10:20:30.100 17946 17949 F libc    : Fatal signal 6 (SIGABRT), code -6 in tid 17949 (crasher), pid 17946 (crasher)
02-15 10:20:30.200 17960 17960 F DEBUG   : *** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***
02-15 10:20:30.200 17960 17960 F DEBUG   : Build fingerprint: 'Android/aosp_angler/angler:7.1.1/NYC/enh12211018:eng/test-keys'
02-15 10:20:30.200 17960 17960 F DEBUG   : Revision: '0'
02-15 10:20:30.200 17960 17960 F DEBUG   : ABI: 'arm'
02-15 10:20:30.200 17960 17960 F DEBUG   : pid: 17946, tid: 17949, name: crasher  >>> com.example.shop:native <<<
02-15 10:20:30.200 17960 17960 F DEBUG   : signal 6 (SIGABRT), code -6 (SI_TKILL), fault addr --------
02-15 10:20:30.200 17960 17960 F DEBUG   : Abort message: 'some_file.c:123: some_function: assertion "false" failed'
02-15 10:20:30.200 17960 17960 F DEBUG   :     r0 00000000  r1 0000461d  r2 00000006  r3 00000008
02-15 10:20:30.201 17960 17960 F DEBUG   : backtrace:
02-15 10:20:30.201 17960 17960 F DEBUG   :     #00 pc 00049c44  /system/lib/libc.so (tgkill+12)
02-15 10:20:30.201 17960 17960 F DEBUG   :     #01 pc 00047cb7  /system/lib/libc.so (pthread_kill+34)
02-15 10:20:30.201 17960 17960 F DEBUG   :       #02 pc 000000000000cb44  /data/app/~~x==/com.example.shop-1/lib/arm64/libshop.so (Shop::open(int)+20) (BuildId: 0123)
`

// anrLog is an app that did not respond, as Android 12 logs it. The events buffer has it first.
const anrLog = `11-02 09:00:10.001  1522  1606 I am_anr  : [0,4242,com.example.shop,948452932,Input dispatching timed out (9b5 com.example.shop/.MainActivity (server) is not responding. Waited 5001ms for MotionEvent(action=DOWN))]
11-02 09:00:14.500  1522  7777 E ActivityManager: ANR in com.example.shop (com.example.shop/.MainActivity)
11-02 09:00:14.500  1522  7777 E ActivityManager: PID: 4242
11-02 09:00:14.500  1522  7777 E ActivityManager: Reason: Input dispatching timed out (9b5 com.example.shop/.MainActivity (server) is not responding. Waited 5001ms for MotionEvent(action=DOWN))
11-02 09:00:14.500  1522  7777 E ActivityManager: Load: 1.1 / 0.9 / 0.7
11-02 09:00:14.900  1522  7777 I ActivityManager: Killing 5000:com.other/u0a10 (adj 985): empty
`

func TestCrashesOfAndroid(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		log  string
		want []Crash
	}{
		"exception with a cause": {javaLog, []Crash{{
			App: shop, PID: 8342, Time: at("2026-07-14 11:05:20.482"),
			Reason: "java.lang.NullPointerException: Attempt to invoke virtual method 'void android.widget.Button.setOnClickListener(" +
				"android.view.View$OnClickListener)' on a null object reference at com.shop.orders.Orders.open(Orders.kt:12)",
		}}},
		"tombstone": {nativeLog, []Crash{{
			App: shop, PID: 17946, Time: at("2026-02-15 10:20:30.200"),
			Reason: `signal 6 (SIGABRT), code -6 (SI_TKILL), fault addr --------; Abort message: 'some_file.c:123: some_function: ` +
				`assertion "false" failed'; at libshop.so (Shop::open(int)+20)`,
		}}},
		"not responding": {anrLog, []Crash{{
			App: shop, PID: 4242, ANR: true, Time: at("2025-11-02 09:00:14.500"),
			Reason: "Input dispatching timed out (9b5 com.example.shop/.MainActivity (server) is not responding. Waited 5001ms for MotionEvent(action=DOWN))",
		}}},
		"not responding, without the report": {strings.SplitAfter(anrLog, "\n")[0], []Crash{{
			App: shop, PID: 4242, ANR: true, Time: at("2025-11-02 09:00:10.001"),
			Reason: "Input dispatching timed out (9b5 com.example.shop/.MainActivity (server) is not responding. Waited 5001ms for MotionEvent(action=DOWN))",
		}}},
		"event only": {
			"01-02 03:04:05.678  1200  1300 I am_crash: [20101,0,com.example.shop,948485700,java.lang.RuntimeException,a, b,Orders.kt,12]\n",
			[]Crash{{App: shop, PID: 20101, Time: at("2026-01-02 03:04:05.678"), Reason: "java.lang.RuntimeException: a, b at Orders.kt:12"}},
		},
		"event of a newer Android": {
			"01-02 03:04:05.678  1200  1300 I am_crash: [20101,0,com.example.shop,948485700,java.lang.RuntimeException,a, b,Orders.kt,12,0]\n",
			[]Crash{{App: shop, PID: 20101, Time: at("2026-01-02 03:04:05.678"), Reason: "java.lang.RuntimeException: a, b at Orders.kt:12"}},
		},
		"event and report": {
			"07-14 11:05:20.482  1200  1300 I am_crash: [8342,0,com.example.shop,948485700,java.lang.RuntimeException,Unable,A.java,1]\n" + javaLog,
			[]Crash{{
				App: shop, PID: 8342, Time: at("2026-07-14 11:05:20.482"),
				Reason: "java.lang.NullPointerException: Attempt to invoke virtual method 'void android.widget.Button.setOnClickListener(" +
					"android.view.View$OnClickListener)' on a null object reference at com.shop.orders.Orders.open(Orders.kt:12)",
			}},
		},
		"another app": {strings.ReplaceAll(javaLog+nativeLog+anrLog, shop, "com.example.shopping"), nil},
		"cut off":     {strings.Join(strings.SplitAfter(javaLog, "\n")[:3], ""), []Crash{{App: shop, PID: 8342, Time: at("2026-07-14 11:05:20.482")}}},
		"system":      {"07-14 11:05:20.482  1200  1200 E AndroidRuntime: *** FATAL EXCEPTION IN SYSTEM PROCESS: main\n", nil},
		"nothing":     {"--------- beginning of main\n\r\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Crashes(Logcat(tc.log, at("2026-07-20 00:00:00.000")), []string{"com.example.other", shop})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Formats of `logcat -v threadtime` with its options year, zone, usec and uid, and lines of other formats.
func TestLogcatLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Line{
		"11-25 23:59:59.999  1234  5678 W Tag with: a colon: and more":      {PID: 1234, Tag: "Tag with", Message: "a colon: and more", Time: at("2025-11-25 23:59:59.999")},
		"2026-01-02 03:04:05.123456 +0100  1234  5678 I chatty  : uid=1":    {PID: 1234, Tag: "chatty", Message: "uid=1", Time: at("2026-01-02 03:04:05.123")},
		"01-02 03:04:05.123 u0_a12  1234  5678 D Tag     :":                 {PID: 1234, Tag: "Tag", Time: at("2026-01-02 03:04:05.123")},
		"01-02 03:04:05.123  1234  5678 E AndroidRuntime: \tat a.B(C.kt:1)": {PID: 1234, Tag: "AndroidRuntime", Message: "\tat a.B(C.kt:1)", Time: at("2026-01-02 03:04:05.123")},
		"02-29 00:00:00.000     1     2 I Leap: day":                        {PID: 1, Tag: "Leap", Message: "day", Time: at("2024-02-29 00:00:00.000")},
	} {
		want.Text = line
		got := Logcat(line+"\r\n", at("2026-01-03 00:00:00.000"))
		if diff := cmp.Diff([]Line{want}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	for _, line := range []string{"--------- beginning of main", "I/Tag( 1234): brief", "", "read: unexpected EOF!"} {
		if got := Logcat(line, at("2026-01-03 00:00:00.000")); got != nil {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func TestLinesAboutApp(t *testing.T) {
	t.Parallel()
	log := `01-02 03:04:05.000  1200  1200 I SystemServer: other
01-02 03:04:05.000   999   999 D Shop    : runs already
01-02 03:04:05.001  1200  1300 I am_proc_start: [0,4242,10123,com.example.shop,next-top-activity,{com.example.shop/.MainActivity}]
01-02 03:04:05.002  1200  1300 I ActivityManager: Start proc 4300:com.example.shop:sync/u0a123 for service {x}
01-02 03:04:05.003  4242  4242 D Shop    : own line
01-02 03:04:05.004  4300  4300 D Sync    : own line, too
01-02 03:04:05.005  4400  4400 D Other   : of com.example.shopping and net.com.example.shop.x
01-02 03:04:05.006  4400  4400 D Other   : opens com.example.shop/.MainActivity
`
	apps := []string{shop}
	var got []string
	for _, l := range About(Logcat(log+nativeLog, at("2026-07-20 00:00:00.000")), apps, []int{999}) {
		got = append(got, l.Tag)
	}
	want := append([]string{"Shop", "am_proc_start", "ActivityManager", "Shop", "Sync", "Other", "libc"}, make([]string, 12)...)
	for i := range 12 {
		want[7+i] = "DEBUG"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTextKeepsTheEnd(t *testing.T) {
	t.Parallel()
	lines := []Line{{Text: "first"}, {Text: "second"}, {Text: "third"}}
	for most, want := range map[int]string{
		100: "first\nsecond\nthird\n", 13: "(1 line before)\nsecond\nthird\n", 6: "(2 lines before)\nthird\n", 0: "(3 lines before)\n",
	} {
		if got := Text(lines, most); got != want {
			t.Errorf("%d bytes: %q", most, got)
		}
	}
}

// iosLog has a line of each form: a simulator's `log show --style compact`, and the syslog of a phone.
const iosLog = `Timestamp               Ty Process[PID:TID]
2026-03-01 12:00:00.123 Df runningboardd[900:1a2b] [com.apple.runningboard:process] [app<com.example.shop((null))>:4321] Setting jetsam priority
2026-03-01 12:00:00.200 E  Shop[4321:1a2b3c] [com.example.shop:net] cannot connect
2026-03-01 12:00:00.300 Df SpringBoard[60:aa] other
Mar  1 12:00:01 iPhone Shop(CoreFoundation)[4321] <Error>: *** Terminating app due to uncaught exception 'NSRangeException', reason: '*** -[__NSArrayM objectAtIndexedSubscript:]: index 3 beyond bounds [0 .. 2]'
*** First throw call stack:
(0x1a2b3c 0x4d5e6f)
Mar  1 12:00:02 iPhone SpringBoard[60] <Notice>: [application<com.example.shop>:4321] Process exited: SIGABRT
`

func TestLogOfIOS(t *testing.T) {
	t.Parallel()
	lines := IOS(iosLog)
	if len(lines) != 5 || lines[1].Tag != "Shop" || lines[1].PID != 4321 || !lines[1].Time.Equal(at("2026-03-01 12:00:00.200")) {
		t.Fatalf("%+v", lines)
	}
	if about := AboutIOS(lines, []string{shop}, nil); len(about) != 4 || !strings.Contains(Text(about, 4<<10), "First throw call stack") {
		t.Errorf("%s", Text(about, 4<<10))
	}
	got, ok := IOSCrash(lines, shop, nil)
	want := Crash{App: shop, PID: 4321, Reason: "NSRangeException: *** -[__NSArrayM objectAtIndexedSubscript:]: index 3 beyond bounds [0 .. 2]"}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, ok := IOSCrash(lines, "com.example.other", []string{"Other"}); ok {
		t.Error("the crash is of another app")
	}
}

func TestReasonsOfIOS(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"Shop/Orders.swift:12: Fatal error: Index out of range":                  "Fatal error: Index out of range at Shop/Orders.swift:12",
		"Fatal error: Unexpectedly found nil while unwrapping an Optional value": "Fatal error: Unexpectedly found nil while unwrapping an Optional value",
		"[net] no fatal error here":                                              "",
		"*** Terminating app due to uncaught exception 'NSInvalidArgumentException', reason: '-[Shop open:]: unrecognized selector sent to instance 0x1'": "NSInvalidArgumentException: -[Shop open:]: unrecognized selector sent to instance 0x1",
	} {
		if got := iosReason(message); got != want {
			t.Errorf("%q: %q", message, got)
		}
	}
}

func TestWhatCrashesSay(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Crash{
		"the app com.example.shop crashed":                                                   {App: shop},
		"the app com.example.shop crashed: why":                                              {App: shop, Reason: "why"},
		"the app com.example.shop did not respond (ANR): why":                                {App: shop, Reason: "why", ANR: true},
		"the app com.example.shop does not run any more: it crashed, or the system ended it": {App: shop, Ended: true},
	} {
		if got := c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzLogs(f *testing.F) {
	for _, log := range []string{javaLog, nativeLog, anrLog, iosLog, "01-02 03:04:05.678  1200  1300 I am_crash: [1,0,com.example.shop,1,a,b,c,1]"} {
		f.Add(log)
	}
	f.Fuzz(func(_ *testing.T, log string) {
		apps := []string{shop}
		lines := Logcat(log, at("2026-07-20 00:00:00.000"))
		_, _ = Crashes(lines, apps), Text(About(lines, apps, nil), 100)
		lines = IOS(log)
		_ = AboutIOS(lines, apps, nil)
		_, _ = IOSCrash(lines, shop, nil)
	})
}

// ips is a crash report in the format that Apple documents (Interpreting the JSON format of a crash report), shortened.
const ips = `{"app_name":"Shop","timestamp":"2026-03-01 12:00:00.00 +0100","app_version":"1.0","bundleID":"com.example.shop","bug_type":"309","os_version":"iPhone OS 17.4 (21E213)","name":"Shop","incident_id":"A"}
{"uptime":1200,"procName":"Shop","pid":4321,"bundleInfo":{"CFBundleShortVersionString":"1.0","CFBundleIdentifier":"com.example.shop"},
"exception":{"codes":"0x0000000000000001, 0x0000000102f3c9c4","rawCodes":[1,4344498628],"type":"EXC_BREAKPOINT","signal":"SIGTRAP"},
"asi":{"libswiftCore.dylib":["Shop\/Orders.swift:12: Fatal error: Index out of range"]},"faultingThread":1,
"threads":[{"id":1,"frames":[]},{"id":2,"triggered":true,"frames":[{"imageOffset":1,"symbol":"_assertionFailure","symbolLocation":308,"imageIndex":1},
{"imageOffset":2,"sourceLine":12,"sourceFile":"Orders.swift","symbol":"Orders.open(_:)","imageIndex":0,"symbolLocation":240}]}],
"usedImages":[{"source":"P","name":"Shop","path":"\/private\/var\/containers\/Bundle\/Application\/B\/Shop.app\/Shop"},{"source":"P","path":"\/usr\/lib\/swift\/libswiftCore.dylib"}]}`

func TestCrashReports(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		report, want string
	}{
		"said by Swift": {ips, "Fatal error: Index out of range at Shop/Orders.swift:12"},
		"nothing said":  {strings.Replace(ips, "Fatal error", "no error", 1), "EXC_BREAKPOINT (SIGTRAP) at Orders.open(_:) (Orders.swift:12)"},
		"no source":     {strings.NewReplacer("Fatal error", "no error", `"Orders.swift"`, `""`).Replace(ips), "EXC_BREAKPOINT (SIGTRAP) at Orders.open(_:)"},
		"no own frame":  {strings.NewReplacer("Fatal error", "no error", `Shop.app\/`, "").Replace(ips), "EXC_BREAKPOINT (SIGTRAP)"},
		"another app":   {strings.ReplaceAll(ips, shop, "com.example.other"), ""},
		"not a crash":   {strings.Replace(ips, "exception", "other", 1), ""},
		"before iOS 15": {"Incident Identifier: A\nProcess: Shop [4321]\n", ""},
		"wrong indexes": {strings.NewReplacer("Fatal error", "no error", `"faultingThread":1`, `"faultingThread":9`, `"imageIndex":0`, `"imageIndex":-1`).Replace(ips), "EXC_BREAKPOINT (SIGTRAP)"},
	} {
		c, ok := Report(tc.report, shop)
		if ok != (tc.want != "") || c.Reason != tc.want || ok && (c.PID != 4321 || c.App != shop) {
			t.Errorf("%s: %+v, %t", name, c, ok)
		}
	}
}
