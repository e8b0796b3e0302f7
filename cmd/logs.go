package cmd

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/text"
)

func (cmd *reportCommands) newLogs() *cobra.Command {
	c := &cobra.Command{
		Use:   "logs",
		Short: "Remove the folders of old sessions",
		Args:  cobra.ArbitraryArgs,
		RunE:  cmd.helpOrUnknown,
	}
	c.AddCommand(cmd.newLogsPrune())
	return c
}

type pruneFlags struct {
	keep      int
	olderThan string
}

func (cmd *reportCommands) newLogsPrune() *cobra.Command {
	var f pruneFlags
	c := &cobra.Command{
		Use:   "prune",
		Short: "Remove the folders of old sessions",
		Long: `Remove the folders of old sessions from the project's logsDir: those that are not among the newest N, and those that
are older than D. With both flags, only sessions to which both apply are removed. Sessions that are running, and all
other files and folders, stay.`,
		Example: "  trailblaze logs prune --keep 50\n  trailblaze logs prune --older-than 14d",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return cmd.prune(c, f) },
	}
	c.Flags().IntVar(&f.keep, "keep", 0, "keep the newest `N` sessions")
	c.Flags().StringVar(&f.olderThan, "older-than", "", "keep sessions that are at most `D` old, such as 36h or 14d")
	return c
}

// pruned is the JSON output of logs prune.
type pruned struct {
	Removed []string `json:"removed"` // names of sessions
	Kept    int      `json:"kept"`
	Bytes   int64    `json:"bytes"` // of the files that were removed
}

func (cmd *reportCommands) prune(c *cobra.Command, f pruneFlags) error {
	age, err := f.check(c)
	if err != nil {
		return err
	}
	logsDir, err := cmd.logsDir()
	if err != nil {
		return err
	}
	sessions, err := sessionFolders(logsDir)
	if err != nil {
		return fault.Wrap(fault.Misuse, err, "", "read logsDir")
	}
	result := pruned{Removed: []string{}}
	root, err := os.OpenRoot(logsDir) // so that no link leads elsewhere
	if err != nil && len(sessions) > 0 {
		return fault.Wrap(fault.Misuse, err, "", "read logsDir")
	}
	for i, s := range sessions {
		old := cmd.Now().Sub(s.at)
		if i < f.keep || age > 0 && old <= age || session.InUse(filepath.Join(logsDir, s.name), old) {
			result.Kept++
			continue
		}
		size := folderSize(filepath.Join(logsDir, s.name))
		if err := root.RemoveAll(s.name); err != nil {
			return fault.Wrap(fault.IO, err, "check the permissions of logsDir", "remove a session")
		}
		result.Removed, result.Bytes = append(result.Removed, s.name), result.Bytes+size
	}
	if root != nil {
		_ = root.Close()
	}
	removeDanglingLatest(logsDir)
	if cmd.json {
		return cmd.writeJSON(result)
	}
	_, err = fmt.Fprintf(cmd.Stdout, "removed %s (%.1f MiB), kept %d\n", text.Count(len(result.Removed), "session"),
		float64(result.Bytes)/(1<<20), result.Kept)
	return err
}

// check returns the age of --older-than, 0 without it.
func (f pruneFlags) check(c *cobra.Command) (age time.Duration, err error) {
	keep, older := c.Flags().Changed("keep"), c.Flags().Changed("older-than")
	switch {
	case !keep && !older:
		return 0, fault.New(fault.Misuse, "write --keep 50 or --older-than 14d", "--keep and --older-than are missing")
	case f.keep < 0:
		return 0, fault.New(fault.Misuse, "write --keep 0 to keep none", "--keep %d is less than 0", f.keep)
	case !older:
		return 0, nil
	}
	age, err = time.ParseDuration(f.olderThan)
	if days, ok := strings.CutSuffix(f.olderThan, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		age = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || age <= 0 {
		return 0, fault.New(fault.Misuse, "write a number with a unit, such as 36h or 14d", "--older-than: %q is not an age", f.olderThan)
	}
	return age, nil
}

// loggedSession is the folder of a session in logsDir.
type loggedSession struct {
	name string
	at   time.Time // its start
}

// sessionName matches the names of sessions, see session.NewID.
var sessionName = lazyregexp.New(`_([0-9]{8}T[0-9]{6}Z)_[0-9a-f]+$`)

// sessionFolders returns the folders of sessions, the newest first, none when logsDir does not exist.
func sessionFolders(logsDir string) ([]loggedSession, error) {
	entries, err := os.ReadDir(logsDir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	var sessions []loggedSession
	for _, e := range entries {
		m := sessionName().FindStringSubmatch(e.Name())
		if m == nil || !e.IsDir() {
			continue
		}
		if at, err := time.Parse("20060102T150405Z", m[1]); err == nil {
			sessions = append(sessions, loggedSession{e.Name(), at})
		}
	}
	slices.SortStableFunc(sessions, func(x, y loggedSession) int { return y.at.Compare(x.at) })
	return sessions, err
}

// folderSize returns the size of the files in a folder in bytes, of those that can be read.
func folderSize(dir string) int64 {
	var size int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read does not count
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// removeDanglingLatest removes latest if the session that it names is gone.
func removeDanglingLatest(logsDir string) {
	path := filepath.Join(logsDir, latest)
	if target := followLatest(path); !isDir(target) {
		_ = os.Remove(path) // it is written again by the next run
	}
}
