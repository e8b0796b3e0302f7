package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/adb"
	uiautomator2 "github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/adbserver"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

const (
	// serverVersion is that of the simulated UiAutomator2 server on a phone that Appium does not use.
	serverVersion = "10.6.6"
	note          = "Leave it at the door"
	laterOrder    = "Order 1135" // which is not on the screen before the list is scrolled
)

// orderCalls are twenty calls that sign in, write a note and look at a setting. [appiumPhone.order] does the same.
func orderCalls() []string {
	id := func(name string) string {
		return fmt.Sprintf("tapOnElementBySelector: { nodeSelector: { androidAccessibility: { resourceIdRegex: '.*:id/%s' } } }", name)
	}
	text := func(text string) string {
		return fmt.Sprintf("tapOnElementBySelector: { nodeSelector: { androidAccessibility: { textRegex: %s } } }", text)
	}
	visible := func(text string) string {
		return fmt.Sprintf("assertVisibleBySelector: { nodeSelector: { androidAccessibility: { textRegex: %s } } }", text)
	}
	return []string{
		fmt.Sprintf("launchApp: { appId: %s, launchMode: REINSTALL }", app.ShopID),
		id("email"), "inputText: { text: " + app.Email + " }",
		id("password"), "inputText: { text: " + app.Password + " }",
		id("sign_in"), visible("Order 1149"),
		text("Order 1149"), visible("Save note"),
		id("note"), "inputText: { text: " + note + " }", id("save"),
		"pressBack: {}", visible("Order 1149"),
		"scrollUntilTextIsVisible: { text: " + laterOrder + " }", text(laterOrder), visible("Save note"),
		"pressBack: {}", id("settings"), visible("Order updates"),
	}
}

// phones are simulated Android phones behind an adb server of their own.
type phones struct {
	bench *bench
	adb   *adbserver.Server
	apks  string // folder of the UiAutomator2 server
	all   []*simulated.Android
}

// startPhones starts some phones. The caller calls stop.
func (b *bench) startPhones(ctx context.Context, count int) (*phones, error) {
	folder, err := os.MkdirTemp(b.dir, "phones")
	if err != nil {
		return nil, err
	}
	server, err := adbserver.Start(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("%w: run make deps", err)
	}
	p := &phones{bench: b, adb: server, apks: folder}
	for range count {
		phone, err := simulated.StartAndroid(ctx, simulated.AndroidOptions{App: app.Options{NoPrompt: true}, Server: serverVersion})
		if err == nil {
			p.all = append(p.all, phone)
			err = server.Connect(ctx, phone.Addr())
		}
		if err != nil {
			p.stop()
			return nil, err
		}
	}
	if err := p.writeAPKs(); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// writeAPKs writes the UiAutomator2 server that the phones have already.
func (p *phones) writeAPKs() error {
	for name, data := range simulated.ServerAPKs(serverVersion) {
		if err := os.WriteFile(filepath.Join(p.apks, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (p *phones) stop() {
	for _, phone := range p.all {
		phone.Close()
	}
	p.adb.Close()
}

// project writes a project with the first phones as its devices, and one trail.
func (p *phones) project(name string, count int, calls ...string) (string, error) {
	var settings []string
	for _, phone := range p.all[:count] {
		settings = append(settings, fmt.Sprintf("id: %q", phone.Addr()))
	}
	return p.bench.phoneProject(name, "android", settings, calls)
}

// phoneProject writes a project with a device for each of some settings, and one trail.
func (b *bench) phoneProject(name, platform string, settings, calls []string) (string, error) {
	trail := strings.Replace(trailOf(calls...), "web:", platform+":", 1)
	dir, err := b.project(name, "", 0, map[string]string{"phone": trail})
	if err != nil {
		return "", err
	}
	config := "target: bench\nplatform: " + platform + "\ndevices:\n"
	for i, setting := range settings {
		config += fmt.Sprintf("  phone-%d: { platform: %s, %s }\n", i, platform, setting)
	}
	return dir, os.WriteFile(filepath.Join(dir, "trailblaze.yaml"), []byte(config), 0o644)
}

// run is the command that replays the trail of a project on all of its devices.
func (p *phones) run(dir string) *exec.Cmd {
	cmd := p.bench.command(dir, p.bench.trailblaze, "run", "--all-devices")
	cmd.Env = append(cmd.Env, "ANDROID_ADB_SERVER_PORT="+p.adb.Port, "TRAILBLAZE_UIAUTOMATOR2="+p.apks)
	return cmd
}

// check fails unless the calls of a trail had the effect that they must have on a phone.
func check(phone *simulated.Android) error {
	if wrong := phone.App.WrongTouches(); wrong > 0 || phone.App.Screen() != app.Settings || phone.App.Note(app.FirstOrder) != note {
		return fmt.Errorf("%d touches hit nothing, the phone shows %q, the note is %q", wrong, phone.App.Screen(), phone.App.Note(app.FirstOrder))
	}
	return nil
}

// phoneTap compares a tap in the middle of a long trail with the requests that it cannot do without: two reads of the
// screen and the touch.
func (b *bench) phoneTap() error {
	const taps = 100
	wait := mobile.DefaultLimits("").Stable
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	p, err := b.startPhones(ctx, 1)
	if err != nil {
		return err
	}
	defer p.stop()
	phone := p.all[0]
	phone.App.Show(app.SignIn)
	dir, err := p.project("taps", 1, slices.Repeat(orderCalls()[1:2], taps)...)
	if err != nil {
		return err
	}
	var ours []time.Duration
	bare := map[time.Duration][]time.Duration{} // by the time between two reads
	for range max(3, b.runs/3) {
		if _, err := measure(p.run(dir)); err != nil {
			return err
		}
		period, err := callPeriod(filepath.Join(dir, "logs", "latest", "events.ndjson"))
		if err != nil {
			return err
		}
		ours = append(ours, period)
		for _, between := range []time.Duration{wait, 0} {
			if period, err = p.bareTaps(ctx, phone, taps, between); err != nil {
				return fmt.Errorf("bare taps: %w", err)
			}
			bare[between] = append(bare[between], period)
		}
	}
	if wrong := phone.App.WrongTouches(); wrong > 0 {
		return fmt.Errorf("%d touches hit nothing", wrong)
	}
	b.ratio(fmt.Sprintf("one tap on a simulated Android phone ÷ the bare round trips it needs, both without the %s between two reads", wait),
		median(ours)-wait, median(bare[wait])-wait, 1.5)
	b.add(fmt.Sprintf("the same with the %s ÷ bare round trips at once", wait), division(median(ours), median(bare[0])), "", "")
	return nil
}

// bareTaps is the median time from one tap to the next in the second half of some, with a time between its two reads.
func (p *phones) bareTaps(ctx context.Context, phone *simulated.Android, taps int, between time.Duration) (time.Duration, error) {
	server, err := adb.Find(p.adb.Env())
	if err != nil {
		return 0, err
	}
	device := server.Device(phone.Addr())
	process, err := device.Start(ctx, "am instrument -w io.appium.uiautomator2.server.test/androidx.test.runner.AndroidJUnitRunner", io.Discard)
	if err != nil {
		return 0, err
	}
	defer process.Close()
	session, err := openServer(ctx, device)
	if err != nil {
		return 0, err
	}
	finger := webdriver.Finger{Path: []webdriver.Point{{X: 540, Y: 624}}, Hold: 100 * time.Millisecond}
	read := func() error {
		_, err := session.Source(ctx)
		return err
	}
	period, err := tapPeriod(taps, between, read, func() error { return session.Actions(ctx, finger) })
	return period, errors.Join(err, session.Delete(ctx))
}

// tapPeriod is the median time from one tap to the next in the second half of some, each of two reads with a time
// between them and a touch.
func tapPeriod(taps int, between time.Duration, read, touch func() error) (time.Duration, error) {
	var starts []time.Time
	for range taps {
		starts = append(starts, time.Now())
		if err := read(); err != nil {
			return 0, err
		}
		time.Sleep(between)
		if err := errors.Join(read(), touch()); err != nil {
			return 0, err
		}
	}
	var periods []time.Duration
	for i := taps / 2; i+1 < taps; i++ {
		periods = append(periods, starts[i+1].Sub(starts[i]))
	}
	return median(periods), nil
}

// openServer starts a session of the UiAutomator2 server, as soon as that responds, with the settings that we give it.
func openServer(ctx context.Context, device adb.Device) (*webdriver.Session, error) {
	client, err := webdriver.New("http://127.0.0.1:6790", webdriver.Options{
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return device.Dial(ctx, "tcp:6790") },
	})
	if err != nil {
		return nil, err
	}
	if err := awaitServer(ctx, client, nil); err != nil {
		return nil, err
	}
	session, err := client.NewSession(ctx, webdriver.Capabilities{})
	if err != nil {
		return nil, err
	}
	return session, session.Settings(ctx, uiautomator2.ServerSettings())
}

// awaitServer waits until a server responds. It fails when ended is closed before.
func awaitServer(ctx context.Context, client *webdriver.Client, ended <-chan struct{}) error {
	for tick := time.Tick(5 * time.Millisecond); ; {
		_, err := client.Status(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick:
		case <-ended:
			return fmt.Errorf("the server exited: %w", err)
		case <-ctx.Done():
			return err
		}
	}
}

// phoneMemory looks at how much more memory our process needs for each device of a run on eight.
func (b *bench) phoneMemory() error {
	const devices = 8
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	p, err := b.startPhones(ctx, devices)
	if err != nil {
		return err
	}
	defer p.stop()
	var commands []func() *exec.Cmd
	for _, count := range []int{devices, 1} {
		dir, err := p.project(fmt.Sprint("devices", count), count, orderCalls()...)
		if err != nil {
			return err
		}
		commands = append(commands, func() *exec.Cmd { return p.run(dir) })
	}
	m, err := interleave(max(3, b.runs/3), commands...)
	if err != nil {
		return err
	}
	for _, phone := range p.all {
		if err := check(phone); err != nil {
			return err
		}
	}
	b.memoryRow("Android phones", m, devices)
	return nil
}

// memoryRow reports the memory for each more of eight devices, from a sample of a run on all and of one on one.
func (b *bench) memoryRow(devices string, m []sample, count int) {
	mb := func(s sample) float64 { return float64(s.rss) / (1 << 20) }
	each := (mb(m[0]) - mb(m[1])) / float64(count-1)
	b.row("our memory for each more of eight simulated "+devices+" at once",
		fmt.Sprintf("%.1f MB (%.1f - %.1f MB, divided by %d)", each, mb(m[0]), mb(m[1]), count-1), "≤ 8 MB", each <= 8)
}
