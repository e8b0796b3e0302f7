package spawn

import (
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
)

// processIDVariable is the name of the environment variable by which a process is found that a started one has left.
const processIDVariable = "TRAILBLAZE_PROCESS_ID"

// owners has what was started from here and what that left running. There is one, because processes whose parent has
// exited become children of this process as a whole.
//
//nolint:gochecknoglobals // see above
var owners = registry{leaders: map[int]string{}, started: map[string]proc.ID{}, kept: map[proc.ID]bool{}}

// AdoptOrphans has the descendants of this process become its children when their parent exits, where the system can do
// that. It is for a program whose children are all started here.
func AdoptOrphans() { owners.adopts.Store(adoptOrphans()) }

// registry tells the children of this process that it has started itself from those that others have left.
type registry struct {
	// starting is held for reading while a process is started, because its pid is not known before, and for writing
	// while children are listed.
	starting sync.RWMutex

	adopts  atomic.Bool // orphans become children of this process
	mu      sync.Mutex
	leaders map[int]string     // by pid, from the start until the pid is free again; its process id
	started map[string]proc.ID // by process id, until nothing of it is left; for daemons until this process exits
	kept    map[proc.ID]bool
}

// start calls start, which starts a process and returns its pid, and registers that.
func (r *registry) start(processID string, start func() (pid int, err error)) error {
	r.starting.RLock()
	defer r.starting.RUnlock()
	pid, err := start()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaders[pid] = processID
	if processID != "" {
		r.started[processID] = proc.Find(pid)
	}
	return nil
}

// forgetLeader forgets the leader with a pid when its process has ended: the pid may belong to another one now.
func (r *registry) forgetLeader(pid int, processID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaders[pid] == processID {
		delete(r.leaders, pid)
	}
}

// killLeft kills what an ended process has left running, apart from programs that keeps returns true for.
func (r *registry) killLeft(processID string, deadline time.Time, keeps func(proc.ID) bool) {
	killUntilGone(deadline, func() []proc.ID {
		return slices.DeleteFunc(r.leftBy(processID), func(id proc.ID) bool { return r.isKept(id, keeps) })
	})
}

// forget forgets an ended process of which nothing is left.
func (r *registry) forget(processID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.started, processID)
	maps.DeleteFunc(r.kept, func(id proc.ID, _ bool) bool { return !id.Running() })
}

func (r *registry) isKept(id proc.ID, keeps func(proc.ID) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.kept[id] && keeps(id) {
		r.kept[id] = true
	}
	return r.kept[id]
}

// leftBy returns what an ended process has left running. Where orphans become children of this process, that includes
// each one whose environment does not say what started it, once nothing else can have: all other processes started
// later.
func (r *registry) leftBy(processID string) []proc.ID {
	orphans, all := r.orphans()
	if !all {
		return slices.DeleteFunc(proc.All(), func(id proc.ID) bool { return !id.HasEnv(processIDVariable + "=" + processID) })
	}
	return slices.DeleteFunc(orphans, func(id proc.ID) bool {
		owner := id.Env(processIDVariable)
		return owner != processID && r.mayOwn(owner, processID, id)
	})
}

// mayOwn reports whether a process other than the ended one may have started an orphan. owner is what the environment
// of the orphan says, which may be nothing.
func (r *registry) mayOwn(owner, ended string, orphan proc.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if owner != "" {
		_, found := r.started[owner]
		return found
	}
	for processID, leader := range r.started {
		if processID != ended && !orphan.StartedBefore(leader) && leader.Running() {
			return true
		}
	}
	return false
}

// adb is kept unless a project says otherwise: the first program that needs its daemon starts it, and all others use
// it.
const adb = "adb"

// isNamed reports whether the file name of the program of a process is one of names.
func isNamed(id proc.ID, names []string) bool {
	return slices.Contains(names, filepath.Base(proc.Program(id.PID)))
}
