package spawn

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
	// maxLine is the longest line a server may write (specification, section 5).
	maxLine = 64 << 20
	// readSize is what a pipe holds on Linux.
	readSize = 64 << 10
)

// CodeTooLarge is the code of the error that takes the place of an answer over the limit for a line. The error in the
// response is a *fault.Error of kind fault.TooLarge with the *jsonrpc.Error as its cause.
const CodeTooLarge = -32064

// framer cuts a server's stdout into messages and everything else. It never fails on what it reads.
type framer struct {
	max     int
	message func(jsonrpc.Message)
	noise   func(text []byte) // without its newline
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

// line returns the next line in memory of its own. Of a line over the limit it returns nothing, after it dealt with it.
func (f *framer) line(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		chunk, err := in.ReadSlice('\n')
		if len(line)+len(bytes.TrimSuffix(chunk, []byte("\n"))) > f.max {
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

// discard reads to the end of a line that is too long, and fails the call that it answers.
func (f *framer) discard(in *bufio.Reader, line, chunk []byte, err error) error {
	const shown = 200
	var s scan
	s.feed(line)
	head, size := bytes.Clone(line[:min(shown, len(line))]), len(line)
	if len(head) < shown {
		head = append(head, chunk[:min(shown-len(head), len(chunk))]...)
	}
	for {
		size += len(bytes.TrimSuffix(chunk, []byte("\n")))
		if !s.done && !s.bad {
			s.feed(chunk)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		chunk, err = in.ReadSlice('\n')
	}
	f.noise(fmt.Appendf(nil, "(a line of %d bytes, over the limit of %d, was dropped) %s…", size, f.max, head))
	if id, ok := s.id(); ok && id.IsValid() && s.tagged() && s.spans[method][0] == 0 {
		f.message(&jsonrpc.Response{ID: id, Error: tooLarge(size, f.max)})
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

// accept hands on the messages in a line, normally the line as a whole, and what is around them as noise: a program that
// prints without a newline prints into the line of the next message.
func (f *framer) accept(line []byte) {
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	if isBatch(line) {
		f.noise(bytes.TrimRight(line, "\r\n"))
		return
	}
	for {
		msg, start, end := nextMessage(line)
		if text := bytes.TrimRight(line[:start], "\r\n"); len(bytes.TrimSpace(text)) > 0 {
			f.noise(text)
		}
		if msg == nil {
			return
		}
		f.message(msg)
		line = line[end:]
	}
}

// isBatch reports whether line begins like an array of objects, which the protocol has no more. "[info] {…}" does not.
func isBatch(line []byte) bool {
	rest, array := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("["))
	return array && bytes.HasPrefix(bytes.TrimLeft(rest, " \t"), []byte("{"))
}

// nextMessage finds the first message in text. Without one, start is the length of text. Objects inside an object that is
// no message are not looked at: a logger may well print messages inside its own.
func nextMessage(text []byte) (msg jsonrpc.Message, start, end int) {
	last := len(text)
	budget := 8*len(text) + readSize // text that opens many braces and closes none must not cost its square
	for at := 0; at <= last && budget > 0; {
		brace := bytes.IndexByte(text[at:], '{')
		if brace < 0 {
			break
		}
		at += brace
		var s scan
		n := s.feed(text[at:])
		if msg, ok := s.message(text[at : at+n]); ok {
			return msg, at, at + n
		}
		if last == len(text) {
			last = bytes.LastIndex(text, []byte(`"jsonrpc"`))
		}
		budget -= n
		if !s.done {
			n = 1
		}
		at += n
	}
	return nil, len(text), len(text)
}
