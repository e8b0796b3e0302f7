package engine

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"sync"
)

const (
	maxZlibStreams   = 128      // number of streams that may be open at once
	maxInflatedChunk = 64 << 10 // bytes that one step of a decompression returns at most

	// The memory of a stream in bytes, measured with the default level.
	deflaterSize = 900 << 10
	inflaterSize = 192 << 10
)

// zlib's constants for flushing.
const (
	zlibSyncFlush = 2
	zlibFullFlush = 3
	zlibFinish    = 4
)

// States of a stream after a step.
const (
	zlibNeedsInput = iota
	zlibHasMore
	zlibEnded
)

// zlibOps returns the operations of node:zlib: at once up to a limit, or in steps.
func zlibOps() (syncOps, asyncOps opTable) {
	ops := opTable{
		"zlib.all":   processZlib,
		"zlib.open":  openZlibStream,
		"zlib.close": closeZlibStream,
		"zlib.crc32": func(c *call) (any, error) {
			return float64(crc32.Update(uint32(intArg(c.args, 1)), crc32.IEEETable, arg[[]byte](c.args, 0))), nil
		},
	}
	jobs := opTable{
		"zlib.all":  withComputeSlot(processZlib),
		"zlib.step": withComputeSlot(stepZlibStream),
	}
	return ops, jobs
}

// A zlibStream compresses or decompresses in steps. It may be used from any goroutine. Close releases its memory.
type zlibStream interface {
	io.Closer
	// step reserves the output with reserve. It does not keep data after it has consumed it, or after Close.
	step(data []byte, flush int64, end bool, reserve func(size int)) (out [][]byte, state int, err error)
}

// newZlibStream returns a stream for (format, level, strategy, dictionary), the first arguments of zlib.all and
// zlib.open, and reserves its memory.
func newZlibStream(args []any, reserve func(size int)) (zlibStream, error) {
	format, level, dictionary := arg[string](args, 0), int(intArg(args, 1)), bytes.Clone(arg[[]byte](args, 3))
	switch format {
	case "gunzip", "inflate", "inflateRaw", "unzip":
		reserve(inflaterSize + len(dictionary))
		return newInflater(format, dictionary), nil
	}
	reserve(deflaterSize + len(dictionary))
	if intArg(args, 2) == 2 && level != 0 { // Z_HUFFMAN_ONLY
		level = flate.HuffmanOnly
	}
	return newDeflater(format, level, dictionary)
}

// openedZlibStream is a stream that a script has opened. Its memory is reserved until Close.
type openedZlibStream struct {
	zlibStream
	heap *heap

	mu     sync.Mutex
	size   int // reserved bytes of the stream
	input  int // reserved bytes of the input that it has not yet consumed
	closed bool
}

func (s *openedZlibStream) Close() error {
	err := s.zlibStream.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heap.releaseShared(s.size + s.input)
	s.size, s.input, s.closed = 0, 0, true
	return err
}

// setInput reserves size bytes of input instead of the input before.
func (s *openedZlibStream) setInput(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.heap.releaseShared(s.input)
	s.input = 0
	s.heap.reserveShared(size)
	s.input = size
}

// openZlibStream implements zlib.open(format, level, strategy, dictionary): it returns a number.
func openZlibStream(c *call) (any, error) {
	if n := countHandles[*openedZlibStream](&c.handles); n >= maxZlibStreams {
		return nil, &hostError{Code: "Z_MEM_ERROR", Props: map[string]any{"errno": -4.0}, Message: fmt.Sprintf(
			"more than %d zlib streams are open; end or destroy those that are no longer used", maxZlibStreams)}
	}
	s := &openedZlibStream{heap: &c.vm.heap}
	var err error
	s.zlibStream, err = newZlibStream(c.args, func(size int) {
		s.heap.reserveShared(size)
		s.size += size
	})
	if err != nil {
		s.heap.releaseShared(s.size)
		return nil, err
	}
	return float64(c.handles.add(s)), nil
}

// stepZlibStream implements zlib.step(number, data, flush, last): it returns [output, state].
func stepZlibStream(c *call) (any, error) {
	s, ok := lookupHandle[*openedZlibStream](&c.handles, intArg(c.args, 0))
	if !ok {
		return nil, errZlibClosed
	}
	data := arg[[]byte](c.args, 1)
	if data != nil {
		s.setInput(len(data))
	}
	out, state, err := s.step(data, intArg(c.args, 2), arg[bool](c.args, 3), c.reserve)
	if err != nil {
		return nil, zlibError(err)
	}
	if state != zlibHasMore {
		s.setInput(0)
	}
	return []any{byteChunks(out), float64(state)}, nil
}

// closeZlibStream implements zlib.close(number).
func closeZlibStream(c *call) (any, error) {
	id := intArg(c.args, 0)
	if s, ok := lookupHandle[*openedZlibStream](&c.handles, id); ok {
		c.handles.remove(int(id))
		return nil, s.Close()
	}
	return nil, nil
}

// processZlib implements zlib.all(format, level, strategy, dictionary, data, flush, limit): it returns the whole
// output.
func processZlib(c *call) (any, error) {
	s, err := newZlibStream(c.args, c.reserve)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	data, flush, limit := arg[[]byte](c.args, 4), intArg(c.args, 5), min(intArg(c.args, 6), maxValueBytes)
	var all [][]byte
	size := 0
	for state := zlibHasMore; state == zlibHasMore; data = nil {
		var out [][]byte
		if out, state, err = s.step(data, flush, true, c.reserve); err != nil {
			return nil, zlibError(err)
		}
		all = append(all, out...)
		if size += totalSize(out); int64(size) > limit {
			return nil, &hostError{
				Code: "ERR_BUFFER_TOO_LARGE", Name: "RangeError",
				Message: fmt.Sprintf("Cannot create a Buffer larger than %d bytes", limit),
			}
		}
		if c.ctx.Err() != nil {
			return nil, c.ctx.Err()
		}
	}
	return byteChunks(all), nil
}

type flushWriter interface {
	io.WriteCloser
	Flush() error
}

// A chunkWriter collects what is written in chunks, and reserves their memory.
type chunkWriter struct {
	chunks  [][]byte
	reserve func(size int)
}

func (w *chunkWriter) Write(p []byte) (int, error) {
	const minChunk, maxChunk = 1 << 10, 64 << 10
	for rest := p; len(rest) > 0; {
		last := len(w.chunks) - 1
		if last < 0 || len(w.chunks[last]) == cap(w.chunks[last]) {
			size := minChunk
			if last >= 0 {
				size = min(2*cap(w.chunks[last]), maxChunk)
			}
			w.reserve(size)
			w.chunks = append(w.chunks, make([]byte, 0, size))
			last++
		}
		chunk := w.chunks[last]
		n := min(len(rest), cap(chunk)-len(chunk))
		w.chunks[last] = append(chunk, rest[:n]...)
		rest = rest[n:]
	}
	return len(p), nil
}

// take returns the chunks and removes them.
func (w *chunkWriter) take() [][]byte {
	chunks := w.chunks
	w.chunks = nil
	return chunks
}

// A deflater compresses.
type deflater struct {
	mu   sync.Mutex
	out  chunkWriter
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
		err = fmt.Errorf("unknown format %q", format)
	}
	return d, err
}

func (d *deflater) step(data []byte, flush int64, _ bool, reserve func(size int)) ([][]byte, int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return nil, zlibEnded, nil
	}
	d.out.reserve = reserve
	_, err := d.w.Write(data)
	state := zlibNeedsInput
	switch {
	case err != nil:
	case flush == zlibSyncFlush || flush == zlibFullFlush:
		err = d.w.Flush()
	case flush == zlibFinish:
		err, d.done, state = d.w.Close(), true, zlibEnded
	}
	return d.out.take(), state, err
}

func (d *deflater) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done, d.w = true, nil
	return nil
}

// An inflater decompresses. Go's decompressors pull their input, so one runs as a coroutine that yields a piece of
// output, or nil when it needs more input.
type inflater struct {
	mu         sync.Mutex
	format     string
	dictionary []byte
	next       func() ([]byte, bool)
	stop       func()
	closed     bool

	// These belong to the coroutine, and between its turns to step.
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

func (d *inflater) step(data []byte, flush int64, end bool, reserve func(size int)) ([][]byte, int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, 0, errZlibClosed
	}
	if data != nil {
		d.data = data
	}
	d.last = end
	out, running := d.next()
	switch {
	case !running && flush != zlibFinish && (errors.Is(d.err, io.EOF) || errors.Is(d.err, io.ErrUnexpectedEOF)):
		return nil, zlibEnded, nil // without zlibFinish incomplete input is not an error
	case !running:
		return nil, zlibEnded, d.err
	case out == nil:
		return nil, zlibNeedsInput, nil
	}
	reserve(len(out))
	return [][]byte{out}, zlibHasMore, nil
}

func (d *inflater) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.stop()
	return nil
}

// inflate is the body of the coroutine.
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
		return d.inflateGzipMembers()
	case "inflateRaw":
		return d.yieldAll(flate.NewReaderDict(d, d.dictionary))
	}
	r, err := zlib.NewReaderDict(d, d.dictionary)
	if errors.Is(err, zlib.ErrDictionary) && d.dictionary != nil {
		return errBadDictionary
	}
	if err != nil {
		return err
	}
	return d.yieldAll(r)
}

// inflateGzipMembers decompresses the members of a gzip file. Zeros after a member end the file.
func (d *inflater) inflateGzipMembers() error {
	var r gzip.Reader
	for first := true; ; first = false {
		next, err := d.peek()
		switch {
		case !first && (err != nil || next == 0):
			return nil //nolint:nilerr // input after a complete member is ignored
		case err != nil:
			return err
		case next != 0x1f:
			return gzip.ErrHeader
		}
		if err := r.Reset(d); err != nil {
			return err
		}
		r.Multistream(false)
		if err := d.yieldAll(&r); err != nil {
			return err
		}
	}
}

// yieldAll yields all output of a decompressor.
func (d *inflater) yieldAll(r io.Reader) error {
	piece := make([]byte, maxInflatedChunk)
	for {
		n, err := r.Read(piece)
		if n > 0 && !d.yield(bytes.Clone(piece[:n])) {
			return errZlibClosed
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// peek waits for input and returns its first byte without consuming it.
func (d *inflater) peek() (byte, error) {
	for len(d.data) == 0 {
		if d.last {
			return 0, io.EOF
		}
		if !d.yield(nil) {
			return 0, errZlibClosed
		}
	}
	return d.data[0], nil
}

// Read implements io.Reader for the decompressor.
func (d *inflater) Read(p []byte) (int, error) {
	if _, err := d.peek(); err != nil {
		return 0, err
	}
	n := copy(p, d.data)
	d.data = d.data[n:]
	return n, nil
}

// ReadByte implements io.ByteReader, so that the decompressor does not read ahead.
func (d *inflater) ReadByte() (byte, error) {
	b, err := d.peek()
	if err == nil {
		d.data = d.data[1:]
	}
	return b, err
}

var (
	errBadDictionary = errors.New("Bad dictionary") //nolint:staticcheck // node's message
	errZlibClosed    = errors.New("the zlib stream is closed")
)

// zlibError returns an error with zlib's code and message.
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
