package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// Each script has a limit that it exceeds only if what Go holds for it counts, or both blocks while an array is moved
// to a larger one, and a limit that is enough.
func TestMemoryLimitIncludesTemporaryMemory(t *testing.T) {
	t.Parallel()
	content := make([]byte, 16<<20)
	packed := pack(t, content)
	constants := strings.NewReplacer("PACKED", base64Buffer(packed), "NESTED", base64Buffer(pack(t, packed)))
	for name, test := range map[string]struct {
		script           string
		tooSmall, enough int // MiB
	}{
		"decoded text":  {`new TextDecoder().decode(new Uint8Array(4 << 20).fill(255))`, 72, 90},
		"gunzip":        {`require("zlib").gunzipSync(PACKED)`, 47, 64},
		"nested gunzip": {`require("zlib").gunzipSync(require("zlib").gunzipSync(NESTED))`, 47, 64},
		"async gunzip":  {`await new Promise((done) => require("zlib").gunzip(PACKED, done))`, 47, 64},
		"body":          {`await (await fetch("http://127.0.0.1:9")).arrayBuffer()`, 74, 92},
		"Array.fill":    {`const a = []; a.length = 1 << 20; a.fill(0)`, 30, 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := func(limit int) Exit {
				return newTestEngine(t, "const require = __trailblaze_require; "+constants.Replace(test.script), func(s *Spec) {
					s.MemoryLimit, s.CallbackURL = limit<<20, "http://127.0.0.1:9/callback"
					s.Callback = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
				}).wait()
			}
			if exit := start(test.tooSmall); !strings.Contains(exit.Panic, "out of memory") {
				t.Errorf("exit %+v with %d MiB, want out of memory", exit, test.tooSmall)
			}
			if exit := start(test.enough); exit != (Exit{}) {
				t.Errorf("exit %+v with %d MiB", exit, test.enough)
			}
		})
	}
}

// pack returns a gzip file.
func pack(t *testing.T, data []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(data); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// base64Buffer returns the JavaScript code of a Buffer with data.
func base64Buffer(data []byte) string {
	return "Buffer.from('" + base64.StdEncoding.EncodeToString(data) + "', 'base64')"
}
