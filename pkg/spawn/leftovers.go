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

// Leftover is what is left running of a process whose run of trailblaze was killed.
type Leftover struct {
	Name    string // of the server
	Command string // or script
	PIDs    []int
}

// String describes the leftover for a message.
func (l Leftover) String() string {
	return fmt.Sprintf("%s (%s), process %v", l.Name, l.Command, l.PIDs)
}

// Leftovers returns what killed runs left running, as the state files of dir tell. A file that cannot be read counts as none.
func Leftovers(dir string) ([]Leftover, error) {
	var found []Leftover
	err := forEachEndedRun(dir, func(_ string, s stateFile) {
		for _, e := range s.Processes {
			if ids := e.leftover(s.RunID); len(ids) > 0 {
				found = append(found, Leftover{e.Name, e.Command, pids(ids)})
			}
		}
	})
	return found, err
}

// Reap kills what Leftovers finds and returns it. Processes whose ids were reused since are left alone, and so are those of
// runs that are still running.
func Reap(dir string) ([]Leftover, error) {
	var found []Leftover
	var running []int
	err := forEachEndedRun(dir, func(path string, s stateFile) {
		for _, e := range s.Processes {
			if ids := e.leftover(s.RunID); len(ids) > 0 {
				found = append(found, Leftover{e.Name, e.Command, pids(ids)})
				deadline := time.Now().Add(defaultLimits().kill)
				running = append(running, pids(killUntilGone(deadline, func() []proc.ID { return e.leftover(s.RunID) }))...)
			}
			if e.Folder != "" {
				_ = os.RemoveAll(e.Folder)
			}
		}
		_, _ = os.Remove(path), os.Remove(path+newSuffix)
	})
	if len(running) > 0 {
		err = errors.Join(err, fmt.Errorf("processes that are still running after SIGKILL: %v", running))
	}
	return found, err
}

func (e *entry) leftover(runID string) []proc.ID { return descendants(e.ID, e.Pipes, runID) }

func pids(ids []proc.ID) []int {
	var pids []int
	for _, id := range ids {
		pids = append(pids, id.PID)
	}
	return pids
}

// foreignAge is the age at which the file of another boot or namespace, whose processes cannot be judged, is removed.
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
			s.Processes = nil
		}
		f(path, s)
	}
	return nil
}

// readState reads a state file. One that makes no sense is that of a run without processes.
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
	var s stateFile
	_ = json.Unmarshal(data, &s)
	s.Processes = slices.DeleteFunc(s.Processes, func(e *entry) bool { return e == nil })
	return s, nil
}
