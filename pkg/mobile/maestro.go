package mobile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// maestroCommands are the commands that run those of Maestro.
func maestroCommands(p Platform) []command {
	c := newCommand("mobile_maestro", "Runs commands of Maestro, one after another: "+strings.Join(maestroNames(), ", ")+".",
		`"commands": {"type": "array", "minItems": 1, "items": {"type": ["object", "string"]}}`, runMaestro, "commands").
		checkedBy(func(a device.Arguments) error {
			_, err := readMaestro(p, a)
			return err
		})
	return []command{c, c.withName("maestro")}
}

// maestroStep is a command of Maestro with its arguments.
type maestroStep struct {
	maestroCommand
	args     device.Arguments
	commands []maestroStep // of a flow
}

// maestroCommand describes a command of Maestro.
type maestroCommand struct {
	name   string
	alone  string   // the key of a value that is given without keys; empty if there is none
	keys   []string // of its arguments; texts and numbers may be given as either
	needs  string   // the key that must be given; empty for none
	run    handler
	check  func(p Platform, a device.Arguments) error // may be nil
	limits func(l Limits, a device.Arguments) time.Duration
	flow   maestroFlow                  // in place of run, for a command with commands of its own
	times  func(a device.Arguments) int // how often a flow runs its commands at most
}

// elementKeys are the keys with which Maestro describes an element.
func elementKeys() []string {
	return []string{"text", "id", "index", "enabled", "checked", "focused", "selected"}
}

// maestro returns the commands of Maestro that are supported.
func maestro() []maestroCommand {
	action := func(l Limits, _ device.Arguments) time.Duration { return l.Action }
	assertion := func(l Limits, a device.Arguments) time.Duration { return maestroTime(a, "timeout", l.Assertion) }
	app := []string{"appId"}
	list := []maestroCommand{
		{name: "assertNotVisible", alone: "text", keys: elementKeys(), run: maestroElement(assertGone), check: checkMaestroElement, limits: assertion},
		{name: "assertVisible", alone: "text", keys: elementKeys(), run: maestroElement(maestroVisible), check: checkMaestroElement, limits: assertion},
		{name: "back", run: pressHandler(Back), limits: action},
		{name: "clearState", alone: "appId", keys: app, run: clearAppData, limits: action},
		{name: "eraseText", alone: "charactersToErase", keys: []string{"charactersToErase"}, run: maestroErase, check: checkMaestroErase, limits: action},
		{name: "extendedWaitUntil", keys: []string{"visible", "notVisible", "timeout"}, run: maestroWait, check: checkMaestroWait, limits: assertion},
		{name: "hideKeyboard", run: hideKeyboard, limits: action},
		{name: "inputText", alone: "text", keys: []string{"text"}, run: maestroInput, limits: action},
		{name: "killApp", alone: "appId", keys: app, run: stopApp, limits: action},
		{
			name: "launchApp", alone: "appId", keys: []string{"appId", "clearState", "stopApp", "permissions", "arguments"},
			run: maestroLaunch, check: checkMaestroLaunch, limits: func(l Limits, _ device.Arguments) time.Duration { return l.Launch },
		},
		{name: "longPressOn", alone: "text", keys: elementKeys(), run: maestroElement(holdElement), check: checkMaestroElement, limits: action},
		{name: "openLink", alone: "link", keys: []string{"link"}, run: maestroLink, check: checkMaestroLink, limits: action},
		{name: "pressKey", alone: "key", keys: []string{"key"}, needs: "key", run: maestroKey, check: checkMaestroKey, limits: action},
		{name: "scroll", run: scroll, limits: action},
		{name: "stopApp", alone: "appId", keys: app, run: stopApp, limits: action},
		{name: "swipe", keys: []string{"direction", "duration"}, needs: "direction", run: maestroSwipe, check: checkMaestroSwipe, limits: action},
		{name: "tapOn", alone: "text", keys: elementKeys(), run: maestroElement(tapElement), check: checkMaestroElement, limits: action},
	}
	list = slices.Concat(list, maestroMore(), maestroFlows())
	slices.SortFunc(list, func(a, b maestroCommand) int { return strings.Compare(a.name, b.name) })
	return list
}

func maestroNames() []string {
	var names []string
	for _, c := range maestro() {
		names = append(names, c.name)
	}
	return names
}

// ofMaestro returns how long the commands of a call may take.
func (l Limits) ofMaestro(a device.Arguments) time.Duration {
	steps, _ := readMaestro(Android, a) // the call reports what is wrong
	var all time.Duration
	for _, s := range steps {
		all = min(all+s.limit(l), maxTimeout)
	}
	return all
}

// readMaestro reads the argument commands.
func readMaestro(p Platform, a device.Arguments) ([]maestroStep, error) {
	return readSteps(p, "commands", a["commands"])
}

// readSteps reads a list of commands, at a path of the arguments.
func readSteps(p Platform, path string, value any) ([]maestroStep, error) {
	list, _ := value.([]any)
	steps := make([]maestroStep, len(list))
	for i, item := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		s, err := readStep(at, item)
		if err != nil {
			return nil, err
		}
		at += "." + s.name
		if err := s.checkArguments(p); err != nil {
			return nil, invalid(strings.Join(fault.Hints(err), "; "), "%s: %v", at, err)
		}
		if s.flow != nil {
			if s.commands, err = readSteps(p, at+".commands", s.args["commands"]); err != nil {
				return nil, err
			}
			if len(s.commands) == 0 {
				return nil, invalid("put the commands of the file here; a part of a trail (use:) is for several trails", "%s: commands is missing", at)
			}
		}
		steps[i] = s
	}
	return steps, nil
}

// readStep reads one command: its name, or an object with its name and its arguments.
func readStep(path string, item any) (maestroStep, error) {
	name, isName := item.(string)
	var value any
	if object, ok := item.(map[string]any); ok && len(object) == 1 {
		for name, value = range object {
			isName = true
		}
	}
	if !isName {
		return maestroStep{}, invalid("write it like {eraseText: {charactersToErase: 3}} or back", "%s is not a command of Maestro", path)
	}
	all := maestro()
	i := slices.IndexFunc(all, func(c maestroCommand) bool { return c.name == name })
	if i < 0 {
		return maestroStep{}, unknownMaestro(path, name)
	}
	s := maestroStep{maestroCommand: all[i], args: device.Arguments{}}
	switch value := value.(type) {
	case nil:
	case map[string]any:
		s.args = value
		return s, s.checkKeys(path)
	default:
		if s.alone == "" {
			return s, invalid("", "%s.%s: expected no value, found %v", path, name, value)
		}
		s.args = device.Arguments{s.alone: value}
	}
	return s, nil
}

// unknownMaestro returns the error for a command that is not supported.
func unknownMaestro(path, name string) error {
	if instead := maestroInstead()[name]; instead != "" {
		return invalid("use instead: "+instead, "%s: the command %s of Maestro is not supported", path, name)
	}
	hint := fault.DidYouMean(name, maestroNames())
	if hint == "" {
		hint = "supported are " + strings.Join(maestroNames(), ", ")
	}
	return invalid(hint, "%s: unknown command %q of Maestro", path, name)
}

// checkArguments returns what is wrong with the values of a command.
func (s maestroStep) checkArguments(p Platform) error {
	_, err := maestroFlag(s.args, "optional", false)
	switch {
	case err != nil:
		return err
	case s.needs != "" && !s.args.Has(s.needs):
		return invalid("", "%s is missing", s.needs)
	case s.check != nil:
		return s.check(p, s.args)
	}
	return nil
}

// checkKeys returns an error for a key that a command does not have. All have label, a note for people, and optional.
func (s maestroStep) checkKeys(path string) error {
	known := append([]string{"label", "optional"}, s.keys...)
	for _, key := range slices.Sorted(maps.Keys(s.args)) {
		if !slices.Contains(known, key) {
			return invalid(fault.DidYouMean(key, known), "%s.%s: unknown key %q", path, s.name, key)
		}
	}
	return nil
}

func runMaestro(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	steps, err := readMaestro(d.options.Platform, a)
	if err != nil {
		return tool.Result{}, err
	}
	return d.runSteps(ctx, steps)
}

// maestroText returns an argument as text; "" when it is absent.
func maestroText(a device.Arguments, key string) string {
	if !a.Has(key) {
		return ""
	}
	return fmt.Sprint(a[key])
}

// maestroNumber returns an argument that is a whole number, perhaps as text.
func maestroNumber(a device.Arguments, key string, absent int) (int, error) {
	if !a.Has(key) {
		return absent, nil
	}
	number, err := strconv.ParseFloat(strings.ReplaceAll(maestroText(a, key), "_", ""), 64)
	if err != nil || number != float64(int(number)) || number < 0 {
		return 0, invalid("", "%s: expected a whole number from 0, found %q", key, maestroText(a, key))
	}
	return int(number), nil
}

// maestroTime returns an argument in milliseconds; absent also for one that is not a number.
func maestroTime(a device.Arguments, key string, absent time.Duration) time.Duration {
	ms, err := maestroNumber(a, key, int(absent.Milliseconds()))
	if err != nil {
		return absent
	}
	return time.Duration(ms) * time.Millisecond
}

// maestroFlag returns an argument that is true or false, perhaps as text.
func maestroFlag(a device.Arguments, key string, absent bool) (bool, error) {
	if !a.Has(key) {
		return absent, nil
	}
	value, err := strconv.ParseBool(maestroText(a, key))
	if err != nil {
		return false, invalid("", "%s: expected true or false, found %q", key, maestroText(a, key))
	}
	return value, nil
}

// fromMaestro reads how Maestro describes an element. Its texts are regular expressions.
func (e elements) fromMaestro(a device.Arguments) (target, error) {
	block := map[string]any{}
	for key, own := range map[string]string{"text": "textRegex", "id": "resourceIdRegex"} {
		if text := maestroText(a, key); text != "" {
			block[own] = text
			if err := checkPattern(key, text); err != nil {
				return target{}, err
			}
		}
	}
	if len(block) == 0 {
		return target{}, errNoElement("give text or id")
	}
	states := []string{"selected", "focused"}
	if e.platform == Android {
		states = append(states, "checked")
	}
	for _, key := range states {
		if !a.Has(key) {
			continue
		}
		value, err := maestroFlag(a, key, false)
		if err != nil {
			return target{}, err
		}
		block[key] = value
	}
	if a.Has("checked") && e.platform == IOS {
		return target{}, invalid("", "checked cannot be matched on iOS")
	}
	t, err := e.maestro(block)
	if err != nil {
		return t, err
	}
	if a.Has("enabled") {
		value, err := maestroFlag(a, "enabled", true)
		if err != nil {
			return t, err
		}
		t.enabled = &value
	}
	index, err := maestroNumber(a, "index", 0)
	return t.withIndex(index), err
}

func checkMaestroElement(p Platform, a device.Arguments) error {
	_, err := elements{platform: p}.fromMaestro(a)
	return err
}

// maestroElement returns the handler of a command for an element.
func maestroElement(run func(context.Context, *phone, target, device.Arguments) (tool.Result, error)) handler {
	return func(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
		t, err := d.elements().fromMaestro(a)
		if err != nil {
			return tool.Result{}, err
		}
		return run(ctx, d, t, device.Arguments{})
	}
}

func maestroVisible(ctx context.Context, d *phone, t target, a device.Arguments) (tool.Result, error) {
	return d.assertVisible(ctx, t, a)
}

func checkMaestroErase(_ Platform, a device.Arguments) error {
	_, err := maestroNumber(a, "charactersToErase", defaultErased)
	return err
}

func maestroErase(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	count, err := maestroNumber(a, "charactersToErase", defaultErased)
	if err != nil {
		return tool.Result{}, err
	}
	return d.erase(ctx, min(count, maxErased))
}

func maestroInput(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	return d.enter(ctx, maestroText(a, "text"), device.Arguments{"hideKeyboardAfter": false})
}

// checkMaestroWait checks extendedWaitUntil: one of visible and notVisible, and timeout.
func checkMaestroWait(p Platform, a device.Arguments) error {
	if a.Has("visible") == a.Has("notVisible") {
		return invalid("", "expected either visible or notVisible")
	}
	if _, err := maestroNumber(a, "timeout", 0); err != nil {
		return err
	}
	_, _, err := elements{platform: p}.awaitedTarget(a)
	return err
}

// awaitedTarget reads visible or notVisible of extendedWaitUntil.
func (e elements) awaitedTarget(a device.Arguments) (t target, visible bool, err error) {
	key := "visible"
	if !a.Has(key) {
		key = "notVisible"
	}
	t, err = e.maestroTarget(a, key)
	return t, key == "visible", err
}

// maestroTarget reads an argument that is an element: its text, or an object.
func (e elements) maestroTarget(a device.Arguments, key string) (target, error) {
	step, err := readStep(key, map[string]any{"assertVisible": a[key]})
	if err != nil {
		return target{}, err
	}
	return e.fromMaestro(step.args)
}

func maestroWait(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	t, visible, err := d.elements().awaitedTarget(a)
	if err != nil {
		return tool.Result{}, err
	}
	limit := device.Arguments{"timeoutMs": maestroTime(a, "timeout", d.limits.Assertion).Milliseconds()}
	if visible {
		return d.assertVisible(ctx, t, limit)
	}
	return assertGone(ctx, d, t, limit)
}

// maestroLaunchOf reads launchApp. As in Maestro, all permissions are granted when none are named.
func maestroLaunchOf(p Platform, a device.Arguments) (l Launch, err error) {
	l.App = maestroText(a, "appId")
	if l.Stop, err = maestroFlag(a, "stopApp", true); err != nil {
		return l, err
	}
	if l.Clear, err = maestroFlag(a, "clearState", false); err != nil {
		return l, err
	}
	if l.Permissions, err = permissionsOf(p, a); err != nil {
		return l, err
	}
	if l.Permissions == nil {
		l.Permissions = map[string]string{"all": "allow"}
	}
	arguments, ok := a["arguments"].(map[string]any)
	if a.Has("arguments") && !ok {
		return l, invalid("", "arguments: expected an object, found %v", a["arguments"])
	}
	l.Arguments = arguments
	return l, nil
}

func checkMaestroLaunch(p Platform, a device.Arguments) error {
	l, err := maestroLaunchOf(p, a)
	if err == nil && p == Android {
		_, err = Extras(l.Arguments)
	}
	return err
}

func maestroLaunch(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	l, err := maestroLaunchOf(d.options.Platform, a)
	if err != nil {
		return tool.Result{}, err
	}
	if l.App, err = d.appOf(a); err != nil {
		return tool.Result{}, err
	}
	return d.launch(ctx, l)
}

func checkMaestroLink(_ Platform, a device.Arguments) error {
	return checkURL(device.Arguments{"url": maestroText(a, "link")})
}

func maestroLink(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	return openURL(ctx, d, device.Arguments{"url": maestroText(a, "link")})
}

func checkMaestroKey(_ Platform, a device.Arguments) error {
	_, err := device.Arguments{"key": maestroText(a, "key")}.Word("key", keyNames()...)
	return err
}

func maestroKey(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	return pressKey(ctx, d, device.Arguments{"keyCode": maestroText(a, "key")})
}

func checkMaestroSwipe(_ Platform, a device.Arguments) error {
	duration, err := maestroNumber(a, "duration", 0)
	if err != nil {
		return err
	}
	if most := int(longestMove.Milliseconds()); duration > most {
		return invalid("", "duration: expected at most %d ms, found %d", most, duration)
	}
	_, err = device.Arguments{"direction": maestroText(a, "direction")}.Word("direction", "DOWN", "UP", "LEFT", "RIGHT")
	return err
}

func maestroSwipe(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	return swipe(ctx, d, device.Arguments{
		"direction": maestroText(a, "direction"), "durationMs": maestroTime(a, "duration", swipeTime).Milliseconds(),
	})
}
