package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// storageState has Playwright's format.
type storageState struct {
	Cookies []cookie        `json:"cookies"`
	Origins []originStorage `json:"origins"`
}

// cookie has the field names that the DevTools protocol and Playwright share. Expires is in seconds since 1970, -1 for
// a session cookie.
type cookie struct {
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	URL      string  `json:"url,omitempty"`
	Domain   string  `json:"domain,omitempty"`
	Path     string  `json:"path,omitempty"`
	Expires  float64 `json:"expires,omitempty"`
	HTTPOnly bool    `json:"httpOnly"`
	Secure   bool    `json:"secure"`
	SameSite string  `json:"sameSite,omitempty"`
}

type originStorage struct {
	Origin       string       `json:"origin"`
	LocalStorage []storedItem `json:"localStorage"`
}

type storedItem struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// webGetStorageState returns the cookies of the session, and the local storage of the origins in its page.
func webGetStorageState(ctx context.Context, p *page, _ map[string]any) (tool.Result, error) {
	state := storageState{Cookies: []cookie{}, Origins: []originStorage{}}
	params := map[string]any{"browserContextId": p.context}
	if err := p.browser.conn.Browser().Call(ctx, "Storage.getCookies", params, &state); err != nil {
		return tool.Result{}, err
	}
	known := map[string]bool{}
	for _, f := range p.frames() {
		o, err := f.localStorage(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		if len(o.LocalStorage) > 0 && !known[o.Origin] {
			known[o.Origin] = true
			state.Origins = append(state.Origins, o)
		}
	}
	data := marshal(state)
	return tool.Result{OK: true, Text: string(data), Structured: data}, nil
}

// localStorage returns the local storage of the frame's origin. A frame that is gone, or may not use storage, has none.
func (f *frame) localStorage(ctx context.Context) (originStorage, error) {
	const script = `({origin: location.origin, localStorage: Array.from(localStorage, (_, i) => localStorage.key(i))
		.map(name => ({name, value: localStorage.getItem(name)}))})`
	var o originStorage
	err := f.evaluate(ctx, script, &o)
	if _, thrown := errors.AsType[*scriptError](err); thrown || errors.Is(err, errGone) {
		return originStorage{}, nil
	}
	return o, err
}

// webApplyCookies sets cookies from a list, or from a result of web_getStorageState.
func webApplyCookies(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	text, ok := args["cookiesJson"].(string)
	if !ok {
		data, err := json.Marshal(args["cookiesJson"])
		if err != nil {
			return tool.Result{}, err
		}
		text = string(data)
	}
	cookies, err := readCookies(text)
	if err != nil {
		return tool.Result{}, fault.Wrap(fault.InvalidArguments, err,
			`write a list such as [{"name": "a", "value": "b", "url": "https://shop.example"}], or a result of web_getStorageState`, "cookiesJson")
	}
	params := map[string]any{"cookies": cookies, "browserContextId": p.context}
	if err := p.browser.conn.Browser().Call(ctx, "Storage.setCookies", params, nil); err != nil {
		return tool.Result{}, fault.Wrap(fault.ToolFailed, err,
			"a cookie needs name, value, and url or domain with path", "the browser rejected the cookies")
	}
	return success("applied %s", plural(len(cookies), "cookie", "cookies")), nil
}

// readCookies parses cookies and fills in their defaults.
func readCookies(text string) ([]cookie, error) {
	var state storageState
	target := any(&state)
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		target = &state.Cookies
	}
	if err := json.Unmarshal([]byte(text), target); err != nil {
		return nil, fmt.Errorf("not cookies in JSON: %w", err)
	}
	for i := range state.Cookies {
		c := &state.Cookies[i]
		switch {
		case c.Name == "":
			return nil, fmt.Errorf("cookie %d has no name", i+1)
		case c.URL == "" && c.Domain == "":
			return nil, fmt.Errorf("cookie %q has neither url nor domain", c.Name)
		case c.URL == "" && c.Path == "":
			c.Path = "/"
		}
		c.Expires = max(c.Expires, 0)
		if c.SameSite != "" {
			c.SameSite = strings.ToUpper(c.SameSite[:1]) + strings.ToLower(c.SameSite[1:])
		}
	}
	return state.Cookies, nil
}
