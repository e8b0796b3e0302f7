package phones

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
)

// manifest is what a simulated phone reads from an APK.
type manifest struct {
	app, version string
	code         int
	split        string // empty for the base of an app
	needsSplits  bool
}

// APK returns a file that a simulated phone installs like an APK. Phones do not accept it: its manifest is plain text.
func APK(app string, code int, version string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, _ := w.Create("AndroidManifest.xml") // writing to memory does not fail
	fmt.Fprintf(f, "simulated %s %d %s", app, code, version)
	_ = w.Close()
	return b.Bytes()
}

// ServerAPKs returns the APKs of a version of the UiAutomator2 server, by the names of their files.
func ServerAPKs(version string) map[string][]byte {
	return map[string][]byte{
		"appium-uiautomator2-server-v" + version + ".apk":  APK(serverApp, serverCode(version), version),
		"appium-uiautomator2-server-debug-androidTest.apk": APK(serverTestApp, 1, version),
	}
}

var errAPK = errors.New("INSTALL_PARSE_FAILED_NOT_APK: Failed to parse the manifest")

// readManifest reads the manifest of an APK.
func readManifest(apk []byte) (manifest, error) {
	archive, err := zip.NewReader(bytes.NewReader(apk), int64(len(apk)))
	if err != nil {
		return manifest{}, errAPK
	}
	f, err := archive.Open("AndroidManifest.xml")
	if err != nil {
		return manifest{}, errAPK
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return manifest{}, errAPK
	}
	var m manifest
	if n, _ := fmt.Sscanf(string(data), "simulated %s %d %s", &m.app, &m.code, &m.version); n == 3 {
		return m, nil
	}
	return readBinaryManifest(data)
}

// readBinaryManifest reads the attributes of the first element of Android's binary XML: chunks with a type, the length
// of their head and their length.
func readBinaryManifest(data []byte) (m manifest, err error) {
	defer func() {
		if recover() != nil { // an index out of range: the file is broken
			err = errAPK
		}
	}()
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(data[at:])) }
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(data[at:])) }
	var strings []string
	for at := u16(2); at < len(data); at += u32(at + 4) {
		switch u16(at) {
		case 0x0001: // string pool
			strings = stringPool(data[at:])
		case 0x0102: // start of an element
			for i := range u16(at + 28) {
				attribute := at + 36 + i*20
				value := u32(attribute + 16)
				switch strings[u32(attribute+4)] {
				case "package":
					m.app = strings[value]
				case "versionCode":
					m.code = value
				case "versionName":
					m.version = strings[value]
				case "split":
					m.split = strings[value]
				case "isSplitRequired":
					m.needsSplits = value != 0
				}
			}
			if m.app == "" {
				return m, errAPK
			}
			return m, nil
		}
	}
	return m, errAPK
}

// stringPool returns the strings of a chunk of strings, in UTF-8 or UTF-16.
func stringPool(chunk []byte) []string {
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(chunk[at:])) }
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(chunk[at:])) }
	isUTF8 := u32(16)&0x100 != 0
	list := make([]string, u32(8))
	for i := range list {
		at := u32(20) + u32(28+4*i)
		if isUTF8 {
			_, at = shortLength(chunk, at) // in UTF-16
			length, start := shortLength(chunk, at)
			list[i] = string(chunk[start : start+length])
			continue
		}
		units := make([]uint16, u16(at))
		for k := range units {
			units[k] = uint16(u16(at + 2 + 2*k))
		}
		list[i] = string(utf16.Decode(units))
	}
	return list
}

// shortLength reads a length of one or two bytes, and returns what follows it.
func shortLength(data []byte, at int) (length, next int) {
	if data[at]&0x80 == 0 {
		return int(data[at]), at + 1
	}
	return int(data[at]&0x7f)<<8 | int(data[at+1]), at + 2
}
