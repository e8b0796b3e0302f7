//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// An emulator is started for the run and ended with it. The program emulator is stood for by a simulated phone, which the
// real adb server takes for an emulator.
func TestEmulatorIsStartedForTheRun(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	simulate := filepath.Join(t.TempDir(), "simulate")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", simulate, "../testdata/phones/simulate").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sdk := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
echo "$@" >>%q
[ "$2" = Pixel_8 ] || { echo "PANIC: Unknown AVD name [$2], use -list-avds to see valid list."; exit 1; } >&2
SIMULATED_AVD=$2 exec %s -emulator "$4"
`, d.path("emulator.args"), simulate)
	d.write("trails/open.trail.yaml", "trail:\n  - step: open\n    recording: { android: [ { launchApp: { appId: com.example.shop } } ] }\n")
	if err := os.Mkdir(filepath.Join(sdk, "emulator"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := spawntest.WriteProgram(filepath.Join(sdk, "emulator", "emulator"), []byte(script)); err != nil {
		t.Fatal(err)
	}
	d.env = append(d.env, "ANDROID_HOME="+sdk, "DISPLAY=")
	run := func(name string) result {
		return d.run("run", "--platform", "android", "--start-device", name, "trails/open.trail.yaml")
	}
	run("Pixel_8").want(t, 0, "1 passed")
	args := read(t, d.path("emulator.args"))
	m := regexp.MustCompile(`^-avd Pixel_8 -port (\d+) -no-window\n$`).FindStringSubmatch(args)
	if m == nil {
		t.Fatalf("emulator %s", args)
	}
	if devices, err := d.adb.Run(t.Context(), "devices"); err != nil || strings.Contains(devices, "emulator-"+m[1]+"\tdevice") {
		t.Errorf("it runs on: %v %s", err, devices)
	}
	spawntest.NoSurvivors(t, d.marker)
	run("Pixel_9").wantOutput(t, 2, "the emulator Pixel_9 ended before Android had started", "Unknown AVD name [Pixel_9]", "emulator -list-avds")

	// One that runs is used, and runs on.
	running := exec.CommandContext(t.Context(), simulate, "-emulator", m[1])
	running.Env = append(os.Environ(), "ANDROID_ADB_SERVER_PORT="+d.adb.Port, "SIMULATED_AVD=Pixel_8")
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = running.Process.Kill(); _ = running.Wait() }()
	if _, err := d.adb.Run(t.Context(), "-s", "emulator-"+m[1], "wait-for-device"); err != nil {
		t.Fatal(err)
	}
	run("Pixel_8").want(t, 0, "1 passed")
	if again := strings.Count(read(t, d.path("emulator.args")), "Pixel_8"); again != 1 {
		t.Errorf("it was started %d times", again)
	}
	if state, err := d.adb.Run(t.Context(), "-s", "emulator-"+m[1], "get-state"); err != nil || strings.TrimSpace(state) != "device" {
		t.Errorf("it does not run any more: %v %s", err, state)
	}
}
