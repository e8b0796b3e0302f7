package session

import (
	"context"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Place is where a recorded call is: in a step with a number, see [event.StepStarted]. Call is nil before the first.
type Place struct {
	Step string
	Call *trail.Call
}

// Incident is something that went wrong on the device during or after a recorded call, without failing it.
type Incident struct {
	tool.Incident
	Place Place
}

// Incidents returns what the device noted since it was called last. Without ended, what only later calls show is left
// out, see [device.IncidentReporter].
func (s *Session) Incidents(ctx context.Context, ended bool) []Incident {
	if s.device == nil || !s.device.used.Load() {
		return nil
	}
	witness, ok := s.device.Device.(device.IncidentReporter)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, evidenceTimeout)
	defer cancel()
	var all []Incident
	for _, i := range witness.Incidents(ctx, ended) {
		call, _, _ := strings.Cut(i.Call, ".")
		i.Text = s.opts.Redactor.Text(i.Text)
		all = append(all, Incident{i, s.made[call]})
	}
	return all
}

// noteCall notes where a call is that is about to be made.
func (s *Session) noteCall(id string, st Step, call *trail.Call) {
	if !s.opts.Incidents {
		return
	}
	if s.made == nil {
		s.made = map[string]Place{}
	}
	s.made[id] = Place{st.Number(), call}
}
