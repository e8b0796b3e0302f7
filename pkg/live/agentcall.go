package live

import (
	"net/url"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// mayAgentCall returns an error for a call that an agent may not make in a session of somebody who may do more.
func (s *Session) mayAgentCall(t *discover.Tool, call trail.Call) error {
	if err := s.within(s.agentLimits(call.Tool), call); err != nil {
		return err
	}
	address, ok := call.Args["url"].(string)
	if t.Source.Kind != tool.FromDevice || !ok || s.isCheck(t) || s.allowsURL(address) {
		return nil
	}
	return fault.New(fault.PermissionDenied, "a person can open the page; then an agent may work in it",
		"agents may not open %s: its origin is neither that of a target nor that of the page that is shown", address)
}

// allowsURL reports whether an agent may open a URL: a relative one, and one of an origin that is allowed or shown.
func (s *Session) allowsURL(address string) bool {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return false
	}
	if u.Scheme == "" && u.Host == "" {
		return true
	}
	allowed := slices.Clone(s.opts.AllowedOrigins)
	if s.shown != nil {
		allowed = append(allowed, s.shown.URL)
	}
	return slices.ContainsFunc(allowed, func(other string) bool {
		o, err := url.Parse(other)
		return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") &&
			strings.EqualFold(o.Scheme, u.Scheme) && strings.EqualFold(o.Host, u.Host)
	})
}
