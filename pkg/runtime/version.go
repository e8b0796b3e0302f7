package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// probeLimit is for a cold start from a slow disk; an answer takes 5 to 50 ms.
const probeLimit = 10 * time.Second

// versions asks executables for their version and remembers the answers, also between runs. A file of answers that cannot be
// read or written only costs the memory.
type versions struct {
	file string // "" for none
	env  []string

	mu      sync.Mutex
	loaded  bool
	answers map[string]answer // by path
}

// answer holds as long as the executable's size and time stay the same.
type answer struct {
	Size    int64     `json:"size"`
	Time    time.Time `json:"mtime"`
	Version string    `json:"version"`
}

func newVersions(dir string, env []string) *versions {
	v := &versions{env: env, answers: map[string]answer{}}
	if dir != "" {
		v.file = filepath.Join(dir, "runtimes.json")
	}
	return v
}

func (v *versions) of(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.load()
	if a, ok := v.answers[path]; ok && a.Version != "" && a.Size == info.Size() && a.Time.Equal(info.ModTime()) {
		return a.Version, nil
	}
	version, err := v.ask(ctx, path)
	if err != nil {
		return "", err
	}
	v.answers[path] = answer{info.Size(), info.ModTime(), version}
	v.save()
	return version, nil
}

func (v *versions) ask(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = v.env
	cmd.WaitDelay = time.Second // a descendant may hold the pipe
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if version == "" {
		return "", errors.New("no answer")
	}
	return version, nil
}

func (v *versions) load() {
	if v.loaded || v.file == "" {
		return
	}
	v.loaded = true
	answers := map[string]answer{}
	if data, err := os.ReadFile(v.file); err == nil && json.Unmarshal(data, &answers) == nil && answers != nil {
		v.answers = answers
	}
}

func (v *versions) save() {
	if v.file == "" {
		return
	}
	data, err := json.Marshal(v.answers)
	if err != nil || os.MkdirAll(filepath.Dir(v.file), 0o700) != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(v.file), ".runtimes-*")
	if err != nil {
		return
	}
	_, err = tmp.Write(data)
	if errors.Join(err, tmp.Close()) != nil || os.Rename(tmp.Name(), v.file) != nil {
		_ = os.Remove(tmp.Name())
	}
}
