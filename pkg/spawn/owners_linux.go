package spawn

import (
	"golang.org/x/sys/unix"

	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
)

// adoptOrphans has descendants whose parent exits become children of this process, instead of those of the system's
// first process. It reports whether the system does that.
func adoptOrphans() bool { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil }

// orphans returns the running children of this process that others have started, and reaps those that have exited.
// They are in sessions of their own: what a started process leaves is in that one's session or in one of its own, and
// commands that this process runs for itself are in its own. all is false when orphans have another parent.
func (r *registry) orphans() (running []proc.ID, all bool) {
	if !r.adopts.Load() {
		return nil, false
	}
	r.starting.Lock()
	defer r.starting.Unlock()
	for _, child := range proc.Children() {
		switch {
		case r.isLeader(child.PID):
		case child.Running():
			running = append(running, child)
		default:
			_, _ = unix.Wait4(child.PID, nil, unix.WNOHANG, nil)
		}
	}
	return running, true
}

func (r *registry) isLeader(pid int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, found := r.leaders[pid]
	return found
}
