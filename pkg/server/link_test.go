package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// processLink carries a server over a child's pipes, with no more than the tests of this package need.
type processLink struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *output
	stderr lockedBuffer
	done   chan struct{}
	asked  atomic.Bool // we asked it to stop
}

func launch(env []string, argv ...string) (*processLink, error) {
	l := &processLink{cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
	l.cmd.Env = append(os.Environ(), env...)
	l.cmd.Stderr = &l.stderr
	l.cmd.WaitDelay = 5 * time.Second
	in, err := l.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	l.in, l.out = in, &output{ReadCloser: out, heard: make(chan struct{}), over: make(chan struct{})}
	if err := l.cmd.Start(); err != nil {
		return nil, fault.New(fault.CommandNotFound, "install it", "%v", err)
	}
	go func() {
		<-l.out.over
		_ = l.cmd.Wait()
		close(l.done)
	}()
	return l, nil
}

func (l *processLink) Transport() mcp.Transport {
	return &mcp.IOTransport{Reader: l.out, Writer: l.in, MaxLineLength: -1}
}
func (l *processLink) Heard() <-chan struct{} { return l.out.heard }
func (l *processLink) Done() <-chan struct{}  { return l.done }

func (l *processLink) End() *fault.Error {
	if l.asked.Load() {
		return nil
	}
	return fault.New(fault.Crashed, "", "%s", l.cmd.ProcessState)
}

func (l *processLink) Explain(cause *fault.Error) *fault.Error {
	explained := *cause
	explained.Hint = fmt.Sprintf("%s; its last words: %s", cause.Hint, l.stderr.String())
	return &explained
}

func (l *processLink) Stop(context.Context) error {
	l.asked.Store(true)
	_ = l.in.Close()
	select {
	case <-l.done:
	case <-time.After(time.Second):
		_ = l.cmd.Process.Kill()
		<-l.done
	}
	return nil
}

// output tells when it is first read from and when it is over.
type output struct {
	io.ReadCloser
	heard, over         chan struct{}
	heardOnce, overOnce sync.Once
}

func (o *output) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	if n > 0 {
		o.heardOnce.Do(func() { close(o.heard) })
	}
	if err != nil {
		o.overOnce.Do(func() { close(o.over) })
	}
	return n, err
}

func (o *output) Close() error {
	err := o.ReadCloser.Close()
	o.overOnce.Do(func() { close(o.over) })
	return err
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
