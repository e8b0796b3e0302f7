package notes

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// MaxIncidents is how many incidents of each kind are kept between two calls of Incidents.
const MaxIncidents = 50

// Incidents are what went wrong without failing a call. They may be used from any goroutine.
type Incidents struct {
	mu      sync.Mutex
	call    string // the id of the call that runs or ended last
	list    []incident
	omitted map[string]int // by kind
}

// incident is one that came once or several times.
type incident struct {
	tool.Incident
	times int
}

// StartCall says that a call begins.
func (is *Incidents) StartCall(id string) {
	is.mu.Lock()
	defer is.mu.Unlock()
	is.call = id
}

// During returns the id of the call that runs or ended last.
func (is *Incidents) During() string {
	is.mu.Lock()
	defer is.mu.Unlock()
	return is.call
}

// Add adds an incident. One without a call belongs to the one that runs or ended last.
func (is *Incidents) Add(i tool.Incident) {
	is.mu.Lock()
	defer is.mu.Unlock()
	if i.Call == "" {
		i.Call = is.call
	}
	same := slices.IndexFunc(is.list, func(known incident) bool { return known.Kind == i.Kind && known.Text == i.Text })
	count := 0
	for _, known := range is.list {
		if known.Kind == i.Kind {
			count++
		}
	}
	switch {
	case same >= 0:
		is.list[same].times++
	case count < MaxIncidents:
		is.list = append(is.list, incident{i, 1})
	default:
		if is.omitted == nil {
			is.omitted = map[string]int{}
		}
		is.omitted[i.Kind]++
	}
}

// Take returns the incidents since the last call.
func (is *Incidents) Take() []tool.Incident {
	is.mu.Lock()
	defer is.mu.Unlock()
	var out []tool.Incident
	for _, i := range is.list {
		if i.times > 1 {
			i.Text += fmt.Sprintf(" (%d times)", i.times)
		}
		out = append(out, i.Incident)
	}
	for _, kind := range tool.IncidentKinds() {
		if more := is.omitted[kind]; more > 0 {
			out = append(out, tool.Incident{Kind: kind, Text: fmt.Sprintf("%d more", more), Call: is.call})
		}
	}
	is.list, is.omitted = nil, nil
	return out
}

// ExceptionLine returns the message of an exception and where it was thrown, without the rest of its stack.
func ExceptionLine(text string) string {
	message, stack, _ := strings.Cut(text, "\n    at ")
	place, _, _ := strings.Cut(stack, "\n")
	return strings.TrimSuffix(EventLine(message)+" at "+EventLine(place), " at ")
}
