package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
)

func (a *app) newReport() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "report [SESSION|DIR...]",
		Short: "Write a page about sessions of earlier runs",
		Long: `Write a page about sessions of earlier runs, from what they left. An argument is the name of a session in the project's logsDir,
` + "`latest`" + `, the folder of a session, or a folder of such folders. Without any, it is the latest session.`,
		Example: `  trailblaze report --html build/report
  trailblaze report logs --html build/report
  trailblaze report checkout_20261121T091402Z_0f1e2d3c --html build/report`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return a.report(dir, args) },
	}
	c.AddCommand(a.newMerge())
	c.Flags().StringVar(&dir, "html", "", "write the page to `DIR`: index.html, which needs nothing beside it")
	return c
}

// latest is the name under which logsDir has the newest session.
const latest = "latest"

func (a *app) report(dir string, args []string) error {
	if dir == "" {
		return fault.New(fault.Misuse, "add --html DIR", "report does not know where to write the page")
	}
	if len(args) == 0 {
		args = []string{latest}
	}
	html := report.NewHTML("")
	var added []string
	var errs []error
	for _, arg := range args {
		found, err := a.sessions(arg)
		errs = append(errs, err)
		for _, session := range found {
			if !slices.Contains(added, session) {
				added = append(added, session)
				errs = append(errs, html.AddSession(session))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := a.preparePage(dir); err != nil {
		return err
	}
	page := pageFile(dir)
	if err := a.writeReport("the page", page, html.Write); err != nil {
		return err
	}
	if a.json {
		return report.JSON(a.Stdout, map[string]any{"html": page, "sessions": len(added)})
	}
	_, err := fmt.Fprintln(a.Stdout, page)
	return err
}

// pageFile is the page in the folder that --html names; empty without one.
func pageFile(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "index.html")
}

// preparePage is prepareReport for --html. A page that is not ours is never replaced.
func (a *app) preparePage(dir string) error {
	page := pageFile(dir)
	if old, err := os.ReadFile(a.abs(page)); dir != "" && err == nil && len(old) > 0 && !report.IsPage(old) {
		return fault.New(fault.Misuse, "choose another folder, or remove the file", "%s is there already, and is no report", page)
	}
	return a.prepareReport("--html", page)
}

// sessions are the folders that an argument of report stands for: a session's own, or those of the sessions in a folder.
func (a *app) sessions(arg string) ([]string, error) {
	dir, err := a.sessionDir(arg)
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
	for _, entry := range entries { // latest is a link, and one of the others
		if entry.IsDir() && isFile(filepath.Join(inside, entry.Name(), report.EventsFile)) {
			found = append(found, filepath.Join(inside, entry.Name()))
		}
	}
	if len(found) == 0 {
		return nil, fault.New(fault.Misuse, "give the folder of a session, or a folder of such folders",
			"%s is no session's folder: neither it nor a folder in it has an %s", arg, report.EventsFile)
	}
	return byTime(found), nil
}

// byTime puts sessions into the order in which their trails began, by the first event of each: the name of a session has the time at
// which it was opened, ahead of its trail, and only the second.
func byTime(dirs []string) []string {
	began := make(map[string]time.Time, len(dirs))
	for _, dir := range dirs {
		began[dir] = firstEvent(dir)
	}
	slices.SortStableFunc(dirs, func(x, y string) int { return began[x].Compare(began[y]) })
	return dirs
}

// firstEvent is the time of a session's first event; zero when its log cannot be read.
func firstEvent(dir string) time.Time {
	var first struct{ Time time.Time }
	if file, err := os.Open(filepath.Join(dir, report.EventsFile)); err == nil {
		defer file.Close()
		_ = json.NewDecoder(file).Decode(&first) // what is wrong with the log, its reader says
	}
	return first.Time
}

// sessionDir is the folder that an argument names: a session of the project comes before a folder of that name.
func (a *app) sessionDir(arg string) (string, error) {
	logsDir, err := a.logsDir()
	if err == nil && filepath.Base(arg) == arg {
		dir := followLatest(filepath.Join(logsDir, arg))
		if isDir(dir) {
			return dir, nil
		}
	}
	switch path := a.abs(arg); {
	case isDir(path):
		return path, nil
	case isFile(path):
		return "", fault.New(fault.Misuse, "give the folder that it is in", "%s is a file, not a session's folder", arg)
	case err != nil:
		return "", err
	}
	shown := a.relative([]string{logsDir})[0]
	if arg == latest {
		return "", fault.New(fault.Misuse, "`trailblaze run` leaves one", "there is no session in %s", shown)
	}
	return "", fault.New(fault.Misuse, nearestSession(arg, logsDir), "there is no session %q in %s, and no folder of that name", arg, shown)
}

// logsDir is where the project's sessions are.
func (a *app) logsDir() (string, error) {
	project, err := a.loadProject()
	if err != nil {
		return "", err
	}
	return project.LogsDir, nil
}

// followLatest reads the name of a session where links are not allowed and a file stands in for one.
func followLatest(path string) string {
	if name, err := os.ReadFile(path); err == nil && len(name) < 1<<10 && filepath.Base(path) == latest {
		return filepath.Join(filepath.Dir(path), filepath.Base(strings.TrimSpace(string(name))))
	}
	return path
}

// nearestSession is a hint at what may have been meant: the sessions of that trail, or those with a similar name.
func nearestSession(arg, logsDir string) string {
	var names, ofTrail []string
	entries, _ := os.ReadDir(logsDir) // without the folder there is nothing to offer
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
		return "did you mean " + near[0] + "?"
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
