package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
)

// errGone says that a document or an element does not exist any more. It has to be resolved again.
var errGone = fmt.Errorf("the document or the element was replaced: %w", act.ErrChanged)

// world is the isolated world of a document in which page.js runs.
type world struct {
	id     int             // of the execution context; valid in the frame's session
	unique string          // id that is valid in every session and is never used again
	ctx    context.Context //nolint:containedctx // ends with the document
	cancel context.CancelCauseFunc

	shown    map[string]device.Message // in live regions, by their text
	messages *notes.Messages           // receives those that are gone
}

func newWorld(p *page, id int, unique string) *world {
	w := &world{id: id, unique: unique, messages: &p.device.messages}
	w.ctx, w.cancel = context.WithCancelCause(context.Background()) //nolint:forbidigo // outlives calls
	return w
}

// bind returns a context that ends with ctx and, with the cause errGone, when the document is replaced. done must be
// called.
func (w *world) bind(ctx context.Context) (bound context.Context, done func()) {
	bound, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.ctx, func() { cancel(errGone) })
	return bound, func() {
		stop()
		cancel(nil)
	}
}

// handle refers to an object of a frame's isolated world, such as an element. It is valid until the document is
// replaced.
type handle struct {
	frame    *frame
	objectID string
}

// release releases the object. It does nothing when h is nil or the document was replaced.
func (h *handle) release() {
	if h == nil {
		return
	}
	if s := h.frame.session.to.Load(); s != nil {
		s.Send("Runtime.releaseObject", map[string]any{"objectId": h.objectID})
	}
}

// current returns the session and the isolated world of the frame. The world is nil until it has been created.
func (f *frame) current() (*cdp.Session, *world, error) {
	f.page.mu.Lock()
	defer f.page.mu.Unlock()
	s := f.session.to.Load()
	if f.detached || s == nil {
		return nil, nil, errGone
	}
	return s, f.world, nil
}

// ensureWorld returns the session and the isolated world of the frame. It creates the world in a document that was
// there before page.js was registered.
func (f *frame) ensureWorld(ctx context.Context) (*cdp.Session, *world, error) {
	s, w, err := f.current()
	if err != nil || w != nil {
		return s, w, err
	}
	err = s.Call(ctx, "Page.createIsolatedWorld", map[string]any{"frameId": f.id, "worldName": f.page.device.worldName}, nil)
	if err != nil {
		return nil, nil, asGone(err)
	}
	if s, w, err = f.current(); err != nil || w == nil {
		return nil, nil, errGone
	}
	err = s.Call(ctx, "Runtime.evaluate", map[string]any{
		"expression":      f.page.device.script(),
		"uniqueContextId": w.unique,
	}, nil)
	return s, w, asGone(err)
}

// evalResult is the result of Runtime.callFunctionOn and Runtime.evaluate.
type evalResult struct {
	Result           notes.RemoteObject
	ExceptionDetails *notes.Exception
}

// scriptError is an error that a script threw.
type scriptError struct{ text string }

func (e *scriptError) Error() string { return e.text }

// err returns what the script threw as a *scriptError, or nil.
func (r evalResult) err() error {
	if r.ExceptionDetails == nil {
		return nil
	}
	return &scriptError{r.ExceptionDetails.String()}
}

// eval calls a function of page.js in the frame and decodes what it returns, or what its promise resolves to, into
// result unless that is nil. args are JSON values or *handle. The error is errGone when the document is replaced
// meanwhile.
func (f *frame) eval(ctx context.Context, function string, result any, args ...any) error {
	r, err := f.call(ctx, function, true, args)
	if err != nil || result == nil || r.Result.Value == nil {
		return err
	}
	if err := json.Unmarshal(r.Result.Value, result); err != nil {
		return fmt.Errorf("decode the result of %s: %w", function, err)
	}
	return nil
}

// handle calls a function of page.js and returns a handle to its result, nil for null and undefined.
func (f *frame) handle(ctx context.Context, function string, args ...any) (*handle, error) {
	r, err := f.call(ctx, function, false, args)
	if err != nil || r.Result.ObjectID == "" {
		return nil, err
	}
	return &handle{f, r.Result.ObjectID}, nil
}

// call calls a function of page.js; byValue asks for its result as JSON.
func (f *frame) call(ctx context.Context, function string, byValue bool, args []any) (r evalResult, err error) {
	s, w, err := f.ensureWorld(ctx)
	if err != nil {
		return r, err
	}
	ctx, done := w.bind(ctx)
	defer done()
	for _, arg := range args {
		if h, ok := arg.(*handle); ok && h.frame != f {
			return r, errGone
		}
	}
	err = s.Call(ctx, "Runtime.callFunctionOn", w.calling(function, byValue, args), &r)
	if err == nil && r.lacksScript() {
		r = evalResult{}
		f.install(s, w)
		err = s.Call(ctx, "Runtime.callFunctionOn", w.calling(function, byValue, args), &r)
	}
	if err == nil {
		err = r.err()
	}
	return r, asGone(err)
}

// install evaluates page.js in a world.
func (f *frame) install(s *cdp.Session, w *world) {
	s.Send("Runtime.evaluate", map[string]any{"expression": f.page.device.script(), "uniqueContextId": w.unique})
}

// lacksScript reports whether a call failed because page.js was not evaluated in the world: of a frame of an app that
// began to show a document while it was attached, the browser may report a world in which it runs no scripts.
func (r evalResult) lacksScript() bool {
	return r.ExceptionDetails != nil && strings.Contains(r.ExceptionDetails.String(), noScript)
}

// noScript is what a call throws in a world without page.js.
const noScript = "page.js is missing"

// calling returns the parameters of Runtime.callFunctionOn that call a function of page.js.
func (w *world) calling(function string, byValue bool, args []any) map[string]any {
	values := []any{map[string]any{"value": function}}
	for _, arg := range args {
		if h, ok := arg.(*handle); ok {
			values = append(values, map[string]any{"objectId": h.objectID})
		} else {
			values = append(values, map[string]any{"value": arg})
		}
	}
	return map[string]any{
		"functionDeclaration": "function(name, ...args) { if (!globalThis.trailblaze) throw '" + noScript + "'; return globalThis.trailblaze[name](...args) }",
		"uniqueContextId":     w.unique,
		"arguments":           values,
		"returnByValue":       byValue,
		"awaitPromise":        true,
		"userGesture":         true,
	}
}

// asGone returns errGone for errors that the browser returns when a document or an element does not exist any more,
// and other errors unchanged.
func asGone(err error) error {
	if errors.Is(err, cdp.ErrDetached) {
		return errGone
	}
	response, ok := errors.AsType[*cdp.Error](err)
	if !ok {
		return err
	}
	for _, text := range []string{
		"context", "ContextId", "navigated or closed", "Could not find object", "Cannot find object", "No node",
		"Node with given id", "frame", "Frame", "same JavaScript world", "Promise was collected",
		"does not belong to the document", "detached",
	} {
		if strings.Contains(response.Message, text) {
			return errGone
		}
	}
	return err
}

// resolveNode returns a handle to an element by its backend node id.
func (p *page) resolveNode(ctx context.Context, f *frame, backendNodeID int) (*handle, error) {
	s, w, err := f.ensureWorld(ctx)
	if err != nil {
		return nil, err
	}
	var resolved struct{ Object notes.RemoteObject }
	err = s.Call(ctx, "DOM.resolveNode", map[string]any{"backendNodeId": backendNodeID, "executionContextId": w.id},
		&resolved)
	if err != nil {
		return nil, asGone(err)
	}
	return &handle{f, resolved.Object.ObjectID}, nil
}

// evaluate evaluates an expression in the isolated world of the frame and decodes its value into result.
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

// evaluateInMain returns the value of an expression in the main frame.
func evaluateInMain[T any](ctx context.Context, p *page, expression string) (T, error) {
	var value T
	err := p.main().evaluate(ctx, expression, &value)
	return value, err
}

// jsonResult returns a result whose text is a value as JSON.
func jsonResult(value any) tool.Result {
	data := notes.Marshal(value)
	return tool.Result{OK: true, Text: string(data), Structured: data}
}
