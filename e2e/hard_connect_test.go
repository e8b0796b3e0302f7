//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"

	simulated "github.com/trailblaze/trailblaze/testdata/phones"
)

// hardToConnect are phones that are hard to reach or to prepare.
func hardToConnect() []hardPhone {
	android := func(name string, o simulated.AndroidOptions) hardPhone { return hardPhone{name: name, android: &o} }
	failing := func(h hardPhone, code int, why string) hardPhone {
		h.code, h.fails = code, map[string]string{}
		for _, trail := range androidTrails() {
			h.fails[trail] = why
		}
		return h
	}
	withSerial := android("a phone that was paired over its network twice", simulated.AndroidOptions{})
	withSerial.serial = "adb-R5CT123ABC-x7Yz9K (2)._adb-tls-connect._tcp"
	return []hardPhone{
		android("asleep and locked", simulated.AndroidOptions{Lock: simulated.LockSwipe}),
		failing(android("locked with a PIN", simulated.AndroidOptions{Lock: simulated.LockSecure}), 2, "is locked with a PIN"),
		android("settings are refused", simulated.AndroidOptions{RefuseSettings: true}),
		failing(android("input is refused to a phone without the server", simulated.AndroidOptions{RefuseInput: true, Level: 25}), 1,
			"does not let adb touch the screen"),
		failing(android("Play Protect refuses the server", simulated.AndroidOptions{Verifier: simulated.VerifierRefuses}), 2,
			"INSTALL_FAILED_VERIFICATION_FAILURE"),
		android("the server ends at its first start", simulated.AndroidOptions{FailStarts: 1}),
		android("the server is listed later", simulated.AndroidOptions{ListLate: 2}),
		android("Doze", simulated.AndroidOptions{Lock: simulated.LockSwipe, Doze: true}),
		android("Android 7", simulated.AndroidOptions{Level: 24}),
		android("a second user", simulated.AndroidOptions{User: 10}),
		failing(android("a second user without the app", simulated.AndroidOptions{User: 10, AppOfOthers: true}), 1,
			"is installed on"),
		android("a phone that is folded", simulated.AndroidOptions{Foldable: true}),
		withSerial,
	}
}

// androidTrails returns the names of the trails of the corner shop for Android.
func androidTrails() []string {
	files, _ := filepath.Glob(cornerShop + "/trails/*.trail.yaml")
	var names []string
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "\n      android:\n") {
			names = append(names, strings.TrimSuffix(filepath.Base(file), ".trail.yaml"))
		}
	}
	return names
}
