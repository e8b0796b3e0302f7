package device

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// IncidentReporter is a Device that notes what goes wrong without failing a call.
type IncidentReporter interface {
	// Incidents returns what was noted since it was called last, as far as the device knows it before ctx ends. Some is
	// known only after the last call, such as a route that no request used; it is left out unless ended is true.
	Incidents(ctx context.Context, ended bool) []tool.Incident
}
