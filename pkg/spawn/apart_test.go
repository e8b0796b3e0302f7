//go:build unix

package spawn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestWhoSpeaksElsewhereMayWriteToStdout(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "later", "stderr.log") // its folder comes with the first byte
	s := startSpec(t, Spec{Command: "sh", Args: []string{"-c", "echo listening; exit 3"}, Apart: true, LogPath: log})
	<-s.Done()
	if got := s.noticed(); len(got) > 0 {
		t.Errorf("notices %q", got)
	}
	text, err := os.ReadFile(log)
	if diff := cmp.Diff("[stdout] listening\n", string(text)); err != nil || diff != "" {
		t.Errorf("log, %v (-want +got):\n%s", err, diff)
	}
	explained := s.Explain(fault.New(fault.Crashed, "", "gone")).Message
	if !strings.Contains(explained, "\n  on its stdout:\n    listening\n") {
		t.Errorf("explained as %s", explained)
	}
}

func TestAQuietServerMakesNoFolderForItsLog(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "later")
	s := startSpec(t, Spec{Command: "sh", Args: []string{"-c", "exit 0"}, LogPath: filepath.Join(folder, "stderr.log")})
	<-s.Done()
	if _, err := os.Stat(folder); err == nil {
		t.Error("there is one")
	}
}

func TestArgumentsOfAScriptReachIt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "argv.mjs")
	if err := os.WriteFile(file, []byte("console.error(process.argv.slice(2).join('|'))"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, runtime := range []string{"bun", "node"} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			s := launch(t, finder(t, runtime), Spec{Script: file, Args: []string{"--port", "1 2"}, Env: []string{"PATH=" + os.Getenv("PATH")}})
			<-s.Done()
			if got := s.logged(); got != "--port|1 2\n" {
				t.Errorf("it got %q", got)
			}
		})
	}
}
