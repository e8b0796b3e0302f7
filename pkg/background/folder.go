// Package background keeps a live session in a process of its own, and lets other processes of the same user work in it
// through a private unix socket.
//
// A [Folder] holds the sessions of a user: for each a record, a lock that its process holds as long as it runs, and a
// log. The kernel releases the lock however the process ends, so a lock that can be taken means that the session ended.
package background

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// Folder holds the sessions of a user.
type Folder struct {
	Dir string // absolute
	Now func() time.Time
}

// Record describes a session for other processes.
type Record struct {
	Name    string    `json:"name"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Version string    `json:"version"` // of trailblaze
	Project string    `json:"project"` // its root
	Target  string    `json:"target,omitempty"`
	Driver  string    `json:"driver"`
	Agent   string    `json:"agent"` // where tools run
	Device  string    `json:"device,omitempty"`
	Log     string    `json:"log"`
	// Recording is the file with what the session recorded so far, if it recorded something.
	Recording string `json:"recording,omitempty"`
	Socket    string `json:"socket,omitempty"` // empty while the session is being started
	Ended     *Ended `json:"ended,omitempty"`
}

// Ended says when and why a session ended.
type Ended struct {
	Time   time.Time `json:"time"`
	Reason string    `json:"reason"`
	// Requested is true for a session that a user ended.
	Requested bool `json:"requested,omitempty"`
	// Steps and Calls are how many were recorded. Both are 0 for a session whose process was killed.
	Steps int `json:"steps,omitempty"`
	Calls int `json:"calls,omitempty"`
}

const (
	recordSuffix = ".json"
	lockSuffix   = ".lock"
	logPattern   = "session-*.log"
	socketSuffix = ".sock"
	maxRecord    = 1 << 20
	// keepEnded is how long the record and the log of a session that ended by itself are kept.
	keepEnded = 7 * 24 * time.Hour
	// longestSocket is the length in bytes of the longest path of a socket that every system accepts.
	longestSocket = 100
)

var validName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$`)

// CheckName returns an error for a name that a session cannot have.
func CheckName(name string) error {
	if validName().MatchString(name) {
		return nil
	}
	return fault.New(fault.Misuse, "use up to 40 letters, digits, _, . and -, and start with a letter or a digit",
		"%q is not a valid name of a session", name)
}

// prepare creates the folder.
func (f Folder) prepare() error {
	if f.Dir == "" {
		return fault.New(fault.Misuse, "set TRAILBLAZE_CACHE_DIR to the absolute path of a folder",
			"the cache folder, in which sessions are kept, is not known")
	}
	err := os.MkdirAll(f.Dir, 0o700)
	if err == nil {
		err = os.Chmod(f.Dir, 0o700)
	}
	if err != nil {
		return fault.Wrap(fault.IO, err, "set TRAILBLAZE_CACHE_DIR to a folder that can be written",
			"create the folder of the sessions")
	}
	return nil
}

// CreateLog creates the log of a session that is going to be started.
func (f Folder) CreateLog() (*os.File, error) {
	if err := f.prepare(); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(f.Dir, logPattern)
	if err != nil {
		return nil, fault.Wrap(fault.IO, err, "check the disk", "create the log of the session")
	}
	return file, nil
}

// List returns the sessions by name: those that run, and those that ended and whose records are kept. It removes what
// sessions that ended left in the folder.
func (f Folder) List() ([]Record, error) {
	unlock, err := f.lock()
	if err != nil || unlock == nil {
		return nil, err
	}
	defer unlock()
	return f.sweep()
}

// lock excludes other processes until unlock is called. Without a folder it returns nil.
func (f Folder) lock() (unlock func(), err error) {
	if _, err := os.Stat(f.Dir); f.Dir == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	held, err := files.Lock(filepath.Join(f.Dir, "lock"), true)
	if err != nil {
		return nil, fault.Wrap(fault.IO, err, "", "lock the folder of the sessions")
	}
	return func() { _ = held.Close() }, nil
}

// sweep returns the sessions, and removes what those that ended left. The folder is locked.
func (f Folder) sweep() ([]Record, error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, fault.Wrap(fault.IO, err, "", "list the sessions")
	}
	var records []Record
	logs := map[string]bool{}
	for _, entry := range entries {
		name, isRecord := strings.CutSuffix(entry.Name(), recordSuffix)
		if !isRecord || CheckName(name) != nil {
			continue
		}
		r, err := f.read(name)
		if err == nil {
			r, err = f.tidy(r)
		}
		if err == nil {
			records = append(records, r)
			logs[filepath.Base(r.Log)] = true
		}
	}
	for _, entry := range entries {
		isLog, _ := filepath.Match(logPattern, entry.Name())
		info, err := entry.Info()
		if isLog && !logs[entry.Name()] && err == nil && f.Now().Sub(info.ModTime()) > keepEnded {
			_ = os.Remove(filepath.Join(f.Dir, entry.Name()))
		}
	}
	slices.SortFunc(records, func(a, b Record) int { return strings.Compare(a.Name, b.Name) })
	return records, nil
}

var errRemoved = errors.New("the record was removed")

// tidy removes what a session left if it ended, and marks a record whose process was killed. It returns errRemoved when
// the record is not kept.
func (f Folder) tidy(r Record) (Record, error) {
	if f.running(r.Name) {
		return r, nil
	}
	removeSocket(r.Socket)
	r.Socket = ""
	if r.Ended == nil {
		r.Ended = &Ended{Time: f.lastSign(r), Reason: "its process was killed or crashed, or could not write why it ended"}
		if err := f.write(r); err != nil {
			return r, err
		}
	}
	if r.Ended.Requested || f.Now().Sub(r.Ended.Time) > keepEnded {
		f.remove(r)
		return r, errRemoved
	}
	return r, nil
}

// lastSign returns when a session that was killed wrote something for the last time.
func (f Folder) lastSign(r Record) time.Time {
	last := r.Started
	for _, path := range []string{r.Log, r.Recording, f.path(r.Name, recordSuffix)} {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// running reports whether the process of a session runs.
func (f Folder) running(name string) bool {
	held, err := files.Lock(f.path(name, lockSuffix), false)
	if err == nil {
		_ = held.Close()
	}
	return errors.Is(err, files.ErrLocked)
}

func (f Folder) path(name, suffix string) string { return filepath.Join(f.Dir, name+suffix) }

func (f Folder) read(name string) (Record, error) {
	var r Record
	data, err := files.Read(f.path(name, recordSuffix), maxRecord)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	r.Name = name
	return r, err
}

func (f Folder) write(r Record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return files.Replace(f.path(r.Name, recordSuffix), func(file *os.File) error {
		_, err := file.Write(append(data, '\n'))
		return errors.Join(err, file.Chmod(0o600))
	})
}

// remove removes everything of a session that ended.
func (f Folder) remove(r Record) {
	removeSocket(r.Socket)
	if filepath.Dir(r.Log) == f.Dir {
		_ = os.Remove(r.Log)
	}
	_ = os.Remove(f.path(r.Name, lockSuffix))
	_ = os.Remove(f.path(r.Name, recordSuffix))
}

// Remove removes the record of a session that ended, when its process has exited.
func (f Folder) Remove(ctx context.Context, r Record) error {
	if err := f.awaitExit(ctx, r); err != nil {
		return err
	}
	unlock, err := f.lock()
	if err != nil || unlock == nil {
		return err
	}
	defer unlock()
	if !f.running(r.Name) {
		f.remove(r)
	}
	return nil
}

// EndedError returns the error for a request to a session that ended.
func (r Record) EndedError() *fault.Error {
	hint := "start another one with `trailblaze session start`; the log is " + r.Log
	if _, err := os.Stat(r.Recording); r.Recording != "" && err == nil {
		hint += "; what it recorded is in " + r.Recording
	}
	return fault.New(fault.Server, hint, "session %s ended at %s: %s", r.Name,
		r.Ended.Time.Local().Format("2006-01-02 15:04:05"), r.Ended.Reason)
}

// Claim is the right of this process to a name. It is held until the process exits.
type Claim struct {
	folder Folder
	record Record
	lock   *files.LockedFile
}

// Claim reserves a name for a session of this process: that of the record, or s1, s2 and so on when it has none.
func (f Folder) Claim(r Record) (*Claim, error) {
	if err := f.prepare(); err != nil {
		return nil, err
	}
	unlock, err := f.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	others, err := f.sweep()
	if err != nil {
		return nil, err
	}
	taken := func(name string) (Record, bool) {
		i := slices.IndexFunc(others, func(o Record) bool { return strings.EqualFold(o.Name, name) })
		if i < 0 {
			return Record{}, false
		}
		return others[i], true
	}
	if r.Name == "" {
		r.Name = firstFree(func(name string) bool { _, is := taken(name); return is })
	} else if other, is := taken(r.Name); is && f.running(other.Name) {
		return nil, fault.New(fault.Misuse,
			fmt.Sprintf("choose another name, or end it with `trailblaze session end %s`", other.Name),
			"a session named %s is already running, for %s", other.Name, other.Project)
	} else if is {
		f.remove(other)
	}
	held, err := files.Lock(f.path(r.Name, lockSuffix), false)
	if err == nil {
		if err = f.write(r); err != nil {
			_ = held.Close()
		}
	}
	if err != nil {
		return nil, fault.Wrap(fault.IO, err, "", "reserve the name of the session")
	}
	return &Claim{f, r, held}, nil
}

// firstFree returns the first of s1, s2 and so on that is not taken. Names of sessions that ended stay taken while
// their records are kept, so that nobody works in another session than before without noticing it.
func firstFree(taken func(name string) bool) string {
	for n := 1; ; n++ {
		if name := fmt.Sprintf("s%d", n); !taken(name) {
			return name
		}
	}
}

// Name returns the claimed name.
func (c *Claim) Name() string { return c.record.Name }

// update changes the record.
func (c *Claim) update(change func(r *Record)) error {
	unlock, err := c.folder.lock()
	if err != nil || unlock == nil {
		return err
	}
	defer unlock()
	change(&c.record)
	return c.folder.write(c.record)
}

// Release gives up the name of a session that did not start.
func (c *Claim) Release() {
	if unlock, err := c.folder.lock(); err == nil && unlock != nil {
		defer unlock()
	}
	c.record.Log = "" // the command that starts the session needs it
	_ = c.lock.Close()
	c.folder.remove(c.record)
}

// socketPath returns a path for the socket: in the folder, or in a private temporary one if its path is too long for a
// socket.
func (c *Claim) socketPath() (string, error) {
	path := c.folder.path(c.record.Name, socketSuffix)
	if len(path) <= longestSocket {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "trailblaze-session-")
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "s"+socketSuffix)
	if len(path) > longestSocket {
		_ = os.Remove(dir)
		return "", errors.New("the path of the cache folder is too long for a socket, and so is that of the temporary folder")
	}
	return path, nil
}

// removeSocket removes a socket, and the temporary folder that was made for it.
func removeSocket(path string) {
	if path == "" {
		return
	}
	_ = os.Remove(path)
	if strings.HasPrefix(filepath.Base(filepath.Dir(path)), "trailblaze-session-") {
		_ = os.Remove(filepath.Dir(path))
	}
}
