package android

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

const (
	serverPackage = "io.appium.uiautomator2.server"
	testPackage   = serverPackage + ".test"
	testAPK       = "appium-uiautomator2-server-debug-androidTest.apk"
	installServer = "npm i -D appium-uiautomator2-server"
)

// serverAPKs are the APKs of a UiAutomator2 server.
type serverAPKs struct {
	server, test string // paths
	version      string
}

// findAPKs returns the APKs of the UiAutomator2 server: those in the folder that the user names, in node_modules of a
// folder or of one above it, or of Appium. It is false when there are none.
func (o options) findAPKs(folders ...string) (serverAPKs, bool, error) {
	if o.server != "" {
		for _, dir := range []string{o.server, filepath.Join(o.server, "apks")} {
			if apks, ok := apksIn(dir); ok {
				return apks, true, nil
			}
		}
		return serverAPKs{}, false, fault.New(fault.Misuse,
			"name the folder apks of the npm package appium-uiautomator2-server; "+installServer+" installs it",
			"uiautomator2: %s does not contain %s and appium-uiautomator2-server-vVERSION.apk", o.server, testAPK)
	}
	for _, dir := range o.apkFolders(folders) {
		if apks, ok := apksIn(dir); ok {
			return apks, true, nil
		}
	}
	return serverAPKs{}, false, nil
}

// apkFolders returns where npm and Appium put the APKs.
func (o options) apkFolders(folders []string) []string {
	const (
		server = "node_modules/appium-uiautomator2-server/apks"
		driver = "node_modules/appium-uiautomator2-driver/" + server
	)
	var all []string
	for _, dir := range folders {
		for dir != "" {
			all = append(all, filepath.Join(dir, server), filepath.Join(dir, driver))
			up := filepath.Dir(dir)
			if up == dir {
				break
			}
			dir = up
		}
	}
	home := cmp.Or(device.Getenv(o.env, "HOME"), device.Getenv(o.env, "USERPROFILE"))
	for _, dir := range []string{device.Getenv(o.env, "APPIUM_HOME"), filepath.Join(home, ".appium")} {
		if filepath.IsAbs(dir) {
			all = append(all, filepath.Join(dir, driver), filepath.Join(dir, server))
		}
	}
	return all
}

var serverAPK = lazyregexp.New(`^appium-uiautomator2-server-v(\d+\.\d+[\w.-]*)\.apk$`)

// apksIn returns the latest server in a folder.
func apksIn(dir string) (serverAPKs, bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return serverAPKs{}, false
	}
	var found serverAPKs
	for _, e := range entries {
		switch m := serverAPK().FindStringSubmatch(e.Name()); {
		case e.Name() == testAPK:
			found.test = filepath.Join(dir, testAPK)
		case m != nil && (found.version == "" || compareVersions(m[1], found.version) > 0):
			found.server, found.version = filepath.Join(dir, e.Name()), m[1]
		}
	}
	return found, found.server != "" && found.test != ""
}

// compareVersions compares versions such as 10.6.6, number by number.
func compareVersions(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		if c := cmp.Compare(versionPart(x, i), versionPart(y, i)); c != 0 {
			return c
		}
	}
	return 0
}

// versionPart returns the number at a place of a version, 0 for one that is missing or not a number.
func versionPart(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	return number(parts[i])
}

// oldestServer is the first version with everything that selectors need.
const oldestServer = "10.5"

// ageNote says what a server lacks; empty if it is recent enough.
func (a serverAPKs) ageNote() string {
	if compareVersions(a.version, oldestServer) >= 0 {
		return ""
	}
	return fmt.Sprintf("the UiAutomator2 server %s in %s is older than %s", a.version, a.folder(), oldestServer)
}

func (a serverAPKs) folder() string { return filepath.Dir(a.server) }
