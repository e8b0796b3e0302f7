package phones

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// The UiAutomator2 server consists of two apps.
const (
	serverApp     = "io.appium.uiautomator2.server"
	serverTestApp = "io.appium.uiautomator2.server.test"
	runner        = serverTestApp + "/androidx.test.runner.AndroidJUnitRunner"
	serverSocket  = "tcp:6790"
)

// serverCode returns the version code of a version of the UiAutomator2 server: 278 is that of 10.6.6, the others are
// invented.
func serverCode(version string) int {
	if version == "10.6.6" {
		return 278
	}
	return 200
}

func preinstalled() map[string]manifest {
	packages := map[string]manifest{}
	for _, m := range []manifest{
		{app: app.ShopID, version: "2.1.0", code: 21},
		{app: app.BrowserID, version: "1.0", code: 1},
		{app: "com.example.launcher", version: "1.0", code: 1},
		{app: "com.android.settings", version: "14", code: 34},
		{app: "com.android.permissioncontroller", version: "14", code: 34},
		{app: "com.example.keyboard", version: "1.0", code: 1},
		{app: "android", version: "14", code: 34},
	} {
		packages[m.app] = m
	}
	return packages
}

// ofSystem reports whether an app came with the phone.
func ofSystem(name string) bool {
	_, found := preinstalled()[name]
	return found && name != app.ShopID
}

// requested returns the permissions that an app may have and that a person decides about.
func requested(name string) []string {
	if name != app.ShopID {
		return nil
	}
	return []string{
		"android.permission.POST_NOTIFICATIONS", "android.permission.CAMERA", "android.permission.ACCESS_FINE_LOCATION",
	}
}

// pm manages apps.
func pm(c *call) int {
	switch c.arg(1) {
	case "list":
		return pmList(c)
	case "path":
		return pmPath(c)
	case "grant", "revoke":
		return pmGrant(c)
	case "clear":
		return pmClear(c)
	case "install":
		return pmInstall(c)
	case "install-create":
		return pmInstallCreate(c)
	case "install-write":
		return pmInstallWrite(c)
	case "install-commit":
		return pmInstallCommit(c)
	case "install-abandon":
		c.printf("Success\n")
		return 0
	case "uninstall":
		return pmUninstall(c)
	case "resolve-activity":
		return pmResolve(c)
	case "query-activities":
		return pmQuery(c)
	case "dump":
		return dumpPackage(c, c.arg(2))
	case "clear-permission-flags":
		if user := c.takeUser(0); !c.ofOther(user) {
			c.phone.resetPermission(c.arg(2), c.arg(3))
		}
		return 0
	case "enable", "disable", "reset-permissions", "set-permission-flags":
		return 0
	}
	c.unknown()
	c.errorf("Unknown command: %s\n", c.arg(1))
	return 255
}

func (p *Android) packageNames() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.packages))
}

func pmList(c *call) int {
	user := c.takeUser(0)
	switch c.arg(2) {
	case "packages", "package":
		for _, name := range c.phone.packageNames() {
			wanted := c.phone.installedFor(name, user) && (!c.has("-3") || !ofSystem(name))
			wanted = wanted && (!c.has("-s") || ofSystem(name))
			if filter := c.last(); len(c.args) > 3 && !strings.HasPrefix(filter, "-") {
				wanted = wanted && strings.Contains(name, filter)
			}
			if wanted {
				c.printf("package:%s%s\n", name, versionSuffix(c, name))
			}
		}
		return 0
	case "instrumentation":
		if c.phone.listed() {
			c.printf("instrumentation:%s (target=%s)\n", runner, serverApp)
		}
		return 0
	case "features":
		c.printf("feature:android.hardware.touchscreen\n")
		return 0
	}
	c.unknown()
	return 255
}

// listed reports whether the UiAutomator2 server can be started now.
func (p *Android) listed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, app := p.packages[serverApp]
	_, test := p.packages[serverTestApp]
	if app && test && p.listLate > 0 {
		p.listLate--
		return false
	}
	return app && test
}

// versionSuffix returns what --show-versioncode adds.
func versionSuffix(c *call, name string) string {
	if !c.has("--show-versioncode") {
		return ""
	}
	c.phone.mu.Lock()
	defer c.phone.mu.Unlock()
	return fmt.Sprintf(" versionCode:%d", c.phone.packages[name].code)
}

func pmPath(c *call) int {
	name := c.last()
	if !c.phone.Installed(name) {
		return 1
	}
	c.printf("package:/data/app/%s/base.apk\n", name)
	return 0
}

func pmGrant(c *call) int {
	user := c.takeUser(0)
	args := c.args[2:]
	if len(args) != 2 {
		c.errorf("Error: no permission specified\n")
		return 255
	}
	name, permission := args[0], args[1]
	head := fmt.Sprintf("\nException occurred while executing '%s':\n", c.arg(1))
	switch {
	case c.phone.options.RefuseSettings:
		c.errorf("%sjava.lang.SecurityException: grantRuntimePermission: Neither user 2000 nor current process has "+
			"android.permission.GRANT_RUNTIME_PERMISSIONS.\n", head)
		return 255
	case !c.phone.installedFor(name, user):
		c.errorf("%sjava.lang.IllegalArgumentException: Unknown package: %s\n", head, name)
		return 255
	case !slices.Contains(requested(name), permission):
		c.errorf("%sjava.lang.SecurityException: Package %s has not requested permission %s\n", head, name, permission)
		return 255
	}
	if c.ofOther(user) {
		return 0
	}
	c.phone.App.SetPermission(name, appPermission(permission), c.arg(1) == "grant")
	if c.arg(1) == "revoke" { // Android ends the app
		c.phone.stopApp(name)
	}
	return 0
}

// resetPermission lets an app ask again for a permission that it was denied.
func (p *Android) resetPermission(name, permission string) {
	permission = appPermission(permission)
	if !p.App.Permissions(name)[permission] {
		p.App.ResetPermission(name, permission)
	}
}

func pmClear(c *call) int {
	user := c.takeUser(0)
	if !c.phone.installedFor(c.last(), user) {
		c.printf("Failed\n")
		return 1
	}
	if c.phone.options.RefuseClear {
		c.errorf("\nException occurred while executing 'clear':\njava.lang.SecurityException: PID 4242 does not have permission "+
			"android.permission.CLEAR_APP_USER_DATA to clear data of package %s\n", c.last())
		return 255
	}
	if !c.ofOther(user) {
		c.phone.App.Clear(c.last())
	}
	c.printf("Success\n")
	return 0
}

// pmUninstall removes an app for a user, or for all of them: not one of the system.
func pmUninstall(c *call) int {
	user, p, name := c.takeUser(allUsers), c.phone, c.last()
	switch {
	case !p.Installed(name), user == allUsers && ofSystem(name):
		c.printf("Failure [DELETE_FAILED_INTERNAL_ERROR]\n")
		return 1
	case user != allUsers && p.options.User != 0 && name == app.ShopID:
		p.mu.Lock()
		p.appOfOthers = true
		p.mu.Unlock()
	default:
		p.Uninstall(name)
	}
	c.printf("Success\n")
	return 0
}

func pmResolve(c *call) int {
	user := c.takeUser(c.phone.options.User)
	name := c.last()
	activity := activities()[name]
	if !c.phone.installedFor(name, user) || activity == "" {
		c.printf("No activity found\n")
		return 0
	}
	c.printf("priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false\n%s/%s\n", name, activity)
	return 0
}

// pmQuery lists the activities that start apps: as components, or with their properties.
func pmQuery(c *call) int {
	var n int
	user := c.takeUser(c.phone.options.User)
	for _, name := range c.phone.packageNames() {
		activity := activities()[name]
		switch {
		case activity == "", !c.phone.installedFor(name, user):
			continue
		case c.has("--components") || c.has("--brief"):
			c.printf("%s/%s\n", name, activity)
		default:
			c.printf("Activity #%d:\n  priority=0 preferredOrder=0 match=0x108000 isDefault=false\n  ActivityInfo:\n", n)
			c.printf("    name=%s%s\n    packageName=%s\n", name, activity, name)
		}
		n++
	}
	return 0
}
