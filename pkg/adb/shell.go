package adb

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Output is what a command wrote, and its exit status.
type Output struct {
	Stdout, Stderr []byte // a device without shell_v2 writes both to Stdout
	Exit           int
}

// Shell runs a command in the device's shell, without input, and waits for its end. An exit status other than 0 is not
// an error. When ctx ends, the command may go on.
func (d Device) Shell(ctx context.Context, command string) (Output, error) {
	out, stderr := buffer{limit: d.server.maxOutput}, buffer{limit: d.server.maxOutput}
	c, parse, err := d.start(ctx, command)
	if err != nil {
		return Output{}, err
	}
	defer c.Close()
	exit, err := parse(c, &out, &stderr)
	if err != nil {
		return Output{}, d.server.newFault(ctx, d.running(command), maybeExecuted(err))
	}
	return Output{out.data, stderr.data, exit}, nil
}

// Exec runs a command in the device's shell and returns the bytes that it wrote to stdout and stderr, unchanged. The
// protocol has no exit status, and no sign of a connection that was lost.
func (d Device) Exec(ctx context.Context, command string) ([]byte, error) {
	c, err := d.openCommand(ctx, command, "exec:"+command)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	out := buffer{limit: d.server.maxOutput}
	if _, err := io.Copy(&out, c); err != nil {
		return nil, d.server.newFault(ctx, d.running(command), maybeExecuted(lostError(err)))
	}
	return out.data, nil
}

// Process is a command that runs on the device.
type Process struct {
	conn *conn
	done chan struct{}
	exit int
	err  error
}

// Start starts a command in the device's shell, without input, and returns while it runs. What it writes to stdout and
// stderr is written to output, which may be nil, from one goroutine. ctx limits the start. The caller must call Close.
func (d Device) Start(ctx context.Context, command string, output io.Writer) (*Process, error) {
	if output == nil {
		output = io.Discard
	}
	c, parse, err := d.start(ctx, command)
	if err != nil {
		return nil, err
	}
	if err := c.unbind(); err != nil {
		_ = c.Close()
		return nil, d.server.newFault(ctx, d.running(command), maybeExecuted(err))
	}
	p := &Process{conn: c, done: make(chan struct{})}
	lasting := context.WithoutCancel(ctx)
	go func() {
		defer close(p.done)
		var err error
		if p.exit, err = parse(c, output, output); err != nil {
			p.err = d.server.newFault(lasting, d.running(command), maybeExecuted(err))
		}
	}()
	return p, nil
}

// Done returns a channel that is closed when the command has ended or the connection to it was lost.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns the exit status, once Done is closed, or an error when the connection was lost or closed.
func (p *Process) Exit() (int, error) {
	<-p.done
	return p.exit, p.err
}

// Close closes the connection and waits until nothing is written to the output any more. The command then gets an error
// when it writes, but it may go on.
func (p *Process) Close() {
	_ = p.conn.Close()
	<-p.done
}

// parser reads the output of a command up to its end.
type parser func(r io.Reader, stdout, stderr io.Writer) (exit int, err error)

// start requests the service that runs a command, and returns what reads its output.
func (d Device) start(ctx context.Context, command string) (*conn, parser, error) {
	v2, err := d.hasShellV2(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !v2 {
		sentinel := rand.Text()
		// Not shell: which has a terminal that changes the output.
		c, err := d.openCommand(ctx, command, fmt.Sprintf("exec:(%s\n) </dev/null; echo %s$?", command, sentinel))
		return c, untilSentinel(sentinel), err
	}
	c, err := d.openCommand(ctx, command, "shell,v2,raw:"+command)
	if err != nil {
		return nil, nil, err
	}
	if _, err := c.Write([]byte{shellCloseStdin, 0, 0, 0, 0}); err != nil {
		_ = c.Close()
		return nil, nil, d.server.newFault(ctx, d.running(command), maybeExecuted(err))
	}
	return c, readPackets, nil
}

// openCommand opens the service that runs a command. A device always has it, so a refusal means that the connection to
// the device was lost, perhaps after the command had started.
func (d Device) openCommand(ctx context.Context, command, service string) (*conn, error) {
	c, err := d.open(ctx, d.running(command), service)
	if errors.Is(err, ErrRefused) {
		return nil, d.server.newFault(ctx, d.running(command), unconfirmed{errLost})
	}
	return c, err
}

// running is how messages name a command: by its first word, since a part of a secret would not be redacted.
func (d Device) running(command string) string {
	name, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return fmt.Sprintf("running %q on %s", name, d.serial)
}

// Kinds of packets in shell_v2.
const (
	shellStdout     = 1
	shellStderr     = 2
	shellExit       = 3
	shellCloseStdin = 4
)

// readPackets is the parser of shell_v2: packets of a kind, a length and data.
func readPackets(r io.Reader, stdout, stderr io.Writer) (int, error) {
	for {
		var head [5]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return 0, lostError(err)
		}
		to := io.Discard
		switch head[0] {
		case shellStdout:
			to = stdout
		case shellStderr:
			to = stderr
		case shellExit:
			var status [1]byte
			_, err := io.ReadFull(r, status[:])
			return int(status[0]), lostError(err)
		}
		if _, err := io.CopyN(to, r, int64(binary.LittleEndian.Uint32(head[1:]))); err != nil {
			return 0, lostError(err)
		}
	}
}

// untilSentinel returns the parser of output that ends with a sentinel and the exit status.
func untilSentinel(sentinel string) parser {
	return func(r io.Reader, stdout, _ io.Writer) (int, error) {
		held := make([]byte, 0, 64<<10) // may be the start of the last line
		buf := make([]byte, 32<<10)
		for {
			n, err := r.Read(buf)
			held = append(held, buf[:n]...)
			if err != nil && !errors.Is(err, io.EOF) {
				return 0, err
			}
			if err == nil {
				keep := min(len(held), len(sentinel)+len("255\r\n"))
				if _, err := stdout.Write(held[:len(held)-keep]); err != nil {
					return 0, err
				}
				held = append(held[:0], held[len(held)-keep:]...)
				continue
			}
			i := bytes.LastIndex(held, []byte(sentinel))
			if i < 0 {
				return 0, errLost
			}
			exit, err := strconv.Atoi(strings.TrimSpace(string(held[i+len(sentinel):])))
			if err != nil {
				return 0, errLost
			}
			_, err = stdout.Write(held[:i])
			return exit, err
		}
	}
}

// buffer keeps what is written to it, up to limit bytes.
type buffer struct {
	data  []byte
	limit int
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	if len(b.data)+len(p) > b.limit {
		return 0, errTooLarge
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// Quote returns a command for the device's shell that has these words, whatever characters they consist of.
func Quote(argv ...string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%"
	quoted := make([]string, len(argv))
	for i, word := range argv {
		quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		if word != "" && strings.Trim(word, plain) == "" {
			quoted[i] = word
		}
	}
	return strings.Join(quoted, " ")
}
