package e2e_test

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/cmd"
)

func TestVersionSaysWhyItIsNotKnown(t *testing.T) {
	t.Parallel()
	const why = "record no commit"
	for version, want := range map[string]bool{"": true, "1.2.3": false} {
		sys := cmd.NewSystem(version)
		sys.Build = cmd.NewBuild(version, nil)
		sys.AdoptOrphans = nil // the process is not the program alone
		var out strings.Builder
		sys.Args, sys.Stdout = []string{"version"}, &out
		if code := cmd.Main(sys); code != 0 || strings.Contains(out.String(), why) != want {
			t.Errorf("%q: exit code %d, %s", version, code, out.String())
		}
	}
}

func TestVersionOfBuild(t *testing.T) {
	t.Parallel()
	commit := []debug.BuildSetting{
		{Key: "vcs", Value: "git"},
		{Key: "vcs.revision", Value: "0123456789abcdef"},
		{Key: "vcs.time", Value: "2026-11-22T10:40:36Z"},
		{Key: "vcs.modified", Value: "true"},
	}
	module := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	for name, tc := range map[string]struct {
		version string
		info    *debug.BuildInfo
		want    cmd.Build
	}{
		"nothing":              {"", nil, cmd.Build{Version: "dev"}},
		"go build outside git": {"", module("(devel)"), cmd.Build{Version: "dev"}},
		"go install":           {"", module("v1.2.3"), cmd.Build{Version: "v1.2.3"}},
		"go build in git": {"", module("v1.2.4-0.20261122104036-0123456789ab+dirty", commit...), cmd.Build{
			Version: "v1.2.4-0.20261122104036-0123456789ab+dirty", Commit: "0123456789abcdef",
			Date: "2026-11-22T10:40:36Z", Modified: true,
		}},
		"release": {"9.8.7", module("v9.8.6", commit[:3]...), cmd.Build{
			Version: "9.8.7", Commit: "0123456789abcdef", Date: "2026-11-22T10:40:36Z",
		}},
	} {
		if diff := cmp.Diff(tc.want, cmd.NewBuild(tc.version, tc.info)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
