package engine

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	lib "modernc.org/libquickjs"
)

// nodeVersion is the version of node that the engine is compatible with.
const nodeVersion = "20.19.0"

func processOps() (syncOps, asyncOps opTable) {
	return opTable{
		"process.info":   processInfo,
		"process.exit":   processExit,
		"process.kill":   processKill,
		"process.signal": processSignal,
		"process.memory": func(c *call) (any, error) { return float64(c.vm.usedMemory()), nil },
		"process.write":  processWrite,
		"time.now":       func(c *call) (any, error) { return c.now(), nil },
		"time.hr":        timeHR,
		"time.origin":    func(c *call) (any, error) { return float64(c.started.UnixMicro()) / 1000, nil },
		"stdin.start":    stdinStart,
		"stdin.pause":    stdinPause,
		"stdin.ref":      stdinRef,
		"stdin.close":    stdinClose,
		"stack.frames":   stackFrames,
	}, nil
}

// processInfo implements process.info().
func processInfo(c *call) (any, error) {
	env := map[string]any{}
	for _, entry := range c.spec.Env {
		name, text, ok := strings.Cut(entry, "=")
		if ok && name != "" && (!c.spec.Sandbox || isSandboxVariable(name)) {
			env[name] = text
		}
	}
	argv := []any{"trailblaze", c.spec.Script}
	for _, arg := range c.spec.Args {
		argv = append(argv, arg)
	}
	pid, parent := os.Getpid(), os.Getppid()
	if c.spec.Sandbox {
		pid, parent = 1, 0
	}
	return map[string]any{
		"argv": argv, "env": env, "cwd": c.spec.Dir, "pid": pid, "ppid": parent,
		"platform": nodePlatform(runtime.GOOS), "arch": nodeArch(runtime.GOARCH),
		"node": nodeVersion, "quickjs": lib.MCONFIG_VERSION,
	}, nil
}

// isSandboxVariable reports whether a variable is visible in the sandbox: those that trailblaze sets for each server.
func isSandboxVariable(name string) bool {
	ours, ok := strings.CutPrefix(name, "TRAILBLAZE_")
	return ok && slices.Contains([]string{
		"DEVICE_PLATFORM", "DEVICE_DRIVER", "DEVICE_NAME", "DEVICE_ID", "DEVICE_WIDTH_PX", "DEVICE_HEIGHT_PX",
		"SESSION_ID", "SESSION_TOKEN", "TOOLSET_FILE", "BASE_URL", "CALLBACK_URL", "PORT", "CLIENT_FETCH_TIMEOUT_MS",
	}, ours)
}

func nodePlatform(goos string) string {
	if goos == "windows" {
		return "win32"
	}
	return goos
}

func nodeArch(goarch string) string {
	switch goarch {
	case "amd64":
		return "x64"
	case "386":
		return "ia32"
	}
	return goarch
}

// processExit implements process.exit(code). It does not return.
func processExit(c *call) (any, error) {
	code, _ := c.args[0].(float64)
	c.stop.now(Exit{Code: int(uint8(int64(code)))})
	return nil, nil
}

// processKill implements process.kill(signal): the effect of a signal without a listener.
func processKill(c *call) (any, error) {
	signal, _ := c.args[0].(string)
	for number, name := range map[string]string{"1": "SIGHUP", "2": "SIGINT", "3": "SIGQUIT", "6": "SIGABRT", "9": "SIGKILL", "15": "SIGTERM"} {
		if signal == number || signal == name {
			c.stop.now(Exit{Code: -1, Signal: name})
		}
	}
	return nil, &hostError{Name: "TypeError", Code: "ERR_UNKNOWN_SIGNAL", Message: "Unknown signal: " + signal}
}

// processSignal implements process.signal(listens): whether the script listens to SIGTERM.
func processSignal(c *call) (any, error) {
	heeds, _ := c.args[0].(bool)
	c.handlesSIGTERM.Store(heeds)
	return nil, nil
}

// processWrite implements process.write(fd, data). It blocks while the reader does not read, as node does with pipes.
func processWrite(c *call) (any, error) {
	pipe := c.spec.Stdout
	if fd, _ := c.args[0].(float64); fd == 2 {
		pipe = c.spec.Stderr
	}
	if _, err := c.writeContent(1, pipe); err != nil {
		return nil, &hostError{Code: "EPIPE", Message: "write EPIPE", Props: map[string]any{"syscall": "write"}}
	}
	return nil, nil
}

// timeHR implements time.hr(): it returns the monotonic clock as [seconds, nanoseconds].
func timeHR(c *call) (any, error) {
	now := time.Since(c.started) + time.Hour
	return []any{float64(now / time.Second), float64(now % time.Second)}, nil
}

// A stdin reads the engine's input on a goroutine of its own, which starts with the first listener. It reads at most
// one piece ahead.
type stdin struct {
	mu         sync.Mutex
	changed    *sync.Cond
	started    bool
	flowing    bool // JavaScript reads input; this keeps the engine running, unless it is detached
	detached   bool
	delivering bool // a piece was queued for JavaScript
	stopped    bool
}

// stdinStart implements stdin.start(listener): the listener is called with each piece of the input, and without one at
// the end.
func stdinStart(c *call) (any, error) {
	id, _ := c.args[0].(float64)
	s := &c.stdin
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		s.started = true
		c.goroutines.Go(func() { c.readStdin(int(id)) })
	}
	if !s.stopped {
		c.setStdin(true, s.detached)
		s.changed.Signal()
	}
	return nil, nil
}

// stdinPause implements stdin.pause().
func stdinPause(c *call) (any, error) {
	c.stdin.mu.Lock()
	defer c.stdin.mu.Unlock()
	c.setStdin(false, c.stdin.detached)
	return nil, nil
}

// stdinRef implements stdin.ref(keeps): whether reading input keeps the engine running.
func stdinRef(c *call) (any, error) {
	c.stdin.mu.Lock()
	defer c.stdin.mu.Unlock()
	c.setStdin(c.stdin.flowing, !arg[bool](c.args, 0))
	return nil, nil
}

// setStdin is called with the lock held.
func (e *Engine) setStdin(flowing, detached bool) {
	before, after := e.stdin.flowing && !e.stdin.detached, flowing && !detached
	e.stdin.flowing, e.stdin.detached = flowing, detached
	switch {
	case after && !before:
		e.ref()
	case before && !after:
		e.unref()
	}
}

// stdinClose implements stdin.close().
func stdinClose(c *call) (any, error) {
	_, _ = stdinPause(c)
	_ = c.spec.Stdin.Close()
	c.stdin.stop()
	return nil, nil
}

func (s *stdin) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.changed.Broadcast()
}

// readStdin passes chunks of the input to JavaScript while it reads.
func (e *Engine) readStdin(id int) {
	defer e.recoverPanic()
	buf := make([]byte, 64<<10)
	for e.stdin.waitUntilFlowing() {
		n, err := e.spec.Stdin.Read(buf)
		if n > 0 && e.stdin.waitForDelivery() {
			piece := append([]byte(nil), buf[:n]...)
			e.tasks.add(func() {
				e.bootstrap.call("emit", id, piece)
				e.stdin.endDelivery()
			})
		}
		if err != nil {
			break
		}
	}
	e.stdin.waitUntilFlowing()
	e.tasks.add(func() {
		e.stdin.mu.Lock()
		e.stdin.stopped = true
		e.setStdin(false, e.stdin.detached)
		e.stdin.mu.Unlock()
		e.bootstrap.call("emit", id)
	})
}

// waitUntilFlowing waits until JavaScript reads input. It returns false when input is stopped.
func (s *stdin) waitUntilFlowing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.flowing && !s.stopped {
		s.changed.Wait()
	}
	return !s.stopped
}

// waitForDelivery waits until JavaScript reads input and has received the previous piece. It returns false when input
// is stopped.
func (s *stdin) waitForDelivery() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for (s.delivering || !s.flowing) && !s.stopped {
		s.changed.Wait()
	}
	s.delivering = true
	return !s.stopped
}

func (s *stdin) endDelivery() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delivering = false
	s.changed.Signal()
}
