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
	"github.com/trailblaze/trailblaze/pkg/files"
)

// Durations is how long trails took, in milliseconds, by TrailKey.
type Durations map[string]int64

// DurationsFile is the name of the file with durations, below logsDir.
const DurationsFile = "durations.json"

const durationsVersion = 1

// durationsJSON is the file; encoding/json sorts the trails, so that it can be committed.
type durationsJSON struct {
	Version int       `json:"version"`
	Trails  Durations `json:"trails"`
}

// TrailKey returns the name of a trail that is the same on every machine: its path below the project's root, with
// slashes. path is absolute; a trail outside of root keeps it as its name.
func TrailKey(root, path string) string {
	if below, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(below) {
		path = below
	}
	return filepath.ToSlash(path)
}

// maxDurations is the size in bytes of the largest file of durations: about a hundred thousand trails.
const maxDurations = 16 << 20

// ReadDurations reads a file that WriteDurations wrote. A file that does not exist is fs.ErrNotExist.
func ReadDurations(file string) (Durations, error) {
	data, err := files.Read(file, maxDurations)
	if err != nil {
		return nil, err
	}
	var in durationsJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("%s does not hold durations: %w", file, err)
	}
	if in.Version != durationsVersion {
		return nil, fmt.Errorf("%s holds durations of version %d; this program knows %d", file, in.Version, durationsVersion)
	}
	if in.Trails == nil {
		return nil, fmt.Errorf("%s does not hold durations: the key \"trails\" is missing", file)
	}
	return in.Trails, nil
}

// WriteDurations adds durations to those in a file and replaces those of the same trails. A file that cannot be read is
// overwritten. Trails that no longer exist below root are removed, unless root is empty.
func WriteDurations(file, root string, d Durations) error {
	all, err := ReadDurations(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || all == nil {
		all = Durations{}
	}
	maps.Copy(all, d)
	maps.DeleteFunc(all, func(key string, _ int64) bool { return root != "" && removed(root, key) })
	data, err := json.MarshalIndent(durationsJSON{durationsVersion, all}, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(file, append(data, '\n'))
}

func removed(root, key string) bool {
	path := filepath.FromSlash(key)
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// replaceFile writes a file completely or not at all, also when others write it at the same time.
func replaceFile(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return replace(file, data, 0o644)
}

// Measured adds up how long trails take, over all their rows and devices. The zero value is ready to use.
type Measured struct {
	took   Durations
	broken map[string]bool
}

// Add adds a trail that has ended. Durations leaves out trails whose outcome is error.
func (m *Measured) Add(key string, outcome event.Outcome, took time.Duration) {
	if m.took == nil {
		m.took, m.broken = Durations{}, map[string]bool{}
	}
	m.took[key] += took.Milliseconds()
	m.broken[key] = m.broken[key] || outcome == event.Error
}

// Durations returns the sums, without trails whose outcome is error.
func (m *Measured) Durations() Durations {
	d := maps.Clone(m.took)
	maps.DeleteFunc(d, func(key string, _ int64) bool { return m.broken[key] })
	return d
}

// saveDurations writes how long the trails took. A shard does not, because the next shard of the same run, which may
// use the same folder, must be balanced by the same durations.
func (r *runner) saveDurations() error {
	d := r.measured.Durations()
	if r.Shard.Of > 0 || len(d) == 0 {
		return nil
	}
	return WriteDurations(filepath.Join(r.Project.LogsDir, DurationsFile), r.Project.Root, d)
}

// median returns the median duration; 0 without durations.
func (d Durations) median() int64 {
	if len(d) == 0 {
		return 0
	}
	return slices.Sorted(maps.Values(d))[len(d)/2]
}
