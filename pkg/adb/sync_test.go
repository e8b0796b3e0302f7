package adb_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
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

func TestPushedFileIsPulledUnchanged(t *testing.T) {
	t.Parallel()
	p, d, _ := connected(t)
	onePacket := bytes.Repeat([]byte("x"), 64<<10)
	for name, data := range map[string][]byte{"big": threeMB(), "empty": {}, "one packet": onePacket} {
		path := "/data/local/tmp/folder/" + name
		if err := d.Push(within(t), bytes.NewReader(data), path, 0o640); err != nil {
			t.Fatal(err)
		}
		if file, err := p.files.Stat(path); err != nil || !bytes.Equal(file.Data, data) {
			t.Errorf("%s: the phone has %d bytes, %v", name, len(file.Data), err)
		}
		var pulled bytes.Buffer
		if err := d.Pull(within(t), path, &pulled); err != nil || !bytes.Equal(pulled.Bytes(), data) {
			t.Errorf("%s: pulled %d bytes, %v", name, pulled.Len(), err)
		}
		info, err := d.Stat(within(t), path)
		if err != nil || info.Size != int64(len(data)) || info.Mode != 0o100640 || info.ModTime.Year() < 2020 {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
	}
}

func TestFileErrorsSayWhatTheDeviceSaid(t *testing.T) {
	t.Parallel()
	_, d, _ := connected(t)
	if _, err := d.Stat(within(t), "/nowhere"); !errors.Is(err, fs.ErrNotExist) || fault.As(err) == nil {
		t.Errorf("stat: %v", err)
	}
	x := strings.NewReader("x")
	long := strings.Repeat("p", 2000)
	broken := iotest.ErrReader(errors.New("the disk failed"))
	on := " on " + d.Serial()
	for want, err := range map[string]error{
		"reading /nowhere" + on + ": adb: open failed: No such file or directory": d.Pull(within(t), "/nowhere", io.Discard),
		"reading " + long + on + ": adb: the path is too long":                    d.Pull(within(t), long, io.Discard),
		"writing /sdcard" + on + ": adb: couldn't create file: Is a directory":    d.Push(within(t), x, "/sdcard", 0o600),
		"writing /sdcard/f" + on + ": reading the content: the disk failed":       d.Push(within(t), broken, "/sdcard/f", 0o600),
	} {
		if err == nil || err.Error() != want || fault.KindOf(err) != fault.Server {
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
