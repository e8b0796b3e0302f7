package bundle

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// indexKey is the store key of a script's index: the key of its bundle, and the dependencies of the bundle.
func indexKey(src source, target Target) string {
	return strings.Join([]string{"index", format, esbuildVersion, target.String(), src.id()}, "\x00")
}

// sourceMapName returns the file name of the source map of a bundle.
func sourceMapName(script string, target Target, key string) string {
	if target != Embedded {
		return moduleName(script, key) + ".map"
	}
	return blob("map\x00" + key)
}

// lookup returns the cached bundle of a script if all its dependencies are up to date; otherwise nil.
func (c *Cache) lookup(src source, target Target) *Bundle {
	script := src.path
	index, ok := c.store.get(indexKey(src, target))
	if !ok {
		return nil
	}
	key, deps, _ := strings.Cut(string(index), "\n")
	code := make(chan []byte, 1)
	go func() { code <- c.loadCode(script, target, key) }()
	current := upToDate(deps)
	text := <-code
	if !current || text == nil || !c.store.touch(sourceMapName(script, target, key)) {
		return nil
	}
	b := &Bundle{Script: script, Code: text, Key: key}
	b.sourceMap = func() []byte { return c.sourceMap(script, target, key) }
	if target != Embedded {
		b.File = filepath.Join(c.store.dir, moduleName(script, key))
	}
	return b
}

// loadCode returns the code of a bundle; nil when it is missing or damaged.
func (c *Cache) loadCode(script string, target Target, key string) []byte {
	if target == Embedded {
		text, ok := c.store.get("text\x00" + key)
		if !ok {
			return nil
		}
		return text
	}
	file, err := c.store.read(moduleName(script, key))
	if err != nil {
		return nil
	}
	text, ok := bytes.CutSuffix(file, sourceMapComment(script, key))
	if !ok || sumOf(text) != key {
		return nil
	}
	return file
}

func (c *Cache) sourceMap(script string, target Target, key string) []byte {
	if target == Embedded {
		sourceMap, _ := c.store.get("map\x00" + key)
		return sourceMap
	}
	sourceMap, _ := c.store.read(moduleName(script, key) + ".map")
	return sourceMap
}

// moduleName returns the name of the file that node or bun runs. It begins with the name of the script, which helps in a list
// of processes.
func moduleName(script, key string) string {
	base := filepath.Base(script)
	base = strings.Map(fileNameRune, strings.TrimSuffix(base, filepath.Ext(base)))
	return base[:min(len(base), 60)] + "-" + key + moduleExt
}

// fileNameRune replaces characters that are not valid in the file names of every system.
func fileNameRune(r rune) rune {
	if strings.ContainsRune("._-", r) || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return r
	}
	return '_'
}

func sourceMapComment(script, key string) []byte {
	return []byte("\n//# sourceMappingURL=" + moduleName(script, key) + ".map\n")
}

// save stores a built bundle. It writes the index last, so that an index never refers to missing files.
func (c *Cache) save(src source, target Target, output *bundleOutput) (*Bundle, error) {
	key := sumOf(output.code)
	b := &Bundle{Script: src.path, Code: output.code, Key: key, sourceMap: func() []byte { return output.sourceMap }}
	if target == Embedded {
		c.store.put("text\x00"+key, output.code)
		c.store.put("map\x00"+key, output.sourceMap)
	} else {
		b.Code = append(output.code, sourceMapComment(src.path, key)...)
		if err := c.writeModule(b); err != nil {
			return nil, err
		}
	}
	if output.deps != "" && b.temporary == "" {
		c.store.put(indexKey(src, target), []byte(key+"\n"+output.deps))
		c.store.prune(time.Now())
	}
	return b, nil
}

// writeModule writes the file that node or bun runs to the cache, or to a temporary directory when the cache is not writable.
func (c *Cache) writeModule(b *Bundle) error {
	name := moduleName(b.Script, b.Key)
	into := func(s store) error {
		if err := s.write(name+".map", b.SourceMap()); err != nil {
			return err
		}
		b.File = filepath.Join(s.dir, name)
		return s.write(name, b.Code)
	}
	if into(c.store) == nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "trailblaze-bundle-")
	if err == nil {
		b.temporary = dir
		err = into(store{dir: dir})
	}
	if err != nil {
		_ = b.Close()
		hint := "node and bun need the bundled script in a file; free disk space, or set TMPDIR to a writable directory"
		return fault.Wrap(fault.IO, err, hint, "write the bundle of "+b.Script)
	}
	return nil
}
