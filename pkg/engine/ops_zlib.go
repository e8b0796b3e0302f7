package engine

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"sync"
)

const (
	// maxCoders is how many streams may have a coder at once: each takes about 1 MB that is not the engine's to count.
	maxCoders = 128
	// inflatedPiece is how many bytes one step of a decompression gives at most, so that no bomb outgrows who reads it.
	inflatedPiece = 64 << 10
)

// How zlib's constants tell what a step is to do with what the coder holds.
const (
	zlibSyncFlush = 2
	zlibFullFlush = 3
	zlibFinish    = 4
)

// What a step leaves: the coder waits for data, has more to give, or is at its end.
const (
	coderWaits = iota
	coderHasMore
	coderEnded
)

// zlibOps compress and decompress: at once up to a limit, or step by step.
func zlibOps() (map[string]op, map[string]job) {
	ops := map[string]op{
		"zlib.all":   func(e *Engine, args []any) (any, error) { return codeAll(e.ctx, e, args) },
		"zlib.open":  openCoder,
		"zlib.close": closeCoder,
		"zlib.crc32": func(_ *Engine, args []any) (any, error) {
			return float64(crc32.Update(uint32(intArg(args, 1)), crc32.IEEETable, arg[[]byte](args, 0))), nil
		},
	}
	jobs := map[string]job{
		"zlib.all":  inTurn(codeAll),
		"zlib.step": inTurn(stepCoder),
	}
	return ops, jobs
}

// A coder compresses or decompresses in steps. It may be used from any goroutine, and is finished by Close, which frees what it holds.
type coder interface {
	io.Closer
	step(data []byte, flush int64, end bool) (out []byte, state int, err error)
}

// newCoder is (format, level, strategy, dictionary), as its arguments are after the first ones.
func newCoder(args []any) (coder, error) {
	format, level, dictionary := arg[string](args, 0), int(intArg(args, 1)), arg[[]byte](args, 3)
	switch format {
	case "gunzip", "inflate", "inflateRaw", "unzip":
		return newInflater(format, dictionary), nil
	}
	if intArg(args, 2) == 2 && level != 0 { // Z_HUFFMAN_ONLY
		level = flate.HuffmanOnly
	}
	return newDeflater(format, level, dictionary)
}

// openCoder is (format, level, strategy, dictionary): a number.
func openCoder(e *Engine, args []any) (any, error) {
	if n := count[coder](&e.handles); n >= maxCoders {
		return nil, &hostError{Code: "Z_MEM_ERROR", Props: map[string]any{"errno": -4.0}, Message: fmt.Sprintf(
			"more than %d streams of node:zlib are open; end or destroy those that are no longer used", maxCoders)}
	}
	c, err := newCoder(args)
	if err != nil {
		return nil, err
	}
	return float64(e.handles.add(c)), nil
}

// stepCoder is (number, data, flush, whether the data ends with it): what comes out, and the state.
func stepCoder(_ context.Context, e *Engine, args []any) (any, error) {
	c, ok := handle[coder](&e.handles, intArg(args, 0))
	if !ok {
		return nil, errCoderIsClosed
	}
	out, state, err := c.step(arg[[]byte](args, 1), intArg(args, 2), arg[bool](args, 3))
	if err != nil {
		return nil, zlibError(err)
	}
	return []any{out, float64(state)}, nil
}

func closeCoder(e *Engine, args []any) (any, error) {
	id := intArg(args, 0)
	if c, ok := handle[coder](&e.handles, id); ok {
		e.handles.remove(int(id))
		return nil, c.Close()
	}
	return nil, nil
}

// codeAll is (format, level, strategy, dictionary, data, flush, limit): all that comes out.
func codeAll(ctx context.Context, _ *Engine, args []any) (any, error) {
	c, err := newCoder(args)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	data, flush, limit := arg[[]byte](args, 4), intArg(args, 5), min(intArg(args, 6), maxBytes)
	var all []byte
	for state := coderHasMore; state == coderHasMore; data = nil {
		var out []byte
		if out, state, err = c.step(data, flush, true); err != nil {
			return nil, zlibError(err)
		}
		if all = append(all, out...); int64(len(all)) > limit {
			return nil, &hostError{
				Code: "ERR_BUFFER_TOO_LARGE", Name: "RangeError",
				Message: fmt.Sprintf("Cannot create a Buffer larger than %d bytes", limit),
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return all, nil
}

type flushWriter interface {
	io.WriteCloser
	Flush() error
}

// A deflater compresses: what one step gives is no more than it is given and held back before.
type deflater struct {
	mu   sync.Mutex
	out  bytes.Buffer
	w    flushWriter
	done bool
}

func newDeflater(format string, level int, dictionary []byte) (_ *deflater, err error) {
	d := &deflater{}
	switch format {
	case "gzip":
		var w *gzip.Writer
		if w, err = gzip.NewWriterLevel(&d.out, level); err == nil {
			w.OS = 3 // Unix, as in node
			d.w = w
		}
	case "deflate":
		d.w, err = zlib.NewWriterLevelDict(&d.out, level, dictionary)
	case "deflateRaw":
		d.w, err = flate.NewWriterDict(&d.out, level, dictionary)
	default:
		err = fmt.Errorf("there is no format %q", format)
	}
	return d, err
}

func (d *deflater) step(data []byte, flush int64, _ bool) ([]byte, int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return nil, coderEnded, nil
	}
	_, err := d.w.Write(data)
	state := coderWaits
	switch {
	case err != nil:
	case flush == zlibSyncFlush || flush == zlibFullFlush:
		err = d.w.Flush()
	case flush == zlibFinish:
		err, d.done, state = d.w.Close(), true, coderEnded
	}
	out := bytes.Clone(d.out.Bytes())
	d.out.Reset()
	return out, state, err
}

func (d *deflater) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done, d.w = true, nil
	return nil
}

// An inflater decompresses. Go's decompressors read when they want to, so one runs as a coroutine that gives a piece, or nothing when it
// needs more data.
type inflater struct {
	mu         sync.Mutex
	format     string
	dictionary []byte
	next       func() ([]byte, bool)
	stop       func()
	closed     bool

	// These are the coroutine's, and of who is about to resume it.
	data  []byte
	last  bool
	yield func([]byte) bool
	err   error
}

func newInflater(format string, dictionary []byte) *inflater {
	d := &inflater{format: format, dictionary: dictionary}
	d.next, d.stop = iter.Pull(func(yield func([]byte) bool) {
		d.yield = yield
		d.err = d.inflate()
	})
	return d
}

func (d *inflater) step(data []byte, flush int64, end bool) ([]byte, int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, 0, errCoderIsClosed
	}
	if data != nil {
		d.data = data
	}
	d.last = end
	out, running := d.next()
	switch {
	case !running && flush != zlibFinish && (errors.Is(d.err, io.EOF) || errors.Is(d.err, io.ErrUnexpectedEOF)):
		return nil, coderEnded, nil // who does not ask for the end is content with what there is
	case !running:
		return nil, coderEnded, d.err
	case out == nil:
		return nil, coderWaits, nil
	}
	return out, coderHasMore, nil
}

func (d *inflater) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.stop()
	return nil
}

// inflate is the coroutine.
func (d *inflater) inflate() error {
	if d.format == "unzip" {
		first, err := d.peek()
		if err != nil {
			return err
		}
		if d.format = "inflate"; first == 0x1f {
			d.format = "gunzip"
		}
	}
	switch d.format {
	case "gunzip":
		return d.members()
	case "inflateRaw":
		return d.give(flate.NewReaderDict(d, d.dictionary))
	}
	r, err := zlib.NewReaderDict(d, d.dictionary)
	if errors.Is(err, zlib.ErrDictionary) && d.dictionary != nil {
		return errBadDictionary
	}
	if err != nil {
		return err
	}
	return d.give(r)
}

// members are of a gzip file: one, or more in a row, and zeros after them.
func (d *inflater) members() error {
	var r gzip.Reader
	for first := true; ; first = false {
		next, err := d.peek()
		switch {
		case !first && (err != nil || next == 0):
			return nil //nolint:nilerr // what follows a whole member is no part of it
		case err != nil:
			return err
		case next != 0x1f:
			return gzip.ErrHeader
		}
		if err := r.Reset(d); err != nil {
			return err
		}
		r.Multistream(false)
		if err := d.give(&r); err != nil {
			return err
		}
	}
}

// give yields all that a decompressor reads.
func (d *inflater) give(r io.Reader) error {
	piece := make([]byte, inflatedPiece)
	for {
		n, err := r.Read(piece)
		if n > 0 && !d.yield(bytes.Clone(piece[:n])) {
			return errCoderIsClosed
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// peek waits for data and returns its first byte.
func (d *inflater) peek() (byte, error) {
	for len(d.data) == 0 {
		if d.last {
			return 0, io.EOF
		}
		if !d.yield(nil) {
			return 0, errCoderIsClosed
		}
	}
	return d.data[0], nil
}

// Read is for the decompressor: it waits for data in the middle of what reads.
func (d *inflater) Read(p []byte) (int, error) {
	if _, err := d.peek(); err != nil {
		return 0, err
	}
	n := copy(p, d.data)
	d.data = d.data[n:]
	return n, nil
}

// ReadByte keeps decompressors from reading ahead.
func (d *inflater) ReadByte() (byte, error) {
	b, err := d.peek()
	if err == nil {
		d.data = d.data[1:]
	}
	return b, err
}

var (
	errBadDictionary = errors.New("Bad dictionary") //nolint:staticcheck // node's words
	errCoderIsClosed = errors.New("the stream of node:zlib is closed")
)

// zlibError says it as zlib does, as far as Go tells.
func zlibError(err error) error {
	var corrupt flate.CorruptInputError
	code, number, message := "Z_DATA_ERROR", -3.0, err.Error()
	switch {
	case errors.Is(err, gzip.ErrHeader) || errors.Is(err, zlib.ErrHeader):
		message = "incorrect header check"
	case errors.Is(err, gzip.ErrChecksum) || errors.Is(err, zlib.ErrChecksum):
		message = "incorrect data check"
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		code, number, message = "Z_BUF_ERROR", -5, "unexpected end of file"
	case errors.Is(err, zlib.ErrDictionary):
		code, number, message = "Z_NEED_DICT", 2, "Missing dictionary"
	case errors.Is(err, errBadDictionary):
		code, number = "Z_NEED_DICT", 2
	case errors.As(err, &corrupt):
		message = fmt.Sprintf("invalid compressed data near byte %d", int64(corrupt))
	}
	return &hostError{Code: code, Message: message, Props: map[string]any{"errno": number}}
}
