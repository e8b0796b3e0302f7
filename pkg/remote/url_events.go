package remote

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"strconv"
	"time"
)

// readSize is the size of read buffers.
const readSize = 64 << 10

// sseEvent is a server-sent event.
type sseEvent struct {
	name, id string
	data     []byte
	retry    time.Duration
}

// readEvents yields the events of a stream, and last the error that ended it, unless that was io.EOF. An incomplete
// event at the end is dropped, as the standard requires.
func readEvents(r io.Reader) iter.Seq2[sseEvent, error] {
	return func(yield func(sseEvent, error) bool) {
		in := bufio.NewReaderSize(r, readSize)
		var e sseEvent
		started := false
		for {
			line, err := readLine(in, maxMessage-len(e.data))
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(sseEvent{}, err)
				}
				return
			}
			if len(line) > 0 {
				e.field(line)
				started = true
				continue
			}
			if started && !yield(e, nil) {
				return
			}
			e, started = sseEvent{}, false
		}
	}
}

// readLine returns a line without its end.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		chunk, err := in.ReadSlice('\n')
		if len(line)+len(chunk) > limit+len("data: \r\n") {
			return nil, tooLarge()
		}
		line = append(line, chunk...)
		if err == nil {
			return bytes.TrimRight(line, "\r\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// field adds a line to an event. Comments and unknown fields add nothing.
func (e *sseEvent) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "id":
		e.id = string(value)
	case "data":
		if e.data != nil {
			value = append([]byte("\n"), value...)
		}
		e.data = append(e.data, value...)
	case "retry":
		if ms, err := strconv.Atoi(string(value)); err == nil && ms > 0 {
			e.retry = time.Duration(ms) * time.Millisecond
		}
	}
}
