package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"testing"
)

func TestDecompressionBombThrows(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	block := make([]byte, 1<<20)
	for range maxValueBytes>>20 + 1 {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := run(t, bundledImports(fmt.Sprintf(`
		import zlib from "node:zlib";
		const bomb = Buffer.from(%q, "base64");
		try { zlib.gunzipSync(bomb) } catch (error) { console.log(error.code) }
		try { zlib.unzipSync(bomb, { maxOutputLength: 2 ** 40 }) } catch (error) { console.log(error.code) }
		zlib.gunzip(bomb, (error) => console.log(error.code));
	`, base64.StdEncoding.EncodeToString(bomb.Bytes()))))
	if want := "ERR_BUFFER_TOO_LARGE\nERR_BUFFER_TOO_LARGE\nERR_BUFFER_TOO_LARGE\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLimitsOpenZlibStreams(t *testing.T) {
	t.Parallel()
	got := run(t, bundledImports(fmt.Sprintf(`
		import zlib from "node:zlib";
		const open = Array.from({ length: %d }, () => zlib.createInflate());
		for (const one of open) await new Promise((resolve) => one.write(Buffer.from([0x78]), resolve));
		const more = zlib.createGzip().on("error", (error) => {
			console.log(error.code, error.errno);
			open[0].on("close", () => zlib.createGzip().end("x").on("end", () => console.log("one after another")).resume()).destroy();
		});
		more.write("x");
	`, maxZlibStreams)))
	if want := "Z_MEM_ERROR -4\none after another\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBrotliIsUnavailable(t *testing.T) {
	t.Parallel()
	got := run(t, bundledImports(`
		import zlib from "node:zlib";
		try { zlib.brotliCompressSync("x") } catch (error) { console.log(error.message) }
		console.log(typeof zlib.createBrotliDecompress);
	`))
	if want := "zlib.brotliCompressSync is not available in the embedded engine; install bun (https://bun.sh) or node\nundefined\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Decompression ends for any input, and gives the same in steps as at once.
func FuzzInflate(f *testing.F) {
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	_, _ = w.Write([]byte("hello hello hello"))
	_ = w.Close()
	for _, format := range []string{"gunzip", "inflate", "inflateRaw", "unzip"} {
		f.Add(format, append(file.Bytes(), file.Bytes()...), 1)
		f.Add(format, file.Bytes()[10:], 3)
		f.Add(format, []byte("x\x9c"), 1)
	}
	f.Fuzz(func(t *testing.T, format string, data []byte, at int) {
		if len(data) == 0 {
			return
		}
		at = int(uint(at) % uint(len(data)))
		e := newBareEngine(t)
		whole, wrong := processZlib(newTestCall(e, format, -1.0, 0.0, nil, data, 4.0, float64(maxValueBytes)))
		id, err := openZlibStream(newTestCall(e, format, -1.0, 0.0, nil))
		if err != nil {
			return
		}
		var pieces []byte
		var failure error
		for i, part := range [][]byte{data[:at], data[at:]} {
			for state := float64(zlibHasMore); state == zlibHasMore && failure == nil; part = nil {
				var r any
				if r, failure = stepZlibStream(newTestCall(e, id, part, float64(i*zlibFinish), i == 1)); failure == nil {
					pieces, state = append(pieces, bytes.Join(r.([]any)[0].(byteChunks), nil)...), r.([]any)[1].(float64)
				}
			}
		}
		if (wrong == nil) != (failure == nil) || wrong == nil && !bytes.Equal(bytes.Join(whole.(byteChunks), nil), pieces) {
			t.Errorf("at once %v (%v), in steps %v (%v)", whole, wrong, pieces, failure)
		}
	})
}
