package mobile

import (
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestApps(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	onPhone(t, &fake{front: "com.android.permissioncontroller"}, device.Session{}, func(p *phoneTest) {
		p.does("launchApp", nil, "started com.example.orders; com.android.permissioncontroller is in front",
			"launch com.example.orders clear stop")
		p.fake.front = "com.example.notes"
		p.does("launchApp", args{
			"appId": "com.example.notes", "launchMode": "force_restart", "permissions": args{"contacts": "deny", "all": "allow"},
		}, "started com.example.notes", "launch com.example.notes all=allow android.permission.READ_CONTACTS=deny "+
			"android.permission.WRITE_CONTACTS=deny stop")
		p.does("launchApp", args{"launchMode": "RESUME"}, "started com.example.notes", "launch com.example.notes")
		p.does("stopApp", args{}, "ended com.example.notes", "stop com.example.notes")
		p.does("clearAppData", args{"appId": "a.b"}, "removed what a.b had stored", "clear a.b")
		p.does("mobile_clearAppData", args{"appId": "a.b"}, "removed what a.b had stored", "clear a.b")
		p.does("grantPermission", args{"appId": "a.b", "permission": "camera"},
			"granted android.permission.CAMERA to a.b", "grant a.b android.permission.CAMERA")
		p.does("mobile_listInstalledApps", args{"includeSystemApps": true},
			`{"appIds":["com.example.notes","com.example.orders"]}`, "apps true")
		p.does("openUrl", args{"url": "orders://1150"}, "opened orders://1150", "open orders://1150")
	})
	onPhone(t, &fake{platform: IOS, front: "com.apple.MobileAddressBook"}, device.Session{AppIDs: []string{"a", "b"}}, func(p *phoneTest) {
		p.fails("launchApp", nil, "the target has 2 apps: a, b")
		p.does("launchApp", args{"appId": "com.apple.MobileAddressBook"}, "started com.apple.MobileAddressBook",
			"launch com.apple.MobileAddressBook stop")
		p.does("grantPermission", args{"permission": "mediaLibrary"}, "granted media-library to com.apple.MobileAddressBook",
			"grant com.apple.MobileAddressBook media-library")
	})
	onPhone(t, &fake{}, device.Session{AppIDs: []string{}}, func(p *phoneTest) {
		p.fails("stopApp", nil, "no argument says which app is meant")
	})
}

func TestDialogInFrontOfApp(t *testing.T) {
	t.Parallel()
	const dialog = "com.android.permissioncontroller"
	onPhone(t, &fake{front: "com.android.launcher", opens: dialog}, device.Session{}, func(p *phoneTest) {
		began := time.Now()
		p.does("launchApp", nil, "started com.example.orders; "+dialog+" is in front", "launch com.example.orders clear stop")
		if took := time.Since(began); took > 3*time.Second {
			t.Error("waited", took)
		}
	})
	const springboard = "com.apple.springboard" // the home screen, and all dialogs of the system
	prompt := &fake{platform: IOS, front: springboard, alert: "“Orders” Would Like to Send You Notifications"}
	onPhone(t, prompt, device.Session{}, func(p *phoneTest) {
		began := time.Now()
		p.does("launchApp", nil, "started com.example.orders; "+springboard+" is in front", "launch com.example.orders clear stop")
		if took := time.Since(began); took > 3*time.Second {
			t.Error("waited", took)
		}
	})
	onPhone(t, &fake{front: "com.android.launcher"}, device.Session{}, func(p *phoneTest) {
		began := time.Now()
		p.does("launchApp", nil, "started com.example.orders; com.android.launcher is in front", "launch com.example.orders clear stop")
		if took := time.Since(began); took < 30*time.Second {
			t.Error("waited", took)
		}
	})
}

func TestCommandsForTheDevice(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	onPhone(t, &fake{nodes: fieldAnd(), clipboard: "Ada"}, device.Session{}, func(p *phoneTest) {
		p.does("networkConnection", args{"connected": false}, "disconnected the device from its networks", "network false")
		p.does("networkConnection", args{"connected": true}, "connected the device to its networks", "network true")
		p.does("mobile_setClipboard", args{"text": "a"}, "set the clipboard", `clipboard "a"`)
		p.does("setClipboard", args{"text": "a"}, "set the clipboard", `clipboard "a"`)
		p.does("mobile_pasteClipboard", nil, `pasted into textbox "Name"`, "press PASTE")
		p.fake.ignores = true
		p.does("mobile_pasteClipboard", nil, `entered 3 characters into textbox "Name"`, "press PASTE", `set "AdaAda"`, `type "Ada"`)
		p.fake.ignores, p.fake.clipboard = false, ""
		p.fails("mobile_pasteClipboard", nil, `textbox "Name" did not change when the clipboard was pasted: it is empty`)
		p.does("adbShell", args{"command": "echo $HOME"}, "output\n", "shell sh|-c|echo $HOME")
		p.does("android_adbShell", args{"command": []any{"ls", "a b"}, "runAs": "a.b"}, "output\n", "shell run-as|a.b|ls|a b")
		p.does("android_grantPermissions", args{"appId": "a.b", "permissions": []any{"sms", "android.permission.NFC"}},
			"granted android.permission.READ_SMS, android.permission.RECEIVE_SMS, android.permission.SEND_SMS, android.permission.NFC to a.b",
			"grant a.b android.permission.READ_SMS android.permission.RECEIVE_SMS android.permission.SEND_SMS android.permission.NFC")
		p.does("android_grantAppOpsPermission", args{"permission": "SYSTEM_ALERT_WINDOW"},
			"allowed SYSTEM_ALERT_WINDOW to com.example.orders", "shell appops|set|com.example.orders|SYSTEM_ALERT_WINDOW|allow")
		p.does("android_sendBroadcast", args{
			"action": "a.SYNC", "componentPackage": "a.b", "componentClass": ".R", "extras": args{"n": 1, "on": true, "s": "x"},
		}, "sent a.SYNC: output", "shell am|broadcast|-a|a.SYNC|-n|a.b/.R|--ei|n|1|--ez|on|true|--es|s|x")
		p.fake.fail = map[string]error{"Shell": Unsupported("the cloud refuses shell commands", "use another device")}
		if r := p.fails("adbShell", args{"command": "ls"}, "the cloud refuses shell commands"); r.Hint != "use another device" || r.Kind != fault.ToolFailed {
			t.Errorf("%s %q", r.Kind, r.Hint)
		}
	})
}

func TestMaestro(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	run := func(commands ...any) args { return args{"commands": commands} }
	f := &fake{nodes: fieldAnd(node("Button", "Save", rect(0, 600, 200, 700))), content: "Ada"}
	onPhone(t, f, device.Session{}, func(p *phoneTest) {
		p.does("maestro", run(args{"launchApp": args{
			"appId": "com.example.orders", "clearState": "true", "stopApp": false, "permissions": args{"notifications": "deny"},
			"arguments": args{"tour": "off"},
		}}), "started com.example.orders", "launch com.example.orders android.permission.POST_NOTIFICATIONS=deny clear tour:off")
		p.does("mobile_maestro", run(args{"launchApp": "com.example.orders"}), "started com.example.orders",
			"launch com.example.orders all=allow stop")
		p.does("mobile_maestro", run(args{"eraseText": args{"charactersToErase": "2"}}, "back", args{"openLink": args{"link": "orders://1"}}),
			`erased 2 characters in textbox "Name"; pressed BACK; opened orders://1`, `set "A"`, "press BACK", "open orders://1")
		p.does("mobile_maestro", run(args{"extendedWaitUntil": args{"visible": args{"text": "SAVE"}, "timeout": "500"}},
			args{"extendedWaitUntil": args{"notVisible": "Error", "timeout": 10000}}),
			`button "Save" is visible; text "Error" is not visible`)
		p.does("mobile_maestro", run(args{"tapOn": args{"text": "sa.*", "enabled": true}}, args{"longPressOn": "Save"}, args{"inputText": 5},
			"hideKeyboard", args{"pressKey": "Enter"}, "scroll", args{"swipe": args{"direction": "UP", "duration": "200"}},
			args{"stopApp": nil}, args{"killApp": "a.b"}, args{"clearState": nil}, args{"assertVisible": "Save"}, args{"assertNotVisible": "Error"}),
			`tapped button "Save"; held button "Save"; entered 1 characters into textbox "Name"; the keyboard is hidden; pressed ENTER; scrolled down; `+
				`swiped up; ended com.example.orders; ended a.b; removed what com.example.orders had stored; button "Save" is visible; text "Error" is not visible`,
			"touch 100,650 for 100ms", "touch 100,650 for 700ms", `set "A5"`, "hide keyboard", "press ENTER", "touch 540,1800 to 540,600 for 600ms and 150ms still",
			"touch 540,1200 to 540,240 for 200ms", "stop com.example.orders", "stop a.b", "clear com.example.orders")
		p.fails("mobile_maestro", run("back", args{"extendedWaitUntil": args{"visible": "Error", "timeout": 100}}),
			`commands[1].extendedWaitUntil: text "Error" was not found (within 100ms; app com.example.orders)`)
	})
}
