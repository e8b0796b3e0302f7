package spawn

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
)

// stateFile is what a run of trailblaze leaves for later ones in case it is killed: its processes, and its own id, so
// that processes of a run that is still running are not killed.
type stateFile struct {
	Scope     string   `json:"scope"` // of all ids in it
	Owner     proc.ID  `json:"owner"`
	RunID     string   `json:"runId"` // entry of the environment that all descendants inherit
	Keep      []string `json:"keep"`  // names of programs that are not killed as daemons
	Processes []*entry `json:"processes"`
}

// entry is the leader of a group, whose id is the group's. The id is that of no process until the leader has started.
type entry struct {
	proc.ID
	Name    string   `json:"name"`
	Command string   `json:"command"`          // without arguments, which may be secret
	Pipes   []uint64 `json:"pipes,omitempty"`  // inode numbers of those behind its stdout and stderr
	Folder  string   `json:"folder,omitempty"` // that is removed with it
}

// state keeps the file of this run. Its methods may be called from any goroutine.
type state struct {
	dir  string // "" for none
	warn func(message string)

	mu      sync.Mutex
	path    string
	content stateFile
	closed  bool
	failed  bool // writing it, once
}

// add adds a process before it is started.
func (s *state) add(p *Process) {
	p.entry = &entry{Name: p.spec.Name, Command: p.argv[0], Pipes: p.inodes, Folder: p.folder}
	if p.spec.Script != "" {
		p.entry.Command = p.spec.Script
	}
	s.update(func() { s.content.Processes = append(s.content.Processes, p.entry) })
}

// setPID completes the entry of a process that has started.
func (s *state) setPID(p *Process) {
	s.update(func() { p.entry.ID = proc.Find(p.backend.pid()) })
}

// keep sets the names of programs that a later run does not kill.
func (s *state) keep(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content.Keep = names
	if s.path != "" && !s.closed {
		_ = s.save() // the next change of the file reports the error
	}
}

func (s *state) remove(p *Process) {
	if p.entry == nil {
		return
	}
	s.update(func() {
		s.content.Processes = slices.DeleteFunc(s.content.Processes, func(e *entry) bool { return e == p.entry })
	})
}

func (s *state) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	if s.dir == "" || s.closed {
		return
	}
	if err := s.save(); err != nil && !s.failed {
		s.failed = true
		s.warn("processes of this run could not be found if it were killed: " + err.Error())
	}
}

// save replaces the file, so that a reader never sees a part of it.
func (s *state) save() error {
	if s.path == "" {
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return err
		}
		s.content.Scope, s.content.Owner = proc.Scope(), proc.Find(os.Getpid())
		s.path = filepath.Join(s.dir, fmt.Sprintf("%d-%s.json", s.content.Owner.PID, s.content.Owner.Start))
	}
	data, err := json.Marshal(s.content)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.path+newSuffix, data, 0o600); err != nil {
		return err
	}
	return files.Rename(s.path+newSuffix, s.path)
}

// newSuffix is that of a state file that is being written.
const newSuffix = ".new"

// close removes the file, unless processes are still running, which a later run then kills.
func (s *state) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.path != "" && len(s.content.Processes) == 0 {
		_, _ = os.Remove(s.path), os.Remove(s.path+newSuffix)
	}
}
