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

// nodeVersion is that of the node whose behaviour the engine follows.
const nodeVersion = "20.19.0"

func processOps() (map[string]op, map[string]job) {
	return map[string]op{
		"process.about":  processAbout,
		"process.exit":   processExit,
		"process.kill":   processKill,
		"process.signal": processSignal,
		"process.memory": func(e *Engine, _ []any) (any, error) { return float64(e.vm.memory()), nil },
		"process.write":  processWrite,
		"time.now":       func(e *Engine, _ []any) (any, error) { return e.now(), nil },
		"time.hr":        timeHR,
		"time.origin":    func(e *Engine, _ []any) (any, error) { return float64(e.started.UnixMicro()) / 1000, nil },
		"stdin.start":    stdinStart,
		"stdin.pause":    stdinPause,
		"stdin.close":    stdinClose,
		"stack.frames":   stackFrames,
	}, nil
}

// processAbout says what a process knows of itself.
func processAbout(e *Engine, _ []any) (any, error) {
	env := map[string]any{}
	for _, entry := range e.spec.Env {
		name, text, ok := strings.Cut(entry, "=")
		if ok && name != "" && (!e.spec.Sandbox || promisedVariable(name)) {
			env[name] = text
		}
	}
	argv := []any{"trailblaze", e.spec.Script}
	for _, arg := range e.spec.Args {
		argv = append(argv, arg)
	}
	pid, parent := os.Getpid(), os.Getppid()
	if e.spec.Sandbox {
		pid, parent = 1, 0
	}
	return map[string]any{
		"argv": argv, "env": env, "cwd": e.spec.Dir, "pid": pid, "ppid": parent,
		"platform": nodePlatform(runtime.GOOS), "arch": nodeArch(runtime.GOARCH),
		"node": nodeVersion, "quickjs": lib.MCONFIG_VERSION,
	}, nil
}

// promisedVariable tells whether a variable is one that every server is promised; others are the user's.
func promisedVariable(name string) bool {
	ours, ok := strings.CutPrefix(name, "TRAILBLAZE_")
	return ok && slices.Contains([]string{
		"DEVICE_PLATFORM", "DEVICE_DRIVER", "DEVICE_WIDTH_PX", "DEVICE_HEIGHT_PX", "SESSION_ID", "SESSION_TOKEN", "TOOLSET_FILE",
		"BASE_URL", "CALLBACK_URL", "PORT", "CLIENT_FETCH_TIMEOUT_MS",
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

// processExit ends the engine at once: what called it never goes on.
func processExit(e *Engine, args []any) (any, error) {
	code, _ := args[0].(float64)
	e.halt.now(Exit{Code: int(uint8(int64(code)))})
	return nil, nil
}

// processKill does what a signal does to a process that does not listen to it.
func processKill(e *Engine, args []any) (any, error) {
	signal, _ := args[0].(string)
	for number, name := range map[string]string{"1": "SIGHUP", "2": "SIGINT", "3": "SIGQUIT", "6": "SIGABRT", "9": "SIGKILL", "15": "SIGTERM"} {
		if signal == number || signal == name {
			e.halt.now(Exit{Code: -1, Signal: name})
		}
	}
	return nil, &hostError{Name: "TypeError", Code: "ERR_UNKNOWN_SIGNAL", Message: "Unknown signal: " + signal}
}

// processSignal says whether the script listens to SIGTERM.
func processSignal(e *Engine, args []any) (any, error) {
	heeds, _ := args[0].(bool)
	e.heedsTerm.Store(heeds)
	return nil, nil
}

// processWrite writes to stdout or stderr, and waits for the reader as node does when they are pipes.
func processWrite(e *Engine, args []any) (any, error) {
	pipe := e.spec.Stdout
	if fd, _ := args[0].(float64); fd == 2 {
		pipe = e.spec.Stderr
	}
	if _, err := pipe.Write(content(args, 1)); err != nil {
		return nil, &hostError{Code: "EPIPE", Message: "write EPIPE", Props: map[string]any{"syscall": "write"}}
	}
	return nil, nil
}

// timeHR is the monotonic clock in nanoseconds, as seconds and the rest.
func timeHR(e *Engine, _ []any) (any, error) {
	now := time.Since(e.started) + time.Hour
	return []any{float64(now / time.Second), float64(now % time.Second)}, nil
}

// A stdin is the reader of the engine's input. It reads one piece ahead at most, on a goroutine that the first listener starts.
type stdin struct {
	mu      sync.Mutex
	wake    *sync.Cond
	started bool
	flowing bool // JavaScript wants more; keeps the engine alive
	given   bool // a piece is on its way to JavaScript
	stopped bool
}

// stdinStart has a listener called with each piece of the input, with nothing at its end.
func stdinStart(e *Engine, args []any) (any, error) {
	id, _ := args[0].(float64)
	s := &e.stdin
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		s.started = true
		e.work.Go(func() { e.readStdin(int(id)) })
	}
	if !s.flowing && !s.stopped {
		s.flowing = true
		e.ref()
		s.wake.Signal()
	}
	return nil, nil
}

func stdinPause(e *Engine, _ []any) (any, error) {
	e.stdin.mu.Lock()
	defer e.stdin.mu.Unlock()
	e.holdStdin()
	return nil, nil
}

// holdStdin is called with the lock held.
func (e *Engine) holdStdin() {
	if e.stdin.flowing {
		e.stdin.flowing = false
		e.unref()
	}
}

func stdinClose(e *Engine, _ []any) (any, error) {
	_, _ = stdinPause(e, nil)
	_ = e.spec.Stdin.Close()
	e.stdin.stop()
	return nil, nil
}

func (s *stdin) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	s.wake.Broadcast()
}

// readStdin gives pieces to JavaScript while it wants them.
func (e *Engine) readStdin(id int) {
	defer e.survive()
	buf := make([]byte, 64<<10)
	for e.stdin.wait() {
		n, err := e.spec.Stdin.Read(buf)
		if n > 0 && e.stdin.give() {
			piece := append([]byte(nil), buf[:n]...)
			e.inbox.put(func() {
				e.kernel.call("emit", id, piece)
				e.stdin.taken()
			})
		}
		if err != nil {
			break
		}
	}
	e.stdin.wait()
	e.inbox.put(func() {
		e.stdin.mu.Lock()
		e.stdin.stopped = true
		e.holdStdin()
		e.stdin.mu.Unlock()
		e.kernel.call("emit", id)
	})
}

// wait returns once JavaScript wants input, and says whether it will get any.
func (s *stdin) wait() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.flowing && !s.stopped {
		s.wake.Wait()
	}
	return !s.stopped
}

// give is wait for who has a piece: it returns once the one before it was taken.
func (s *stdin) give() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for (s.given || !s.flowing) && !s.stopped {
		s.wake.Wait()
	}
	s.given = true
	return !s.stopped
}

func (s *stdin) taken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = false
	s.wake.Signal()
}
