package web

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// pageCommands are those that are about a page as a whole.
func pageCommands() []command {
	url := `"url": {"type": "string", "minLength": 1, "description": "With a scheme; anything else is a file, beside the trail or in the project"}`
	script := `"script": {"type": "string", "minLength": 1, "description": "An expression, or a function that is called"}`
	return []command{
		{device.Command("navigate", "Opens a page and waits until it has loaded.", url, "url"), navigate},
		{device.Command("evaluateJs", "Runs JavaScript in the page and answers what it returns, as JSON.", script, "script"), webEvaluate},
		{device.Command("web_navigate", "Opens a page, or goes back or forward, and waits until it has loaded.",
			enum("action", "What to do", "GOTO", "BACK", "FORWARD")+", "+url), webNavigate},
		{device.Command("web_wait", "Waits.", `"seconds": {"type": "number", "minimum": 0, "default": 1, "description": "At most 30"}`), webWait},
		{device.Command("web_waitForUrl", "Waits until a regular expression is found in the URL.",
			`"pattern": {"type": "string"}, `+timeoutProperty+`, "default": 30000}`, "pattern"), webWaitForURL},
		{device.Command("web_snapshot", "Keeps what the page shows: a screenshot, and its elements as text. Answers a list of these.",
			`"screenName": {"type": "string"}, "within": {"type": "string", "description": "CSS selector: list what is in this element only"},
			"maxBytes": {"type": "integer", "minimum": 0, "default": 6000, "description": "How long the list may be"}`), webSnapshot},
		{device.Command("web_resize", "Gives the page another size.", `"width": {"type": "integer", "minimum": 1, "maximum": 10000000},
			"height": {"type": "integer", "minimum": 1, "maximum": 10000000}`, "width", "height"), webResize},
		{device.Command("web_currentUrl", "Answers where the page is.", ""), webCurrentURL},
		{device.Command("web_evaluate", "Runs JavaScript in the page and answers what it returns, as JSON.", script, "script"), webEvaluate},
		{device.Command("web_getStorageState", "Answers cookies and local storage, as Playwright writes them.", ""), webGetStorageState},
		{device.Command("web_applyCookies", "Sets cookies.",
			`"cookiesJson": {"description": "A list of cookies, or what web_getStorageState answered"}`, "cookiesJson"), webApplyCookies},
		{device.Command("web_handleDialog", "Says what dialogs get from now on; before that they are dismissed.",
			enum("action", "What to do", "ACCEPT", "DISMISS")+`, "text": {"type": "string", "description": "What to write into prompts"}`), webHandleDialog},
	}
}

// webResize is web_resize.
func webResize(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := arguments(args)
	width, height := int(a.number("width", 0)), int(a.number("height", 0))
	if err := p.target.Call(ctx, "Emulation.setDeviceMetricsOverride", metrics(width, height), nil); err != nil {
		return tool.Result{}, err
	}
	p.device.setSize(width, height)
	return success("the page has %d×%d pixels", width, height), nil
}

// webWait is web_wait.
func webWait(ctx context.Context, _ *page, args map[string]any) (tool.Result, error) {
	const longest = 30
	seconds := min(arguments(args).number("seconds", 1), longest)
	timer := time.NewTimer(time.Duration(seconds * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return success("waited %g s", seconds), nil
	case <-ctx.Done():
		return tool.Result{}, context.Cause(ctx)
	}
}

// webHandleDialog is web_handleDialog.
func webHandleDialog(_ context.Context, p *page, args map[string]any) (tool.Result, error) {
	action, err := arguments(args).word("action", "ACCEPT", "DISMISS")
	if err != nil {
		return tool.Result{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialogs = dialogPolicy{accept: action == "ACCEPT", text: arguments(args).text("text")}
	if p.dialogs.accept {
		return success("dialogs are accepted from now on"), nil
	}
	return success("dialogs are dismissed from now on"), nil
}

// evaluate runs an expression in the frame's isolated world and decodes what it gives.
func (f *frame) evaluate(ctx context.Context, expression string, result any) error {
	s, w, err := f.ensureWorld(ctx)
	if err != nil {
		return err
	}
	ctx, done := w.bind(ctx)
	defer done()
	var r evalResult
	err = s.Call(ctx, "Runtime.evaluate", map[string]any{
		"expression": expression, "uniqueContextId": w.unique, "returnByValue": true, "awaitPromise": true,
	}, &r)
	if err == nil {
		err = r.err()
	}
	if err != nil || r.Result.Value == nil {
		return asGone(err)
	}
	return json.Unmarshal(r.Result.Value, result)
}

// evaluated is the value of an expression in the main frame.
func evaluated[T any](ctx context.Context, p *page, expression string) (T, error) {
	var value T
	err := p.main().evaluate(ctx, expression, &value)
	return value, err
}

// webEvaluate is web_evaluate and evaluateJs.
func webEvaluate(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	value, err := p.evaluate(ctx, arguments(args).text("script"))
	if thrown, ok := errors.AsType[*scriptError](err); ok {
		return tool.Result{}, fault.New(fault.ToolFailed, "", "the script failed: %s", thrown.text)
	}
	switch {
	case errors.Is(asGone(err), errGone):
		return tool.Result{}, fault.New(fault.ToolFailed, "", "the page was left before the script had ended")
	case err != nil:
		return tool.Result{}, err
	}
	result := success("%s", value)
	if strings.HasPrefix(value, "{") {
		result.Structured = json.RawMessage(value)
	}
	_ = json.Unmarshal([]byte(value), &result.Text) // a text is answered as it is, anything else as JSON
	return result, nil
}

// evaluate runs a script in the page's own world, as Playwright does: a function is called, a promise awaited. A script that returns, as
// the body of a function does, is taken as one. It gives JSON, or undefined.
func (p *page) evaluate(ctx context.Context, script string) (value string, err error) {
	r, err := p.run(ctx, script)
	if thrown, ok := errors.AsType[*scriptError](err); ok && strings.HasPrefix(thrown.text, "SyntaxError: Illegal return statement") {
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
	err = p.target.Call(ctx, "Runtime.callFunctionOn", map[string]any{
		"functionDeclaration": body, "objectId": r.ObjectID, "returnByValue": true, "awaitPromise": true, "userGesture": true,
	}, &called)
	if err = errors.Join(err, called.err()); err != nil || called.Result.Value == nil {
		return called.Result.Type, err
	}
	return value, json.Unmarshal(called.Result.Value, &value)
}

func (p *page) run(ctx context.Context, script string) (remoteObject, error) {
	var r evalResult
	err := p.target.Call(ctx, "Runtime.evaluate", map[string]any{
		"expression": script, "userGesture": true, "replMode": true, // which awaits anywhere, and declares again
	}, &r)
	if err == nil {
		err = r.err()
	}
	return r.Result, err
}

// screenshot is a PNG of what can be seen.
func (p *page) screenshot(ctx context.Context) ([]byte, error) {
	var shot struct{ Data string }
	if err := p.target.Call(ctx, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(shot.Data)
}

// captureScreen is the command of every device.
func captureScreen(ctx context.Context, p *page, _ map[string]any) (tool.Result, error) {
	data, err := p.screenshot(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	path, err := p.device.session.Keep(device.Artifact{Name: "screenshot.png", Data: data})
	if err != nil {
		return tool.Result{}, fault.Wrap(fault.ToolFailed, err, "", "keeping the screenshot")
	}
	return success("%s", path), nil
}
