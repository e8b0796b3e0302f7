package engine

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// A script with another key, or compiled with other flags, has other bytecode.
func TestBytecodeKeyCoversAllInputs(t *testing.T) {
	t.Parallel()
	store := &memoryStore{}
	run(t, `console.log(1)`, func(s *Spec) { s.Store, s.Key = store, "text" })
	keys := slices.Sorted(maps.Keys(store.blobs))
	for _, key := range keys {
		if !strings.HasPrefix(key, "engine-"+bytecodeFormat+"-") || !strings.Contains(key, engineVersion()) {
			t.Errorf("the key %s lacks the format or the engine version", key)
		}
	}
	if n := len(slices.DeleteFunc(keys, func(key string) bool { return !strings.HasSuffix(key, "-text") })); n != 1 {
		t.Errorf("the bundle has %d keys, want 1", n)
	}
	if text := run(t, `console.log(2)`, func(s *Spec) { s.Store, s.Key = store, "text" }); text != "1\n" {
		t.Errorf("the stored bytecode was not used: %q", text)
	}
	again := &memoryStore{}
	g := newTestEngine(t, ``, func(s *Spec) { s.Store, s.Key = again, "" })
	g.wait()
	v := newTestVM(t, func() {})
	e := &Engine{spec: Spec{Store: again}, vm: v, version: engineVersion()}
	e.ctx, e.stop = newStopState()
	defer e.Kill()
	before := len(again.blobs)
	for _, file := range []string{bundleName, "a"} {
		x, err := e.runScript("same", file, []byte("1"))
		if err != nil {
			t.Fatal(err)
		}
		v.free(x)
	}
	if n := len(again.blobs) - before; n != 2 {
		t.Errorf("a script and an internal module share bytecode: %d new keys, want 2", n)
	}
}
