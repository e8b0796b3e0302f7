package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/trailblaze/trailblaze/pkg/webdriver"
	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
	"github.com/trailblaze/trailblaze/testdata/ports"
)

// phoneAppium compares a trail of twenty calls, and the start of its session, with Appium. Each side has a phone of its
// own, on which everything is installed after the first round, which does not count. The start of the session is in a
// row of its own.
func (b *bench) phoneAppium() error {
	const figure = "twenty calls on a simulated Android phone ÷ Appium, which waits until the phone is idle"
	home := filepath.Join(b.root, "testdata/phones/appium")
	if _, err := os.Stat(filepath.Join(home, "node_modules/appium/index.js")); err != nil {
		b.add(figure, "not measured: Appium is not installed (make deps-appium)", "", "")
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	p, err := b.startPhones(ctx, 2)
	if err != nil {
		return err
	}
	defer p.stop()
	dir, err := p.project("twenty", 1, append([]string{"hideKeyboard: {}"}, orderCalls()...)...)
	if err != nil {
		return err
	}
	server, err := p.startAppium(ctx, home)
	if err != nil {
		return err
	}
	defer server.stop()
	var ours, idle, hasty replays
	for round := range max(3, b.runs/3) + 1 {
		for _, side := range []struct {
			phone  *simulated.Android
			replay func() (replayed, error)
			all    *replays
		}{
			{p.all[0], func() (replayed, error) { return p.replay(dir) }, &ours},
			{p.all[1], func() (replayed, error) { return server.replay(ctx, p.all[1], nil) }, &idle},
			{p.all[1], func() (replayed, error) {
				return server.replay(ctx, p.all[1], map[string]any{"waitForIdleTimeout": 0})
			}, &hasty},
		} {
			r, err := side.replay()
			if err == nil {
				err = check(side.phone)
			}
			if err != nil {
				return err
			}
			if round > 0 {
				side.all.add(r)
			}
		}
	}
	b.ratio(figure, median(ours.calls), median(idle.calls), 0.35)
	b.add("the same ÷ Appium with `waitForIdleTimeout: 0`, which waits for nothing", division(median(ours.calls), median(hasty.calls)), "", "")
	b.add("the same with the start and the end of the session", division(median(ours.whole), median(hasty.whole)), "", "")
	b.ratio("start of `run` until its first call has ended ÷ start of a session in Appium", median(ours.start), median(hasty.start), 0.5)
	return nil
}

// replayed is how long a replay of [orderCalls] took.
type replayed struct {
	start, calls time.Duration // of the session, of the calls in it
	whole        time.Duration // with the end of the session
}

// replays are the durations of several replays.
type replays struct{ start, calls, whole []time.Duration }

func (all *replays) add(r replayed) {
	all.start, all.calls, all.whole = append(all.start, r.start), append(all.calls, r.calls), append(all.whole, r.whole)
}

// replay runs a trail. Its session has started when the first call has ended.
func (p *phones) replay(dir string) (replayed, error) {
	begun := time.Now()
	whole, err := measure(p.run(dir))
	if err != nil {
		return replayed{}, err
	}
	ends, err := eventTimes(filepath.Join(dir, "logs", "latest", "events.ndjson"), "call.finished")
	if err != nil {
		return replayed{}, err
	}
	if len(ends) != 21 {
		return replayed{}, fmt.Errorf("%d of 21 calls ended", len(ends))
	}
	return replayed{start: ends[0].Sub(begun), calls: ends[20].Sub(ends[0]), whole: whole.took}, nil
}

// appium is a running Appium server.
type appium struct {
	client     *webdriver.Client
	adbPort    string
	systemPort string // to which the phone's server is forwarded
	stop       func()
}

// startAppium starts an Appium server that writes only errors to its log. The caller calls stop.
func (p *phones) startAppium(ctx context.Context, home string) (*appium, error) {
	folder, err := os.MkdirTemp(p.bench.dir, "appium")
	if err != nil {
		return nil, err
	}
	program, err := exec.LookPath("adb")
	if err != nil {
		return nil, err
	}
	tools := filepath.Join(folder, "platform-tools") // of what Appium accepts as an Android SDK
	if err := errors.Join(os.Mkdir(tools, 0o755), os.Symlink(program, filepath.Join(tools, "adb"))); err != nil {
		return nil, err
	}
	a := &appium{adbPort: p.adb.Port}
	port, err := ports.Free(ctx)
	if err == nil {
		a.systemPort, err = ports.Free(ctx)
	}
	if err == nil {
		a.client, err = webdriver.New("http://127.0.0.1:"+port, webdriver.Options{})
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", "node_modules/appium/index.js", "server",
		"--address", "127.0.0.1", "--port", port, "--log-level", "error", "--use-drivers", "uiautomator2")
	cmd.Dir = home
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder, "APPIUM_HOME=" + home, "ANDROID_HOME=" + folder,
		"ANDROID_ADB_SERVER_PORT=" + p.adb.Port,
	}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	a.stop = func() {
		a.client.Close()
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
	}
	if err := awaitServer(ctx, a.client, ended); err != nil {
		a.stop()
		return nil, fmt.Errorf("Appium: %w\n%s", err, &log)
	}
	return a, nil
}

// replay does what a trail of [orderCalls] does in a session of its own, with changed settings of the UiAutomator2
// server.
func (a *appium) replay(ctx context.Context, phone *simulated.Android, settings map[string]any) (r replayed, err error) {
	begun := time.Now()
	session, err := a.client.NewSession(ctx, webdriver.Capabilities{AlwaysMatch: map[string]any{
		"platformName": "Android", "appium:automationName": "UiAutomator2", "appium:udid": phone.Addr(),
		"appium:systemPort": json.Number(a.systemPort), "appium:adbPort": json.Number(a.adbPort),
	}})
	if err != nil {
		return r, err
	}
	r.start = time.Since(begun)
	user := &appiumPhone{ctx: ctx, session: session}
	if settings != nil {
		user.post("/appium/settings", map[string]any{"settings": settings}, nil)
	}
	user.order()
	r.calls = time.Since(begun) - r.start
	err = errors.Join(user.err, session.Delete(ctx))
	r.whole = time.Since(begun)
	return r, err
}

// appiumPhone makes calls in a session of Appium, until one fails.
type appiumPhone struct {
	ctx     context.Context
	session *webdriver.Session
	element string // the one that was used last
	err     error
}

// order does what the calls of [orderCalls] do.
func (a *appiumPhone) order() {
	text := func(text string) string { return fmt.Sprintf("//*[@text=%q]", text) }
	a.execute("mobile: clearApp", map[string]any{"appId": app.ShopID})
	a.execute("mobile: activateApp", map[string]any{"appId": app.ShopID})
	a.tap("id", app.ShopID+":id/email")
	a.enter(app.Email)
	a.tap("id", app.ShopID+":id/password")
	a.enter(app.Password)
	a.tap("id", app.ShopID+":id/sign_in")
	a.visible(text("Order 1149"))
	a.tap("xpath", text("Order 1149"))
	a.visible(text("Save note"))
	a.tap("id", app.ShopID+":id/note")
	a.enter(note)
	a.tap("id", app.ShopID+":id/save")
	a.post("/back", nil, nil)
	a.visible(text("Order 1149"))
	a.scrollTo(text(laterOrder))
	a.tap("xpath", text(laterOrder))
	a.visible(text("Save note"))
	a.post("/back", nil, nil)
	a.tap("id", app.ShopID+":id/settings")
	a.visible(text("Order updates"))
}

func (a *appiumPhone) post(path string, body, result any) {
	if a.err == nil {
		a.err = a.session.Post(a.ctx, path, body, result)
	}
}

func (a *appiumPhone) execute(script string, arguments map[string]any) {
	if a.err == nil {
		a.err = a.session.Execute(a.ctx, script, arguments, nil)
	}
}

// find finds an element, once: the simulated app shows it at once.
func (a *appiumPhone) find(using, value string) {
	var element map[string]string
	a.post("/element", map[string]string{"using": using, "value": value}, &element)
	a.element = "/element/" + element["element-6066-11e4-a52e-4f735466cecf"]
}

func (a *appiumPhone) get(path string, result any) {
	if a.err == nil {
		a.err = a.session.Get(a.ctx, path, result)
	}
}

// is fails unless the element has a state.
func (a *appiumPhone) is(state string) {
	var yes bool
	if a.get(a.element+"/"+state, &yes); a.err == nil && !yes {
		a.err = fmt.Errorf("the element is not %s", state)
	}
}

// visible is the condition visibilityOf of Appium's clients.
func (a *appiumPhone) visible(xpath string) {
	a.find("xpath", xpath)
	a.is("displayed")
}

// tap clicks an element after the condition elementToBeClickable of Appium's clients.
func (a *appiumPhone) tap(using, value string) {
	a.find(using, value)
	a.is("displayed")
	a.is("enabled")
	a.post(a.element+"/click", nil, nil)
}

// enter enters text into the element that was tapped, and hides the keyboard.
func (a *appiumPhone) enter(text string) {
	a.post(a.element+"/value", map[string]string{"text": text}, nil)
	a.execute("mobile: hideKeyboard", nil)
}

// scrollTo swipes until an element is there.
func (a *appiumPhone) scrollTo(xpath string) {
	for a.err == nil {
		a.find("xpath", xpath)
		if !webdriver.HasCode(a.err, webdriver.NoSuchElement) {
			return
		}
		a.err = nil
		a.execute("mobile: swipeGesture", map[string]any{
			"left": 100, "top": 600, "width": 800, "height": 1200, "direction": "up", "percent": 1.0,
		})
	}
}
