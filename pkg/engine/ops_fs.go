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

// maxReadBytes is the largest number of bytes that fs.read returns, which may be less than was requested.
const maxReadBytes = 16 << 20

// fileOps returns the operations of the file system, each synchronous and asynchronous.
func fileOps() (map[string]syncOp, map[string]asyncOp) {
	jobs := map[string]asyncOp{
		"fs.open": openFile, "fs.close": closeFile, "fs.read": readFile, "fs.write": writeFile, "fs.sync": syncFile,
		"fs.readAll": readWholeFile, "fs.writeAll": writeWholeFile, "fs.copy": copyFile,
		"fs.stat": statFile(os.Stat, "stat"), "fs.lstat": statFile(os.Lstat, "lstat"), "fs.fstat": statOpen,
		"fs.mkdir": makeDir, "fs.mkdtemp": makeTempDir, "fs.readdir": listDir, "fs.rmdir": removeDir, "fs.unlink": unlink,
		"fs.removeAll": removeAll, "fs.rename": twoPathOp("rename", os.Rename), "fs.link": twoPathOp("link", os.Link),
		"fs.symlink": symlink, "fs.readlink": readLink, "fs.realpath": realPath, "fs.access": accessFile,
		"fs.chmod": changeMode, "fs.utimes": changeTimes, "fs.truncate": truncate,
	}
	ops := map[string]syncOp{}
	for name, job := range jobs {
		ops[name] = func(e *Engine, args []any) (any, error) { return job(e.ctx, e, args) }
	}
	return ops, jobs
}

// openedFile is a file that a script has opened.
type openedFile struct {
	*os.File
	appends bool
}

// path returns a path argument as the system needs it, and as the script wrote it. A relative path is relative to the
// engine's working directory. It is not cleaned, because "link/.." may be another directory than ".".
func (e *Engine) path(args []any, i int) (name, written string) {
	written = arg[string](args, i)
	if written == "" || filepath.IsAbs(written) {
		return written, written
	}
	return e.spec.Dir + string(filepath.Separator) + written, written
}

func (e *Engine) file(args []any, call string) (*openedFile, error) {
	f, ok := lookupHandle[*openedFile](&e.handles, intArg(args, 0))
	if !ok {
		return nil, fsError(syscall.EBADF, call)
	}
	return f, nil
}

// The flags of open(2) on Linux, which scripts see on every system.
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

// openPath opens files and directories. It does not open pipes and terminals, because opening or reading one may block
// without end.
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
	case err == nil && mayBlock(name, info):
		return nil, &hostError{Code: "ENOTSUP", Props: map[string]any{"errno": -95.0, "syscall": "open", "path": written}, Message: fmt.Sprintf(
			"ENOTSUP: the embedded engine opens files and directories, but not pipes, sockets and devices, open '%s'", written)}
	case err == nil && flags&flagDir != 0 && !info.IsDir():
		return nil, fsError(syscall.ENOTDIR, "open", written)
	}
	f, err := os.OpenFile(name, mode, perm)
	return f, fsError(err, "open", written)
}

// mayBlock reports whether opening or reading a file may block: everything but files, directories and some devices.
func mayBlock(name string, info fs.FileInfo) bool {
	for _, ours := range []string{"/dev/std", "/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"} {
		if strings.HasPrefix(name, ours) { // file descriptors of this process
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

// openFile implements fs.open(path, flags, mode): it returns a number.
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

// closeFile implements fs.close(number).
func closeFile(_ context.Context, e *Engine, args []any) (any, error) {
	f, err := e.file(args, "close")
	if err != nil {
		return nil, err
	}
	e.handles.remove(int(intArg(args, 0)))
	return nil, fsError(f.Close(), "close")
}

// readFile implements fs.read(number, length, position or nil). It may return fewer bytes, and none at the end.
func readFile(_ context.Context, e *Engine, args []any) (any, error) {
	f, err := e.file(args, "read")
	if err != nil {
		return nil, err
	}
	data := make([]byte, max(0, min(intArg(args, 1), maxReadBytes)))
	var n int
	if position, ok := args[2].(float64); ok {
		n, err = f.ReadAt(data, int64(position))
	} else {
		n, err = f.Read(data)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fsError(err, "read")
	}
	return data[:n], nil
}

// writeFile implements fs.write(number, bytes or text, position or nil): it returns the number of bytes written.
func writeFile(_ context.Context, e *Engine, args []any) (any, error) {
	f, err := e.file(args, "write")
	if err != nil {
		return nil, err
	}
	var n int
	if position, ok := args[2].(float64); ok && !f.appends {
		n, err = f.WriteAt(contentArg(args, 1), int64(position))
	} else {
		n, err = f.Write(contentArg(args, 1))
	}
	return float64(n), fsError(err, "write")
}

// contentArg returns an argument as bytes; text is encoded as UTF-8.
func contentArg(args []any, i int) []byte {
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
	return nil, fsError(f.Sync(), "fsync")
}

// readWholeFile implements fs.readAll(path or number, flags, asText): it reads to the end of the file.
func readWholeFile(ctx context.Context, e *Engine, args []any) (any, error) {
	f, err := e.fileOrPath(args, "read", 0)
	if err != nil {
		return nil, err
	}
	defer f.release()
	size := int64(512)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if size = info.Size(); size > maxValueBytes {
			return nil, fileTooLargeError(size)
		}
	}
	data, err := readAllLimited(ctx, f, size+1)
	if errors.Is(err, errTooLarge) {
		return nil, fileTooLargeError(maxValueBytes + 1)
	}
	if err != nil {
		return nil, fsError(err, "read")
	}
	if arg[bool](args, 2) {
		return decodeUTF8(data), nil
	}
	return data, nil
}

var errTooLarge = errors.New("more than maxValueBytes")

// readAllLimited reads to the end of r. size is the expected number of bytes; it fails with errTooLarge above
// maxValueBytes.
func readAllLimited(ctx context.Context, r io.Reader, size int64) ([]byte, error) {
	data := make([]byte, 0, size)
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data)) // append grows by a quarter only
		}
		n, err := r.Read(data[len(data):min(cap(data), len(data)+maxReadBytes)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		case len(data) > maxValueBytes:
			return nil, errTooLarge
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

func fileTooLargeError(size int64) error {
	return &hostError{Code: "ERR_FS_FILE_TOO_LARGE", Name: "RangeError", Message: fmt.Sprintf(
		"File size (%d) exceeds %d MiB, the limit of the embedded engine; read the file in parts", size, maxValueBytes>>20)}
}

// fileArg is a file that an operation got by its number, or that it opened by its path and closes with release.
type fileArg struct {
	*os.File
	closeAfterUse bool
}

func (f fileArg) release() {
	if f.closeAfterUse {
		_ = f.Close()
	}
}

// fileOrPath returns the open file of a number, or opens a path with the flags of the next argument.
func (e *Engine) fileOrPath(args []any, call string, perm fs.FileMode) (fileArg, error) {
	if _, ok := args[0].(float64); ok {
		f, err := e.file(args, call)
		if err != nil {
			return fileArg{}, err
		}
		return fileArg{f.File, false}, nil
	}
	name, written := e.path(args, 0)
	f, err := openPath(name, written, intArg(args, 1), perm)
	return fileArg{f, true}, err
}

// writeWholeFile implements fs.writeAll(path or number, flags, mode, bytes or text, flush).
func writeWholeFile(_ context.Context, e *Engine, args []any) (any, error) {
	f, err := e.fileOrPath(args, "write", permissions(args, 2))
	if err != nil {
		return nil, err
	}
	_, err = f.Write(contentArg(args, 3))
	if err == nil && arg[bool](args, 4) {
		err = f.Sync()
	}
	if f.closeAfterUse {
		err = errors.Join(err, f.Close())
	}
	return nil, fsError(err, "write")
}

// copyFile implements fs.copy(from, to, exclusive).
func copyFile(ctx context.Context, e *Engine, args []any) (any, error) {
	from, writtenFrom := e.path(args, 0)
	to, writtenTo := e.path(args, 1)
	fail := func(err error) (any, error) { return nil, fsError(err, "copyfile", writtenFrom, writtenTo) }
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
	_, err = io.Copy(out, &contextReader{ctx, in})
	return fail(errors.Join(err, out.Close()))
}

// contextReader fails when its context is done.
type contextReader struct {
	ctx context.Context //nolint:containedctx // Read has no context argument
	io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// systemStat has what os.FileInfo lacks.
type systemStat struct {
	dev, mode, links, uid, gid, rdev, blockSize, inode, blocks float64
	accessed, changed                                          float64 // milliseconds
}

// statFile implements fs.stat and fs.lstat(path).
func statFile(stat func(string) (os.FileInfo, error), call string) asyncOp {
	return func(_ context.Context, e *Engine, args []any) (any, error) {
		name, written := e.path(args, 0)
		info, err := stat(name)
		if err != nil {
			return nil, fsError(err, call, written)
		}
		return statValues(info), nil
	}
}

// statOpen implements fs.fstat(number).
func statOpen(_ context.Context, e *Engine, args []any) (any, error) {
	f, err := e.file(args, "fstat")
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fsError(err, "fstat")
	}
	return statValues(info), nil
}

// statValues returns the fields of node's Stats, in its order. The birth time is approximated, because not every system
// has it.
func statValues(info os.FileInfo) []any {
	s := statSystem(info)
	if s.mode == 0 {
		s.mode = float64(unixMode(info.Mode()))
	}
	written := float64(info.ModTime().UnixMicro()) / 1e3
	if s.changed == 0 {
		s.accessed, s.changed = written, written
	}
	return []any{
		s.dev, s.mode, s.links, s.uid, s.gid, s.rdev, s.blockSize, s.inode, float64(info.Size()), s.blocks,
		s.accessed, written, s.changed, min(s.changed, written),
	}
}

// The file types in st_mode of a Unix system.
const (
	kindPipe    = 0o010000
	kindChar    = 0o020000
	kindDir     = 0o040000
	kindBlock   = 0o060000
	kindRegular = 0o100000
	kindLink    = 0o120000
	kindSocket  = 0o140000
)

// unixMode returns the type and permissions of a file as st_mode has them.
func unixMode(mode fs.FileMode) int {
	return fileType(mode) | int(mode.Perm())
}

func fileType(mode fs.FileMode) int {
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

// makeDir implements fs.mkdir(path, recursive, mode): when recursive, it returns the first directory that it created,
// or nil.
func makeDir(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	mode := permissions(args, 2)
	if !arg[bool](args, 1) {
		return nil, fsError(os.Mkdir(name, mode), "mkdir", written)
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return nil, fsError(syscall.EEXIST, "mkdir", written)
	}
	var first any
	for dir := filepath.Clean(written); ; dir = filepath.Dir(dir) {
		whole, _ := e.path([]any{dir}, 0)
		if _, err := os.Lstat(whole); err == nil || dir == filepath.Dir(dir) {
			break
		}
		first = dir
	}
	return first, fsError(os.MkdirAll(name, mode), "mkdir", written)
}

// makeTempDir implements fs.mkdtemp(prefix): it returns the path.
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
			return nil, fsError(err, "mkdtemp", written+"XXXXXX")
		}
	}
	return nil, fsError(syscall.EEXIST, "mkdtemp", written+"XXXXXX")
}

// listDir implements fs.readdir(path): it returns alternating names and types, sorted by name.
func listDir(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, fsError(err, "scandir", written)
	}
	out := make([]any, 0, 2*len(entries))
	for _, entry := range entries {
		out = append(out, entry.Name(), float64(fileType(entry.Type())))
	}
	return out, nil
}

// removeDir implements fs.rmdir(path).
func removeDir(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	info, err := os.Lstat(name)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err == nil {
		err = os.Remove(name)
	}
	return nil, fsError(err, "rmdir", written)
}

// unlink implements fs.unlink(path).
func unlink(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	info, err := os.Lstat(name)
	if err == nil && info.IsDir() {
		err = syscall.EISDIR
	}
	if err == nil {
		err = os.Remove(name)
	}
	return nil, fsError(err, "unlink", written)
}

// removeAll implements fs.removeAll(path).
func removeAll(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	return nil, fsError(os.RemoveAll(name), "rm", written)
}

// twoPathOp returns an operation (from, to); syscall is its name in errors.
func twoPathOp(name string, do func(from, to string) error) asyncOp {
	return func(_ context.Context, e *Engine, args []any) (any, error) {
		from, writtenFrom := e.path(args, 0)
		to, writtenTo := e.path(args, 1)
		return nil, fsError(do(from, to), name, writtenFrom, writtenTo)
	}
}

// symlink implements fs.symlink(target, path). The target stays as the script wrote it, because it is relative to the
// directory of the link.
func symlink(_ context.Context, e *Engine, args []any) (any, error) {
	target := arg[string](args, 0)
	name, written := e.path(args, 1)
	return nil, fsError(os.Symlink(target, name), "symlink", target, written)
}

// readLink implements fs.readlink(path).
func readLink(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	target, err := os.Readlink(name)
	return target, fsError(err, "readlink", written)
}

// realPath implements fs.realpath(path).
func realPath(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	if written == "" {
		name = e.spec.Dir
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, fsError(err, "realpath", written)
	}
	return filepath.Clean(real), nil
}

// accessFile implements fs.access(path, mode).
func accessFile(_ context.Context, e *Engine, args []any) (any, error) {
	name, written := e.path(args, 0)
	return nil, fsError(access(name, uint32(intArg(args, 1)&0o7)), "access", written)
}

// changeMode implements fs.chmod(path or number, mode).
func changeMode(_ context.Context, e *Engine, args []any) (any, error) {
	mode := fs.FileMode(intArg(args, 1)) & fs.ModePerm
	if _, ok := args[0].(float64); ok {
		f, err := e.file(args, "fchmod")
		if err != nil {
			return nil, err
		}
		return nil, fsError(f.Chmod(mode), "fchmod")
	}
	name, written := e.path(args, 0)
	return nil, fsError(os.Chmod(name, mode), "chmod", written)
}

// changeTimes implements fs.utimes(path or number, accessed, modified), with times in milliseconds.
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
		return nil, fsError(err, call)
	}
	return nil, fsError(err, call, written)
}

// truncate implements fs.truncate(path or number, length).
func truncate(_ context.Context, e *Engine, args []any) (any, error) {
	size := intArg(args, 1)
	if _, ok := args[0].(float64); ok {
		f, err := e.file(args, "ftruncate")
		if err != nil {
			return nil, err
		}
		return nil, fsError(f.Truncate(size), "ftruncate")
	}
	name, written := e.path(args, 0)
	f, err := openPath(name, written, flagBoth, 0)
	if err != nil {
		return nil, err
	}
	return nil, fsError(errors.Join(f.Truncate(size), f.Close()), "ftruncate")
}
