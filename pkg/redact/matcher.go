package redact

import "github.com/trailblaze/trailblaze/pkg/tool"

// matcher finds many strings at once in time linear in the text. It is an Aho-Corasick automaton: a trie of the
// strings, in which each node refers to its longest proper suffix in the trie. A state is the index of a node; 0 is the
// root.
type matcher struct {
	nodes []node
	first [256]int32 // children of the root
}

type node struct {
	char           byte
	child, sibling int32 // 0 for none
	fail           int32 // the node of the longest proper suffix of the node's string that is in the trie
	depth          int32 // length of the node's string, which leads from the root to the node
	open           int32 // length of the longest suffix of the node's string that is a proper prefix of an added string
	length         int32 // of the longest added string that is a suffix of the node's string; 0 for none
	id             int32 // of the added string with that length
}

func newMatcher() *matcher { return &matcher{nodes: make([]node, 1)} }

// add adds a string. A string that was added before keeps its id. link must be called after the last add.
func (m *matcher) add(s string, id int) {
	state := int32(0)
	for i := range len(s) {
		state = m.childOrNew(state, s[i])
	}
	if n := &m.nodes[state]; state != 0 && n.length == 0 {
		n.length, n.id = n.depth, int32(id) //nolint:gosec // there are far fewer secrets
	}
}

func (m *matcher) childOrNew(state int32, b byte) int32 {
	if c := m.child(state, b); c != 0 {
		return c
	}
	c := int32(len(m.nodes)) //nolint:gosec // bounded by the size of all secrets
	m.nodes = append(m.nodes, node{char: b, depth: m.nodes[state].depth + 1})
	if state == 0 {
		m.first[b] = c
	} else {
		m.nodes[c].sibling, m.nodes[state].child = m.nodes[state].child, c
	}
	return c
}

// child returns the state that b leads to within the trie, 0 for none.
func (m *matcher) child(state int32, b byte) int32 {
	if state == 0 {
		return m.first[b]
	}
	c := m.nodes[state].child
	for c != 0 && m.nodes[c].char != b {
		c = m.nodes[c].sibling
	}
	return c
}

// link computes what depends on the suffixes of nodes, breadth first: fail, open, length and id.
func (m *matcher) link() {
	queue := make([]int32, 0, len(m.nodes))
	for _, c := range m.first {
		if c != 0 {
			queue = append(queue, c)
		}
	}
	for i := 0; i < len(queue); i++ {
		state := queue[i]
		for c := m.nodes[state].child; c != 0; c = m.nodes[c].sibling {
			queue = append(queue, c)
			m.nodes[c].fail = m.step(m.nodes[state].fail, m.nodes[c].char)
		}
		n := &m.nodes[state]
		suffix := &m.nodes[n.fail]
		if n.length == 0 {
			n.length, n.id = suffix.length, suffix.id
		}
		n.open = suffix.open
		if n.child != 0 {
			n.open = n.depth
		}
	}
}

// step returns the state after one more byte.
func (m *matcher) step(state int32, b byte) int32 {
	for state != 0 {
		if c := m.child(state, b); c != 0 {
			return c
		}
		state = m.nodes[state].fail
	}
	return m.first[b]
}

// capabilityLength is the length of every capability.
const capabilityLength = len(tool.CapabilityPrefix) + tool.CapabilityDigits

// stepCapability returns how many bytes of a capability were read after one more byte, when it was n before it.
func stepCapability(n int, b byte) int {
	switch {
	case n < len(tool.CapabilityPrefix) && b == tool.CapabilityPrefix[n]:
		return n + 1
	case n >= len(tool.CapabilityPrefix) && (b >= '0' && b <= '9' || b >= 'a' && b <= 'f'):
		return n + 1
	case b == tool.CapabilityPrefix[0]: // it is neither a digit nor elsewhere in the prefix
		return 1
	}
	return 0
}
