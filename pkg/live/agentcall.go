package live

import (
	"net/url"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// pathBegins matches a URL whose origin what is added to it cannot change.
var pathBegins = lazyregexp.New(`^([a-zA-Z]+://[^/\\?#]+/|/[a-zA-Z0-9])`)

// mayAgentCall returns an error for a call that an agent may not make in a session of somebody who may do more, or of a
// run.
func (s *Session) mayAgentCall(t *discover.Tool, call trail.Call) error {
	if err := s.within(s.agentLimits(call.Tool), call); err != nil {
		return err
	}
	if t.Source.Kind != tool.FromDevice || s.isCheck(t) {
		return nil
	}
	apps := s.opts.Scope.AppIDs()
	if app, ok := call.Args["appId"].(string); ok && len(apps) > 0 && !slices.Contains(apps, app) {
		return fault.New(fault.PermissionDenied, "add it to appIds of the target, if it belongs to it",
			"agents may not use the app %s: the target has %s", app, strings.Join(apps, ", "))
	}
	if address, ok := call.Args["url"].(string); ok && !s.allowsURL(address) {
		return fault.New(fault.PermissionDenied, "a person can open the page; then an agent may work in it",
			"agents may not open %s: its origin is neither that of a target nor that of the page that is shown", address)
	}
	if check := s.kind().CheckForAgent; check != nil {
		return check(call.Tool, call.Args, s.opts.Project.BaseURLFor(s.opts.Scope.Target.ID, s.opts.Scope.Driver.Platform))
	}
	return nil
}

// allowsURL reports whether an agent may open a URL: a relative one, and one of an origin that is allowed or shown. A
// token may have any value, so it may come only after the origin and the beginning of a path.
func (s *Session) allowsURL(address string) bool {
	if before, found := trail.BeforeTokens(address); found {
		return pathBegins().MatchString(before) && s.allowsURL(before)
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return false
	}
	if u.Scheme == "" && u.Host == "" {
		return true
	}
	allowed := slices.Clone(s.opts.AllowedOrigins)
	if last := s.lastView(); last != nil {
		allowed = append(allowed, last.URL)
	}
	return slices.ContainsFunc(allowed, func(other string) bool {
		o, err := url.Parse(other)
		return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") &&
			strings.EqualFold(o.Scheme, u.Scheme) && strings.EqualFold(o.Host, u.Host)
	})
}
