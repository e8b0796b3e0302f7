package trail_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// tree makes files, and links written as "from -> to", in a new folder.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		link, to, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(root, filepath.FromSlash(link))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		err := error(nil)
		if isLink {
			err = os.Symlink(filepath.FromSlash(to), path)
		} else {
			err = os.WriteFile(path, []byte("trail: []\n"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFindCollectsTrails(t *testing.T) {
	t.Parallel()
	root := tree(t,
		"trailblaze.yaml", "README.md", "other.yaml",
		"trails/b.trail.yaml", "trails/a.trail.yaml", "trails/a/trail.yaml", "trails/a-b/x.trail.yaml",
		"trails/trailblaze.yaml",
		"trails/notes.yaml", "trails/wip/new.trail.yaml", "trails/wip/deep/er.trail.yaml", "trails/odd[1].trail.yaml",
		"trails/x.trail.yaml.bak",
		"trails/node_modules/p/m.trail.yaml", "trails/build/m.trail.yaml", "trails/.git/m.trail.yaml",
		"trails/.gradle/m.trail.yaml",
		"trails/.trailblaze/m.trail.yaml", "trails/.hidden/h.trail.yaml",
		"trails/linked -> ../elsewhere", "trails/link.trail.yaml -> b.trail.yaml", "elsewhere/e.trail.yaml",
		"shortcut -> elsewhere",
		"empty/README.md",
	)
	all := []string{
		"trails/.hidden/h.trail.yaml", "trails/a-b/x.trail.yaml", "trails/a.trail.yaml", "trails/a/trail.yaml",
		"trails/b.trail.yaml", "trails/link.trail.yaml",
		"trails/odd[1].trail.yaml", "trails/wip/deep/er.trail.yaml", "trails/wip/new.trail.yaml",
	}
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"", all},
		{"trails", all},
		{"./trails/", all},
		{"!trails/wip", all[:7]},
		{"!wip", all[:7]},
		{"!**/wip/**", all[:7]},
		{"!trails/wip/deep", append(all[:7:7], "trails/wip/new.trail.yaml")},
		{"!*.trail.yaml", []string{"trails/a/trail.yaml"}},
		{"!trails/*.trail.yaml !wip !.hidden", []string{"trails/a-b/x.trail.yaml", "trails/a/trail.yaml"}},
		{"trails/b.trail.yaml trails/a.trail.yaml", []string{"trails/b.trail.yaml", "trails/a.trail.yaml"}},
		{"trails/wip trails/wip/new.trail.yaml", []string{"trails/wip/deep/er.trail.yaml", "trails/wip/new.trail.yaml"}},
		{"trails/b.trail.yaml !trails/b.trail.yaml", nil},
		{"other.yaml", []string{"other.yaml"}},
		{"trails/build", []string{"trails/build/m.trail.yaml"}},
		{"trails/odd[1].trail.yaml", []string{"trails/odd[1].trail.yaml"}},
		{"trails/link.trail.yaml", []string{"trails/link.trail.yaml"}},
		{"shortcut", []string{"shortcut/e.trail.yaml"}},
		{"empty", nil},
		// Globs.
		{"trails/*.trail.yaml", []string{"trails/a.trail.yaml", "trails/b.trail.yaml", "trails/link.trail.yaml", "trails/odd[1].trail.yaml"}},
		{
			"trails/*.yaml",
			[]string{"trails/a.trail.yaml", "trails/b.trail.yaml", "trails/link.trail.yaml", "trails/notes.yaml", "trails/odd[1].trail.yaml"},
		},
		{"trails/{a,b}.trail.yaml", []string{"trails/a.trail.yaml", "trails/b.trail.yaml"}},
		{"**/trail.yaml", []string{"trails/a/trail.yaml"}},
		{"trails/w*", []string{"trails/wip/deep/er.trail.yaml", "trails/wip/new.trail.yaml"}},
		{"**/*.trail.yaml !trails", []string{"elsewhere/e.trail.yaml"}},
		{"nothing/*.yaml", nil},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Parallel()
			got, err := trail.Find(root, "trails", "", strings.Fields(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i] = filepath.ToSlash(got[i])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("trails (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindReturnsPathsRelativeToWorkingDirectory(t *testing.T) {
	t.Parallel()
	root := tree(t, "here/a.trail.yaml", "there/b.trail.yaml")
	cwd := filepath.Join(root, "here")
	got, err := trail.Find(cwd, "trails", "", []string{filepath.Join(cwd, "a.trail.yaml"), "../there"})
	want := []string{"a.trail.yaml", filepath.Join(root, "there", "b.trail.yaml")}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("trails (-want +got):\n%s%v", diff, err)
	}
}

func TestFindIsEmptyWithoutATrailsFolder(t *testing.T) {
	t.Parallel()
	if got, err := trail.Find(t.TempDir(), "trails", "", nil); len(got) > 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// TestFindReportsBrokenLinks: a trail that is not run must not go unnoticed. Emacs makes such links while it edits.
func TestFindReportsBrokenLinks(t *testing.T) {
	t.Parallel()
	root := tree(t, "trails/a.trail.yaml", "trails/b.trail.yaml -> gone", "trails/.#a.trail.yaml -> ann@host.7:1", "trails/x -> gone")
	for _, args := range [][]string{nil, {"trails"}, {"trails/*.trail.yaml"}} {
		_, err := trail.Find(root, "trails", "", args)
		if err == nil || err.Error() != "trails/b.trail.yaml is a broken link" || fault.ExitCode(err) != fault.ExitNothing {
			t.Errorf("%q: %v", args, err)
		}
	}
	if got, err := trail.Find(root, "trails", "", []string{"!trails/b.trail.yaml"}); err != nil || len(got) != 1 {
		t.Errorf("left out: %q, %v", got, err)
	}
}

func TestFindExplainsUnusableArguments(t *testing.T) {
	t.Parallel()
	root := tree(t, "trailblaze.yaml", "trails/checkout.trail.yaml", "trails/login/trail.yaml",
		"trails/pipe.trail.yaml -> nowhere")
	for _, tt := range []struct {
		arg, message, hint string
		code               int
	}{
		{
			"trails/chekout.trail.yaml",
			"trails/chekout.trail.yaml does not exist", "did you mean trails/checkout.trail.yaml?", fault.ExitNothing,
		},
		{"trails/checkout", "trails/checkout does not exist", "did you mean trails/checkout.trail.yaml?", fault.ExitNothing},
		{"trails/logn", "trails/logn does not exist", "did you mean trails/login?", fault.ExitNothing},
		{"trials/login", "trials/login does not exist", "the folder trials does not exist either", fault.ExitNothing},
		{"trails/unlike-anything", "trails/unlike-anything does not exist", "", fault.ExitNothing},
		{"trails/pipe.trail.yaml", "trails/pipe.trail.yaml is a broken link", "", fault.ExitNothing},
		{"trailblaze.yaml", "trailblaze.yaml is a project file, not a trail", "name a *.trail.yaml file", fault.ExitMisuse},
		{"trails/[", "trails/[ is not a pattern", "close its brackets", fault.ExitMisuse},
		{"!trails/[", "!trails/[ is not a pattern", "close its brackets", fault.ExitMisuse},
	} {
		t.Run(tt.arg, func(t *testing.T) {
			t.Parallel()
			_, err := trail.Find(root, "trails", "", []string{tt.arg})
			f := fault.As(err)
			if f == nil || fault.ExitCode(err) != tt.code {
				t.Fatalf("error %v, exit code %d", err, fault.ExitCode(err))
			}
			if diff := cmp.Diff([]string{tt.message, tt.hint}, []string{f.Message, filepath.ToSlash(f.Hint)}); diff != "" {
				t.Errorf("message and hint (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindReportsGlobThatMatchesNothingBesideOthers(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.trail.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := trail.Find(root, "trails", "", []string{"*.trail.yaml", "chekout/*.trail.yaml", "!b"})
	if fault.KindOf(err) != fault.NothingMatched || !strings.Contains(err.Error(), "chekout/*.trail.yaml matches no trail") || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := trail.Find(root, "trails", "", []string{"*.trail.yaml", "*.trail.yaml", "!a"}); err != nil {
		t.Errorf("patterns whose trails are left out: %v", err)
	}
}

func TestFindReportsEveryMissingPath(t *testing.T) {
	t.Parallel()
	_, err := trail.Find(tree(t, "a.trail.yaml"), "trails", "", []string{"x", "a.trail.yaml", "y"})
	if err == nil || err.Error() != "x does not exist\ny does not exist" {
		t.Errorf("error %v", err)
	}
}

func TestFindReportsAFolderItCannotRead(t *testing.T) {
	t.Parallel()
	_, err := trail.Find(tree(t, "trails"), "trails", "", nil)
	if err == nil || !strings.HasPrefix(err.Error(), "read folder trails: ") || fault.ExitCode(err) != fault.ExitMisuse {
		t.Errorf("error %v", err)
	}
}

func TestFindSearchesLogsDirOnlyWhenNamed(t *testing.T) {
	t.Parallel()
	root := tree(t, "a.trail.yaml", "logs/s1/recording.trail.yaml")
	for arg, want := range map[string][]string{
		".":             {"a.trail.yaml"},
		"**/*.yaml":     {"a.trail.yaml"},
		"logs":          {"logs/s1/recording.trail.yaml"},
		"logs/s1":       {"logs/s1/recording.trail.yaml"},
		"logs/**/*.ya*": {"logs/s1/recording.trail.yaml"},
	} {
		got, err := trail.Find(root, "trails", filepath.Join(root, "logs"), []string{arg})
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", arg, err, diff)
		}
	}
}
