package android

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
)

// manifest is what an APK says of itself.
type manifest struct {
	Package string
	Version string // versionName; empty when it is a reference to a resource
	Split   string // the name of a part of an app; empty for its base
}

// maxManifest is the largest AndroidManifest.xml that is read, in bytes.
const maxManifest = 8 << 20

var errNoManifest = errors.New("it contains no AndroidManifest.xml in the binary form")

// readManifest returns the manifest of an APK of a size.
func readManifest(content io.ReaderAt, size int64) (manifest, error) {
	archive, err := zip.NewReader(content, size)
	if err != nil {
		return manifest{}, err
	}
	file, err := archive.Open("AndroidManifest.xml")
	if err != nil {
		return manifest{}, errNoManifest
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxManifest))
	if err != nil {
		return manifest{}, fmt.Errorf("AndroidManifest.xml: %w", err)
	}
	return parseManifest(data)
}

// Types of the chunks of binary XML (frameworks/base, ResourceTypes.h).
const (
	chunkStrings      = 0x0001
	chunkXML          = 0x0003
	chunkStartElement = 0x0102

	chunkHeader = 8 // bytes: type, size of the header, size of the chunk
	stringsUTF8 = 1 << 8
)

// parseManifest reads binary XML until its first element, which is manifest.
func parseManifest(data []byte) (manifest, error) {
	if len(data) < chunkHeader || u16(data, 0) != chunkXML {
		return manifest{}, errNoManifest
	}
	var text func(index int) string
	for rest := data[chunkHeader:]; len(rest) >= chunkHeader; {
		size := u32(rest, 4)
		if size < chunkHeader || size > len(rest) {
			break
		}
		chunk := rest[:size]
		rest = rest[size:]
		switch u16(chunk, 0) {
		case chunkStrings:
			text = func(index int) string { return poolString(chunk, index) }
		case chunkStartElement:
			if text == nil {
				return manifest{}, errNoManifest
			}
			m := manifestElement(chunk, text)
			if m.Package == "" {
				return manifest{}, errNoManifest
			}
			return m, nil
		}
	}
	return manifest{}, errNoManifest
}

// manifestElement reads the attributes of an element.
func manifestElement(chunk []byte, text func(index int) string) manifest {
	var m manifest
	body := int(u16(chunk, 2)) // after the header: namespace and name, then where the attributes start
	start, size, count := body+int(u16(chunk, body+8)), int(u16(chunk, body+10)), int(u16(chunk, body+12))
	for i := range count {
		attribute := start + i*size
		switch name, value := text(u32(chunk, attribute+4)), text(u32(chunk, attribute+8)); name {
		case "package":
			m.Package = value
		case "versionName":
			m.Version = value
		case "split":
			m.Split = value
		}
	}
	return m
}

// poolString returns a string of a string pool, "" for an index outside of it.
func poolString(pool []byte, index int) string {
	if index < 0 || index >= u32(pool, 8) {
		return ""
	}
	at := u32(pool, 20) + u32(pool, int(u16(pool, 2))+4*index)
	if u32(pool, 16)&stringsUTF8 == 0 {
		length := int(u16(pool, at))
		units := make([]uint16, 0, min(length, len(pool)))
		for i := range min(length, len(pool)) {
			units = append(units, u16(pool, at+2+2*i))
		}
		return string(utf16.Decode(units))
	}
	at += lengthSize(pool, at)     // in characters
	length := lengthSize(pool, at) // in bytes
	end := bytes.IndexByte(pool[min(max(at, 0)+length, len(pool)):], 0)
	if at < 0 || end < 0 {
		return ""
	}
	return string(pool[at+length : at+length+end])
}

// lengthSize returns how many bytes a length takes in a pool of UTF-8.
func lengthSize(pool []byte, at int) int {
	if at >= 0 && at < len(pool) && pool[at]&0x80 != 0 {
		return 2
	}
	return 1
}

// u16 and u32 return a number in little-endian order, 0 outside of data.
func u16(data []byte, at int) uint16 {
	if at < 0 || at+2 > len(data) {
		return 0
	}
	return binary.LittleEndian.Uint16(data[at:])
}

func u32(data []byte, at int) int {
	if at < 0 || at+4 > len(data) {
		return 0
	}
	return int(int32(binary.LittleEndian.Uint32(data[at:]))) //nolint:gosec // -1 stands for none
}
