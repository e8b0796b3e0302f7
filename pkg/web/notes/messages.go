package notes

import (
	"sync"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// MaxMessages is how many texts that are gone are kept for the next view: the last ones.
const MaxMessages = 20

// Messages are texts that the pages of a live session showed and that are gone, since the last view. They may be used
// from any goroutine.
type Messages struct {
	mu   sync.Mutex
	gone []device.Message
}

// Add keeps a text that is gone.
func (m *Messages) Add(gone device.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone = append(m.gone, gone); len(m.gone) > MaxMessages {
		m.gone = m.gone[1:]
	}
}

// Take returns the texts since the last call.
func (m *Messages) Take() []device.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	gone := m.gone
	m.gone = nil
	return gone
}
