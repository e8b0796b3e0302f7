package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
	simulated "github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// iphones are simulated iPhones, each with a WebDriverAgent that runs.
type iphones struct {
	bench *bench
	all   []*simulated.IPhone
}

// startIPhones starts some iPhones that show where to sign in. The caller calls stop.
func (b *bench) startIPhones(ctx context.Context, count int) (*iphones, error) {
	p := &iphones{bench: b}
	for range count {
		phone, err := simulated.StartIPhone(ctx, simulated.IPhoneOptions{App: app.Options{NoPrompt: true}})
		if err != nil {
			p.stop()
			return nil, err
		}
		phone.App.Show(app.SignIn)
		p.all = append(p.all, phone)
	}
	return p, nil
}

func (p *iphones) stop() {
	for _, phone := range p.all {
		phone.Close()
	}
}

// project writes a project with the first iPhones as its devices, and a trail of some taps.
func (p *iphones) project(name string, count, taps int) (string, error) {
	const tap = "tapOnElementBySelector: { nodeSelector: { iosMaestro: { resourceIdRegex: email } } }"
	var settings []string
	for _, phone := range p.all[:count] {
		settings = append(settings, fmt.Sprintf("wdaUrl: %q", phone.URL()))
	}
	return p.bench.phoneProject(name, "ios", settings, slices.Repeat([]string{tap}, taps))
}

// run is the command that replays the trail of a project on all of its devices.
func (p *iphones) run(dir string) *exec.Cmd {
	return p.bench.command(dir, p.bench.trailblaze, "run", "--all-devices")
}

// check fails if a touch did not reach an element.
func (p *iphones) check() error {
	for _, phone := range p.all {
		if wrong := phone.App.WrongTouches(); wrong > 0 || len(phone.App.Touches()) == 0 {
			return fmt.Errorf("%d of %d touches hit nothing", wrong, len(phone.App.Touches()))
		}
	}
	return nil
}

// iphoneTap is phoneTap for an iPhone, with the time until the first tap has ended.
func (b *bench) iphoneTap() error {
	const taps = 100
	wait := mobile.DefaultLimits("").Stable
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	p, err := b.startIPhones(ctx, 1)
	if err != nil {
		return err
	}
	defer p.stop()
	dir, err := p.project("iphone-taps", 1, taps)
	if err != nil {
		return err
	}
	var ours, starts, bare []time.Duration
	for range max(3, b.runs/3) {
		begun := time.Now()
		if _, err := measure(p.run(dir)); err != nil {
			return err
		}
		events := filepath.Join(dir, "logs", "latest", "events.ndjson")
		period, err := callPeriod(events)
		if err != nil {
			return err
		}
		ends, err := eventTimes(events, "call.finished")
		if err != nil {
			return err
		}
		ours, starts = append(ours, period), append(starts, ends[0].Sub(begun))
		if period, err = p.bareTaps(ctx, taps, wait); err != nil {
			return fmt.Errorf("bare taps: %w", err)
		}
		bare = append(bare, period)
	}
	if err := p.check(); err != nil {
		return err
	}
	b.ratio(fmt.Sprintf("one tap on a simulated iPhone ÷ the bare round trips it needs, both without the %s between two reads", wait),
		median(ours)-wait, median(bare)-wait, 1.5)
	b.add("start of `run` on a simulated iPhone until its first tap has ended", median(starts).Round(time.Millisecond).String(), "", "")
	return nil
}

// bareTaps is the median time from one tap to the next in the second half of some: two reads of the screen, with a time
// between them, and the touch.
func (p *iphones) bareTaps(ctx context.Context, taps int, between time.Duration) (time.Duration, error) {
	client, err := webdriver.New(p.all[0].URL(), webdriver.Options{})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	session, err := client.NewSession(ctx, webdriver.Capabilities{})
	if err != nil {
		return 0, err
	}
	read := func() error {
		var screen any
		return session.Get(ctx, "/source?format=json", &screen)
	}
	finger := webdriver.Finger{Path: []webdriver.Point{{X: 195, Y: 208}}, Hold: 100 * time.Millisecond}
	period, err := tapPeriod(taps, between, read, func() error { return session.Actions(ctx, finger) })
	return period, errors.Join(err, session.Delete(ctx))
}

// iphoneMemory looks at how much more memory our process needs for each device of a run on eight.
func (b *bench) iphoneMemory() error {
	const devices, taps = 8, 20
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	p, err := b.startIPhones(ctx, devices)
	if err != nil {
		return err
	}
	defer p.stop()
	var commands []func() *exec.Cmd
	for _, count := range []int{devices, 1} {
		dir, err := p.project(fmt.Sprint("iphones", count), count, taps)
		if err != nil {
			return err
		}
		commands = append(commands, func() *exec.Cmd { return p.run(dir) })
	}
	m, err := interleave(max(3, b.runs/3), commands...)
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return err
	}
	b.memoryRow("iPhones", m, devices)
	return nil
}
