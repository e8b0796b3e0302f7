package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// Durations is how long trails took, in milliseconds, by TrailKey.
type Durations map[string]int64

// DurationsFile is where a run remembers durations, below logsDir.
const DurationsFile = "durations.json"

const durationsVersion = 1

// durationsJSON is the file; encoding/json sorts the trails, so that it can be committed.
type durationsJSON struct {
	Version int       `json:"version"`
	Trails  Durations `json:"trails"`
}

// TrailKey names a trail on every machine alike: its path below the project's root, with slashes. A trail outside of it is named by
// its absolute path, which path has to be.
func TrailKey(root, path string) string {
	if below, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(below) {
		path = below
	}
	return filepath.ToSlash(path)
}

// ReadDurations reads a file that WriteDurations wrote. A file that does not exist is fs.ErrNotExist.
func ReadDurations(file string) (Durations, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var in durationsJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("%s holds no durations: %w", file, err)
	}
	if in.Version != durationsVersion {
		return nil, fmt.Errorf("%s holds durations of version %d; this program knows %d", file, in.Version, durationsVersion)
	}
	if in.Trails == nil {
		return nil, fmt.Errorf("%s holds no durations: it has no trails", file)
	}
	return in.Trails, nil
}

// WriteDurations adds durations to those in a file, in place of what it has of the same trails. What cannot be read in it is lost. Trails
// that are no longer below root are left out, unless root is empty.
func WriteDurations(file, root string, d Durations) error {
	all, err := ReadDurations(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || all == nil {
		all = Durations{}
	}
	maps.Copy(all, d)
	maps.DeleteFunc(all, func(key string, _ int64) bool { return root != "" && gone(root, key) })
	data, err := json.MarshalIndent(durationsJSON{durationsVersion, all}, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(file, append(data, '\n'))
}

func gone(root, key string) bool {
	path := filepath.FromSlash(key)
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// replaceFile writes a file at once or not at all, whoever else does the same.
func replaceFile(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// Measured adds up how long trails take, all their rows and devices together. The zero value is ready.
type Measured struct {
	took Durations
	left map[string]bool
}

// Add regards a trail that has ended. What broke took as long as whatever broke it, and says nothing.
func (m *Measured) Add(key string, outcome event.Outcome, took time.Duration) {
	if m.took == nil {
		m.took, m.left = Durations{}, map[string]bool{}
	}
	m.took[key] += took.Milliseconds()
	m.left[key] = m.left[key] || outcome == event.Error
}

// Durations is what was measured.
func (m *Measured) Durations() Durations {
	d := maps.Clone(m.took)
	maps.DeleteFunc(d, func(key string, _ int64) bool { return m.left[key] })
	return d
}

// saveDurations remembers how long the trails took. A shard does not: the next one, on this machine or on the same volume, must be cut by what
// this one was cut by.
func (r *runner) saveDurations() error {
	d := r.measured.Durations()
	if r.Shard.Of > 0 || len(d) == 0 {
		return nil
	}
	return WriteDurations(filepath.Join(r.Project.LogsDir, DurationsFile), r.Project.Root, d)
}

// median is the one in the middle; 0 for none.
func (d Durations) median() int64 {
	if len(d) == 0 {
		return 0
	}
	return slices.Sorted(maps.Values(d))[len(d)/2]
}
