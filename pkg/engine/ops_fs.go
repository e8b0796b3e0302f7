package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// maxRead is how much one read of an open file gives; a read may give less than was asked for.
const maxRead = 16 << 20

// fileOps are the calls of the file system, each as an operation and as a job. What is more than one call is JavaScript.
func fileOps() (map[string]op, map[string]job) {
	jobs := map[string]job{
		"fs.open": openFile, "fs.close": closeFile, "fs.read": readFile, "fs.write": writeFile, "fs.sync": syncFile,
		"fs.readAll": readAll, "fs.writeAll": writeAll, "fs.copy": copyFile,
		"fs.stat": statFile(os.Stat, "stat"), "fs.lstat": statFile(os.Lstat, "lstat"), "fs.fstat": statOpen,
		"fs.mkdir": makeDir, "fs.mkdtemp": makeTempDir, "fs.readdir": readDir, "fs.rmdir": removeDir, "fs.unlink": unlink,
		"fs.removeAll": removeAll, "fs.rename": twoPaths("rename", os.Rename), "fs.link": twoPaths("link", os.Link),
		"fs.symlink": symlink, "fs.readlink": readLink, "fs.realpath": realPath, "fs.access": accessFile,
		"fs.chmod": changeMode, "fs.utimes": changeTimes, "fs.truncate": truncate,
	}
	ops := map[string]op{}
	for name, job := range jobs {
		ops[name] = func(e *Engine, args []any) (any, error) { return job(e.ctx, e, args) }
	}
	return ops, jobs
}

// openedFile is a file that JavaScript has a number of.
type openedFile struct {
	*os.File
	appends bool
}

// path is an argument as a path of the system: relative ones are below the engine's folder. It is not cleaned, since "link/.." is not
// nothing.
func (e *Engine) path(args []any, i int) (name, written string) {
	written = arg[string](args, i)
	if written == "" || filepath.IsAbs(written) {
		return written, written
	}
	return e.spec.Dir + string(filepath.Separator) + written, written
}

func (e *Engine) file(args []any, call string) (*openedFile, error) {
	f, ok := handle[*openedFile](&e.handles, intArg(args, 0))
	if !ok {
		return nil, failure(syscall.EBADF, call)
	}
	return f, nil
}

// The flags of open as they are on Linux, which JavaScript has on every system.
const (
	flagWrite    = 0o1
	flagBoth     = 0o2
	flagCreate   = 0o100
	flagExcl     = 0o200
	flagTruncate = 0o1000
	flagAppend   = 0o2000
	flagDir      = 0o200000
	flagSync     = 0o4010000
)

// openPath opens files and folders, and no pipes or terminals: nothing could end the wait for their other side.
func openPath(name, written string, flags int64, perm fs.FileMode) (*os.File, error) {
	mode := os.O_RDONLY
	switch {
	case flags&flagBoth != 0:
		mode = os.O_RDWR
	case flags&flagWrite != 0:
		mode = os.O_WRONLY
	}
	for bit, ours := range map[int64]int{
		flagCreate: os.O_CREATE, flagExcl: os.O_EXCL, flagTruncate: os.O_TRUNC, flagAppend: os.O_APPEND, flagSync: os.O_SYNC,
	} {
		if flags&bit != 0 {
			mode |= ours
		}
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && waits(name, info):
		return nil, &hostError{Code: "ENOTSUP", Props: map[string]any{"errno": -95.0, "syscall": "open", "path": written}, Message: fmt.Sprintf(
			"ENOTSUP: the embedded engine opens files and folders, no pipes, sockets or devices, open '%s'", written)}
	case err == nil && flags&flagDir != 0 && !info.IsDir():
		return nil, failure(syscall.ENOTDIR, "open", written)
	}
	f, err := os.OpenFile(name, mode, perm)
	return f, failure(err, "open", written)
}

// waits tells whether a file has another side: everything but files and folders, except what always answers.
func waits(name string, info fs.FileInfo) bool {
	for _, ours := range []string{"/dev/std", "/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"} {
		if strings.HasPrefix(name, ours) { // descriptors of trailblaze
			return true
		}
	}
	if info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice|fs.ModeIrregular) == 0 {
		return false
	}
	switch strings.ToLower(name) {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "nul", `\\.\nul`:
		return false
	}
	return true
}

// openFile is (path, flags, mode): a number.
func openFile(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	flags := intArg(args, 1)
	f, err := openPath(name, written, flags, permissions(args, 2))
	if err != nil {
		return nil, err
	}
	return float64(e.handles.add(&openedFile{f, flags&flagAppend != 0})), nil
}

func permissions(args []any, i int) fs.FileMode { return fs.FileMode(intArg(args, i)) & fs.ModePerm }

// closeFile is (number).
func closeFile(_ context.Context, e *Engine, args []any) (any, error) {
	f, err := e.file(args, "close")
	if err != nil {
		return nil, err
	}
	e.handles.remove(int(intArg(args, 0)))
	return nil, failure(f.Close(), "close")
}

// readFile is (number, length, position or nil): at most that many bytes, none at the end.
func readFile(_ context.Context, e *Engine, args []any) (any, error) {
	f, err := e.file(args, "read")
	if err != nil {
		return nil, err
	}
	data := make([]byte, max(0, min(intArg(args, 1), maxRead)))
	var n int
	if position, ok := args[2].(float64); ok {
		n, err = f.ReadAt(data, int64(position))
	} else {
		n, err = f.Read(data)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, failure(err, "read")
	}
	return data[:n], nil
}

// writeFile is (number, bytes or text, position or nil): how many bytes were written.
func writeFile(_ context.Context, e *Engine, args []any) (any, error) {
	f, err := e.file(args, "write")
	if err != nil {
		return nil, err
	}
	var n int
	if position, ok := args[2].(float64); ok && !f.appends {
		n, err = f.WriteAt(content(args, 1), int64(position))
	} else {
		n, err = f.Write(content(args, 1))
	}
	return float64(n), failure(err, "write")
}

// content is what is to be written: bytes, or text as UTF-8.
func content(args []any, i int) []byte {
	if text, ok := args[i].(string); ok {
		return []byte(text)
	}
	return arg[[]byte](args, i)
}

func syncFile(_ context.Context, e *Engine, args []any) (any, error) {
	f, err := e.file(args, "fsync")
	if err != nil {
		return nil, err
	}
	return nil, failure(f.Sync(), "fsync")
}

// readAll is (path or number, flags, whether text is wanted): the rest of the file.
func readAll(ctx context.Context, e *Engine, args []any) (any, error) {
	f, err := e.fileOrPath(args, "read", 0)
	if err != nil {
		return nil, err
	}
	defer f.done()
	size := int64(512)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if size = info.Size(); size > maxBytes {
			return nil, tooLarge(size)
		}
	}
	data, err := readWhole(ctx, f, size+1)
	if errors.Is(err, errTooLarge) {
		return nil, tooLarge(maxBytes + 1)
	}
	if err != nil {
		return nil, failure(err, "read")
	}
	if arg[bool](args, 2) {
		return decodeUTF8(data), nil
	}
	return data, nil
}

var errTooLarge = errors.New("there is more than an engine takes at once")

// readWhole reads to the end, which may be far from where the size says that it is.
func readWhole(ctx context.Context, r io.Reader, size int64) ([]byte, error) {
	data := make([]byte, 0, size)
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data)) // append alone grows by a quarter
		}
		n, err := r.Read(data[len(data):min(cap(data), len(data)+maxRead)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		case len(data) > maxBytes:
			return nil, errTooLarge
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

func tooLarge(size int64) error {
	return &hostError{Code: "ERR_FS_FILE_TOO_LARGE", Name: "RangeError", Message: fmt.Sprintf(
		"File size (%d) is greater than the %d MiB that the embedded engine reads at once; read it in parts", size, maxBytes>>20)}
}

// eitherFile is a file that stays open, or one that is closed with done.
type eitherFile struct {
	*os.File
	ours bool
}

func (f eitherFile) done() {
	if f.ours {
		_ = f.Close()
	}
}

// fileOrPath is the open file of a number, or that of a path, opened with the flags of the next argument and a mode.
func (e *Engine) fileOrPath(args []any, call string, perm fs.FileMode) (eitherFile, error) {
	if _, ok := args[0].(float64); ok {
		f, err := e.file(args, call)
		if err != nil {
			return eitherFile{}, err
		}
		return eitherFile{f.File, false}, nil
	}
	name, written := e.path(args, 0)
	f, err := openPath(name, written, intArg(args, 1), perm)
	return eitherFile{f, true}, err
}

// writeAll is (path or number, flags, mode, bytes or text, whether it has to reach the disk).
func writeAll(_ context.Context, e *Engine, args []any) (any, error) {
	f, err := e.fileOrPath(args, "write", permissions(args, 2))
	if err != nil {
		return nil, err
	}
	_, err = f.Write(content(args, 3))
	if err == nil && arg[bool](args, 4) {
		err = f.Sync()
	}
	if f.ours {
		err = errors.Join(err, f.Close())
	}
	return nil, failure(err, "write")
}

// copyFile is (from, to, whether to must not be there).
func copyFile(ctx context.Context, e *Engine, args []any) (any, error) {
	from, writtenFrom := e.path(args, 0)
	to, writtenTo := e.path(args, 1)
	fail := func(err error) (any, error) { return nil, failure(err, "copyfile", writtenFrom, writtenTo) }
	info, err := os.Stat(from)
	if err != nil {
		return fail(err)
	}
	if info.IsDir() {
		return fail(syscall.EISDIR)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if arg[bool](args, 2) {
		flags |= os.O_EXCL
	} else if other, err := os.Stat(to); err == nil && os.SameFile(info, other) {
		return nil, nil
	}
	in, err := openPath(from, writtenFrom, 0, 0)
	if err != nil {
		return fail(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, flags, info.Mode().Perm())
	if err != nil {
		return fail(err)
	}
	_, err = io.Copy(out, &untilDone{ctx, in})
	return fail(errors.Join(err, out.Close()))
}

// untilDone reads until a context ends.
type untilDone struct {
	ctx context.Context //nolint:containedctx // a reader has no other way to know
	io.Reader
}

func (r *untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// systemFacts are what os.FileInfo does not have.
type systemFacts struct {
	dev, mode, links, uid, gid, rdev, blockSize, inode, blocks float64
	read, changed                                              float64 // milliseconds
}

func statFile(stat func(string) (os.FileInfo, error), call string) job {
	return func(_ context.Context, e *Engine, args []any) (any, error) {
		name, written := e.path(args, 0)
		info, err := stat(name)
		if err != nil {
			return nil, failure(err, call, written)
		}
		return facts(info), nil
	}
}

// statOpen is (number).
func statOpen(_ context.Context, e *Engine, args []any) (any, error) {
	f, err := e.file(args, "fstat")
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, failure(err, "fstat")
	}
	return facts(info), nil
}

// facts are what node's Stats has, in its order. No system of ours tells all of them when a file was made.
func facts(info os.FileInfo) []any {
	s := system(info)
	if s.mode == 0 {
		s.mode = float64(unixMode(info.Mode()))
	}
	written := float64(info.ModTime().UnixMicro()) / 1e3
	if s.changed == 0 {
		s.read, s.changed = written, written
	}
	return []any{
		s.dev, s.mode, s.links, s.uid, s.gid, s.rdev, s.blockSize, s.inode, float64(info.Size()), s.blocks,
		s.read, written, s.changed, min(s.changed, written),
	}
}

// The kinds of files in the mode of a Unix system.
const (
	kindPipe    = 0o010000
	kindChar    = 0o020000
	kindDir     = 0o040000
	kindBlock   = 0o060000
	kindRegular = 0o100000
	kindLink    = 0o120000
	kindSocket  = 0o140000
)

func unixMode(mode fs.FileMode) int {
	return kind(mode) | int(mode.Perm())
}

func kind(mode fs.FileMode) int {
	switch {
	case mode.IsDir():
		return kindDir
	case mode&fs.ModeSymlink != 0:
		return kindLink
	case mode&fs.ModeNamedPipe != 0:
		return kindPipe
	case mode&fs.ModeSocket != 0:
		return kindSocket
	case mode&fs.ModeCharDevice != 0:
		return kindChar
	case mode&fs.ModeDevice != 0:
		return kindBlock
	}
	return kindRegular
}

// makeDir is (path, recursive, mode): the first folder that it had to make when recursive; else nil.
func makeDir(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	mode := permissions(args, 2)
	if !arg[bool](args, 1) {
		return nil, failure(os.Mkdir(name, mode), "mkdir", written)
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return nil, failure(syscall.EEXIST, "mkdir", written)
	}
	var first any
	for dir := filepath.Clean(written); ; dir = filepath.Dir(dir) {
		whole, _ := e.path([]any{dir}, 0)
		if _, err := os.Lstat(whole); err == nil || dir == filepath.Dir(dir) {
			break
		}
		first = dir
	}
	return first, failure(os.MkdirAll(name, mode), "mkdir", written)
}

// makeTempDir is (prefix): the path of a folder of its own.
func makeTempDir(_ context.Context, e *Engine, args []any) (any, error) {
	const letters, attempts = 6, 100
	name, written := e.path(args, 0)
	if written == "" {
		name = e.spec.Dir + string(filepath.Separator)
	}
	for range attempts {
		random := rand.Text()[:letters]
		err := os.Mkdir(name+random, 0o700)
		if err == nil {
			return written + random, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, failure(err, "mkdtemp", written+"XXXXXX")
		}
	}
	return nil, failure(syscall.EEXIST, "mkdtemp", written+"XXXXXX")
}

// readDir is (path): names and kinds by turns, sorted by name.
func readDir(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, failure(err, "scandir", written)
	}
	out := make([]any, 0, 2*len(entries))
	for _, entry := range entries {
		out = append(out, entry.Name(), float64(kind(entry.Type())))
	}
	return out, nil
}

func removeDir(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	info, err := os.Lstat(name)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err == nil {
		err = os.Remove(name)
	}
	return nil, failure(err, "rmdir", written)
}

func unlink(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	info, err := os.Lstat(name)
	if err == nil && info.IsDir() {
		err = syscall.EISDIR
	}
	if err == nil {
		err = os.Remove(name)
	}
	return nil, failure(err, "unlink", written)
}

// removeAll is (path).
func removeAll(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	return nil, failure(os.RemoveAll(name), "rm", written)
}

// twoPaths is an operation (from, to) that the system calls by that name.
func twoPaths(name string, do func(from, to string) error) job {
	return func(_ context.Context, e *Engine, args []any) (any, error) {
		from, writtenFrom := e.path(args, 0)
		to, writtenTo := e.path(args, 1)
		return nil, failure(do(from, to), name, writtenFrom, writtenTo)
	}
}

// symlink is (target, path): a relative target is below the folder of the link, so it stays as it is.
func symlink(_ context.Context, e *Engine, args []any) (any, error) {
	target := arg[string](args, 0)
	name, written := e.path(args, 1)
	return nil, failure(os.Symlink(target, name), "symlink", target, written)
}

func readLink(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	target, err := os.Readlink(name)
	return target, failure(err, "readlink", written)
}

func realPath(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	if written == "" {
		name = e.spec.Dir
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, failure(err, "realpath", written)
	}
	return filepath.Clean(real), nil
}

// accessFile is (path, mode).
func accessFile(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	return nil, failure(access(name, uint32(intArg(args, 1)&0o7)), "access", written)
}

// changeMode is (path or number, mode).
func changeMode(_ context.Context, e *Engine, args []any) (any, error) {
	mode := fs.FileMode(intArg(args, 1)) & fs.ModePerm
	if _, ok := args[0].(float64); ok {
		f, err := e.file(args, "fchmod")
		if err != nil {
			return nil, err
		}
		return nil, failure(f.Chmod(mode), "fchmod")
	}
	name, written := e.path(args, 0)
	return nil, failure(os.Chmod(name, mode), "chmod", written)
}

// changeTimes is (path or number, read, written), times in milliseconds.
func changeTimes(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	call := "utime"
	if _, ok := args[0].(float64); ok {
		f, err := e.file(args, "futime")
		if err != nil {
			return nil, err
		}
		name, call = f.Name(), "futime"
	}
	at := func(i int) time.Time { return time.UnixMicro(int64(arg[float64](args, i) * 1e3)) }
	err := os.Chtimes(name, at(1), at(2))
	if call == "futime" {
		return nil, failure(err, call)
	}
	return nil, failure(err, call, written)
}

// truncate is (path or number, length).
func truncate(_ context.Context, e *Engine, args []any) (any, error) {
	size := intArg(args, 1)
	if _, ok := args[0].(float64); ok {
		f, err := e.file(args, "ftruncate")
		if err != nil {
			return nil, err
		}
		return nil, failure(f.Truncate(size), "ftruncate")
	}
	name, written := e.path(args, 0)
	f, err := openPath(name, written, flagBoth, 0)
	if err != nil {
		return nil, err
	}
	return nil, failure(errors.Join(f.Truncate(size), f.Close()), "ftruncate")
}
