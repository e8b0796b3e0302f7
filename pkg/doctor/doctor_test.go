package doctor_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/doctor"
	"github.com/trailblaze/trailblaze/pkg/fault"
	jsruntime "github.com/trailblaze/trailblaze/pkg/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The tests of most checks are in cmd, with the real program; these are of what a command line cannot cause.

func options(project *config.Project, err error) doctor.Options {
	return doctor.Options{
		Runtimes: jsruntime.NewFinder(jsruntime.Options{}),
		Project:  project, ProjectErr: err,
	}
}

func find(t *testing.T, checks []doctor.Check, name string) doctor.Check {
	t.Helper()
	for _, c := range checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no check %q in %+v", name, checks)
	return doctor.Check{}
}

func TestServersAreProbedConcurrently(t *testing.T) {
	t.Parallel()
	o := options(&config.Project{Root: "/p", Servers: []config.Server{{Name: "a", Command: "a"}, {Name: "b", Command: "b"}, {Name: "c", Command: "c"}}}, nil)
	all := make(chan struct{}, 3)
	o.Probe = func(ctx context.Context, s config.Server) (doctor.Probed, error) {
		all <- struct{}{}
		switch s.Name {
		case "b":
			return doctor.Probed{}, fault.New(fault.Crashed, "look there", "b broke")
		case "c":
			return doctor.Probed{Tools: 1, Warnings: []string{"c is odd"}}, nil
		}
		for len(all) < cap(all) { // until all three are being probed
			if ctx.Err() != nil {
				return doctor.Probed{}, ctx.Err()
			}
		}
		return doctor.Probed{Tools: 4}, nil
	}
	checks := doctor.Run(t.Context(), o)
	if c := find(t, checks, "server a"); c.Status != doctor.OK || !strings.Contains(c.Detail, "4 tools") {
		t.Errorf("a: %+v", c)
	}
	if c := find(t, checks, "server b"); c.Status != doctor.Fail || c.Detail != "b broke" || c.Hint != "look there" {
		t.Errorf("b: %+v", c)
	}
	if c := find(t, checks, "server c"); c.Status != doctor.Warn || c.Detail != "c: 1 tool\nc is odd" {
		t.Errorf("c: %+v", c)
	}
}

func TestProjectFilesFailOrWarnByTheirProblems(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		project *config.Project
		err     error
		want    doctor.Status
	}{
		"sound":       {&config.Project{Root: "/p"}, nil, doctor.OK},
		"with advice": {&config.Project{Root: "/p", Warnings: fault.Problems{{File: "f", Message: "odd"}}}, nil, doctor.Warn},
		"none here":   {nil, fault.New(fault.Misuse, "trailblaze init", "no project"), doctor.Warn},
		"broken":      {nil, fault.Problems{{Kind: fault.Config, File: "f", Message: "wrong"}}, doctor.Fail},
		"unreadable":  {nil, errors.New("disk on fire"), doctor.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c := find(t, doctor.Run(t.Context(), options(tc.project, tc.err)), "project files"); c.Status != tc.want {
				t.Errorf("%+v, want %s", c, tc.want)
			}
		})
	}
}

func TestNamedProjectThatDoesNotExistKeepsItsHint(t *testing.T) {
	t.Parallel()
	o := options(nil, fault.New(fault.Misuse, "name a folder that exists", "project folder typo does not exist"))
	o.ProjectNamed = true
	if c := find(t, doctor.Run(t.Context(), o), "project files"); c.Status != doctor.Fail || c.Hint != "name a folder that exists" {
		t.Errorf("%+v", c)
	}
}

func TestUnreadableStateFolderIsAFailure(t *testing.T) {
	t.Parallel()
	o := options(&config.Project{Root: "/p"}, nil)
	o.StateDir = filepath.Join(t.TempDir(), "state")
	if c := find(t, doctor.Run(t.Context(), o), "leftover processes"); c.Status != doctor.OK {
		t.Errorf("no folder yet: %+v", c)
	}
	if err := os.WriteFile(o.StateDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := find(t, doctor.Run(t.Context(), o), "leftover processes"); c.Status != doctor.Fail || !strings.Contains(c.Hint, o.StateDir) {
		t.Errorf("a file in its place: %+v", c)
	}
}

func TestDevicesThatNothingNamesAreOneLine(t *testing.T) {
	t.Parallel()
	missing := func(context.Context) (string, error) {
		return "", fault.New(fault.Server, "connect it", "it is missing")
	}
	ready := func(context.Context) (string, error) { return "Pixel", nil }
	broken := func(context.Context) (string, error) { return "", fault.New(fault.PermissionDenied, "", "no access") }
	o := options(nil, errors.New("no project"))
	o.Devices = []doctor.Device{
		{Name: "browser", Kind: "web", Named: true, Check: missing},
		{Name: "android", Check: missing},
		{Name: "ios", Check: missing},
		{Name: "tv", Check: ready},
		{Name: "car", Check: broken},
	}
	checks := doctor.Run(t.Context(), o)
	for name, want := range map[string]doctor.Status{"browser": doctor.Warn, "tv": doctor.OK, "car": doctor.Fail, "android, ios": doctor.OK} {
		if c := find(t, checks, name); c.Status != want {
			t.Errorf("%+v, want %s", c, want)
		}
	}
	o.Devices = o.Devices[3:4]
	for _, c := range doctor.Run(t.Context(), o) {
		if strings.Contains(c.Detail, "not ready") {
			t.Errorf("with devices that are ready: %+v", c)
		}
	}
}

func TestOldNodeIsWarnedOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "node"), []byte("#!/bin/sh\necho v12.22.9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	o := options(&config.Project{Root: dir}, nil)
	o.Runtimes = jsruntime.NewFinder(jsruntime.Options{PATH: dir, CacheDir: t.TempDir()})
	c := find(t, doctor.Run(t.Context(), o), "node")
	if c.Status != doctor.Warn || !strings.Contains(c.Detail, "v12.22.9") || !strings.Contains(c.Detail, "older than node 18") || c.Hint == "" {
		t.Errorf("%+v", c)
	}
}
