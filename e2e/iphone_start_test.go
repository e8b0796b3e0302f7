//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// The script of the docs starts WebDriverAgent and the forwarding of its port, and both end with the run. Programs that
// need a Mac and a phone are stood for: xcodebuild by a simulated WebDriverAgent, iproxy by a proxy in node.
func TestScriptThatStartsWebDriverAgent(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	here, onPhone := freePort(t), freePort(t)
	script, err := filepath.Abs("../docs/start-wda.sh")
	if err != nil {
		t.Fatal(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	simulate := filepath.Join(t.TempDir(), "simulate")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", simulate, "../testdata/phones/simulate").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	programs := t.TempDir()
	for name, text := range map[string]string{
		"xcodebuild": fmt.Sprintf("[ ! -f broken ] || { echo 'No profiles were found' >&2; exit 65; }\necho \"$@\" >xcodebuild.args\nexec %s -iphone 127.0.0.1:%s", simulate, onPhone),
		"iproxy": fmt.Sprintf(`echo "$@" >iproxy.args
exec %s -e 'const net = require("net"); net.createServer((c) => { const to = net.connect(%s, "127.0.0.1"); c.on("error", () => {}).pipe(to); to.on("error", () => c.destroy()).pipe(c); }).listen(%s, "127.0.0.1")'`,
			node, onPhone, here),
	} {
		if err := spawntest.WriteProgram(filepath.Join(programs, name), []byte("#!/bin/sh\n"+text+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	d.env = append(d.env, "PATH="+programs+":"+os.Getenv("PATH"), fmt.Sprintf("WDA_PORT=%s", here))
	d.write("trailblaze.yaml", fmt.Sprintf("target: corner-shop\ndevices:\n  iphone: { platform: ios, wdaUrl: \"http://127.0.0.1:%s\", wdaStart: [sh, %q, UDID-1] }\n", here, script))
	d.run("run", "--device", "iphone").want(t, 0, "1 passed")
	if got := read(t, d.path("iproxy.args")); got != fmt.Sprintf("%s:8100 -u UDID-1\n", here) {
		t.Errorf("iproxy: %s", got)
	}
	if got := read(t, d.path("xcodebuild.args")); !strings.HasPrefix(got, "test-without-building -project node_modules/appium-webdriveragent/") ||
		!strings.Contains(got, "-destination id=UDID-1 -derivedDataPath wda-build") {
		t.Errorf("xcodebuild: %s", got)
	}
	spawntest.NoSurvivors(t, d.marker)

	d.write("broken", "")
	d.run("run", "--device", "iphone").want(t, 2, "No profiles were found", "xcodebuild exited with 65")
	spawntest.NoSurvivors(t, d.marker)
}
