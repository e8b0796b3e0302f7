package engine

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// The same text under another name, or compiled in another way, is other bytecode.
func TestBytecodeIsRememberedByAllThatItIsMadeOf(t *testing.T) {
	t.Parallel()
	store := &shelf{}
	run(t, `console.log(1)`, func(s *Spec) { s.Store, s.Key = store, "text" })
	keys := slices.Sorted(maps.Keys(store.blobs))
	for _, key := range keys {
		if !strings.HasPrefix(key, "engine-"+bytecodeFormat+"-") || !strings.Contains(key, engineVersion()) {
			t.Errorf("the key %s names no format and no engine", key)
		}
	}
	if n := len(slices.DeleteFunc(keys, func(key string) bool { return !strings.HasSuffix(key, "-text") })); n != 1 {
		t.Errorf("%d keys are the bundle's", n)
	}
	if text := run(t, `console.log(2)`, func(s *Spec) { s.Store, s.Key = store, "text" }); text != "1\n" {
		t.Errorf("what was remembered is not what ran: %q", text)
	}
	again := &shelf{}
	g := newRig(t, ``, func(s *Spec) { s.Store, s.Key = again, "" })
	g.wait()
	v, err := newVM(DefaultMemoryLimit, func() {}, func() { t.Error("the memory is full") })
	if err != nil {
		t.Fatal(err)
	}
	defer v.close()
	e := &Engine{spec: Spec{Store: again}, vm: v}
	before := len(again.blobs)
	for _, file := range []string{bundleFile, "a"} {
		x, err := e.load("same", file, []byte("1"))
		if err != nil {
			t.Fatal(err)
		}
		v.free(x)
	}
	if n := len(again.blobs) - before; n != 2 {
		t.Errorf("a script and a module of the host's share their bytecode: %d are new, want 2", n)
	}
}
