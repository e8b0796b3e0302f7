package android

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf16"
)

// chunk returns a chunk of binary XML: a header of some fields and a body.
func chunk(kind uint16, fields, body []byte) []byte {
	out := binary.LittleEndian.AppendUint16(nil, kind)
	out = binary.LittleEndian.AppendUint16(out, uint16(8+len(fields)))
	out = binary.LittleEndian.AppendUint32(out, uint32(8+len(fields)+len(body)))
	return append(append(out, fields...), body...)
}

func words(values ...uint32) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}

// stringChunk returns a string pool.
func stringChunk(texts []string, isUTF8 bool) []byte {
	var offsets []uint32
	var data []byte
	for _, text := range texts {
		offsets = append(offsets, uint32(len(data)))
		if isUTF8 {
			data = append(append(data, byte(len(text)), byte(len(text))), text...)
			data = append(data, 0)
			continue
		}
		units := utf16.Encode([]rune(text))
		data = binary.LittleEndian.AppendUint16(data, uint16(len(units)))
		for _, u := range append(units, 0) {
			data = binary.LittleEndian.AppendUint16(data, u)
		}
	}
	flags := uint32(0)
	if isUTF8 {
		flags = stringsUTF8
	}
	fields := words(uint32(len(texts)), 0, flags, uint32(28+4*len(texts)), 0)
	return chunk(chunkStrings, fields, append(words(offsets...), data...))
}

// binaryManifest returns a manifest as the tools of Android write it.
func binaryManifest(app, version string, isUTF8 bool) []byte {
	const code = 30
	const none = 0xffffffff
	texts := []string{"versionName", "package", "manifest", app, version, "versionCode"}
	attribute := func(name, value uint32) []byte { return words(none, name, value, 0x03000008, value) }
	element := append(words(none, 2), 20, 0, 20, 0, 3, 0, 0, 0, 0, 0, 0, 0)
	element = append(element, words(none, 5, none, 0x10000008, code)...)
	element = append(append(element, attribute(0, 4)...), attribute(1, 3)...)
	body := append(stringChunk(texts, isUTF8), chunk(chunkStartElement, words(1, none), element)...)
	return chunk(chunkXML, nil, body)
}

// binaryAPK returns an APK with nothing but its manifest.
func binaryAPK(app, version string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	f, _ := w.Create("AndroidManifest.xml") // writing to memory does not fail
	_, _ = f.Write(binaryManifest(app, version, false))
	_ = w.Close()
	return out.Bytes()
}

func TestManifest(t *testing.T) {
	t.Parallel()
	for _, isUTF8 := range []bool{true, false} {
		data := binaryManifest("com.example.größe", "1.2", isUTF8)
		if m, err := parseManifest(data); err != nil || m.Package != "com.example.größe" || m.Version != "1.2" {
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
	if m, err := readManifest(path); err != nil || m.Package != "a.b" {
		t.Errorf("got %+v, %v", m, err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add(binaryManifest("a.b", "1", true))
	f.Add(binaryManifest("a.b", "1", false))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = parseManifest(data) })
}
