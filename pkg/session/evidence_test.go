package session_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/event"
)

// TestSecretsInForeignFiles checks the files that a session keeps of pages and tools: secrets in text are redacted, and
// the events say where one was found in other data, so that reports do not show it.
func TestSecretsInForeignFiles(t *testing.T) {
	t.Parallel()
	p := &phone{}
	o := withDevice(t, p)
	o.Dir = t.TempDir()
	events := &kept{}
	o.Emit = o.Stream.Session("one", "", events)
	open(t, o)
	encoded := base64.StdEncoding.EncodeToString([]byte("user:98761234"))
	for _, f := range []struct {
		name, data, want string
		hasSecret        bool
	}{
		{"raw.csv", "token,98761234\n", "token,{{PIN}}\n", false},
		{"base64.txt", encoded, "", false},
		{"other.csv", "token,1\n", "token,1\n", false},
		{"empty.csv", "", "", false},
		{"nul.db", "\x0098761234", "\x0098761234", true},
		{"latin1.txt", "\xe998761234", "\xe998761234", true},
		{"picture.png", "\x89PNG\x00", "\x89PNG\x00", false},
	} {
		path, err := p.session.Keep(device.Artifact{Name: f.name, Data: []byte(f.data), Foreign: true})
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		switch last := events.last(t); {
		case err != nil || last.HasSecret != f.hasSecret || last.File != "screens/"+filepath.Base(path):
			t.Errorf("%s: %v, %+v", f.name, err, last)
		case f.name == "base64.txt" && strings.Contains(string(data), encoded[len(encoded)-8:]):
			t.Errorf("%s has %q", f.name, data)
		case f.name != "base64.txt" && cmp.Diff(f.want, string(data)) != "":
			t.Errorf("%s has %q", f.name, data)
		}
	}
}

// kept keeps the events of evidence.
type kept struct{ files []event.Evidence }

func (k *kept) Handle(r event.Record) {
	if e, ok := r.Event.(event.Evidence); ok {
		k.files = append(k.files, e)
	}
}

func (k *kept) last(t *testing.T) event.Evidence {
	t.Helper()
	if len(k.files) == 0 {
		t.Fatal("no file was kept")
	}
	return k.files[len(k.files)-1]
}
