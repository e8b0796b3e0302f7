package discover

import (
	"encoding/json"
	"maps"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// plainRegistry is a Registry without its methods.
type plainRegistry Registry

// encodedRegistry is a Registry in JSON.
type encodedRegistry struct {
	*plainRegistry
	Offered []string                // names
	Unknown map[string]*fault.Error // the errors of Find, by name
}

// MarshalJSON implements json.Marshaler. The callers and checks of the tools are left out: they stay in the process of
// the session.
func (r *Registry) MarshalJSON() ([]byte, error) {
	e := encodedRegistry{plainRegistry: (*plainRegistry)(r), Unknown: maps.Clone(r.removed)}
	if e.Unknown == nil {
		e.Unknown = map[string]*fault.Error{}
	}
	maps.Copy(e.Unknown, r.missing())
	for _, t := range r.Offered {
		e.Offered = append(e.Offered, t.Name)
	}
	return json.Marshal(e)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Registry) UnmarshalJSON(data []byte) error {
	e := encodedRegistry{plainRegistry: (*plainRegistry)(r)}
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	r.byName, r.known = map[string]*Tool{}, e.Unknown
	for _, t := range r.Tools {
		r.byName[t.Name] = t
	}
	for _, name := range e.Offered {
		if t := r.byName[name]; t != nil {
			r.Offered = append(r.Offered, t)
		}
	}
	return nil
}
