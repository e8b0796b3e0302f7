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

// indexKey names what is remembered of a script: the key of its text, and the facts that made it.
func indexKey(script string, target Target) string {
	return strings.Join([]string{"index", format, esbuildVersion, target.String(), script}, "\x00")
}

// mapName is the file with the source map of a text.
func mapName(script string, target Target, key string) string {
	if target == Node {
		return moduleName(script, key) + ".map"
	}
	return blob("map\x00" + key)
}

// recall returns the text that was made of the script if everything that went into it is as it was; else nil.
func (c *Cache) recall(script string, target Target) *Bundle {
	index, ok := c.store.get(indexKey(script, target))
	if !ok {
		return nil
	}
	key, facts, _ := strings.Cut(string(index), "\n")
	code := make(chan []byte, 1)
	go func() { code <- c.text(script, target, key) }()
	same := allTrue(facts)
	text := <-code
	if !same || text == nil || !c.store.use(mapName(script, target, key)) {
		return nil
	}
	b := &Bundle{Script: script, Code: text, Key: key}
	b.sourceMap = func() []byte { return c.sourceMap(script, target, key) }
	if target == Node {
		b.File = filepath.Join(c.store.dir, moduleName(script, key))
	}
	return b
}

// text returns a text by its key, nil when it is gone or damaged.
func (c *Cache) text(script string, target Target, key string) []byte {
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
	text, ok := bytes.CutSuffix(file, mapComment(script, key))
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

// moduleName is the name of the file that node runs. It starts as the script's does, for whoever looks at processes.
func moduleName(script, key string) string {
	base := filepath.Base(script)
	base = strings.Map(safe, strings.TrimSuffix(base, filepath.Ext(base)))
	return base[:min(len(base), 60)] + "-" + key + moduleExt
}

// safe is a letter that any file's name may have, in place of one that may not.
func safe(r rune) rune {
	if strings.ContainsRune("._-", r) || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return r
	}
	return '_'
}

func mapComment(script, key string) []byte {
	return []byte("\n//# sourceMappingURL=" + moduleName(script, key) + ".map\n")
}

// remember puts a new text into the cache, and what it was made of last, so that no index leads nowhere.
func (c *Cache) remember(script string, target Target, made *made) (*Bundle, error) {
	key := sumOf(made.text)
	b := &Bundle{Script: script, Code: made.text, Key: key, sourceMap: func() []byte { return made.sourceMap }}
	if target == Embedded {
		c.store.put("text\x00"+key, made.text)
		c.store.put("map\x00"+key, made.sourceMap)
	} else {
		b.Code = append(made.text, mapComment(script, key)...)
		if err := c.writeModule(b); err != nil {
			return nil, err
		}
	}
	if made.facts != "" && b.temporary == "" {
		c.store.put(indexKey(script, target), []byte(key+"\n"+made.facts))
		c.store.prune(time.Now())
	}
	return b, nil
}

// writeModule writes what node is to run into the cache, or where that cannot be, into a folder for this once.
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
		return fault.Wrap(fault.Server, err, "node needs the bundled script in a file; make room, or set TMPDIR to a folder that can be written",
			"write the bundle of "+b.Script)
	}
	return nil
}
