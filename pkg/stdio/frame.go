package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

const (
	// maxLine is the longest line a server may write, in bytes (specification, section 5).
	maxLine = 64 << 20
	// readSize is the size of a pipe on Linux.
	readSize = 64 << 10
)

// CodeTooLarge is the code of the error in the response that replaces one over the limit for a line. The error in the
// response is a *fault.Error of kind fault.TooLarge with the *jsonrpc.Error as its cause.
const CodeTooLarge = -32064

// framer splits a server's stdout into messages and stray text. It never fails on what it reads.
type framer struct {
	maxLine int
	message func(jsonrpc.Message)
	stray   func(text []byte) // a line or a part of one, without its newline
}

// run reads r to its end.
func (f *framer) run(r io.Reader) {
	in := bufio.NewReaderSize(r, readSize)
	for {
		line, err := f.line(in)
		f.accept(line)
		if err != nil {
			return
		}
	}
}

// line returns the next line, in newly allocated memory. It discards a line over the limit and returns nothing.
func (f *framer) line(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		chunk, err := in.ReadSlice('\n')
		if len(line)+len(bytes.TrimSuffix(chunk, []byte("\n"))) > f.maxLine {
			return nil, f.discard(in, line, chunk, err)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return append(line, chunk...), err
		}
		if cap(line)-len(line) < len(chunk) {
			line = slices.Grow(line, len(line)+len(chunk)) // append alone grows by a quarter
		}
		line = append(line, chunk...)
	}
}

// discard reads to the end of a line that is too long, and fails the call that the line is a response to.
func (f *framer) discard(in *bufio.Reader, line, chunk []byte, err error) error {
	const shown = 200
	head := bytes.Clone(line[:min(endsSize, len(line))])
	head = append(head, chunk[:min(endsSize-len(head), len(chunk))]...)
	tail := slices.Concat(line[max(0, len(line)-endsSize):], chunk)
	size := len(line) + len(chunk)
	for errors.Is(err, bufio.ErrBufferFull) {
		chunk, err = in.ReadSlice('\n')
		size += len(chunk)
		tail = append(append(tail[:0], tail[max(0, len(tail)-endsSize):]...), chunk...)
	}
	text := bytes.TrimSuffix(tail, []byte("\n"))
	size -= len(tail) - len(text)
	f.stray(fmt.Appendf(nil, "(a line of %d bytes, over the limit of %d, was dropped) %s…", size, f.maxLine, head[:min(shown, len(head))]))
	if id, ok := responseID(head, text); ok {
		f.message(&jsonrpc.Response{ID: id, Error: tooLarge(size, f.maxLine)})
	}
	return err
}

func tooLarge(size, limit int) error {
	const mib = 1 << 20
	message := fmt.Sprintf("the answer is a line of %.1f MiB, over the limit of %d MiB", float64(size)/mib, limit/mib)
	return &fault.Error{
		Kind: fault.TooLarge, Message: message, Hint: "let the tool return less, or the path of a file",
		Cause: &jsonrpc.Error{Code: CodeTooLarge, Message: message},
	}
}

// accept delivers the messages in a line, normally the line as a whole, and what is around them as stray text: a
// program that prints without a newline prints into the line of the next message.
func (f *framer) accept(line []byte) {
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	if isBatch(line) {
		f.stray(bytes.TrimRight(line, "\r\n"))
		return
	}
	for whole := true; ; whole = false {
		msg, start, end := nextMessage(line)
		if text := bytes.TrimRight(line[:start], "\r\n"); len(bytes.TrimSpace(text)) > 0 {
			f.stray(text)
			if msg == nil && whole {
				f.reject(text)
			}
		}
		if msg == nil {
			return
		}
		f.message(msg)
		line = line[end:]
	}
}

// reject fails the call that text is a response to although it is not JSON, such as one that contains NaN.
func (f *framer) reject(text []byte) {
	id, ok := responseID(text, text)
	if !ok {
		return
	}
	message := "the answer is not valid JSON"
	if err := syntaxError(text); err != nil {
		message += ": " + err.Error()
	}
	f.message(&jsonrpc.Response{ID: id, Error: &fault.Error{
		Kind: fault.ProtocolError, Message: message, Hint: "let the tool return what JSON can express",
		Cause: &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: message},
	}})
}

// isBatch reports whether line begins like an array of objects, which the protocol no longer has. "[info] {…}" does
// not.
func isBatch(line []byte) bool {
	rest, array := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("["))
	return array && bytes.HasPrefix(bytes.TrimLeft(rest, " \t"), []byte("{"))
}
