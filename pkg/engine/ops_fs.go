package engine

import (
	"cmp"
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

// maxReadBytes is how much is read between two checks whether the engine was stopped.
const maxReadBytes = 16 << 20

// fileOps returns the operations of the file system, each synchronous and asynchronous.
func fileOps() (syncOps, asyncOps opTable) {
	asyncOps = opTable{
		"fs.open": openFile, "fs.close": closeFile, "fs.read": readFile, "fs.write": writeFile, "fs.sync": syncFile,
		"fs.readAll": readWholeFile, "fs.writeAll": writeWholeFile, "fs.copy": copyFile,
		"fs.stat": statFile(os.Stat, "stat"), "fs.lstat": statFile(os.Lstat, "lstat"), "fs.fstat": statOpen,
		"fs.mkdir": makeDir, "fs.mkdtemp": makeTempDir, "fs.readdir": listDir, "fs.rmdir": removeDir, "fs.unlink": unlink,
		"fs.removeAll": removeAll, "fs.rename": twoPathOp("rename", os.Rename), "fs.link": twoPathOp("link", os.Link),
		"fs.symlink": symlink, "fs.readlink": readLink, "fs.realpath": realPath, "fs.access": accessFile,
		"fs.chmod": changeMode, "fs.utimes": changeTimes, "fs.truncate": truncate,
	}
	return asyncOps, asyncOps
}

// openedFile is a file that a script has opened.
type openedFile struct {
	*os.File
	appends bool
}

// path returns the i-th argument as a path for the system, with the engine's working directory before a relative path,
// and as the script wrote it. The path is not cleaned, because "link/.." may be another directory than ".".
func (c *call) path(i int) (name, written string) {
	written = arg[string](c.args, i)
	c.reserve(4 * len(written)) // for the absolute path and an error message
	return c.absolute(written), written
}

func (e *Engine) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return e.spec.Dir + string(filepath.Separator) + path
}

// file returns the open file of the first argument; syscall is the name of the operation in an error.
func (c *call) file(syscallName string) (*openedFile, error) {
	f, ok := lookupHandle[*openedFile](&c.handles, intArg(c.args, 0))
	if !ok {
		return nil, fsError(syscall.EBADF, syscallName)
	}
	return f, nil
}

// The flags of open(2) on Linux, which scripts use on every system.
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
	for bit, flag := range map[int64]int{
		flagCreate: os.O_CREATE, flagExcl: os.O_EXCL, flagTruncate: os.O_TRUNC, flagAppend: os.O_APPEND, flagSync: os.O_SYNC,
	} {
		if flags&bit != 0 {
			mode |= flag
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
	for _, prefix := range []string{"/dev/std", "/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"} {
		if strings.HasPrefix(name, prefix) { // file descriptors of this process
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
func openFile(c *call) (any, error) {
	name, written := c.path(0)
	flags := intArg(c.args, 1)
	f, err := openPath(name, written, flags, permissions(c.args, 2))
	if err != nil {
		return nil, err
	}
	return float64(c.handles.add(&openedFile{f, flags&flagAppend != 0})), nil
}

func permissions(args []any, i int) fs.FileMode { return fs.FileMode(intArg(args, i)) & fs.ModePerm }

// closeFile implements fs.close(number).
func closeFile(c *call) (any, error) {
	f, err := c.file("close")
	if err != nil {
		return nil, err
	}
	c.handles.remove(int(intArg(c.args, 0)))
	return nil, fsError(f.Close(), "close")
}

// readFile implements fs.read(number, length, position or nil). It returns fewer bytes only at the end.
func readFile(c *call) (any, error) {
	f, err := c.file("read")
	if err != nil {
		return nil, err
	}
	size := intArg(c.args, 1)
	if size > maxValueBytes {
		return nil, tooLargeError("the length", maxValueBytes)
	}
	r := io.LimitReader(f, size)
	if position, ok := c.args[2].(float64); ok {
		r = io.NewSectionReader(f, int64(position), size)
	}
	chunks, err := c.readChunks(r, min(size, maxChunk)+1)
	if err != nil {
		return nil, fsError(err, "read")
	}
	return byteChunks(chunks), nil
}

// writeFile implements fs.write(number, bytes or text, position or nil): it returns the number of bytes written.
func writeFile(c *call) (any, error) {
	f, err := c.file("write")
	if err != nil {
		return nil, err
	}
	var n int
	if position, ok := c.args[2].(float64); ok && !f.appends {
		n, err = c.writeContent(1, io.NewOffsetWriter(f, int64(position)))
	} else {
		n, err = c.writeContent(1, f)
	}
	return float64(n), fsError(err, "write")
}

// writeContent writes the i-th argument, bytes or text.
func (c *call) writeContent(i int, w io.Writer) (int, error) {
	text, ok := c.args[i].(string)
	if !ok {
		return w.Write(arg[[]byte](c.args, i))
	}
	if _, ok := w.(io.StringWriter); !ok {
		c.reserve(len(text))
	}
	return io.WriteString(w, text)
}

func syncFile(c *call) (any, error) {
	f, err := c.file("fsync")
	if err != nil {
		return nil, err
	}
	return nil, fsError(f.Sync(), "fsync")
}

// readWholeFile implements fs.readAll(path or number, flags, asText): it reads to the end of the file.
func readWholeFile(c *call) (any, error) {
	f, err := c.fileOrPath("read", 0)
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
	chunks, err := c.readChunks(f, size+1)
	if errors.Is(err, errTooLarge) {
		return nil, fileTooLargeError(maxValueBytes + 1)
	}
	if err != nil {
		return nil, fsError(err, "read")
	}
	if arg[bool](c.args, 2) {
		return textChunks(chunks), nil
	}
	return byteChunks(chunks), nil
}

var errTooLarge = errors.New("more than maxValueBytes")

// maxChunk is the largest chunk of readChunks, besides the first.
const maxChunk = 1 << 20

// readChunks reads to the end of r, and reserves the memory that it needs. size is the expected number of bytes; more
// than maxValueBytes is errTooLarge.
func (c *call) readChunks(r io.Reader, size int64) ([][]byte, error) {
	var chunks [][]byte
	for left := maxValueBytes + 1; left > 0; size = min(2*size, maxChunk) {
		size = min(size, int64(left))
		c.reserve(int(size))
		chunk := make([]byte, size)
		n, err := readFull(c.ctx, r, chunk)
		chunks = append(chunks, chunk[:n])
		left -= n
		if errors.Is(err, io.EOF) && left > 0 {
			return chunks, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	return nil, errTooLarge
}

// readFull reads until b is full, or to the end, which is io.EOF.
func readFull(ctx context.Context, r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var more int
		more, err = r.Read(b[n:min(len(b), n+maxReadBytes)])
		n += more
		err = cmp.Or(err, ctx.Err())
	}
	return n, err
}

func fileTooLargeError(size int64) error {
	return &hostError{Code: "ERR_FS_FILE_TOO_LARGE", Name: "RangeError", Message: fmt.Sprintf(
		"File size (%d) exceeds %d MiB, the limit of the embedded engine; read the file in parts", size, maxValueBytes>>20)}
}

// hasNumber reports whether the first argument is the number of an open file, not a path.
func (c *call) hasNumber() bool {
	_, ok := c.args[0].(float64)
	return ok
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

// fileOrPath returns the open file of the first argument, or opens its path with the flags of the second.
func (c *call) fileOrPath(syscallName string, perm fs.FileMode) (fileArg, error) {
	if c.hasNumber() {
		f, err := c.file(syscallName)
		if err != nil {
			return fileArg{}, err
		}
		return fileArg{f.File, false}, nil
	}
	name, written := c.path(0)
	f, err := openPath(name, written, intArg(c.args, 1), perm)
	return fileArg{f, true}, err
}

// writeWholeFile implements fs.writeAll(path or number, flags, mode, bytes or text, flush).
func writeWholeFile(c *call) (any, error) {
	f, err := c.fileOrPath("write", permissions(c.args, 2))
	if err != nil {
		return nil, err
	}
	_, err = c.writeContent(3, f)
	if err == nil && arg[bool](c.args, 4) {
		err = f.Sync()
	}
	if f.closeAfterUse {
		err = errors.Join(err, f.Close())
	}
	return nil, fsError(err, "write")
}

// copyFile implements fs.copy(from, to, exclusive).
func copyFile(c *call) (any, error) {
	from, writtenFrom := c.path(0)
	to, writtenTo := c.path(1)
	fail := func(err error) (any, error) { return nil, fsError(err, "copyfile", writtenFrom, writtenTo) }
	info, err := os.Stat(from)
	if err != nil {
		return fail(err)
	}
	if info.IsDir() {
		return fail(syscall.EISDIR)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if arg[bool](c.args, 2) {
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
	_, err = io.Copy(out, &contextReader{c.ctx, in})
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
func statFile(stat func(string) (os.FileInfo, error), syscallName string) op {
	return func(c *call) (any, error) {
		name, written := c.path(0)
		info, err := stat(name)
		if err != nil {
			return nil, fsError(err, syscallName, written)
		}
		return statValues(info), nil
	}
}

// statOpen implements fs.fstat(number).
func statOpen(c *call) (any, error) {
	f, err := c.file("fstat")
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
func makeDir(c *call) (any, error) {
	name, written := c.path(0)
	mode := permissions(c.args, 2)
	if !arg[bool](c.args, 1) {
		return nil, fsError(os.Mkdir(name, mode), "mkdir", written)
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.IsDir():
		return nil, fsError(syscall.EEXIST, "mkdir", written)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return nil, fsError(err, "mkdir", written) // os.MkdirAll would make the folders above it
	}
	var first any
	for dir := filepath.Clean(written); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(c.absolute(dir)); err == nil || dir == filepath.Dir(dir) {
			break
		}
		first = dir
	}
	return first, fsError(os.MkdirAll(name, mode), "mkdir", written)
}

// makeTempDir implements fs.mkdtemp(prefix): it returns the path.
func makeTempDir(c *call) (any, error) {
	const letters, attempts = 6, 100
	name, written := c.path(0)
	if written == "" {
		name = c.spec.Dir + string(filepath.Separator)
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
func listDir(c *call) (any, error) {
	name, written := c.path(0)
	entries, err := c.directoryEntries(name)
	if err != nil {
		return nil, fsError(err, "scandir", written)
	}
	out := make([]any, 0, 2*len(entries))
	for _, entry := range entries {
		out = append(out, entry.Name(), float64(fileType(entry.Type())))
	}
	return out, nil
}

// directoryEntries returns the entries of a directory, sorted by name.
func (c *call) directoryEntries(name string) ([]fs.DirEntry, error) {
	const batch, entrySize = 1024, 256 // bytes of an entry and of what is returned for it
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return nil, cmp.Or(err, error(syscall.ENOTDIR)) // opening a pipe would block
	}
	dir, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	var entries []fs.DirEntry
	for err == nil {
		c.reserve(batch * entrySize)
		var more []fs.DirEntry
		more, err = dir.ReadDir(batch)
		entries = append(entries, more...)
		err = cmp.Or(err, c.ctx.Err())
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// removeDir implements fs.rmdir(path).
func removeDir(c *call) (any, error) {
	name, written := c.path(0)
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
func unlink(c *call) (any, error) {
	name, written := c.path(0)
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
func removeAll(c *call) (any, error) {
	name, written := c.path(0)
	return nil, fsError(os.RemoveAll(name), "rm", written)
}

// twoPathOp returns an operation (from, to).
func twoPathOp(syscallName string, do func(from, to string) error) op {
	return func(c *call) (any, error) {
		from, writtenFrom := c.path(0)
		to, writtenTo := c.path(1)
		return nil, fsError(do(from, to), syscallName, writtenFrom, writtenTo)
	}
}

// symlink implements fs.symlink(target, path). The target stays as the script wrote it, because it is relative to the
// directory of the link.
func symlink(c *call) (any, error) {
	target := arg[string](c.args, 0)
	name, written := c.path(1)
	return nil, fsError(os.Symlink(target, name), "symlink", target, written)
}

// readLink implements fs.readlink(path).
func readLink(c *call) (any, error) {
	name, written := c.path(0)
	target, err := os.Readlink(name)
	return target, fsError(err, "readlink", written)
}

// realPath implements fs.realpath(path).
func realPath(c *call) (any, error) {
	name, written := c.path(0)
	if written == "" {
		name = c.spec.Dir
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, fsError(err, "realpath", written)
	}
	return filepath.Clean(real), nil
}

// accessFile implements fs.access(path, mode).
func accessFile(c *call) (any, error) {
	name, written := c.path(0)
	return nil, fsError(access(name, uint32(intArg(c.args, 1)&0o7)), "access", written)
}

// changeMode implements fs.chmod(path or number, mode).
func changeMode(c *call) (any, error) {
	mode := fs.FileMode(intArg(c.args, 1)) & fs.ModePerm
	if c.hasNumber() {
		f, err := c.file("fchmod")
		if err != nil {
			return nil, err
		}
		return nil, fsError(f.Chmod(mode), "fchmod")
	}
	name, written := c.path(0)
	return nil, fsError(os.Chmod(name, mode), "chmod", written)
}

// changeTimes implements fs.utimes(path or number, accessed, modified), with times in milliseconds.
func changeTimes(c *call) (any, error) {
	name, written := c.path(0)
	call := "utime"
	if c.hasNumber() {
		f, err := c.file("futime")
		if err != nil {
			return nil, err
		}
		name, call = f.Name(), "futime"
	}
	at := func(i int) time.Time { return time.UnixMicro(int64(arg[float64](c.args, i) * 1e3)) }
	err := os.Chtimes(name, at(1), at(2))
	if call == "futime" {
		return nil, fsError(err, call)
	}
	return nil, fsError(err, call, written)
}

// truncate implements fs.truncate(path or number, length).
func truncate(c *call) (any, error) {
	size := intArg(c.args, 1)
	if c.hasNumber() {
		f, err := c.file("ftruncate")
		if err != nil {
			return nil, err
		}
		return nil, fsError(f.Truncate(size), "ftruncate")
	}
	name, written := c.path(0)
	f, err := openPath(name, written, flagBoth, 0)
	if err != nil {
		return nil, err
	}
	return nil, fsError(errors.Join(f.Truncate(size), f.Close()), "ftruncate")
}
