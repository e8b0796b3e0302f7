package run

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// newSessionID is <trail name>_<time>_<random>, safe as a file name.
func newSessionID(name string, now time.Time) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	return fileName(name) + "_" + now.UTC().Format("20060102T150405Z") + "_" + hex.EncodeToString(random[:])
}

// trailName is the file's name without its ending; a plain trail.yaml is called after its folder.
func trailName(path string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".yaml"), ".trail")
	if name == "trail" {
		name = filepath.Base(filepath.Dir(path))
	}
	return name
}

// evidence is the folder of one session. When it cannot be written the run goes on, with one warning.
type evidence struct {
	dir string // empty when nothing is kept
	log SessionLog
}

// openEvidence makes the session's folder, opens its log and points latest at it.
func (r *runner) openEvidence(id string) evidence {
	if r.DryRun {
		return evidence{}
	}
	dir := filepath.Join(r.Project.LogsDir, id)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		r.warnUnwritable(err)
		return evidence{}
	}
	pointLatest(r.Project.LogsDir, id)
	return evidence{dir, r.OpenLog(filepath.Join(dir, "events.ndjson"), r.warnUnwritable)}
}

func (r *runner) warnUnwritable(err error) {
	if r.warnedUnwritable.Swap(true) {
		return
	}
	// The log may be failing in the middle of an event, so the warning must not be sent from inside the stream.
	r.pendingWarning.Store(&event.Log{
		Level: "warn", Source: "logs", Message: "evidence cannot be written, the run goes on without it: " + err.Error(),
		Hint: "free some space, or set logsDir to a folder that can be written",
	})
}

// flushWarning tells of a problem with the evidence once the stream is free.
func (r *runner) flushWarning() {
	if w := r.pendingWarning.Swap(nil); w != nil {
		r.Stream.Emit(*w)
	}
}

// pointLatest makes <logsDir>/latest lead to the newest session: a link, or where links are not allowed a file with its name.
func pointLatest(logsDir, id string) {
	latest := filepath.Join(logsDir, "latest")
	temp := filepath.Join(logsDir, "."+id+".latest")
	if os.Symlink(id, temp) != nil && os.WriteFile(temp, []byte(id+"\n"), 0o644) != nil {
		return
	}
	if os.Rename(temp, latest) != nil {
		_ = os.Remove(temp)
	}
}

func (e evidence) close() {
	if e.log != nil {
		_ = e.log.Close() // reported through onError
	}
}

// files lists what the session left, in order of name.
func (e evidence) files() []string {
	paths := []string{}
	entries, err := os.ReadDir(e.dir)
	if e.dir == "" || err != nil {
		return paths
	}
	for _, entry := range entries {
		paths = append(paths, filepath.Join(e.dir, entry.Name()))
	}
	slices.Sort(paths)
	return paths
}

// lastRunFile remembers what --last-failed runs again.
const lastRunFile = ".last-run.json"

type lastRun struct {
	Failed []string `json:"failed"`
	NotRun []string `json:"notRun"`
}

// SaveLast remembers which trails failed or were never reached. Relative paths are kept relative to dir.
func SaveLast(logsDir, dir string, s Summary) error {
	absolute := func(paths []string) []string {
		out := make([]string, len(paths))
		for i, p := range paths {
			if out[i] = p; !filepath.IsAbs(p) {
				out[i] = filepath.Join(dir, p)
			}
		}
		return out
	}
	data, err := json.MarshalIndent(lastRun{absolute(s.Failed), absolute(s.NotRun)}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(logsDir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(logsDir, lastRunFile), append(data, '\n'), 0o644)
}

// LoadLast returns the absolute paths of what failed or was not reached in the last run.
func LoadLast(logsDir string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(logsDir, lastRunFile))
	if os.IsNotExist(err) {
		return nil, fault.New(fault.Misuse, "run without --last-failed first", "there is no last run in %s", logsDir)
	}
	var last lastRun
	if err == nil {
		err = json.Unmarshal(data, &last)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, "run without --last-failed first", "read the last run")
	}
	return append(last.Failed, last.NotRun...), nil
}
