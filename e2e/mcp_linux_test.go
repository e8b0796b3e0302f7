package e2e_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestDiskIsFullWhenAgentSaves(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"trailblaze.yaml": webConfig, "trails/.keep": ""})
	trails := filepath.Join(p.dir, "trails")
	want := "no space left"
	if os.Geteuid() == 0 && syscall.Mount("tmpfs", trails, "tmpfs", 0, "size=4k") == nil {
		t.Cleanup(func() { _ = syscall.Unmount(trails, 0) })
		if err := os.WriteFile(filepath.Join(trails, "full"), make([]byte, 4096), 0o600); err != nil {
			t.Fatal(err)
		}
	} else {
		want = "permission denied"
		if err := os.Chmod(trails, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(trails, 0o700) })
	}
	site := pageSite(t, buttonPage)
	a := p.agent(t)
	a.does("step", `{"step":"Open","calls":[{"web_navigate":{"url":"`+site+`"}}]}`)
	a.fails("save_trail", `{"file":"trails/a.trail.yaml"}`, want)
	if _, err := os.Stat(filepath.Join(trails, "a.trail.yaml")); err == nil {
		t.Error("a part of the trail was written")
	}
	a.does("recording", `{}`, "step: Open")
}
