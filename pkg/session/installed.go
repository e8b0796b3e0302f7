package session

import (
	"context"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
)

// installedApp is which app of the target is on the device.
type installedApp struct {
	mu sync.Mutex
	id string // empty until one was found
}

// appID returns the app under test for a tool. A function of a script gets the first of several that is installed, for
// which the device is asked until one is.
func (s *Session) appID(ctx context.Context, t *discover.Tool) string {
	sc := s.opts.Scope
	ids := sc.AppIDs()
	if sc.AppID != "" || len(ids) < 2 {
		return sc.AppID
	}
	if entry, _ := s.entryOf(t.Source); len(entry.Functions) == 0 {
		return ""
	}
	s.installed.mu.Lock()
	defer s.installed.mu.Unlock()
	if s.installed.id == "" {
		// A device that does not answer is reported by the call that needs it.
		apps, _ := look(ctx, s, func(ctx context.Context, d device.AppLister) ([]string, error) { return d.InstalledApps(ctx) })
		if i := slices.IndexFunc(ids, func(id string) bool { return slices.Contains(apps, id) }); i >= 0 {
			s.installed.id = ids[i]
		}
	}
	return s.installed.id
}
