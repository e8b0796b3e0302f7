package phones

import (
	"fmt"
	"io"
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
		{app.ShopID, "2.1.0", 21},
		{app.BrowserID, "1.0", 1},
		{"com.example.launcher", "1.0", 1},
		{"com.android.settings", "14", 34},
		{"com.android.permissioncontroller", "14", 34},
		{"com.example.keyboard", "1.0", 1},
		{"android", "14", 34},
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
	case "install", "install-create":
		return pmInstall(c)
	case "uninstall":
		return pmUninstall(c)
	case "resolve-activity":
		return pmResolve(c)
	case "query-activities":
		return pmQuery(c)
	case "dump":
		return dumpPackage(c, c.arg(2))
	case "clear-permission-flags":
		c.phone.resetPermission(c.arg(2), c.arg(3))
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
	switch c.arg(2) {
	case "packages", "package":
		for _, name := range c.phone.packageNames() {
			wanted := !c.has("-3") || !ofSystem(name)
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
		if c.phone.Installed(serverTestApp) {
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
	args := slices.DeleteFunc(slices.Clone(c.args[2:]), func(s string) bool { return s == "--user" || s == "0" })
	if len(args) != 2 {
		c.errorf("Error: no permission specified\n")
		return 255
	}
	name, permission := args[0], args[1]
	head := fmt.Sprintf("\nException occurred while executing '%s':\n", c.arg(1))
	switch {
	case !c.phone.Installed(name):
		c.errorf("%sjava.lang.IllegalArgumentException: Unknown package: %s\n", head, name)
		return 255
	case !slices.Contains(requested(name), permission):
		c.errorf("%sjava.lang.SecurityException: Package %s has not requested permission %s\n", head, name, permission)
		return 255
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
	if !c.phone.Installed(c.last()) {
		c.printf("Failed\n")
		return 1
	}
	c.phone.App.Clear(c.last())
	c.printf("Success\n")
	return 0
}

// pmInstall installs an APK from a file, or from stdin when -S says how long it is.
func pmInstall(c *call) int {
	var data []byte
	var err error
	if size := c.after("-S"); size != "" {
		var n int64
		_, _ = fmt.Sscan(size, &n)
		data, err = io.ReadAll(io.LimitReader(c.stdin, n))
	} else {
		file, problem := c.phone.files.Stat(c.last())
		data, err = file.Data, problem
	}
	if err != nil {
		c.errorf("Error: Unable to open file: %s\n", c.last())
		return 1
	}
	m, err := readManifest(data)
	if err != nil {
		c.printf("Failure [%v]\n", err)
		return 1
	}
	p := c.phone
	p.mu.Lock()
	old, installed := p.packages[m.app]
	downgrade := installed && m.code < old.code && !c.has("-d")
	if !downgrade {
		p.packages[m.app] = m
	}
	p.mu.Unlock()
	if downgrade {
		c.printf("Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code %d is older than "+
			"current %d]\n", m.code, old.code)
		return 1
	}
	if installed { // Android ends what it replaces
		p.stopApp(m.app)
	}
	c.printf("Success\n")
	return 0
}

func pmUninstall(c *call) int {
	if !c.phone.Installed(c.last()) {
		c.printf("Failure [DELETE_FAILED_INTERNAL_ERROR]\n")
		return 1
	}
	c.phone.Uninstall(c.last())
	c.printf("Success\n")
	return 0
}

func pmResolve(c *call) int {
	name := c.last()
	activity := activities()[name]
	if !c.phone.Installed(name) || activity == "" {
		c.printf("No activity found\n")
		return 0
	}
	c.printf("priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false\n%s/%s\n", name, activity)
	return 0
}

// pmQuery lists the activities that start apps: as components, or with their properties.
func pmQuery(c *call) int {
	var n int
	for _, name := range c.phone.packageNames() {
		activity := activities()[name]
		switch {
		case activity == "":
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
