package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/text"
)

const (
	// defaultVersionTimeout allows for a cold start from a slow disk; usually "--version" takes 5 to 50 ms.
	defaultVersionTimeout = 10 * time.Second
	// defaultPipeGrace is how long a descendant of an executable that ended or was killed may keep its stdout open.
	defaultPipeGrace = time.Second
)

// versions gets the versions of executables and caches them, also between runs. Without a cache file that can be read
// and written, they are only cached in memory.
type versions struct {
	file      string // "" for none
	env       []string
	timeout   time.Duration // of "--version" for one executable
	pipeGrace time.Duration // defaultPipeGrace outside of tests

	mu     sync.Mutex
	loaded bool
	cached map[string]cachedVersion // by path
}

// cachedVersion is valid as long as the executable's size and time stay the same.
type cachedVersion struct {
	Size    int64     `json:"size"`
	Time    time.Time `json:"mtime"`
	Version string    `json:"version"`
}

func newVersions(opts Options) *versions {
	v := &versions{
		env: opts.Env, timeout: cmp.Or(opts.VersionTimeout, defaultVersionTimeout), pipeGrace: defaultPipeGrace,
		cached: map[string]cachedVersion{},
	}
	if opts.CacheDir != "" {
		v.file = filepath.Join(opts.CacheDir, "runtimes.json")
	}
	return v
}

// get returns the first line that the executable at an absolute path prints for --version, from the cache if possible.
func (v *versions) get(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.load()
	if c, ok := v.cached[path]; ok && c.Version != "" && c.Size == info.Size() && c.Time.Equal(info.ModTime()) {
		return c.Version, nil
	}
	version, err := v.run(ctx, path)
	if err != nil {
		return "", err
	}
	v.cached[path] = cachedVersion{info.Size(), info.ModTime(), version}
	v.save()
	return version, nil
}

func (v *versions) run(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = v.env
	cmd.WaitDelay = v.pipeGrace
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	version := text.FirstLine(string(out))
	if version == "" {
		return "", errors.New("it printed no version")
	}
	return version, nil
}

func (v *versions) load() {
	if v.loaded || v.file == "" {
		return
	}
	v.loaded = true
	cached := map[string]cachedVersion{}
	if data, err := readFile(v.file, 1<<20); err == nil && json.Unmarshal(data, &cached) == nil && cached != nil {
		v.cached = cached
	}
}

func (v *versions) save() {
	if v.file == "" {
		return
	}
	data, err := json.Marshal(v.cached)
	if err != nil || os.MkdirAll(filepath.Dir(v.file), 0o700) != nil {
		return
	}
	_ = files.Replace(v.file, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}
