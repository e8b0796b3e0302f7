package android

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/trailblaze/trailblaze/testdata/phones"
)

// binaryAPK returns an APK with nothing but its manifest.
func binaryAPK(app, version string) []byte {
	return phones.BinaryAPK(phones.Manifest{App: app, Version: version})
}

func TestManifest(t *testing.T) {
	t.Parallel()
	for _, isUTF8 := range []bool{true, false} {
		data := phones.BinaryManifest(phones.Manifest{App: "com.example.größe", Version: "1.2", Split: "config.de", UTF8: isUTF8})
		m, err := parseManifest(data)
		if want := (manifest{Package: "com.example.größe", Version: "1.2", Split: "config.de"}); err != nil || m != want {
			t.Errorf("got %+v, %v", m, err)
		}
		for i := range data { // cut off anywhere, it must be an error
			if m, err := parseManifest(data[:i]); err == nil {
				t.Errorf("cut at %d: %+v", i, m)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "a.apk")
	if err := os.WriteFile(path, binaryAPK("a.b", "1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if app, err := readAPK(path); err != nil || app.Package != "a.b" {
		t.Errorf("got %+v, %v", app, err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add(phones.BinaryManifest(phones.Manifest{App: "a.b", Version: "1", UTF8: true}))
	f.Add(phones.BinaryManifest(phones.Manifest{App: "a.b", Version: "1"}))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = parseManifest(data) })
}
