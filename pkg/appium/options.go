package appium

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// Options say which session is requested of which server.
type Options struct {
	URL          string         // with or without /wd/hub; may contain user and key
	Capabilities map[string]any // as the user writes them: vendor prefixes may be missing; or alwaysMatch and firstMatch
	Platform     mobile.Platform
	App          string // path or URL of the app, for the capability app; empty for none
	// Name is that of the session in the dashboard of a cloud. Outcome is that of device.Session. Both may be empty.
	Name    string
	Outcome func() *device.Outcome
	Limits  Limits
	Log     func(level, message, hint string) // may be nil
}

// Limits bound what a server may take. Tests use shorter ones.
type Limits struct {
	Start time.Duration // for a session to start, which may wait for a free device
	Call  time.Duration // for a call
	Close time.Duration // for the session to end
}

// DefaultLimits returns the limits that users get.
func DefaultLimits() Limits {
	return Limits{Start: 5 * time.Minute, Call: 3 * time.Minute, Close: 30 * time.Second}
}

// maxStart is the longest limit of a start.
const maxStart = time.Hour

// DeviceOptions returns the options that every kind of device with such a driver has.
func DeviceOptions() []device.Option {
	return []device.Option{
		{
			Key: "appiumUrl", Flag: "appium-url", Env: "TRAILBLAZE_APPIUM_URL",
			Usage: "`URL` of an Appium server or a device cloud: https://USER:KEY@HOST/wd/hub",
		},
		{Key: "capabilities", Usage: "capabilities of the Appium session, as JSON"},
		{Key: "appiumStartTimeout", Usage: "how long an Appium session may take to start, in the queue of a cloud too", Default: "5m"},
	}
}

// ReadOptions reads the values of [DeviceOptions]. The URL is empty when none is set.
func ReadOptions(values map[string]string, platform mobile.Platform) (Options, error) {
	o := Options{URL: values["appiumUrl"], Platform: platform, App: values["app"], Limits: DefaultLimits()}
	if o.URL != "" {
		client, err := webdriver.New(o.URL, webdriver.Options{})
		if err != nil {
			return o, fault.New(fault.Misuse, "write it like http://127.0.0.1:4723 or https://USER:KEY@HOST/wd/hub", "appiumUrl: %v", err)
		}
		client.Close()
	}
	if text := values["capabilities"]; text != "" {
		if err := json.Unmarshal([]byte(text), &o.Capabilities); err != nil { // the error may quote a secret
			return o, fault.New(fault.Misuse, "write them as a mapping of names to values", "capabilities: not a JSON object")
		}
	}
	if text := values["appiumStartTimeout"]; text != "" {
		limit, err := time.ParseDuration(text)
		if err != nil || limit <= 0 || limit > maxStart {
			return o, fault.New(fault.Misuse, "write it like 90s or 10m, at most 1h", "appiumStartTimeout: %q is not a time limit", text)
		}
		o.Limits.Start = limit
	}
	return o, nil
}

// Secrets returns the user and key of the URLs and the credentials in the capabilities, for device.Kind.
func Secrets(values map[string]string) map[string]string {
	secrets := map[string]string{}
	for _, key := range []string{"appiumUrl", "wdaUrl"} {
		addUser(secrets, key, values[key])
	}
	var capabilities map[string]any
	_ = json.Unmarshal([]byte(values["capabilities"]), &capabilities) // ReadOptions reports it
	addSecrets(secrets, "", capabilities)
	maps.DeleteFunc(secrets, func(_, value string) bool { return value == "" })
	return secrets
}

// addUser adds the user and key of a text that is a URL, such as that of an app.
func addUser(secrets map[string]string, name, text string) {
	if u, err := url.Parse(text); err == nil && u.Host != "" && u.User != nil {
		secrets[name+" user"] = u.User.Username()
		secrets[name+" key"], _ = u.User.Password()
	}
}

var secretName = lazyregexp.New(`(?i)(user|user_?name|key|token|secret|pass|password|passwd|passcode|passphrase|pwd|authorization)$`)

// addSecrets adds the texts in capabilities whose name says that they are credentials, by their path, and those in
// URLs.
func addSecrets(secrets map[string]string, path string, value any) {
	switch value := value.(type) {
	case string:
		if secretName().MatchString(path) {
			secrets[path] = value
		}
		addUser(secrets, path, value)
	case map[string]any:
		for name, inner := range value {
			addSecrets(secrets, strings.TrimPrefix(path+"."+name, "."), inner)
		}
	case []any:
		for i, inner := range value {
			addSecrets(secrets, fmt.Sprintf("%s[%d]", path, i), inner)
		}
	}
}

// Tablet reports whether the capabilities name a tablet. Which device a session gets is known only when it has started.
func (o Options) Tablet() bool {
	text, _ := json.Marshal(o.request()) //nolint:errchkjson // it was JSON
	return tabletName().Match(text)
}

var tabletName = lazyregexp.New(`(?i)"(appium:)?device(Name|_name)?":"[^"]*(ipad|tablet|\btab\b)`)

// request returns what to request the session with.
func (o Options) request() webdriver.Capabilities {
	_, always := o.Capabilities["alwaysMatch"]
	first, ok := o.Capabilities["firstMatch"].([]any)
	if !always && !ok {
		return webdriver.Capabilities{AlwaysMatch: o.complete(prefixCapabilities(o.Capabilities), nil)}
	}
	w3c := webdriver.Capabilities{}
	for _, choice := range first {
		m, _ := choice.(map[string]any)
		w3c.FirstMatch = append(w3c.FirstMatch, prefixCapabilities(m))
	}
	m, _ := o.Capabilities["alwaysMatch"].(map[string]any)
	w3c.AlwaysMatch = o.complete(prefixCapabilities(m), w3c.FirstMatch)
	return w3c
}

// prefixCapabilities returns capabilities with appium: before the names that the W3C does not define and that have no
// prefix.
func prefixCapabilities(capabilities map[string]any) map[string]any {
	standard := []string{
		"acceptInsecureCerts", "browserName", "browserVersion", "pageLoadStrategy", "platformName", "proxy", "setWindowRect",
		"strictFileInteractability", "timeouts", "unhandledPromptBehavior", "userAgent", "webSocketUrl",
	}
	out := map[string]any{}
	for name, value := range capabilities {
		if !strings.Contains(name, ":") && !slices.Contains(standard, name) {
			name = "appium:" + name
		}
		out[name] = value
	}
	return out
}

// idleLimit is how long a server keeps a session without a call, in seconds. The default of Appium is 60.
const idleLimit = 300

// complete adds what a session needs to capabilities, except what is in them or in a choice.
func (o Options) complete(capabilities map[string]any, choices []map[string]any) map[string]any {
	add := func(name string, value any) {
		_, given := capabilities[name]
		for _, choice := range choices {
			_, chosen := choice[name]
			given = given || chosen
		}
		if !given {
			capabilities[name] = value
		}
	}
	add("appium:newCommandTimeout", idleLimit)
	if o.Platform == mobile.IOS {
		add("platformName", "iOS")
		add("appium:automationName", "XCUITest")
	} else {
		add("platformName", "Android")
		add("appium:automationName", "UiAutomator2")
		add("appium:disableSuppressAccessibilityService", true) // otherwise apps made with Compose show nothing
	}
	if o.App != "" {
		add("appium:app", o.App)
	}
	if c := o.cloud(); c != nil && o.Name != "" {
		options, ok := capabilities[c.options].(map[string]any)
		if _, given := capabilities[c.options]; given && !ok || hasOptions(choices, c.options) {
			return capabilities
		}
		named := map[string]any{c.name: o.Name}
		maps.Copy(named, options)
		capabilities[c.options] = named
	}
	return capabilities
}

func hasOptions(choices []map[string]any, name string) bool {
	return slices.ContainsFunc(choices, func(choice map[string]any) bool { _, ok := choice[name]; return ok })
}

// cloud is a device cloud that shows a name and an outcome for each session.
type cloud struct {
	host    string // the end of its host names
	options string // the capability with its own options
	name    string // of the session, in its options
	outcome func(passed bool, reason string) string
}

// cloud returns the cloud of the session, nil for none that is known.
func (o Options) cloud() *cloud {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil
	}
	capabilities := o.Capabilities
	if always, ok := capabilities["alwaysMatch"].(map[string]any); ok {
		capabilities = always
	}
	for _, c := range clouds() {
		_, given := capabilities[c.options]
		if given || u.Hostname() == c.host || strings.HasSuffix(u.Hostname(), "."+c.host) {
			return &c
		}
	}
	return nil
}

func clouds() []cloud {
	word := func(passed bool) string {
		if passed {
			return "passed"
		}
		return "failed"
	}
	return []cloud{
		{"browserstack.com", "bstack:options", "sessionName", func(passed bool, reason string) string {
			command, _ := json.Marshal(map[string]any{ //nolint:errchkjson // texts
				"action": "setSessionStatus", "arguments": map[string]string{"status": word(passed), "reason": short(reason)},
			})
			return "browserstack_executor: " + string(command)
		}},
		{"saucelabs.com", "sauce:options", "name", func(passed bool, _ string) string {
			return fmt.Sprintf("sauce:job-result=%t", passed)
		}},
		{"lambdatest.com", "lt:options", "name", func(passed bool, _ string) string {
			return "lambda-status=" + word(passed)
		}},
	}
}

// short returns at most 252 characters of a text, which BrowserStack limits to 256.
func short(text string) string {
	const most = 250
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + " …"
	}
	return text
}
