package mobile

import (
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"testing"
)

// header returns the beginning of a PNG of a size, without its pixels.
func header(width, height uint32) []byte {
	chunk := []byte("IHDR")
	chunk = binary.BigEndian.AppendUint32(chunk, width)
	chunk = binary.BigEndian.AppendUint32(chunk, height)
	chunk = append(chunk, 8, 6, 0, 0, 0)
	out := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
	out = append(out, chunk...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
	return append(append(out, 0, 0, 0, 9), "IDAT\x78\x9c"...) // the beginning of compressed pixels
}

// TestHugePicturesAreNotDecoded checks that a picture whose header says that it is huge takes no memory.
//
//nolint:paralleltest // it measures the memory of the process
func TestHugePicturesAreNotDecoded(t *testing.T) {
	for _, size := range [][2]uint32{{40_000, 20_000}, {1, 1 << 30}, {1 << 30, 1}, {0, 0}} {
		picture := header(size[0], size[1])
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if isBlack(picture) {
			t.Errorf("%d x %d pixels are black", size[0], size[1])
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%d x %d pixels took %d bytes", size[0], size[1], n)
		}
	}
}
