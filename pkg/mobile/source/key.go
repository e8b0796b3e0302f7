package source

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// setKeys sets the keys of root and of what is below it. Servers report no identity of an element, so a key is made
// from what stays the same while the element exists: the classes and ids from the root down, and its name. Nodes next
// to each other with the same class and id differ by the first text in them, then by all texts in them, then by their
// order: a row keeps its key while the list scrolls, and a row that takes the place of another one has another key.
//
// Windows of an app differ by their order: one that opens above the others, such as that of the keyboard, is the last.
//
// An element whose name changes gets another key. That of a field, a switch or a slider does not depend on its value.
func setKeys(root *screen.Node, prefix string) {
	k := &keys{texts: map[*screen.Node]texts{}}
	k.collect(root)
	if first := k.texts[root].first; first != "" {
		k.title = first
	}
	k.assign(root, k.hash(prefix, identity(root)))
}

// keys are the texts from which the keys of one window are made.
type keys struct {
	texts  map[*screen.Node]texts
	title  string // the first text in the window, one outside of lists if it has one
	hashed []byte // reused
}

// texts are those in a node and below it, without those in a list below it.
type texts struct {
	first string
	all   string // equal for equal texts
}

func (k *keys) collect(n *screen.Node) texts {
	own := name(n)
	if n.RoleName() == "application" {
		own = "" // every screen of the app has it
	}
	t := texts{own, own}
	for _, child := range n.Children {
		below := k.collect(child)
		if k.title == "" {
			k.title = below.first
		}
		if scrolls(n) {
			continue // what is in it changes while it stays
		}
		if t.first == "" {
			t.first = below.first
		}
		switch {
		case t.all == "":
			t.all = below.all
		case below.all != "":
			t.all = k.hash(t.all, below.all)
		}
	}
	k.texts[n] = t
	return t
}

// scrolls reports whether n shows a part of what it has.
func scrolls(n *screen.Node) bool {
	switch n.RoleName() {
	case "list", "grid", "table":
		return true
	}
	return n.Scrollable
}

// assign sets the key of n, whose path is unique in the screen, and the keys of what is below it.
func (k *keys) assign(n *screen.Node, path string) {
	named := k.texts[n].first
	if named == "" || n.Editable {
		named += "\x00" + k.title // the same place of another screen is another element
	}
	n.Key = screen.Key(hex.EncodeToString([]byte(k.hash(path, named))))
	steps := k.steps(n.Children)
	for i, child := range n.Children {
		k.assign(child, k.hash(path, steps[i]))
	}
}

// steps returns what distinguishes each of the nodes from the others.
func (k *keys) steps(nodes []*screen.Node) []string {
	steps := make([]string, len(nodes))
	windows := 0
	for i, n := range nodes {
		steps[i] = identity(n)
		if value(n.Class) == "Window" {
			steps[i] += "\x00" + strconv.Itoa(windows)
			windows++
		}
	}
	if len(nodes) < 2 {
		return steps
	}
	more := []func(int) string{
		func(i int) string { return k.texts[nodes[i]].first },
		func(i int) string { return k.texts[nodes[i]].all },
	}
	for _, add := range more {
		count := map[string]int{}
		for _, step := range steps {
			count[step]++
		}
		if len(count) == len(steps) {
			return steps
		}
		for i, step := range steps {
			if count[step] > 1 {
				steps[i] = step + "\x00" + add(i)
			}
		}
	}
	seen := map[string]int{}
	for i, step := range steps {
		steps[i] = step + "\x00" + strconv.Itoa(seen[step])
		seen[step]++
	}
	return steps
}

// identity returns class and id of n.
func identity(n *screen.Node) string { return value(n.Class) + "\x00" + value(n.ID) }

// name returns what n is called, without a value that the user changes.
func name(n *screen.Node) string {
	if label := notBlank(value(n.Label)); label != nil {
		return *label
	}
	switch n.RoleName() {
	case "slider", "switch", "progressbar", "spinbutton", "textbox", "searchbox", "combobox":
		return value(n.Hint)
	}
	if text := notBlank(value(n.Text)); text != nil && !n.Editable {
		return *text
	}
	return value(n.Hint)
}

// hash returns 16 bytes that differ for different strings.
func (k *keys) hash(a, b string) string {
	k.hashed = binary.AppendUvarint(k.hashed[:0], uint64(len(a)))
	k.hashed = append(append(k.hashed, a...), b...)
	sum := sha256.Sum256(k.hashed)
	return string(sum[:16])
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
