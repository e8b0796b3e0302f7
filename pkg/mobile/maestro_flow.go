package mobile

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// This file has the commands of Maestro that run others, and their conditions.

// maestroFlow runs the commands of a command.
type maestroFlow func(ctx context.Context, d *phone, s maestroStep) (tool.Result, error)

// maestroFlows returns the commands of Maestro that have commands of their own.
func maestroFlows() []maestroCommand {
	return []maestroCommand{
		{name: "repeat", keys: []string{"times", "while", "commands"}, flow: repeatFlow, check: checkRepeat, times: timesOf},
		{
			name: "retry", keys: []string{"maxRetries", "commands"}, flow: retryFlow, check: checkRetry,
			times: func(a device.Arguments) int { return 1 + retriesOf(a) },
		},
		{
			name: "runFlow", keys: []string{"when", "commands"}, flow: runFlow, check: checkRunFlow,
			times: func(device.Arguments) int { return 1 },
		},
	}
}

// repeatsUntil is how often commands are expected to run that run while a condition holds.
const repeatsUntil = 100

// timesOf returns how often the commands of repeat run.
func timesOf(a device.Arguments) int {
	times, _ := maestroNumber(a, "times", repeatsUntil) // checked
	return times
}

// limit returns how long a command may take.
func (s maestroStep) limit(l Limits) time.Duration {
	if s.flow == nil {
		return s.limits(l, s.args)
	}
	var once time.Duration
	for _, inner := range s.commands {
		once = min(once+inner.limit(l), maxTimeout)
	}
	return min(time.Duration(s.times(s.args))*once, maxTimeout)
}

func (s maestroStep) perform(ctx context.Context, d *phone) (tool.Result, error) {
	if s.flow != nil {
		return s.flow(ctx, d, s)
	}
	return s.run(ctx, d, s.args)
}

// runSteps runs commands, and returns what each did. An error names the command if there are several.
func (d *phone) runSteps(ctx context.Context, steps []maestroStep) (tool.Result, error) {
	var done []string
	for i, s := range steps {
		result, err := s.perform(ctx, d)
		optional, _ := maestroFlag(s.args, "optional", false) // checked
		switch {
		case err == nil:
			done = append(done, result.Text)
			continue
		case optional && failed(ctx, err):
			d.notes = append(d.notes, fmt.Sprintf("the optional %s failed: %v", s.name, err))
			done = append(done, fmt.Sprintf("skipped %s, which is optional", s.name))
			continue
		}
		if known := fault.As(err); known != nil && len(steps) > 1 {
			named := *known
			named.Message = fmt.Sprintf("commands[%d].%s: %s", i, s.name, known.Message)
			return tool.Result{}, &named
		}
		return tool.Result{}, err
	}
	return success("%s", strings.Join(done, "; ")), nil
}

// failed reports whether a command did not do what it is for, as opposed to a device that does not respond.
func failed(ctx context.Context, err error) bool {
	return ctx.Err() == nil && (isNotFound(err) || fault.KindOf(err) == fault.ToolFailed)
}

func checkRepeat(p Platform, a device.Arguments) error {
	if !a.Has("times") && !a.Has("while") {
		return invalid("", "expected times or while")
	}
	if _, err := maestroNumber(a, "times", 0); err != nil {
		return err
	}
	return checkCondition(p, a, "while")
}

func repeatFlow(ctx context.Context, d *phone, s maestroStep) (tool.Result, error) {
	times, _ := maestroNumber(s.args, "times", -1) // checked
	done := 0
	for ; done != times; done++ {
		if holds, err := d.holds(ctx, s.args, "while"); err != nil || !holds {
			return success("ran %d times", done), err
		}
		if _, err := d.runSteps(ctx, s.commands); err != nil {
			return tool.Result{}, err
		}
	}
	return success("ran %d times", done), nil
}

func retriesOf(a device.Arguments) int {
	retries, _ := maestroNumber(a, "maxRetries", 1) // checked
	return retries
}

func checkRetry(_ Platform, a device.Arguments) error {
	retries, err := maestroNumber(a, "maxRetries", 1)
	if err == nil && retries > 3 {
		return invalid("", "maxRetries: expected at most 3, found %d", retries)
	}
	return err
}

func retryFlow(ctx context.Context, d *phone, s maestroStep) (tool.Result, error) {
	for retry := 0; ; retry++ {
		result, err := d.runSteps(ctx, s.commands)
		switch {
		case err == nil && retry > 0:
			d.notes = append(d.notes, fmt.Sprintf("passed after %d retries", retry))
			return result, nil
		case err == nil || retry == retriesOf(s.args) || !failed(ctx, err):
			return result, err
		}
	}
}

func checkRunFlow(p Platform, a device.Arguments) error { return checkCondition(p, a, "when") }

func runFlow(ctx context.Context, d *phone, s maestroStep) (tool.Result, error) {
	if holds, err := d.holds(ctx, s.args, "when"); err != nil || !holds {
		return success("skipped, because the condition does not hold"), err
	}
	return d.runSteps(ctx, s.commands)
}

// conditionOf returns the condition under key; nil without one.
func conditionOf(a device.Arguments, key string) device.Arguments {
	condition, _ := a[key].(map[string]any)
	return condition
}

func checkCondition(p Platform, a device.Arguments, key string) error {
	if !a.Has(key) {
		return nil
	}
	condition := conditionOf(a, key)
	if len(condition) == 0 {
		return invalid("", "%s: expected visible, notVisible, platform or true", key)
	}
	for name := range condition {
		var err error
		switch text := maestroText(condition, name); name {
		case "visible", "notVisible":
			_, err = elements{platform: p}.maestroTarget(condition, name)
		case "platform":
			_, err = device.Arguments{name: text}.Word(name, "ANDROID", "IOS", "WEB")
		case "true":
			err = checkExpression(name, text)
		default:
			err = invalid("", "%s: unknown condition %q; known are visible, notVisible, platform and true", key, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// holds looks once whether a condition holds, on a screen at rest. Without one, it does.
func (d *phone) holds(ctx context.Context, a device.Arguments, key string) (bool, error) {
	condition := conditionOf(a, key)
	if condition.Has("platform") && !strings.EqualFold(maestroText(condition, "platform"), string(d.options.Platform)) ||
		condition.Has("true") && !isTrue(maestroText(condition, "true")) {
		return false, nil
	}
	for name, wanted := range map[string]bool{"visible": true, "notVisible": false} {
		if !condition.Has(name) {
			continue
		}
		t, err := d.elements().maestroTarget(condition, name)
		if err != nil {
			return false, err
		}
		list, err := d.find(ctx, t)
		if err != nil || (len(list) > 0) != wanted {
			return false, err
		}
	}
	return true, nil
}

// isTrue reports whether a value is one that JavaScript takes for true.
func isTrue(value string) bool {
	switch strings.TrimSpace(value) {
	case "", "false", "0", "null", "undefined", "NaN":
		return false
	}
	return true
}
