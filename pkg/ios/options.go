package ios

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// defaultURL is where WebDriverAgent responds on a simulator, and where tools forward its port of a phone to.
const defaultURL = "http://127.0.0.1:8100"

// options are the user's settings.
type options struct {
	wdaURL     string
	start      []string // the command that starts WebDriverAgent; nil for none
	startLimit time.Duration
	wdaApp     string // the bundle id with which WebDriverAgent was signed; empty for what it says itself
	boot       string // name or udid of the simulator that is booted; empty for none
	udid       string // of the simulator; empty for the only one that is booted
	app        string // folder or file of the app; empty for none
	// clearKeychain says that removing what an app has stored removes what all apps of the simulator have in the keychain.
	clearKeychain bool
	appium        appium.Options
	values        map[string]string
	env           []string
	dir           string // in which wdaStart runs
	stateDir      string // of the lock; empty for none
	programs      device.Programs
}

// limits bound what a device may take. Tests use shorter ones.
type limits struct {
	call  time.Duration // for a response of WebDriverAgent, and for simctl
	app   time.Duration // for an app to be installed
	boot  time.Duration // for a simulator to start
	start time.Duration // for WebDriverAgent to respond after its start
	probe time.Duration // for the response to one request for the status
	poll  time.Duration // between two of them
	close time.Duration // for WebDriverAgent to exit, and for its session to end
}

func defaultLimits() limits {
	return limits{
		call: time.Minute, app: 3 * time.Minute, boot: 5 * time.Minute, start: defaultStart, probe: 5 * time.Second, poll: 250 * time.Millisecond, close: 10 * time.Second,
	}
}

const (
	defaultStart = 5 * time.Minute // Xcode may have to build it first
	maxStart     = time.Hour
)

func deviceOptions() []device.Option {
	own := []device.Option{
		{Key: "wdaUrl", Flag: "wda-url", Env: "TRAILBLAZE_WDA_URL", Usage: "`URL` of WebDriverAgent", Default: defaultURL, Names: true},
		{Key: "wdaStart", Usage: "command that starts WebDriverAgent if it does not respond, as a list or as text for sh"},
		{Key: "wdaStartTimeout", Usage: "how long WebDriverAgent may take to respond after its start", Default: "5m"},
		{Key: "wdaBundleId", Usage: "bundle `ID` with which WebDriverAgent was signed, for the clipboard of a phone"},
		{Key: "udid", Usage: "id of the simulator, when several are booted"},
		{Key: "clearKeychain", Usage: "removing what an app has stored empties the keychain of the simulator too", Switch: true},
	}
	return append(append(own, mobile.Settings()...), appium.DeviceOptions()...)
}

func newOptions(host device.Host) (options, error) {
	v := host.Values
	o := options{
		wdaURL: cmp.Or(v["wdaUrl"], defaultURL), startLimit: defaultStart, boot: v["startDevice"], udid: v["udid"], app: v["app"], values: v,
		wdaApp:        v["wdaBundleId"],
		clearKeychain: v["clearKeychain"] == "true",
		env:           host.Env, dir: host.Dir, stateDir: host.StateDir, programs: host.Programs,
	}
	if _, err := mobile.ReadLimits(v, ""); err != nil {
		return o, err
	}
	var err error
	if o.start, err = readCommand(v["wdaStart"]); err != nil {
		return o, err
	}
	if text := v["wdaStartTimeout"]; text != "" {
		o.startLimit, err = time.ParseDuration(text)
		if err != nil || o.startLimit <= 0 || o.startLimit > maxStart {
			return o, fault.New(fault.Misuse, "write it like 90s or 10m, at most 1h", "wdaStartTimeout: %q is not a time limit", text)
		}
	}
	o.appium, err = appium.ReadOptions(v, mobile.IOS)
	return o, err
}

// readCommand reads a command: a list in JSON, or text for a shell.
func readCommand(text string) ([]string, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if !strings.HasPrefix(strings.TrimSpace(text), "[") {
		return []string{"sh", "-c", text}, nil
	}
	var command []string
	if err := json.Unmarshal([]byte(text), &command); err != nil || len(command) == 0 || command[0] == "" {
		return nil, fault.New(fault.Misuse, "write the program and its arguments, each as text", "wdaStart: not a list of texts")
	}
	return command, nil
}
