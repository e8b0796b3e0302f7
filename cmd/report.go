package cmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// reportCommands work on what runs have left in the logs: reports, results of shards, old sessions.
type reportCommands struct{ *program }

func (cmd *reportCommands) newReport() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "report [SESSION|DIR...]",
		Short: "Write an HTML report about sessions of earlier runs",
		Long: `Write an HTML report about sessions of earlier runs, from their logs. An argument is the name of a session in the
project's logsDir, ` + "`latest`" + `, the folder of a session, or a folder of such folders. Without arguments, it is the
latest session.`,
		Example: `  trailblaze report --html build/report
  trailblaze report logs --html build/report
  trailblaze report checkout_20261121T091402Z_0f1e2d3c --html build/report`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return cmd.report(dir, args) },
	}
	c.AddCommand(cmd.newMerge())
	c.Flags().StringVar(&dir, "html", "", "write the report to index.html in `DIR`, a single file")
	return c
}

// latest is the name of the newest session in logsDir.
const latest = "latest"

func (cmd *reportCommands) report(dir string, args []string) error {
	if dir == "" {
		return fault.New(fault.Misuse, "add --html DIR", "report needs a folder to write to")
	}
	if len(args) == 0 {
		args = []string{latest}
	}
	html := report.NewHTML("")
	sessions, err := cmd.reportedSessions(args)
	left, addErr := addSessions(html, sessions)
	if err := errors.Join(err, addErr); err != nil {
		return err
	}
	if left > 0 {
		cmd.notice("left out because they have no events: " + text.Count(left, "session"))
	}
	if err := cmd.prepareHTML(dir); err != nil {
		return err
	}
	file := htmlFile(dir)
	if err := cmd.writeReport(nil, "HTML", file, html.Write); err != nil {
		return err
	}
	if cmd.json {
		return report.JSON(cmd.Stdout, map[string]any{"html": file, "sessions": len(sessions) - left})
	}
	_, err = fmt.Fprintln(cmd.Stdout, file)
	return err
}

// addSessions adds the sessions of folders. It returns how many it left out because they have no events, such as one in
// which no call was made: that is an error only if no other session is there.
func addSessions(html *report.HTML, dirs []string) (left int, err error) {
	var empty, broken []error
	for _, dir := range dirs {
		switch err := html.AddSession(dir); {
		case errors.Is(err, report.ErrNoEvents):
			empty = append(empty, err)
		case err != nil:
			broken = append(broken, err)
		}
	}
	if len(empty) == len(dirs) {
		broken = append(broken, empty...)
	}
	return len(empty), errors.Join(broken...)
}

// htmlFile returns the path of the HTML report in the folder that --html names, empty without a folder.
func htmlFile(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "index.html")
}

// prepareHTML does for --html what prepareReport does. It never overwrites a file that is not a report of trailblaze.
func (s System) prepareHTML(dir string) error {
	file := htmlFile(dir)
	if err := s.checkOverwritten(file, "a report of trailblaze", report.IsPage); err != nil {
		return err
	}
	return s.prepareReport("--html", file)
}

// prepareJUnit does for --junit what prepareReport does. It never overwrites a file that is not a JUnit report.
func (s System) prepareJUnit(file string) error {
	if err := s.checkOverwritten(file, "a JUnit report", report.IsJUnit); err != nil {
		return err
	}
	return s.prepareReport("--junit", file)
}

// checkOverwritten returns an error for an existing file that may not be overwritten: isOurs returns false for the start
// of its content. what says what it should be. An empty file may be overwritten, and what is not a file.
func (s System) checkOverwritten(file, what string, isOurs func(start []byte) bool) error {
	if file == "" || !isFile(s.abs(file)) {
		return nil
	}
	start, err := readStart(s.abs(file))
	if err != nil {
		return fault.Wrap(fault.Misuse, err, "choose another path", "write "+file)
	}
	if len(start) > 0 && !isOurs(start) {
		return fault.New(fault.Misuse, "choose another path, or remove the file", "%s already exists and is not %s", file, what)
	}
	return nil
}

func readStart(path string) ([]byte, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	const enough = 64 << 10
	return io.ReadAll(io.LimitReader(file, enough))
}

// reportedSessions returns the session folders that the arguments of report name, each session once. What is no session
// but lies beside one is left out, as in a folder of sessions: a pattern such as logs/* names it, too.
func (cmd *reportCommands) reportedSessions(args []string) ([]string, error) {
	var found []string
	failed := map[string]error{}
	for _, arg := range args {
		folders, err := cmd.reportedFolders(arg)
		if err != nil {
			failed[arg] = err
		}
		found = append(found, folders...)
	}
	var errs []error
	for _, arg := range args {
		path := cmd.abs(arg)
		_, missing := os.Lstat(path)
		if missing != nil || !slices.ContainsFunc(found, func(dir string) bool { return filepath.Dir(dir) == filepath.Dir(path) }) {
			errs = append(errs, failed[arg])
		}
	}
	return distinctSessions(found), errors.Join(errs...)
}

// distinctSessions leaves out folders of sessions that an earlier folder has. latest is a link to the folder of one, or
// a copy of it after an upload that followed the link.
func distinctSessions(dirs []string) []string {
	var ids []string
	return slices.DeleteFunc(dirs, func(dir string) bool {
		id, _ := firstEvent(dir)
		if id = cmp.Or(id, dir); slices.Contains(ids, id) {
			return true
		}
		ids = append(ids, id)
		return false
	})
}

// reportedFolders returns the session folders that an argument of report names: one, or those in a folder.
func (cmd *reportCommands) reportedFolders(arg string) ([]string, error) {
	dir, err := cmd.sessionDir(arg)
	if err != nil {
		return nil, err
	}
	if isFile(filepath.Join(dir, report.EventsFile)) {
		return []string{dir}, nil
	}
	inside, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, "", "read "+arg)
	}
	entries, err := os.ReadDir(inside)
	if err != nil {
		return nil, fault.Wrap(fault.Misuse, err, "", "read "+arg)
	}
	var found []string
	for _, entry := range entries {
		if entry.IsDir() && isFile(filepath.Join(inside, entry.Name(), report.EventsFile)) {
			found = append(found, filepath.Join(inside, entry.Name()))
		}
	}
	if len(found) == 0 {
		return nil, fault.New(fault.Misuse, "give the folder of a session, or a folder of such folders",
			"%s is not the folder of a session and contains none: %s was not found", arg, report.EventsFile)
	}
	return byTime(found), nil
}

// byTime sorts the folders of sessions by the time of their first event. The name of a session is not precise enough:
// it has the time at which the session was opened, in seconds, which may be before the previous trail ended.
func byTime(dirs []string) []string {
	started := make(map[string]time.Time, len(dirs))
	for _, dir := range dirs {
		_, started[dir] = firstEvent(dir)
	}
	slices.SortStableFunc(dirs, func(x, y string) int { return started[x].Compare(started[y]) })
	return dirs
}

// firstEvent returns the session and the time of the first event in a session's log, zero when it cannot be read.
func firstEvent(dir string) (session string, at time.Time) {
	var first struct {
		Session string
		Time    time.Time
	}
	if file, err := files.Open(filepath.Join(dir, report.EventsFile)); err == nil {
		defer file.Close()
		_ = json.NewDecoder(io.LimitReader(file, report.MaxLine)).Decode(&first) // AddSession reports an invalid log
	}
	return first.Session, first.Time
}

// sessionDir returns the folder that an argument names: a session of the project if there is one, else a folder.
func (cmd *reportCommands) sessionDir(arg string) (string, error) {
	logsDir, err := cmd.logsDir()
	if err == nil && arg != "." && filepath.IsLocal(arg) && filepath.Base(arg) == arg { // and not ..
		dir := followLatest(filepath.Join(logsDir, arg))
		if isDir(dir) {
			return dir, nil
		}
	}
	switch path := cmd.abs(arg); {
	case isDir(path):
		return path, nil
	case isFile(path):
		return "", fault.New(fault.Misuse, "give the folder that it is in",
			"%s is a file, not the folder of a session", arg)
	case err != nil:
		return "", err
	}
	shown := cmd.relative(logsDir)
	if arg == latest {
		return "", fault.New(fault.Misuse, "`trailblaze run` writes one", "%s contains no session", shown)
	}
	return "", fault.New(fault.Misuse, nearestSession(arg, logsDir),
		"%q is neither a session in %s nor a folder", arg, shown)
}

// logsDir returns the folder of the project's sessions.
func (p *program) logsDir() (string, error) {
	w, err := p.loadProject()
	if err != nil {
		return "", err
	}
	return w.Project.LogsDir, nil
}

// followLatest returns the folder that latest names. Where links are not permitted, latest is a file with the session's
// name.
func followLatest(path string) string {
	const maxName = 1 << 10
	if filepath.Base(path) != latest {
		return path
	}
	if name, err := files.Read(path, maxName); err == nil {
		return filepath.Join(filepath.Dir(path), filepath.Base(strings.TrimSpace(string(name))))
	}
	return path
}

// nearestSession returns a hint: the last session of the trail with that name, or a session with a similar name.
func nearestSession(arg, logsDir string) string {
	var names, ofTrail []string
	entries, _ := os.ReadDir(logsDir) // a folder that cannot be read has no sessions to suggest
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		names = append(names, entry.Name())
		if strings.HasPrefix(entry.Name(), arg+"_") {
			ofTrail = append(ofTrail, entry.Name())
		}
	}
	if len(ofTrail) > 0 {
		return "the last session of that trail is " + slices.Max(ofTrail)
	}
	if near := fault.Nearest(arg, names); len(near) > 0 {
		return "did you mean " + near[0] + "? Each folder in " + filepath.Base(logsDir) + " is a session"
	}
	return "`trailblaze report latest` takes the newest one"
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Type()&fs.ModeType == 0
}
