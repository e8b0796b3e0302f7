package run

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/session"
)

// trailName returns the file's name without its extension; a plain trail.yaml is named after its folder.
func (r *runner) trailName(path string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".yaml"), ".trail")
	if name == "trail" {
		name = filepath.Base(filepath.Dir(r.resolve(path)))
	}
	return name
}

// evidence is the folder and the log of one session. When they cannot be written the run goes on, with one warning.
type evidence struct {
	dir string // empty when nothing is kept
	log SessionLog
}

// openEvidence creates the session's folder, opens its log and makes <logsDir>/latest a link to the folder.
func (r *runner) openEvidence(id string) evidence {
	dir := filepath.Join(r.Project.LogsDir, id)
	if err := session.MakeDir(dir); err != nil {
		r.warnUnwritable(err)
		return evidence{}
	}
	if !r.Proof { // whoever looks wants to see what was done, not how it was proven
		linkLatest(r.Project.LogsDir, id)
	}
	return evidence{dir, r.OpenLog(filepath.Join(dir, "events.ndjson"), r.warnUnwritable)}
}

// warnUnwritable warns once in a run that evidence is missing. It may be called from any goroutine, but not by a
// session log while it handles an event.
func (r *runner) warnUnwritable(err error) {
	r.unwritableOnce.Do(func() {
		r.Stream.Emit(event.Log{
			Level: "warn", Source: "logs", Message: "evidence cannot be written, the run goes on without it: " + err.Error(),
			Hint: "free some space, or set logsDir to a folder that can be written",
		})
	})
}

// linkLatest makes <logsDir>/latest a symbolic link to the newest session, or a file with the name of that session
// where links are not allowed.
func linkLatest(logsDir, id string) {
	latest := filepath.Join(logsDir, "latest")
	temp := filepath.Join(logsDir, "."+id+".latest")
	if os.Symlink(id, temp) != nil && os.WriteFile(temp, []byte(id+"\n"), 0o644) != nil {
		return
	}
	if os.Rename(temp, latest) == nil {
		return
	}
	_ = os.Remove(latest) // Windows cannot rename over a link to a folder
	if os.Rename(temp, latest) != nil {
		_ = os.Remove(temp)
	}
}

func (e evidence) close() {
	if e.log != nil {
		_ = e.log.Close() // the log has passed the error to onError
	}
}

// files returns the paths of the session's files, sorted, without hidden ones. Of a trace it has only the index.
func (e evidence) files() []string {
	paths := []string{}
	if e.dir == "" {
		return paths
	}
	_ = filepath.WalkDir(e.dir, func(path string, d fs.DirEntry, err error) error { // unreadable folders are left out
		inTrace := filepath.Base(filepath.Dir(path)) == event.TraceFolder && filepath.Base(path) != event.TraceIndex
		if err == nil && !d.IsDir() && !inTrace && !strings.HasPrefix(d.Name(), ".") {
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}

// lastRunFile is the file in logsDir that lists what --last-failed replays.
const lastRunFile = ".last-run.json"

// LastCase is a trail that failed or was not started in the last run.
type LastCase struct {
	Trail  Path   `json:"trail"`            // absolute
	Device string `json:"device,omitempty"` // empty when the run named no device
}

// Path is the path of a file. As JSON it is a text that begins with a quotation mark, in Go's syntax, when it is not
// UTF-8, which JSON cannot write.
type Path string

// MarshalText implements encoding.TextMarshaler.
func (p Path) MarshalText() ([]byte, error) {
	if !utf8.ValidString(string(p)) {
		return strconv.AppendQuoteToASCII(nil, string(p)), nil
	}
	return []byte(p), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Path) UnmarshalText(text []byte) error {
	if path, err := strconv.Unquote(string(text)); err == nil {
		text = []byte(path)
	}
	*p = Path(text)
	return nil
}

type lastRun struct {
	Again []LastCase `json:"again"`
}

// saveLast writes which trails failed or were not started.
func (r *runner) saveLast() error {
	data, err := json.MarshalIndent(lastRun{r.lastCase}, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(r.Project.LogsDir, lastRunFile), append(data, '\n'))
}

// maxLastRun is the size in bytes of the largest file that LoadLast reads.
const maxLastRun = 64 << 20

// LoadLast returns what failed or was not started in the last run, each once. Trails that no longer exist are left out.
func LoadLast(logsDir string) ([]LastCase, error) {
	data, err := files.Read(filepath.Join(logsDir, lastRunFile), maxLastRun)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Misuse, "run without --last-failed first", "%s contains no last run", logsDir)
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
		if _, err := os.Stat(string(c.Trail)); err == nil && !slices.Contains(again, c) {
			again = append(again, c)
		}
	}
	return again, nil
}
