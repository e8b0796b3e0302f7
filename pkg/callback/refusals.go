package callback

import (
	"fmt"
	"sync"
)

// maxTold is of how many refusals a session says why: anybody on the machine can ask for more.
const maxTold = 10

// refusals tells of requests that were refused: of the first ones why, of the others how many there were.
type refusals struct {
	mu   sync.Mutex
	tell func(message string) // may be nil
	n    int
}

func (r *refusals) add(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n++; r.n <= maxTold && r.tell != nil {
		r.tell("a request was refused: " + why)
	}
}

// close tells of those that were not told of. Nothing is told after it.
func (r *refusals) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rest := r.n - maxTold; rest > 0 && r.tell != nil {
		r.tell(fmt.Sprintf("%d more were refused", rest))
	}
	r.tell = nil
}
