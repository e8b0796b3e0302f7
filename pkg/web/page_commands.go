package web

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

func webResize(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	width, height := int(a.Number("width", 0)), int(a.Number("height", 0))
	metrics := p.device.backend.options.emulation.Metrics(width, height)
	for _, open := range p.context.openPages() {
		if open != p {
			open.target.Send("Emulation.setDeviceMetricsOverride", metrics)
		}
	}
	if err := p.target.Call(ctx, "Emulation.setDeviceMetricsOverride", metrics, nil); err != nil {
		return tool.Result{}, err
	}
	p.device.setSize(width, height)
	return success("the page is %d×%d pixels", width, height), nil
}

// maxWait is the longest time that web_wait waits, in seconds.
const maxWait = 30

func webWait(ctx context.Context, _ *page, args map[string]any) (tool.Result, error) {
	seconds := min(syntax.Arguments(args).Number("seconds", 1), maxWait)
	if err := act.Pause(ctx, time.Duration(seconds*float64(time.Second))); err != nil {
		return tool.Result{}, err
	}
	return success("waited %g s", seconds), nil
}

// maxResult bounds the result of a script, in bytes of JSON.
const maxResult = 8 << 20

// webEvaluate runs web_evaluate and evaluateJs.
func webEvaluate(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	value, err := p.evaluate(ctx, syntax.Arguments(args).Text("script"))
	if thrown, ok := errors.AsType[*scriptError](err); ok {
		return tool.Result{}, fault.New(fault.ToolFailed, "", "the script failed: %s", thrown.text)
	}
	if tooLarge, ok := errors.AsType[*cdp.TooLargeError](err); ok {
		return tool.Result{}, fault.New(fault.ToolFailed, "return less, such as a part of it or its length",
			"the script returned %d MiB, and at most %d MiB are allowed", tooLarge.Size>>20, tooLarge.Limit>>20)
	}
	switch {
	case errors.Is(asGone(err), errGone) && !p.closed():
		return tool.Result{}, fault.New(fault.ToolFailed, "", "the page navigated away before the script ended")
	case ctx.Err() != nil:
		return tool.Result{}, &waitingError{"a promise of the script to settle", err}
	case err != nil:
		return tool.Result{}, err
	}
	result := success("%s", value)
	if strings.HasPrefix(value, "{") {
		result.Structured = json.RawMessage(value)
	}
	_ = json.Unmarshal([]byte(value), &result.Text) // a string is returned as it is, anything else as JSON
	return result, nil
}

// evaluate runs a script in the page's own world, as Playwright does: a function is called, a promise is awaited. A
// script with a return statement runs as the body of a function. The value is JSON, or undefined.
func (p *page) evaluate(ctx context.Context, script string) (value string, err error) {
	r, err := p.run(ctx, script)
	if thrown, ok := errors.AsType[*scriptError](err); ok &&
		strings.HasPrefix(thrown.text, "SyntaxError: Illegal return statement") {
		r, err = p.run(ctx, "(async () => {"+script+"\n})()")
	}
	switch {
	case err != nil:
		return "", err
	case r.UnserializableValue != "":
		return r.UnserializableValue, nil
	case r.ObjectID == "" && r.Value == nil:
		return r.Type, nil
	case r.ObjectID == "":
		return string(r.Value), nil
	}
	defer func() { p.target.Send("Runtime.releaseObject", map[string]any{"objectId": r.ObjectID}) }()
	const body = `async function() { return JSON.stringify(await (typeof this === "function" ? this() : this)) }`
	var called evalResult
	err = p.target.CallLimited(ctx, maxResult, "Runtime.callFunctionOn", map[string]any{
		"functionDeclaration": body,
		"objectId":            r.ObjectID,
		"returnByValue":       true,
		"awaitPromise":        true,
		"userGesture":         true,
	}, &called)
	if err = errors.Join(err, called.err()); err != nil || called.Result.Value == nil {
		return called.Result.Type, err
	}
	return value, json.Unmarshal(called.Result.Value, &value)
}

// run evaluates a script without waiting for the promise that it may return.
func (p *page) run(ctx context.Context, script string) (notes.RemoteObject, error) {
	var r evalResult
	err := p.target.CallLimited(ctx, maxResult, "Runtime.evaluate", map[string]any{
		"expression": script, "userGesture": true, "replMode": true, // allows await, and repeated declarations
	}, &r)
	if err == nil {
		err = r.err()
	}
	return r.Result, err
}

// screenshot returns a PNG of the viewport.
func (p *page) screenshot(ctx context.Context) ([]byte, error) {
	return p.screenshotAs(ctx, map[string]any{"format": "png"})
}

// screenshotAs returns a picture of the viewport; params are those of Page.captureScreenshot.
func (p *page) screenshotAs(ctx context.Context, params map[string]any) ([]byte, error) {
	for {
		var shot struct{ Data string }
		try, done := p.untilReplaced(ctx)
		err := p.callAttached(try, "Page.captureScreenshot", params, &shot)
		done()
		switch {
		case err == nil:
			return base64.StdEncoding.DecodeString(shot.Data)
		case ctx.Err() != nil || !errors.Is(err, errGone):
			return nil, err
		}
	}
}

// untilReplaced returns a context that ends with ctx and, with the cause errGone, soon after another document has
// replaced that of the page: the browser may never answer a call that was about the old one. done must be called.
func (p *page) untilReplaced(ctx context.Context) (bound context.Context, done func()) {
	bound, cancel := context.WithCancelCause(ctx)
	before := p.activitySoFar().navigations
	var work sync.WaitGroup
	work.Go(func() {
		if p.waitUntil(bound, func() bool { return p.activity.navigations != before }) != nil {
			return
		}
		select {
		case <-time.After(p.limits().probe):
			cancel(errGone)
		case <-bound.Done():
		}
	})
	return bound, func() {
		cancel(nil)
		work.Wait()
	}
}

func captureScreen(ctx context.Context, p *page, _ map[string]any) (tool.Result, error) {
	data, err := p.screenshot(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	path, err := p.device.session.Keep(device.Artifact{Name: "screenshot.png", Data: data})
	if err != nil {
		return tool.Result{}, fault.Wrap(fault.ToolFailed, err, "", "keep the screenshot")
	}
	return success("%s", path), nil
}
