// Package stdio carries MCP over the standard streams of a process, as the protocol's stdio transport describes it: one
// message per line on stdin and stdout, and a log on stderr. It finds the messages among other text on stdout, and
// continues after lines that are too long.
//
// It does not interpret the messages, and does not start or stop the process, which package spawn does.
package stdio

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/spawn"
)

// Spec says what server to start and what becomes of its output. Start sets Stdout and Stderr of the spawn.Spec; Redact
// also applies to what is kept of stdout.
type Spec struct {
	spawn.Spec
	// LogPath is the file that stderr and stray text on stdout are appended to, without secrets. It is created with its
	// folder and the first byte. It keeps the beginning and the end, at most 16 MiB. "" for none.
	LogPath string
	// LogFailed is called, at most once and from any goroutine, with why the file at LogPath, which the error names,
	// cannot be written; the server runs on. Nil leaves it to Log.
	LogFailed func(err error)
	// LogStdout is for a server that does not use stdout for the protocol: what it writes there is logged like stderr,
	// without a warning.
	LogStdout bool
	// StderrLine is called with each line of stderr, without its newline and without secrets, from one goroutine that
	// reads no further until it returns. A line over 4 KiB comes in pieces. May be nil.
	StderrLine func(line string)

	limits limits // those that are 0 are the default ones
}

// limits are sizes in bytes that cannot be configured. Tests shorten them.
type limits struct {
	line int   // of a line on stdout: maxLine
	log  int64 // of the log file: maxLog
}

func (l limits) orDefault() limits { return limits{cmp.Or(l.line, maxLine), cmp.Or(l.log, maxLog)} }

// Link is a running server and the connection to it. Its methods may be called from any goroutine. Stop ends both.
type Link struct {
	*spawn.Process
	spec Spec
	log  *outputLog

	messages     chan jsonrpc.Message // closed at the end of stdout
	firstMessage chan struct{}
	writing      chan struct{} // held while a message is written
	connected    atomic.Bool
	readerClosed chan struct{} // closed when the reader of messages is closed
}

// Start starts a server. ctx bounds the start, not the life, of the process. The error is that of
// [spawn.Supervisor.Start].
func Start(ctx context.Context, supervisor *spawn.Supervisor, spec Spec) (*Link, error) {
	if spec.Log == nil {
		spec.Log = func(_, _, _ string) {}
	}
	if spec.LogFailed == nil {
		spec.LogFailed = func(err error) { spec.Log("warn", "its log cannot be written: "+err.Error(), "") }
	}
	l := &Link{
		spec: spec, log: newOutputLog(spec),
		messages: make(chan jsonrpc.Message), firstMessage: make(chan struct{}),
		writing: make(chan struct{}, 1), readerClosed: make(chan struct{}),
	}
	what := spec.Spec
	what.Stdout, what.Stderr = l.readStdout, newStderrWriter(l.log, spec.StderrLine)
	process, err := supervisor.Start(ctx, what)
	if err != nil {
		return nil, err
	}
	l.Process = process
	return l, nil
}

// Transport returns the transport to the server. It can be connected once.
func (l *Link) Transport() mcp.Transport { return transport{l} }

// FirstMessage is closed at the first protocol message.
func (l *Link) FirstMessage() <-chan struct{} { return l.firstMessage }

// Explain returns cause with what is known about the process, as [spawn.Process.Explain] does, what it wrote to stdout
// if it never sent a message, and where its log is. cause is not changed.
func (l *Link) Explain(cause *fault.Error) *fault.Error {
	e := l.Process.Explain(cause)
	strays := l.log.strayLines()
	if len(strays) > 0 && !l.sentMessage() {
		instead := ", in place of the protocol"
		if l.spec.LogStdout {
			instead = ""
		}
		e.Message += fault.StdoutPart(instead, strings.Join(strays, "\n"))
	}
	if l.spec.LogPath != "" {
		e.Details["log"] = l.spec.LogPath
		if l.Stderr() != "" || len(strays) > 0 {
			e.Message += fault.LogPart(l.spec.LogPath)
		}
	}
	return e
}

func (l *Link) sentMessage() bool {
	select {
	case <-l.firstMessage:
		return true
	default:
		return false
	}
}

// readStdout delivers the messages on stdout until it ends. After ctx has ended, it does not wait for a reader.
func (l *Link) readStdout(ctx context.Context, stdout io.Reader) {
	stray := spawn.Redacted(l.log.writer(fromStdout), l.spec.Redact)
	defer l.log.closeSource()
	defer stray.Close()
	defer close(l.messages)
	f := framer{
		maxLine: l.spec.limits.orDefault().line,
		message: func(msg jsonrpc.Message) {
			if !l.sentMessage() {
				close(l.firstMessage)
			}
			select {
			case l.messages <- msg:
			case <-l.readerClosed:
			case <-ctx.Done():
			}
		},
		stray: func(text []byte) { _, _ = stray.Write(append(slices.Clip(text), '\n')) },
	}
	f.run(stdout)
}
