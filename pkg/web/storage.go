package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/storage"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

func stateCommands() []command {
	list := []command{
		newCommand("web_getStorageState", "Returns cookies and local storage in Playwright's format.",
			"", webGetStorageState),
		newCommand("web_applyStorageState", "Sets cookies and local storage from a file or a text in Playwright's format.",
			`"path": {"type": "string", "minLength": 1, "description": "A file beside the trail or in the project"},
			"json": {"type": ["string", "object"], "description": "A result of web_getStorageState"}`, webApplyStorageState).
			checkedBy(checkState),
		newCommand("web_applyCookies", "Sets cookies.",
			`"cookiesJson": {"description": "A list of cookies, or a result of web_getStorageState"}`,
			webApplyCookies, "cookiesJson").checkedBy(func(args syntax.Arguments) error {
			_, err := cookiesOf(args)
			return err
		}),
	}
	for i := range list {
		list[i].withoutPage = true
	}
	return list
}

// webGetStorageState returns the cookies of the session, and the local storage of the origins that its pages and their
// frames have shown.
func webGetStorageState(ctx context.Context, p *page, _ map[string]any) (tool.Result, error) {
	c := p.context
	state := storage.State{Cookies: []storage.Cookie{}, Origins: []storage.Origin{}}
	known := map[string]bool{}
	for _, p := range c.openPages() {
		for _, f := range p.frames() {
			err := f.withinSlice(ctx, func(ctx context.Context) error {
				o, err := f.localStorage(ctx)
				state.Add(o, known)
				return err
			})
			if err != nil {
				return tool.Result{}, err
			}
		}
	}
	if err := c.readOtherOrigins(ctx, &state, known); err != nil {
		return tool.Result{}, err
	}
	var found struct{ Cookies []storage.ProtocolCookie }
	if err := c.browser.Conn.Browser().Call(ctx, "Storage.getCookies", c.scoped(map[string]any{}), &found); err != nil {
		return tool.Result{}, err
	}
	for _, k := range found.Cookies {
		state.Cookies = append(state.Cookies, k.FromProtocol())
	}
	return jsonResult(state), nil
}

// readOtherOrigins adds the local storage of the origins that no page shows any more.
func (c *browserContext) readOtherOrigins(ctx context.Context, state *storage.State, known map[string]bool) error {
	c.mu.Lock()
	origins := slices.DeleteFunc(slices.Clone(c.origins), func(o string) bool { return known[o] })
	c.mu.Unlock()
	if len(origins) == 0 || c.browser.app != nil {
		return nil
	}
	return c.withBlankPage(ctx, func(p *page) error {
		for _, origin := range origins {
			if err := p.openBlank(ctx, origin); err != nil {
				return err
			}
			o, err := p.main().localStorage(ctx)
			if err != nil {
				return err
			}
			state.Add(o, known)
		}
		return nil
	})
}

// noteOrigin remembers the origin of a page that was shown.
func (c *browserContext) noteOrigin(url string) {
	origin := syntax.OriginOf(url)
	if origin == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.origins, origin) {
		c.origins = append(c.origins, origin)
	}
}

// withBlankPage calls f with a page of the context that is not one of its tabs, and in which every URL shows an empty
// page, without a request to its server.
func (c *browserContext) withBlankPage(ctx context.Context, f func(*page) error) error {
	if c.browser.app != nil {
		return fault.New(fault.ToolFailed, "let web_evaluate set it in a window of the app that has the origin",
			"local storage cannot be set in an Electron app, which opens no page for it")
	}
	p, err := c.newPage(ctx)
	if err != nil {
		return err
	}
	c.hide(p)
	defer func() { c.browser.Conn.Browser().Send("Target.closeTarget", map[string]any{"targetId": p.targetID}) }()
	p.blank.Store(true)
	all := map[string]any{"patterns": []map[string]any{{"urlPattern": "*"}}}
	if err := p.target.Call(ctx, "Fetch.enable", all, nil); err != nil {
		return err
	}
	return f(p)
}

// openBlank shows an empty page of an origin.
func (p *page) openBlank(ctx context.Context, origin string) error {
	before := p.main().loaderID()
	var answer struct{ ErrorText string }
	if err := p.target.Call(ctx, "Page.navigate", map[string]any{"url": origin + "/"}, &answer); err != nil {
		return err
	}
	if answer.ErrorText != "" {
		return fmt.Errorf("%s: %s", origin, answer.ErrorText)
	}
	return p.waitForLoad(ctx, before)
}

// localStorage returns the local storage of the frame's origin. A frame that is gone, or may not use storage, has none.
// When it returns, the browser knows the cookies that scripts of the frame have set: Chromium sets them later, but
// before it answers a script that reads them.
func (f *frame) localStorage(ctx context.Context) (storage.Origin, error) {
	const script = `(document.cookie, {origin: location.origin, localStorage: Array.from(localStorage, (_, i) => localStorage.key(i))
		.map(name => ({name, value: localStorage.getItem(name)}))})`
	var o storage.Origin
	err := f.evaluate(ctx, script, &o)
	if _, thrown := errors.AsType[*scriptError](err); thrown || errors.Is(err, errGone) {
		return storage.Origin{}, nil
	}
	return o, err
}

// webApplyCookies sets cookies from a list, or from a result of web_getStorageState.
func webApplyCookies(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	state, err := cookiesOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	if err := p.context.setCookies(ctx, state.Cookies); err != nil {
		return tool.Result{}, err
	}
	result := success("applied %s", text.Count(len(state.Cookies), "cookie"))
	if origins := state.Stored(); len(origins) > 0 {
		result = withNotes(result, "the local storage of "+text.Count(len(origins), "origin")+
			" was ignored: web_applyStorageState sets it, too")
	}
	return result, nil
}

// jsonOf returns an argument that is JSON as a text, or the value of it.
func jsonOf(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return string(notes.Marshal(value))
}

// cookiesOf reads the argument cookiesJson.
func cookiesOf(args syntax.Arguments) (storage.State, error) {
	state, err := storage.ParseCookies(jsonOf(args["cookiesJson"]))
	if err != nil {
		err = fault.Wrap(fault.InvalidArguments, err,
			`write a list such as [{"name": "a", "value": "b", "url": "https://shop.example"}], or a result of web_getStorageState`, "cookiesJson")
	}
	return state, err
}

func (c *browserContext) setCookies(ctx context.Context, cookies []storage.Cookie) error {
	converted := make([]storage.ProtocolCookie, len(cookies))
	for i, k := range cookies {
		converted[i] = k.ToProtocol()
	}
	params := c.scoped(map[string]any{"cookies": converted})
	if err := c.browser.Conn.Browser().Call(ctx, "Storage.setCookies", params, nil); err != nil {
		return fault.Wrap(fault.ToolFailed, err,
			"a cookie needs name, value, and url or domain with path", "the browser rejected the cookies")
	}
	return nil
}

func webApplyStorageState(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	state, given, err := givenState(args)
	if err == nil && !given {
		state, err = p.stateOfFile(syntax.Arguments(args).Text("path"))
	}
	if err != nil {
		return tool.Result{}, err
	}
	applied, err := p.context.applyState(ctx, state)
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s", applied), nil
}

// checkState checks the arguments of web_applyStorageState, but no file.
func checkState(args syntax.Arguments) error {
	_, _, err := givenState(args)
	return err
}

// givenState reads the argument json. given is false if a file is named instead.
func givenState(args syntax.Arguments) (state storage.State, given bool, err error) {
	if args.Has("path") == args.Has("json") {
		return state, false, fault.New(fault.InvalidArguments, "write one of them", "web_applyStorageState needs either path or json")
	}
	if !args.Has("json") {
		return state, false, nil
	}
	state, err = stateOf([]byte(jsonOf(args["json"])))
	return state, true, err
}

// stateOfFile reads the storage state of a file that a call names.
func (p *page) stateOfFile(name string) (storage.State, error) {
	path, err := p.device.findFile("path", name)
	if err != nil {
		return storage.State{}, err
	}
	data, err := files.Read(path, storage.MaxBytes)
	if err != nil {
		return storage.State{}, err
	}
	return stateOf(data)
}

// stateOf reads the storage state that a call applies.
func stateOf(data []byte) (storage.State, error) {
	state, err := storage.Parse(data)
	if err != nil {
		err = fault.Wrap(fault.InvalidArguments, err, storage.Hint, "the storage state")
	}
	return state, err
}

// configuredState returns the storage state of the option storageState; nil if it is not set.
func (d *webDevice) configuredState() (*storage.State, error) {
	path := d.backend.options.storageState
	if path == "" {
		return nil, nil //nolint:nilnil // no state is not an error
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmp.Or(d.session.Root, d.session.TrailDir), filepath.FromSlash(path))
	}
	return storage.Load(path)
}

// applyState sets cookies and local storage, and returns what it did in words.
func (c *browserContext) applyState(ctx context.Context, state storage.State) (applied string, err error) {
	if err := c.setCookies(ctx, state.Cookies); err != nil {
		return "", err
	}
	origins := state.Stored()
	databases := state.Databases()
	if len(origins) > 0 {
		if err := c.withBlankPage(ctx, func(p *page) error { return p.setLocalStorage(ctx, origins) }); err != nil {
			return "", err
		}
	}
	applied = fmt.Sprintf("applied %s and the local storage of %s", text.Count(len(state.Cookies), "cookie"),
		text.Count(len(origins), "origin"))
	if databases > 0 {
		applied += "; indexedDB of " + text.Count(databases, "origin") + " was ignored"
	}
	return applied, nil
}

// setLocalStorage sets the items of origins.
func (p *page) setLocalStorage(ctx context.Context, origins []storage.Origin) error {
	for _, o := range origins {
		if err := p.openBlank(ctx, strings.TrimSuffix(o.Origin, "/")); err != nil {
			return err
		}
		script := "(" + string(notes.Marshal(o.LocalStorage)) + ").forEach(i => localStorage.setItem(i.name, i.value)), 0"
		var done int
		if err := p.main().evaluate(ctx, script, &done); err != nil {
			return fault.Wrap(fault.ToolFailed, err, "", "the local storage of "+o.Origin)
		}
		p.context.noteOrigin(o.Origin)
	}
	return nil
}
