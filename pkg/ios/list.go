package ios

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// List implements device.Lister: the device of the WebDriverAgent that responds, and the simulators of this machine.
func (b *backend) List(ctx context.Context) ([]device.Found, error) {
	if b.options.appium.URL != "" {
		return nil, nil // the server chooses among devices of its own
	}
	status, err := b.wda.status(ctx, b.limits)
	phone := device.Found{ID: b.options.udid, Name: product(status) + ", WebDriverAgent at " + b.wda.client.URL(), Type: "phone", State: device.Ready}
	if !hasXcode(b.options) {
		if err != nil {
			return nil, b.wda.failure(ctx, err)
		}
		return []device.Found{phone}, nil
	}
	simulators, listErr := (&simulator{options: b.options, limits: b.limits}).list(ctx, "available")
	inSimulator := err == nil && status.IOS.Simulator != "" || err != nil && len(b.options.start) > 0
	used := ""
	if inSimulator {
		used = usedSimulator(b.options.udid, simulators)
	}
	var found []device.Found
	if err == nil && used == "" {
		found = append(found, phone)
	}
	for _, s := range simulators {
		state := strings.ToLower(s.State)
		if s.UDID == used {
			state = device.Ready
		} else if s.State == stateBooted {
			state = "booted, without WebDriverAgent at " + b.wda.client.URL()
		}
		found = append(found, device.Found{ID: s.UDID, Name: s.Name + ", " + s.system, Type: "simulator", State: state})
	}
	return found, listErr
}

// stateBooted is the state of a simulator that runs.
const stateBooted = "Booted"

// usedSimulator returns the udid of the simulator that runs and that a session uses: the user's, or the only one; empty
// for none and if that is not known.
func usedSimulator(udid string, all []listedSimulator) string {
	var running []string
	for _, s := range all {
		if s.State == stateBooted && (udid == "" || s.UDID == udid) {
			running = append(running, s.UDID)
		}
	}
	if len(running) != 1 {
		return ""
	}
	return running[0]
}

// listedSimulator is a simulator in the output of simctl.
type listedSimulator struct {
	UDID, Name, State string
	system            string // such as iOS 17.2
}

// list returns the simulators for iOS that simctl lists for a word, such as booted or available.
func (s *simulator) list(ctx context.Context, word string) ([]listedSimulator, error) {
	output, err := s.run(ctx, "", "list", "devices", word, "-j")
	if err != nil {
		return nil, err
	}
	var list struct {
		Devices map[string][]listedSimulator // by runtime, such as com.apple.CoreSimulator.SimRuntime.iOS-17-2
	}
	if err := json.Unmarshal([]byte(output), &list); err != nil {
		return nil, fault.Wrap(fault.ProtocolError, err, "", "read what simctl list wrote")
	}
	var simulators []listedSimulator
	for _, runtime := range slices.SortedFunc(maps.Keys(list.Devices), compareVersions) {
		_, system, _ := strings.Cut(runtime, "SimRuntime.")
		name, version, isIOS := strings.Cut(system, "-")
		if !isIOS || name != "iOS" {
			continue
		}
		for _, d := range list.Devices[runtime] {
			d.system = name + " " + strings.ReplaceAll(version, "-", ".")
			simulators = append(simulators, d)
		}
	}
	return simulators, nil
}

// compareVersions compares names of runtimes, in which the numbers of the version are after dashes.
func compareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "-"), strings.Split(b, "-"), func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX == nil && errY == nil {
			return cmp.Compare(x, y)
		}
		return strings.Compare(a, b)
	})
}

// Identify implements device.Identifier. WebDriverAgent says neither the udid nor the size before a session.
func (b *backend) Identify(ctx context.Context) (device.Identity, error) {
	if b.options.appium.URL != "" || b.options.udid != "" {
		return device.Identity{ID: b.options.udid}, nil
	}
	if b.options.boot != "" && hasXcode(b.options) {
		known, err := (&simulator{options: b.options, limits: b.limits}).named(ctx, b.options.boot)
		return device.Identity{ID: known.UDID}, err
	}
	s, err := findSimulator(ctx, b.options, b.limits)
	if err != nil || s == nil {
		return device.Identity{}, err
	}
	return device.Identity{ID: s.udid}, nil
}
