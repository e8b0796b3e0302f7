// Package access says which pages and files a session, and a script in the sandbox, may open.
package access

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// Origins says which pages may be opened: with Restricted, those of some origins. It also says which pages a
// script in the sandbox may use: those of the same origins, and of the origins of all pages that other calls opened. It
// may be used from any goroutine.
type Origins struct {
	Restricted bool
	anyFirst   bool // no origin was given, so that the first page that a call opens allows its origin

	mu      sync.Mutex
	allowed []string
	scheme  string // of an app, whose pages may all be opened; empty for none
	opened  bool   // a call has opened a page, whose origin is allowed
	another bool   // a call has opened another one since
	blocked string // the last URL that was blocked; empty for none
}

// NewOrigins allows the origins of a session and those that the user allows. URLs that have no origin allow none.
func NewOrigins(session device.Session, allowed []string) *Origins {
	a := &Origins{Restricted: session.RestrictOrigins}
	for _, address := range slices.Concat(session.AllowedOrigins, allowed, []string{session.BaseURL}) {
		if origin := syntax.OriginOf(address); origin != "" {
			a.allowed = append(a.allowed, origin)
		}
	}
	a.anyFirst = a.Restricted && len(a.allowed) == 0
	return a
}

// Allows reports whether a page may be opened.
func (a *Origins) Allows(address string) bool {
	return !a.Restricted || a.isAllowed(address)
}

// AllowApp allows pages with the scheme of the page that the first window of an app shows, if it is the app's own, such as
// app://.
func (a *Origins) AllowApp(address string) {
	scheme := syntax.SchemeOf(address)
	if syntax.HasNoOrigin(address) || slices.Contains([]string{"", "http", "https", "chrome", "devtools"}, scheme) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.scheme = scheme
}

// isAllowed reports whether a page is of an allowed origin, or of none.
func (a *Origins) isAllowed(address string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return syntax.HasNoOrigin(address) || a.scheme != "" && syntax.SchemeOf(address) == a.scheme ||
		slices.Contains(a.allowed, syntax.OriginOf(address))
}

// CheckSandbox returns an error if a call is from the sandbox, and a script in the sandbox may not use a page.
func (a *Origins) CheckSandbox(ctx context.Context, address string) error {
	if !IsFromSandbox(ctx) || a.isAllowed(address) {
		return nil
	}
	hint := "let the trail open it"
	if origin := syntax.OriginOf(address); origin != "" {
		hint = fmt.Sprintf("--allow-origin %s allows it, or allowedOrigins: [%s] under device: web: in trailblaze.yaml, or let the trail open it",
			origin, origin)
	}
	return fault.New(fault.ToolFailed, hint, "a script in the sandbox may not use %s: its origin is not allowed, only %s", address, a)
}

// Request returns an error unless a call may open a page. With Restricted, the first page that calls open allows its
// origin if none was given, else every one does. A call from the sandbox allows none.
func (a *Origins) Request(ctx context.Context, address string) error {
	if err := a.CheckSandbox(ctx, address); err != nil {
		return err
	}
	a.mu.Lock()
	if !IsFromSandbox(ctx) && !strings.HasPrefix(strings.ToLower(syntax.PlainURL(address)), "about:") {
		origin := syntax.OriginOf(address)
		isNew := !a.Restricted || a.anyFirst && !a.opened
		if isNew && origin != "" && !slices.Contains(a.allowed, origin) {
			a.allowed = append(a.allowed, origin)
		}
		a.opened, a.another = true, a.opened
	}
	a.blocked = ""
	a.mu.Unlock()
	if a.Allows(address) {
		return nil
	}
	return a.Refusal(address, "")
}

// Withdraw forgets the origin of the first page, which was redirected to another origin, so that a call may open that
// one. It returns false, and forgets nothing, when the page is not the first one.
func (a *Origins) Withdraw(address string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := len(a.allowed) - 1
	if !a.anyFirst || !a.opened || a.another || last < 0 || a.allowed[last] != syntax.OriginOf(address) {
		return false
	}
	a.allowed, a.opened = a.allowed[:last], false
	return true
}

// Refusal is the error for a page that may not be opened. from is the URL that led to it; empty for none.
func (a *Origins) Refusal(address, from string) error {
	if from != "" {
		from = ", to which " + from + " leads"
	}
	hint := "only pages with http: and https: and files of the project may be opened"
	if origin := syntax.OriginOf(address); origin != "" {
		hint = fmt.Sprintf("--allow-origin %s allows it, or allowedOrigins: [%s] under device: web: in trailblaze.yaml, "+
			"which the next session reads", origin, origin)
	}
	return fault.New(fault.ToolFailed, hint, "%s may not be opened%s: its origin is not allowed, only %s", address, from, a)
}

// String lists the allowed origins.
func (a *Origins) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.allowed) == 0 {
		return "files of the project"
	}
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(a.allowed))), ", ")
}

// Block notes that a page was blocked.
func (a *Origins) Block(address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.blocked = address
}

// LastBlocked returns the URL that was blocked last since a call began to open a page; empty for none.
func (a *Origins) LastBlocked() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.blocked
}

// ReadOrigins reads the value of the option allowedOrigins: a list of origins in JSON, or origins separated by commas.
func ReadOrigins(value string) ([]string, error) {
	var origins []string
	if strings.HasPrefix(value, "[") {
		if err := json.Unmarshal([]byte(value), &origins); err != nil {
			return nil, fault.New(fault.Misuse, "write a list of origins, such as [https://shop.example]",
				"allowedOrigins: %s is not a list of origins", value)
		}
	} else {
		origins = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
	}
	for i, origin := range origins {
		u, err := url.Parse(origin)
		if origins[i] = syntax.OriginOf(origin); err != nil || origins[i] == "" || u.User != nil || strings.Trim(u.Path, "/") != "" ||
			u.RawQuery != "" || u.Fragment != "" {
			return nil, fault.New(fault.Misuse, "write it like https://shop.example or http://127.0.0.1:8080",
				"allowedOrigins: %q is not an origin", origin)
		}
	}
	return origins, nil
}

// callFromSandbox marks the context of a call that a script in the sandbox requested.
type callFromSandbox struct{}

// FromSandbox returns the context of a call that a script in the sandbox requested.
func FromSandbox(ctx context.Context) context.Context {
	return context.WithValue(ctx, callFromSandbox{}, true)
}

// IsFromSandbox reports whether the context is one that FromSandbox returned.
func IsFromSandbox(ctx context.Context) bool { return ctx.Value(callFromSandbox{}) != nil }
