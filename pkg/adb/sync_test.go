package adb_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// threeMB returns 3 MB that no layer can have compressed or repeated.
func threeMB() []byte {
	data := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	return data
}

func TestPushedFileIsUnchanged(t *testing.T) {
	t.Parallel()
	p, d, _ := connected(t)
	onePacket := bytes.Repeat([]byte("x"), 64<<10)
	for name, data := range map[string][]byte{"big": threeMB(), "empty": {}, "one packet": onePacket} {
		path := "/data/local/tmp/folder/" + name
		if err := d.Push(within(t), bytes.NewReader(data), path, 0o640); err != nil {
			t.Fatal(err)
		}
		file, err := p.files.Stat(path)
		if err != nil || !bytes.Equal(file.Data, data) || file.Mode != 0o100640 || file.ModTime.Year() < 2020 {
			t.Errorf("%s: the phone has %d bytes, mode %o, %v, %v", name, len(file.Data), file.Mode, file.ModTime, err)
		}
	}
}

func TestFileErrorsSayWhatTheDeviceSaid(t *testing.T) {
	t.Parallel()
	_, d, _ := connected(t)
	x := strings.NewReader("x")
	long := strings.Repeat("p", 2000)
	broken := iotest.ErrReader(errors.New("the disk failed"))
	on := " on " + d.Serial()
	for want, err := range map[string]error{
		"writing " + long + on + ": adb: the path is too long":                 d.Push(within(t), x, long, 0o600),
		"writing /sdcard" + on + ": adb: couldn't create file: Is a directory": d.Push(within(t), x, "/sdcard", 0o600),
		"writing /sdcard/f" + on + ": reading the content: the disk failed":    d.Push(within(t), broken, "/sdcard/f", 0o600),
	} {
		if err == nil || err.Error() != want || fault.KindOf(err) != fault.Device {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

func TestPushEndsWithItsContext(t *testing.T) {
	t.Parallel()
	_, d, device := connected(t)
	ctx, cancel := context.WithCancel(within(t))
	content := io.MultiReader(bytes.NewReader(threeMB()), readerFunc(func([]byte) (int, error) {
		device.SetSilent(true)
		cancel()
		return 0, io.EOF
	}))
	if err := d.Push(ctx, content, "/sdcard/f", 0o600); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("%v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// The simulation is only worth testing against if the adb program accepts it.
func TestAdbProgramWorksWithTheSimulatedDevice(t *testing.T) {
	t.Parallel()
	p, d, _ := connected(t)
	folder := t.TempDir()
	local := filepath.Join(folder, "local")
	if err := os.Mkdir(local, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(local, name), threeMB(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(want string, args ...string) {
		t.Helper()
		out, err := server.Run(within(t), append([]string{"-s", d.Serial()}, args...)...)
		if err != nil && !strings.Contains(err.Error(), "exit status 7") || !strings.Contains(out, want) {
			t.Errorf("%v: %q, %v", args, out, err)
		}
	}
	run("2 files pushed", "push", local, "/sdcard")
	run("2 files pulled", "pull", "/sdcard/local", filepath.Join(folder, "pulled"))
	run(" local", "ls", "/sdcard")
	run("to stderr", "shell", "fail")
	run(string(allBytes()), "exec-out", "bytes")
	if err := os.WriteFile(local+".apk", []byte("not really one"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("Success", "install", local+".apk")
	for _, name := range []string{"a", "b"} {
		pulled, err := os.ReadFile(filepath.Join(folder, "pulled", name))
		if err != nil || !bytes.Equal(pulled, threeMB()) {
			t.Errorf("%s: pulled %d bytes, %v", name, len(pulled), err)
		}
	}
	if file, err := p.files.Stat("/installed"); err != nil || string(file.Data) != "not really one" {
		t.Errorf("installed %q, %v", file.Data, err)
	}
}
