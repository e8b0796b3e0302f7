package redact

import (
	"maps"
	"slices"
	"sync"
)

// Set holds secrets by name, and only grows: a secret that was added is redacted from then on. The zero value is empty.
// Its methods may be called from any goroutine.
type Set struct {
	mu       sync.Mutex
	secrets  map[string]string
	redactor *Redactor // of secrets; nil until it is needed
}

// Add adds secrets, by name. Apostrophes are added to a name that already has another value. Empty values are not
// secrets.
func (s *Set) Add(secrets map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		value := secrets[name]
		if value == "" {
			continue
		}
		if s.secrets == nil {
			s.secrets = map[string]string{}
		}
		for known, taken := s.secrets[name]; taken && known != value; known, taken = s.secrets[name] {
			name += "'"
		}
		if s.secrets[name] != value {
			s.secrets[name], s.redactor = value, nil
		}
	}
}

// Redactor returns a Redactor for the secrets that were added so far.
func (s *Set) Redactor() *Redactor {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.redactor == nil {
		s.redactor = New(s.secrets)
	}
	return s.redactor
}

// Text does what [Redactor.Text] does, for the secrets that were added so far.
func (s *Set) Text(text string) string { return s.Redactor().Text(text) }
