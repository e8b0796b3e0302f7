package spawn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/spawn/internal/proc"
)

// Leftover describes processes that are still running although their run of trailblaze was killed.
type Leftover struct {
	Name    string // of the server, or daemons
	Command string // or script; "" for daemons
	PIDs    []int
}

// daemons is the name of the processes of a run that no longer belong to one of its servers.
const daemons = "daemons that servers started"

// String describes the leftover for a message.
func (l Leftover) String() string {
	if l.Command == "" {
		return fmt.Sprintf("%s, process %v", l.Name, l.PIDs)
	}
	return fmt.Sprintf("%s (%s), process %v", l.Name, l.Command, l.PIDs)
}

// Reap kills the processes that killed runs left running, according to the state files in dir, and returns them. It
// does not kill processes whose ids were reused since, or those of runs that are still running. It ignores files that
// cannot be read.
func Reap(dir string) ([]Leftover, error) {
	var r reaper
	err := forEachEndedRun(dir, func(path string, s stateFile) {
		for _, e := range s.Processes {
			r.kill(e.Name, e.Command, func() []proc.ID { return descendants(e.ID, e.Pipes, s.RunID) })
			if e.Folder != "" {
				_ = os.RemoveAll(e.Folder)
			}
		}
		r.kill(daemons, "", func() []proc.ID { return daemonsOf(s.RunID, s.Keep) })
		_, _ = os.Remove(path), os.Remove(path+newSuffix)
	})
	if len(r.running) > 0 {
		err = errors.Join(err, fmt.Errorf("processes that are still running after SIGKILL: %v", r.running))
	}
	return r.found, err
}

// reaper kills processes and collects what it found.
type reaper struct {
	found   []Leftover
	running []int // after the time for killing them
}

// kill kills what find returns until it returns nothing.
func (r *reaper) kill(name, command string, find func() []proc.ID) {
	ids := find()
	if len(ids) == 0 {
		return
	}
	r.found = append(r.found, Leftover{name, command, pids(ids)})
	r.running = append(r.running, pids(killUntilGone(time.Now().Add(defaultLimits().kill), find))...)
}

func pids(ids []proc.ID) []int {
	var pids []int
	for _, id := range ids {
		pids = append(pids, id.PID)
	}
	return pids
}

// foreignAge is the age at which a file of another boot or namespace is removed. Its processes cannot be identified.
const foreignAge = 7 * 24 * time.Hour

// forEachEndedRun calls f with the state files of runs that are no longer running.
func forEachEndedRun(dir string, f func(path string, s stateFile)) error {
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
		if filepath.Ext(path) != ".json" || !file.Type().IsRegular() {
			continue
		}
		s, err := readState(path)
		if err != nil || s.Owner.Running() && s.Scope == scope {
			continue
		}
		if s.Scope != scope {
			info, err := file.Info()
			if err != nil || s.Scope != "" && time.Since(info.ModTime()) < foreignAge {
				continue
			}
			s.Processes, s.RunID = nil, ""
		}
		f(path, s)
	}
	return nil
}

// readState reads a state file. An invalid one is read as that of a run without processes.
func readState(path string) (stateFile, error) {
	const longest = 16 << 20 // far more than any number of servers needs
	file, err := os.Open(path)
	if err != nil {
		return stateFile{}, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, longest))
	if err != nil {
		return stateFile{}, err
	}
	s := stateFile{Keep: []string{adb}}
	_ = json.Unmarshal(data, &s)
	s.Processes = slices.DeleteFunc(s.Processes, func(e *entry) bool { return e == nil })
	return s, nil
}
