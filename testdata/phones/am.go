package phones

import (
	"encoding/base64"
	"strings"

	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// am starts and ends apps.
func am(c *call) int {
	switch c.arg(1) {
	case "start", "start-activity":
		return amStart(c)
	case "force-stop", "kill", "stop-app":
		if user := c.takeUser(allUsers); !c.ofOther(user) {
			c.phone.stopApp(c.last())
		}
		return 0
	case "instrument":
		return c.phone.instrument(c)
	case "broadcast":
		return amBroadcast(c)
	case "startservice", "start-service", "start-foreground-service":
		c.printf("Starting service: Intent { %s }\n", c.last())
		return 0
	case "get-current-user":
		c.printf("%d\n", c.phone.options.User)
		return 0
	}
	c.unknown()
	c.errorf("Unknown command: %s\n", c.arg(1))
	return 255
}

// fold folds a phone that can be folded.
func (p *Android) fold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.folded = p.options.Foldable
}

// activities returns the first activity of each app that has one.
func activities() map[string]string {
	return map[string]string{
		app.ShopID: ".MainActivity", app.BrowserID: ".BrowserActivity", "com.example.launcher": ".Launcher",
		"com.android.settings": ".Settings", appiumSettings: ".Settings",
	}
}

// amStart starts an activity. As on a phone, what fails is written, and the exit status is 0.
func amStart(c *call) int {
	user := c.takeUser(c.phone.options.User)
	intent := readIntent(c.args[2:])
	out := c.stderr
	if intent.wait {
		out = c.stdout
	}
	c.printf("Starting: %s\n", intent)
	said := &call{stdout: out}
	name, problem := c.phone.resolve(intent, user)
	if problem != "" {
		said.printf("%s\n", problem)
		return 0
	}
	if intent.stop {
		c.phone.stopApp(name)
	}
	c.phone.fold()
	running := c.phone.App.Running(name)
	front := c.phone.App.Foreground() == name
	if name == appiumSettings { // it has no screen: its activity ends at once
		c.phone.App.Start(name, "", intent.extras...)
		c.phone.App.Stop(name)
	} else {
		c.phone.App.Start(name, intent.data, intent.extras...)
	}
	if front && !intent.stop {
		said.printf("Warning: Activity not started, its current task has been brought to the front\n")
	}
	if intent.wait {
		status, state := "ok", map[bool]string{true: "HOT", false: "COLD"}[running]
		if c.phone.options.SlowStart {
			status, state = "timeout", "UNKNOWN (0)"
		}
		said.printf("Status: %s\nLaunchState: %s\nActivity: %s/%s\nTotalTime: 12\nWaitTime: 15\nComplete\n", status, state, name,
			activities()[name])
	}
	return 0
}

// intent is what `am start` was told.
type intent struct {
	action, data, component, app string
	extras                       []string
	wait, stop                   bool
}

// readIntent reads the arguments of `am start`.
func readIntent(args []string) intent {
	var i intent
	values := map[string]*string{
		"-a": &i.action, "-d": &i.data, "-n": &i.component, "--component": &i.component, "-p": &i.app, "--package": &i.app,
	}
	ignored := map[string]bool{"-c": true, "-f": true, "-t": true, "--activity-task-on-home": false}
	for len(args) > 0 {
		name := args[0]
		args = args[1:]
		switch {
		case name == "-W":
			i.wait = true
		case name == "-S":
			i.stop = true
		case values[name] != nil && len(args) > 0:
			*values[name] = args[0]
			args = args[1:]
		case ignored[name] && len(args) > 0:
			args = args[1:]
		case strings.HasPrefix(name, "-e") || strings.HasPrefix(name, "--e"):
			if len(args) >= 2 {
				i.extras = append(i.extras, name+" "+args[0]+" "+args[1])
				args = args[2:]
			}
		case strings.Contains(name, "://"):
			i.data = name
		case strings.Contains(name, "/"):
			i.component = name
		case !strings.HasPrefix(name, "-"):
			i.app = name
		}
	}
	return i
}

// String returns the intent as Android writes it.
func (i intent) String() string {
	var parts []string
	for _, p := range [][2]string{{"act", i.action}, {"dat", i.data}, {"pkg", i.app}, {"cmp", i.component}} {
		if p[1] != "" {
			parts = append(parts, p[0]+"="+p[1])
		}
	}
	if len(i.extras) > 0 {
		parts = append(parts, "(has extras)")
	}
	return "Intent { " + strings.Join(parts, " ") + " }"
}

// resolve returns the app that an intent starts, or Android's message that none does.
func (p *Android) resolve(i intent, user int) (name, problem string) {
	if i.component != "" {
		name, activity, _ := strings.Cut(i.component, "/")
		first := activities()[name]
		if !p.installedFor(name, user) || activity != first && activity != name+first && name != appiumSettings {
			return "", "Error type 3\nError: Activity class {" + i.component + "} does not exist."
		}
		return name, ""
	}
	name = i.app
	if i.data != "" {
		handler := app.HandlerOf(i.data)
		if name != "" && name != handler {
			handler = ""
		}
		name = handler
	}
	if name == "" || !p.installedFor(name, user) {
		return "", "Error: Activity not started, unable to resolve " + i.String()
	}
	return name, ""
}

func (p *Android) stopApp(name string) {
	p.App.Stop(name)
	if name == serverApp || name == serverTestApp {
		p.stopServer("Process crashed.")
	}
}

func amBroadcast(c *call) int {
	i := readIntent(c.args[2:])
	c.printf("Broadcasting: %s\n", i)
	if i.action == appiumSettings+".clipboard.get" && c.phone.Installed(appiumSettings) {
		text := base64.StdEncoding.EncodeToString([]byte(c.phone.App.Clipboard()))
		c.printf("Broadcast completed: result=-1, data=\"%s\"\n", text)
		return 0
	}
	c.printf("Broadcast completed: result=0\n")
	return 0
}
