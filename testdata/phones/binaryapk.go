package phones

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// Manifest is what an APK says of itself.
type Manifest struct {
	App, Version string
	// Split is the name of a part of an app; empty for its base.
	Split string
	// NeedsSplits says that the base cannot be installed alone.
	NeedsSplits bool
	UTF8        bool // the strings are in UTF-8, not in UTF-16
}

// BinaryAPK returns an APK with nothing but its manifest.
func BinaryAPK(m Manifest) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	f, _ := w.Create("AndroidManifest.xml") // writing to memory does not fail
	_, _ = f.Write(BinaryManifest(m))
	_ = w.Close()
	return out.Bytes()
}

// BinaryManifest returns a manifest as the tools of Android write it: binary XML with one element.
func BinaryManifest(m Manifest) []byte {
	const none, text, number, boolean = 0xffffffff, 0x03000008, 0x10000008, 0x12000008
	texts := []string{"manifest"}
	index := func(s string) uint32 {
		texts = append(texts, s)
		return uint32(len(texts) - 1)
	}
	var attributes []byte
	count := byte(0)
	add := func(name string, kind, value uint32) {
		attributes = append(attributes, words(none, index(name), none, kind, value)...)
		count++
	}
	addText := func(name, value string) {
		if value != "" {
			i := index(value)
			attributes = append(attributes, words(none, index(name), i, text, i)...)
			count++
		}
	}
	add("versionCode", number, 30)
	addText("versionName", m.Version)
	addText("package", m.App)
	addText("split", m.Split)
	if m.NeedsSplits {
		add("isSplitRequired", boolean, none)
	}
	element := append(words(none, 0), 20, 0, 20, 0, count, 0, 0, 0, 0, 0, 0, 0)
	element = append(element, attributes...)
	body := append(stringChunk(texts, m.UTF8), chunk(0x0102, words(1, none), element)...)
	return chunk(0x0003, nil, body)
}

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
	const utf8Flag = 1 << 8
	flags := uint32(0)
	if isUTF8 {
		flags = utf8Flag
	}
	fields := words(uint32(len(texts)), 0, flags, uint32(28+4*len(texts)), 0)
	return chunk(0x0001, fields, append(words(offsets...), data...))
}
