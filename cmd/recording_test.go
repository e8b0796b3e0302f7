//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/trail"
)

// aCapability is what a call's id looks like.
var aCapability = regexp.MustCompile(`tbk_[0-9a-f]{64}`)

// session is the folder of the newest session.
func (p *project) session(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(filepath.Join(p.dir, "logs", "latest"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// recording is what the newest session recorded; it is a trail file.
func (p *project) recording(t *testing.T) string {
	t.Helper()
	return p.read(t, filepath.Join(p.session(t), "recording.trail.yaml"))
}

func (p *project) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(p.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (p *project) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.dir, name)
}

// recordedTools lists the tools that the newest recording calls.
func (p *project) recordedTools(t *testing.T) []string {
	t.Helper()
	return toolsIn(t, p.recording(t))
}

func toolsIn(t *testing.T, text string) []string {
	t.Helper()
	file, problems := trail.Parse("recording.trail.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, text)
	}
	var out []string
	steps := file.Steps
	if file.Trailhead != nil {
		steps = append([]trail.Step{*file.Trailhead}, steps...)
	}
	for _, s := range steps {
		for _, r := range s.Recording {
			for _, c := range r.Calls {
				out = append(out, c.Tool)
			}
		}
	}
	return out
}
