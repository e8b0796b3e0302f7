package spawn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
)

// stateFile is what one run of trailblaze leaves for later ones, should it be killed: its processes, and itself, so that
// nobody ends the processes of a run that lives.
type stateFile struct {
	Scope     string   `json:"scope"` // what the ids mean something in
	Owner     identity `json:"owner"`
	Processes []entry  `json:"processes"`
}

// identity tells a process from a later one with the same id.
type identity struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`
}

func (i identity) alive() bool { return i.Start != "" && proc.Start(i.PID) == i.Start }

// entry is the leader of a group. The group's id is its own.
type entry struct {
	identity
	Name    string `json:"name"`
	Command string `json:"command"` // without arguments, which may be secret
	// Session is the entry of its environment that its descendants inherit.
	Session string `json:"session,omitempty"`
	Folder  string `json:"folder,omitempty"` // that goes with it
}

const sessionVariable = "TRAILBLAZE_SESSION_ID="

// state keeps the file of this run. Its methods may be called from any goroutine.
type state struct {
	dir  string // "" for none
	warn func(message string)

	mu      sync.Mutex
	path    string
	content stateFile
	broken  bool
}

func (s *state) add(p *Process) {
	pid := p.body.pid()
	if pid == 0 {
		return // it ends with us, however we do
	}
	e := entry{identity: identity{pid, proc.Start(pid)}, Name: p.spec.Name, Command: p.argv[0], Folder: p.folder}
	if p.spec.Script != "" {
		e.Command = p.spec.Script
	}
	for _, kv := range p.spec.Env {
		if strings.HasPrefix(kv, sessionVariable) {
			e.Session = kv // the last one counts
		}
	}
	s.update(func(entries []entry) []entry { return append(entries, e) })
}

func (s *state) remove(p *Process) {
	pid := p.body.pid()
	if pid == 0 {
		return
	}
	s.update(func(entries []entry) []entry {
		return slices.DeleteFunc(entries, func(e entry) bool { return e.PID == pid })
	})
}

func (s *state) update(change func([]entry) []entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" || s.broken {
		return
	}
	s.content.Processes = change(s.content.Processes)
	if err := s.save(); err != nil {
		s.broken = true
		s.warn("leftovers of this run could not be found if it were killed: " + err.Error())
	}
}

// save replaces the file, so that a reader never sees half of it.
func (s *state) save() error {
	if s.path == "" {
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return err
		}
		self := os.Getpid()
		s.content.Scope, s.content.Owner = proc.Scope(), identity{self, proc.Start(self)}
		s.path = filepath.Join(s.dir, fmt.Sprintf("%d-%s.json", self, s.content.Owner.Start))
	}
	data, err := json.Marshal(s.content)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(s.path+".new", s.path)
}

func (s *state) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = true
	if s.path != "" {
		_ = os.Remove(s.path)
	}
}

// Leftover is a server that outlived the run that started it, or what is left of its group.
type Leftover struct {
	Name    string // of the server
	Command string // or script
	PIDs    []int
}

// String names the leftover for a message.
func (l Leftover) String() string {
	return fmt.Sprintf("%s (%s), process %v", l.Name, l.Command, l.PIDs)
}

// Leftovers finds in the state files of dir what killed runs left behind. A file that cannot be read counts as none.
func Leftovers(dir string) ([]Leftover, error) {
	var found []Leftover
	err := visit(dir, func(_ string, s stateFile) {
		for _, e := range s.Processes {
			if pids := e.survivors(); len(pids) > 0 {
				found = append(found, Leftover{e.Name, e.Command, pids})
			}
		}
	})
	return found, err
}

// Reap kills what Leftovers finds and returns it. Processes whose ids were reused since are left alone, and so are those of
// runs that live.
func Reap(dir string) ([]Leftover, error) {
	var found []Leftover
	var stubborn []int
	err := visit(dir, func(path string, s stateFile) {
		for _, e := range s.Processes {
			if pids := e.survivors(); len(pids) > 0 {
				found = append(found, Leftover{e.Name, e.Command, pids})
				stubborn = append(stubborn, e.kill()...)
			}
			if e.Folder != "" {
				_ = os.RemoveAll(e.Folder)
			}
		}
		_ = os.Remove(path)
	})
	if len(stubborn) > 0 {
		err = errors.Join(err, fmt.Errorf("processes that do not die: %v", stubborn))
	}
	return found, err
}

// foreignAge is when the file of another boot or namespace, whose processes cannot be judged, is taken for forgotten.
const foreignAge = 7 * 24 * time.Hour

// visit calls f with the state files of runs that are dead.
func visit(dir string, f func(path string, s stateFile)) error {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || dir == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for leftovers: %w", err)
	}
	scope := proc.Scope()
	for _, file := range files {
		path := filepath.Join(dir, file.Name())
		data, err := os.ReadFile(path)
		if err != nil || filepath.Ext(path) != ".json" {
			continue
		}
		var s stateFile
		_ = json.Unmarshal(data, &s) // rubbish is a run without processes
		if s.Owner.alive() && s.Scope == scope {
			continue
		}
		if s.Scope != scope {
			info, err := file.Info()
			if err != nil || s.Scope != "" && time.Since(info.ModTime()) < foreignAge {
				continue
			}
			s.Processes = nil
		}
		f(path, s)
	}
	return nil
}

// survivors returns what lives of the group and is certainly ours. As long as the leader lives, the group's id is. When it is
// gone, a group of that id may be another's by now, and its members have to carry our session in their environment.
func (e entry) survivors() []int {
	if e.PID <= 1 {
		return nil
	}
	members := proc.Group(e.PID)
	if e.alive() {
		return members
	}
	return slices.DeleteFunc(members, func(pid int) bool {
		return e.Session == "" || !proc.Carries(pid, e.Session)
	})
}

// kill ends the survivors and returns those that stayed.
func (e entry) kill() []int {
	deadline := time.Now().Add(killGrace)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		pids := e.survivors()
		if len(pids) == 0 || time.Now().After(deadline) {
			return pids
		}
		for _, pid := range pids {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
				_ = p.Release()
			}
		}
		<-time.After(pause)
	}
}
