package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/report"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/workspace"
)

// closeTimeout limits how long closing a session takes when no call is running in it.
const closeTimeout = 5 * time.Second

type snapshotFlags struct {
	command                  *cobra.Command
	session                  sessionFlag
	driver, platform         string
	within, find, screenshot string
	maxBytes                 int
	console, requests        bool
}

func (cmd *toolCommands) newSnapshot() *cobra.Command {
	var f snapshotFlags
	c := &cobra.Command{
		Use:   "snapshot [URL]",
		Short: "List the elements of a web page or of a phone's screen",
		Long: `Open a web page in a fresh session and list its elements: their role and name, by which trails can find them, and
a reference that is valid until the page changes. A URL without a scheme is a file. With --json, "snapshot" is the list as
text, and "more" is the number of elements left out because of --max-bytes.

With --platform android or ios, list what the phone shows. A URL, such as a deep link, is opened first.

With --session, list what the device of that session shows. A reference then belongs to its element as long as the session
runs, and its commands take it: trailblaze tool web_click ref=e4 --session s1.`,
		Example: `  trailblaze snapshot https://shop.example.com
  trailblaze snapshot https://shop.example.com --within '#cart' --max-bytes 2000
  trailblaze snapshot index.html --json
  trailblaze snapshot --platform android
  trailblaze snapshot --session s1 --find cart`,
		RunE: func(c *cobra.Command, args []string) error {
			f.command = c
			return cmd.snapshot(c.Context(), f, args)
		},
	}
	f.session.bind(c)
	c.Flags().StringVar(&f.driver, "driver", "", "`KEY` of the driver, such as ios-host (default playwright-native)")
	c.Flags().StringVar(&f.platform, "platform", "", "`NAME` of the platform, whose default driver is used")
	c.Flags().StringVar(&f.within, "within", "",
		"list only the content of the element that `CSS` selects, on a phone that with this id or whole text; in a session also a reference")
	c.Flags().StringVar(&f.find, "find", "", "list only lines with this `TEXT`, in any case; only in a session")
	c.Flags().StringVar(&f.screenshot, "screenshot", "", "also write a screenshot to `FILE`, a PNG; only in a session")
	c.Flags().IntVar(&f.maxBytes, "max-bytes", 6000, "limit the list to `BYTES`")
	c.Flags().BoolVar(&f.console, "console", false, "show what the page wrote to the console instead; only in a session")
	c.Flags().BoolVar(&f.requests, "requests", false, "show what the page requested instead; only in a session")
	c.MarkFlagsMutuallyExclusive("console", "requests")
	cmd.bindDevices(c)
	return c
}

func (cmd *toolCommands) snapshot(ctx context.Context, f snapshotFlags, args []string) error {
	if f.maxBytes < 0 {
		return fault.New(fault.Misuse, "leave --max-bytes out for 6000", "--max-bytes %d is less than 0", f.maxBytes)
	}
	if cmd.session(f.session) != "" {
		return cmd.snapshotInSession(ctx, f, args)
	}
	if f.find+f.screenshot != "" || f.console || f.requests {
		return fault.New(fault.Misuse, "add --session NAME; `trailblaze session start` starts one",
			"--find, --screenshot, --console and --requests can be used only in a session")
	}
	driver, err := f.chosenDriver()
	if err != nil {
		return err
	}
	address := strings.Join(args, " ")
	if isWeb := driver.Platform == scope.Web; len(args) > 1 || isWeb && len(args) == 0 {
		return fault.New(fault.Misuse, "write: trailblaze snapshot https://…, trailblaze snapshot --session NAME, or trailblaze snapshot --platform android",
			"snapshot takes one URL, got %s", text.Count(len(args), "argument"))
	}
	d, err := cmd.openSnapshotDevice(ctx, f.command, driver, address)
	if err != nil {
		return err
	}
	defer logStop(ctx, cmd.notice)()
	page, err := d.Snapshot(ctx, address, device.SnapshotOptions{Within: f.within, MaxBytes: f.maxBytes})
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if e := fault.As(err); e != nil && e.Details[tool.MissingFile] != nil {
		err = &fault.Error{Kind: fault.Misuse, Message: e.Message, Hint: e.Hint, Details: e.Details, Cause: e}
	}
	if err := errors.Join(asMisuse(err), d.Close(closing)); err != nil {
		return err
	}
	return cmd.printSnapshot(page, driver)
}

// snapshotDevice is a device that can list what it shows.
type snapshotDevice interface {
	device.Device
	device.Snapshotter
}

// chosenDriver returns the driver that the flags name, by default that of the web.
func (f snapshotFlags) chosenDriver() (scope.Driver, error) {
	if f.driver != "" && f.platform != "" {
		return scope.Driver{}, fault.New(fault.Misuse, "leave one of them out", "--driver and --platform are given")
	}
	if f.driver != "" {
		driver, ok := scope.ParseDriver(f.driver)
		if !ok {
			return driver, fault.New(fault.Misuse, scope.SuggestDriver(f.driver), "--driver: unknown driver %q", f.driver)
		}
		return driver, nil
	}
	platform, ok := scope.ParsePlatform(cmp.Or(f.platform, string(scope.Web)))
	if !ok {
		return scope.Driver{}, fault.New(fault.Misuse, "write one of: "+strings.Join(scope.PlatformNames(), ", "),
			"--platform: unknown platform %q", f.platform)
	}
	return scope.DefaultDriver(platform), nil
}

// openSnapshotDevice opens a device of a driver that can list what it shows, with the settings of the project if there
// is one.
func (cmd *toolCommands) openSnapshotDevice(ctx context.Context, c *cobra.Command, driver scope.Driver, address string) (snapshotDevice, error) {
	w, err := cmd.loadProjectIfAny()
	if err != nil {
		return nil, err
	}
	opened := device.Session{
		ID: "snapshot", TrailDir: cmd.Dir, Driver: driver.Key, Root: w.Project.Root,
		Log:    func(_, message, _ string) { cmd.notice(message) },
		Keep:   func(device.Artifact) (string, error) { return "", nil },
		Broken: func(error) {},
	}
	s, err := w.Sessions(ctx, workspace.Choice{Driver: driver.Key, Options: cmd.setOptions(c)})
	if err != nil {
		return nil, err
	}
	opened.Root = folderFor(address, cmd.Dir, opened.Root)
	if b, ok := s.Devices[0].BackendFor(driver.Key); ok {
		if d, ok := b.Open(opened).(snapshotDevice); ok {
			return d, nil
		}
	}
	return nil, fault.New(fault.Misuse, "choose another driver", "trailblaze cannot list what a device of driver %s shows", driver.Key)
}

// folderFor returns the folder below which files may be opened: root, or the folder of the file that the user named
// when it is outside of root.
func folderFor(address, dir, root string) string {
	path := address
	if u, err := url.Parse(address); err == nil && u.Scheme == "file" {
		path = u.Path
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if _, err := os.Stat(path); err != nil {
		return root
	}
	if rel, err := filepath.Rel(root, path); root != "" && err == nil && filepath.IsLocal(rel) {
		return root
	}
	return filepath.Dir(path)
}

func (cmd *toolCommands) printSnapshot(s device.Snapshot, driver scope.Driver) error {
	if cmd.json {
		return cmd.writeJSON(struct {
			URL      string `json:"url"`
			Title    string `json:"title"`
			Snapshot string `json:"snapshot"`
			More     int    `json:"more"`
		}{s.URL, s.Title, s.Text, s.More})
	}
	text := report.Clean(s.Text)
	if s.More > 0 {
		within := "CSS"
		if driver.Platform != scope.Web {
			within = "ID"
		}
		text += "; narrow with --within " + within + " or raise --max-bytes"
	}
	fmt.Fprintln(cmd.Stdout, text)
	return nil
}
