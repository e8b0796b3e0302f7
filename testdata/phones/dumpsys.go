package phones

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// dumpsys writes the states of services: the lines that programs read, in the order of a phone.
func dumpsys(c *call) int {
	switch c.arg(1) {
	case "package":
		return dumpPackage(c, c.arg(2))
	case "activity":
		return dumpActivity(c)
	case "input_method":
		return dumpInputMethod(c)
	case "window":
		return dumpWindow(c)
	case "display":
		width, height := c.phone.App.Size()
		c.printf("  mBaseDisplayInfo=DisplayInfo{\"Built-in Screen\", displayId 0, real %d x %d, rotation 0}\n", width, height)
		return 0
	case "SurfaceFlinger":
		c.printf("Display 4619827259835644672 (HWC display 0): port=0 pnpId=GGL displayName=\"EMU_display_0\"\n")
		return 0
	case "input":
		c.printf("  SurfaceOrientation: 0\n")
		return 0
	case "power":
		wakefulness := map[bool]string{true: "Asleep", false: "Awake"}[c.phone.App.Asleep()]
		c.printf("POWER MANAGER (dumpsys power)\n\nPower Manager State:\n  mWakefulness=%s\n  mWakefulnessChanging=false\n", wakefulness)
		return 0
	case "location":
		c.printf("Location Manager State:\n  gps provider [mock]:\n    last location=Location[gps %s hAcc=100.0 et=+1h2m3s]\n", c.phone.App.Location())
		return 0
	case "deviceidle":
		return deviceIdle(c)
	case "battery":
		c.printf("Current Battery Service state:\n  level: 80\n  status: 2\n")
		return 0
	}
	c.unknown()
	c.errorf("Can't find service: %s\n", c.arg(1))
	return 0
}

// deviceIdle lists the apps on the whitelist of Doze, adds and removes them.
func deviceIdle(c *call) int {
	c.phone.mu.Lock()
	defer c.phone.mu.Unlock()
	if c.arg(2) != "whitelist" {
		return 0
	}
	if len(c.args) == 3 {
		c.printf("system-excidle,com.android.shell,2000\nsystem,com.android.shell,2000\n")
		for _, name := range c.phone.whitelist {
			c.printf("user,%s,10123\n", name)
		}
		return 0
	}
	for _, change := range c.args[3:] {
		name := change[1:]
		c.phone.whitelist = slices.DeleteFunc(c.phone.whitelist, func(s string) bool { return s == name })
		if change[0] == '-' {
			c.printf("Removed: %s\n", name)
			continue
		}
		c.phone.whitelist = append(c.phone.whitelist, name)
		c.printf("Added: %s\n", name)
	}
	return 0
}

// statusBar is the height of the status bar, below which the window of the keyboard begins.
const statusBar = 72

// dumpInputMethod writes the state of the input method. Its insets count from the top of its window.
func dumpInputMethod(c *call) int {
	area, shown := c.phone.App.KeyboardArea()
	area.Top, area.Bottom = area.Top-statusBar, area.Bottom-statusBar
	c.printf("Input method manager state for user: 0\n  mCurMethodId=%s\n", c.phone.Setting("secure", "default_input_method"))
	c.printf("  mInputShown=%v\n  mInteractive=true\n", c.phone.App.InputShown())
	c.printf("  mCurFocusedWindow=android.os.BinderProxy@%x softInputMode=STATE_UNSPECIFIED\n", c.phone.App.FocusedWindow())
	if c.phone.options.SilentKeyboard {
		c.printf("Failed to dump input method client: java.io.IOException: Timeout\n")
		return 0
	}
	c.printf("Input method service state:\n  mIsInputViewShown=%v\n", shown)
	if shown {
		c.printf("  Last computed insets:\n    contentTopInsets=%d visibleTopInsets=%d touchableInsets=2 touchableRegion="+
			"SkRegion((%d,%d,%d,%d))\n", area.Top, area.Top, area.Left, area.Top, area.Right, area.Bottom)
	}
	return 0
}

func dumpPackage(c *call, name string) int {
	c.phone.mu.Lock()
	m, ok := c.phone.packages[name]
	c.phone.mu.Unlock()
	if !ok {
		c.printf("Unable to find package: %s\n", name)
		return 0
	}
	if activity := activities()[name]; activity != "" {
		c.printf("Activity Resolver Table:\n  Non-Data Actions:\n      android.intent.action.MAIN:\n")
		c.printf("        1f2e3d %s/%s filter 4c5b6a\n          Action: \"android.intent.action.MAIN\"\n", name, activity)
		c.printf("          Category: \"android.intent.category.LAUNCHER\"\n\n")
	}
	c.printf("Packages:\n  Package [%s] (5d0f3a1):\n    userId=10123\n", name)
	c.printf("    versionCode=%d minSdk=26 targetSdk=34\n    versionName=%s\n    lastUpdateTime=2026-03-01 12:00:00\n", m.code, m.version)
	c.printf("    flags=[ HAS_CODE ALLOW_CLEAR_USER_DATA ]\n")
	permissions := requested(name)
	if len(permissions) > 0 {
		c.printf("    requested permissions:\n      android.permission.INTERNET\n")
		for _, permission := range permissions {
			c.printf("      %s\n", permission)
		}
		c.printf("    install permissions:\n      android.permission.INTERNET: granted=true\n")
	}
	users := []int{0}
	if c.phone.options.User != 0 {
		users = append(users, c.phone.options.User)
	}
	for _, user := range users {
		c.printf("    User %d: ceDataInode=1 installed=%v hidden=false suspended=false stopped=%v notLaunched=false enabled=0\n",
			user, c.phone.installedFor(name, user), !c.phone.App.Running(name))
	}
	if len(permissions) > 0 {
		granted := c.phone.App.Permissions(name)
		c.printf("      runtime permissions:\n")
		for _, permission := range permissions {
			c.printf("        %s: granted=%v, flags=[ USER_SENSITIVE_WHEN_GRANTED]\n", permission, granted[appPermission(permission)])
		}
	}
	return 0
}

// frontActivity returns the app and the activity that have the focus.
func (p *Android) frontActivity() (name, activity string) {
	name = p.App.FrontWindow()
	if p.App.Locked() {
		name = p.App.Foreground()
	}
	if activity, ok := activities()[name]; ok {
		return name, activity
	}
	return name, ".permission.ui.GrantPermissionsActivity"
}

func dumpActivity(c *call) int {
	name, activity := c.phone.frontActivity()
	switch c.arg(2) {
	case "activities", "":
		c.printf("ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\nDisplay #0 (activities from top to bottom):\n")
		c.phone.printTasks(c, name, activity)
		return 0
	case "processes":
		processes := c.phone.processes()
		for i, process := range slices.Sorted(maps.Keys(processes)) {
			c.printf("  *APP* UID 10%d ProcessRecord{aa%d %d:%s/u0a%d}\n", 100+i, i, processes[process], process, 100+i)
			c.printf("    user #0 uid=10%d gids={}\n    packageList={%s}\n", 100+i, process)
		}
		dumpInstrumentation(c)
		return 0
	case "services":
		if c.last() == appiumSettings && c.phone.Installed(c.last()) {
			c.printf("  * ServiceRecord{1 u0 io.appium.settings/.NLService}\n    isForeground=true\n")
		} else {
			c.printf("  (nothing)\n")
		}
		return 0
	case "top":
		c.printf("TASK %s id=12\n  ACTIVITY %s/%s 4d5e6f pid=4200\n", name, name, activity)
		return 0
	}
	c.unknown()
	return 0
}

// printTasks writes the tasks with their activities from top to bottom: that of the app in front, and those of others that
// run (ActivityRecord.toString, Task.dumpActivities).
func (p *Android) printTasks(c *call, name, activity string) {
	const header = "  * Task{1a2b3c #%d type=standard A=10123:%s U=0 visible=%v mode=fullscreen sz=1}\n"
	const history = "    * Hist  #%d: ActivityRecord{%06x u0 %s/%s t%d}\n"
	tasks := slices.Sorted(maps.Keys(activities()))
	task := 12 + slices.Index(tasks, name)
	next := p.App.MovedOn() && name == app.ShopID
	resumed := fmt.Sprintf("ActivityRecord{4d5e6f u0 %s/%s t%d}", name, activity, task)
	if next {
		resumed = fmt.Sprintf("ActivityRecord{4d5e6f u0 %s/.CodeActivity t%d}", name, task)
	}
	c.printf(header, task, name, true)
	c.printf("    topResumedActivity=%s\n", resumed)
	if next {
		c.printf("    * Hist  #1: %s\n", resumed)
	}
	c.printf(history, 0, 0xa0, name, activity, task)
	for i, other := range tasks {
		if other != name && p.App.Running(other) {
			c.printf(header, 12+i, other, false)
			c.printf(history, 0, 0xa1+i, other, activities()[other], 12+i)
		}
	}
	c.printf("  ResumedActivity: %s\n", resumed)
}

// dumpInstrumentation writes which app holds UiAutomation.
func dumpInstrumentation(c *call) {
	c.phone.mu.Lock()
	holder := c.phone.heldBy
	if c.phone.server != nil {
		holder = serverTestApp
	}
	c.phone.mu.Unlock()
	if holder == "" {
		return
	}
	component := holder + "/androidx.test.runner.AndroidJUnitRunner"
	c.printf("  Active instrumentation:\n    Instrumentation #0: ActiveInstrumentation{1a2b3c {%s}}\n", component)
	c.printf("      mClass=ComponentInfo{%s} mFinished=false\n", component)
}

// dumpKeyguard writes the state of the lock screen as Android 8 and later do (KeyguardServiceDelegate.dump).
func dumpKeyguard(c *call) {
	locked := c.phone.App.Locked()
	c.printf("  KeyguardServiceDelegate\n    showing=%v\n    inputRestricted=%v\n    occluded=false\n    secure=%v\n", locked, locked,
		c.phone.options.Lock == LockSecure)
	c.printf("    deviceHasKeyguard=true\n    KeyguardStateMonitor\n      mIsShowing=%v\n      mInputRestricted=%v\n", locked, locked)
}

func dumpWindow(c *call) int {
	if c.arg(2) == "policy" {
		c.printf("WINDOW MANAGER POLICY STATE (dumpsys window policy)\n")
		dumpKeyguard(c)
		return 0
	}
	if c.arg(2) == "InputMethod" { // the windows with this title
		c.printf("WINDOW MANAGER WINDOWS (dumpsys window windows)\n  Window #0 Window{5c6d7e u0 InputMethod}:\n")
		c.printf("    Frames: parent=[0,0][1080,2400] display=[0,0][1080,2400] frame=[0,%d][1080,2400] last=[0,%d][1080,2400]\n",
			statusBar, statusBar)
		return 0
	}
	name, activity := c.phone.frontActivity()
	if activity[0] == '.' {
		activity = name + activity
	}
	c.printf("WINDOW MANAGER WINDOWS (dumpsys window windows)\n")
	kind := "BASE_APPLICATION"
	if c.phone.App.FocusedWindow() > 1 {
		kind = "APPLICATION" // of a dialog
	}
	c.printf("  Window #1 Window{7a8b9c u0 %s/%s}:\n    mDisplayId=0 mSession=Session{1f2e3d 4321:u0a10123}\n"+
		"    mAttrs={(0,0)(fillxfill) sim={adjust=resize} ty=%s fmt=TRANSLUCENT}\n", name, activity, kind)
	c.printf("  Window #0 Window{1a2b3c u0 NavigationBar0}:\n    mAttrs={(0,0)(fillxfill) ty=NAVIGATION_BAR fmt=TRANSLUCENT}\n")
	c.printf("  mCurrentFocus=Window{7a8b9c u0 %s/%s}\n  mFocusedApp=ActivityRecord{4d5e6f u0 %s/%s t12}\n", name, activity, name, activity)
	dumpKeyguard(c)
	c.printf("  mInputMethodWindow=%s mStable=[0,0][1080,2400]\n", app.ShopID)
	return 0
}
