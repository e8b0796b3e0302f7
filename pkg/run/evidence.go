package run

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io/fs"
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
	dir := filepath.Join(r.Project.LogsDir, id)
	if err := makeSessionDir(dir); err != nil {
		r.warnUnwritable(err)
		return evidence{}
	}
	pointLatest(r.Project.LogsDir, id)
	return evidence{dir, r.OpenLog(filepath.Join(dir, "events.ndjson"), r.warnUnwritable)}
}

// makeSessionDir creates the folder of one session, which only the user may enter: it holds what tools printed and returned.
func makeSessionDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

// warnUnwritable tells once that evidence is missing, from any goroutine; a session log never calls it while it handles an event.
func (r *runner) warnUnwritable(err error) {
	r.unwritableOnce.Do(func() {
		r.Stream.Emit(event.Log{
			Level: "warn", Source: "logs", Message: "evidence cannot be written, the run goes on without it: " + err.Error(),
			Hint: "free some space, or set logsDir to a folder that can be written",
		})
	})
}

// pointLatest makes <logsDir>/latest lead to the newest session: a link, or where links are not allowed a file with its name.
func pointLatest(logsDir, id string) {
	latest := filepath.Join(logsDir, "latest")
	temp := filepath.Join(logsDir, "."+id+".latest")
	if os.Symlink(id, temp) != nil && os.WriteFile(temp, []byte(id+"\n"), 0o644) != nil {
		return
	}
	if os.Rename(temp, latest) == nil {
		return
	}
	_ = os.Remove(latest) // Windows does not replace a link to a folder
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
	if e.dir == "" {
		return paths
	}
	_ = filepath.WalkDir(e.dir, func(path string, d fs.DirEntry, err error) error { // what cannot be read is not listed
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}

// lastRunFile remembers what --last-failed runs again.
const lastRunFile = ".last-run.json"

// LastCase is a trail that failed or was not reached in the last run.
type LastCase struct {
	Trail  string `json:"trail"`            // absolute
	Device string `json:"device,omitempty"` // empty when the run named none
}

type lastRun struct {
	Again []LastCase `json:"again"`
}

// saveLast remembers which trails failed or were never reached.
func (r *runner) saveLast() error {
	data, err := json.MarshalIndent(lastRun{r.again}, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(r.Project.LogsDir, lastRunFile), append(data, '\n'))
}

// LoadLast returns what failed or was not reached in the last run, each once. Files that are gone since are left out.
func LoadLast(logsDir string) ([]LastCase, error) {
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
	var again []LastCase
	for _, c := range last.Again {
		if _, err := os.Stat(c.Trail); err == nil && !slices.Contains(again, c) {
			again = append(again, c)
		}
	}
	return again, nil
}
