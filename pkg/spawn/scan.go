package spawn

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The members of a JSON-RPC object that matter here.
const (
	tag = iota // "jsonrpc"
	id
	method
	params
	result
	failure // "error"
	members
	other = -1
)

func memberOf(key []byte) int {
	switch string(key) {
	case "jsonrpc":
		return tag
	case "id":
		return id
	case "method":
		return method
	case "params":
		return params
	case "result":
		return result
	case "error":
		return failure
	}
	return other
}

// scan follows one JSON object through any number of chunks in constant memory: where it ends, and where the values of its
// own members lie. What is inside a value it only balances; whoever uses the value decodes it, and a flaw then costs that
// one call. Decoding a whole line with the SDK takes ten times as long and three times its size in memory.
type scan struct {
	done, bad bool

	off      int // bytes consumed in earlier chunks
	depth    int
	want     expectation // at depth 1
	inString bool
	escaped  bool // the next byte of the string is

	key    [8]byte
	keyLen int // may exceed the array: then the key is none of ours

	member int             // whose value is being read
	start  int             // of that value
	spans  [members][2]int // start and end of the values; start 0 means absent
	small  [2][]byte       // the values of tag and id, cut at longestSmall
}

// longestSmall is far above any id that we send.
const longestSmall = 256

type expectation int

const (
	wantKey expectation = iota
	inKey
	wantColon
	wantValue
	inValue
)

// feed consumes b up to the end of the object, or to where it turns out to be none, and returns how much that was. Bytes
// before the first brace are skipped.
func (s *scan) feed(b []byte) int {
	i := 0
	if s.depth == 0 {
		if i = bytes.IndexByte(b, '{'); i < 0 {
			s.off += len(b)
			return len(b)
		}
		s.depth = 1
		i++
	}
	for i < len(b) && !s.done && !s.bad {
		switch {
		case s.inString:
			i += s.text(b[i:])
		case s.depth > 1:
			s.nested(b[i])
			i++
		default:
			s.own(b, i)
			i++
		}
	}
	if s.want == inValue && !s.done {
		s.keep(b, i)
	}
	s.off += i
	return i
}

// text consumes the inside of a string and its closing quote.
func (s *scan) text(b []byte) int {
	if s.escaped {
		s.escaped = false
		return s.spell(b[:1])
	}
	end := bytes.IndexByte(b, '"')
	if end < 0 {
		s.escaped = backslashes(b)%2 == 1
		return s.spell(b)
	}
	if backslashes(b[:end])%2 == 1 {
		return s.spell(b[:end+1])
	}
	s.spell(b[:end])
	s.inString = false
	if s.want == inKey {
		s.want = wantColon
	}
	return end + 1
}

// spell collects a key.
func (s *scan) spell(b []byte) int {
	if s.want == inKey {
		if s.keyLen < len(s.key) {
			copy(s.key[s.keyLen:], b)
		}
		s.keyLen += len(b)
	}
	return len(b)
}

func backslashes(b []byte) int {
	return len(b) - len(bytes.TrimRight(b, `\`))
}

func (s *scan) nested(c byte) {
	switch c {
	case '"':
		s.inString = true
	case '{', '[':
		s.depth++
	case '}', ']':
		s.depth--
	}
}

// own handles b[i] at depth 1.
func (s *scan) own(b []byte, i int) {
	c := b[i]
	if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
		return
	}
	switch s.want {
	case wantKey:
		switch c {
		case '"':
			s.inString, s.want, s.keyLen = true, inKey, 0
		case '}':
			s.done = true
		default:
			s.bad = true
		}
	case wantColon:
		s.want, s.bad = wantValue, c != ':'
		s.member = other
		if s.keyLen <= len(s.key) {
			s.member = memberOf(s.key[:s.keyLen])
		}
	case wantValue:
		s.want, s.start = inValue, s.off+i
		if s.member == tag || s.member == id {
			s.small[s.member] = nil
		}
		s.nested(c)
		s.bad = c == ',' || c == '}' || c == ']' || c == ':'
	default: // inValue; in a key, the byte is part of a string
		switch c {
		case ',':
			s.end(b, i)
			s.want = wantKey
		case '}':
			s.end(b, i)
			s.done = true
		case ']', ':':
			s.bad = true
		default:
			s.nested(c)
		}
	}
}

func (s *scan) end(b []byte, i int) {
	s.keep(b, i)
	if s.member != other {
		s.spans[s.member] = [2]int{s.start, s.off + i}
	}
}

// keep remembers the part of a small value that lies in b before i.
func (s *scan) keep(b []byte, i int) {
	if s.member != tag && s.member != id {
		return
	}
	part, room := b[max(0, s.start-s.off):i], longestSmall-len(s.small[s.member])
	s.small[s.member] = append(s.small[s.member], part[:min(len(part), room)]...)
}

// value returns a member's value in the object that was fed as one chunk, nil when it has none.
func (s *scan) value(object []byte, member int) []byte {
	span := s.spans[member]
	if span[0] == 0 {
		return nil
	}
	return bytes.TrimRight(object[span[0]:span[1]], " \t\r\n")
}

// tagged reports whether the object calls itself JSON-RPC 2.0.
func (s *scan) tagged() bool { return string(bytes.TrimSpace(s.small[tag])) == `"2.0"` }

func (s *scan) id() (jsonrpc.ID, bool) {
	if s.spans[id][0] == 0 {
		return jsonrpc.ID{}, true
	}
	var raw any
	if json.Unmarshal(s.small[id], &raw) != nil {
		return jsonrpc.ID{}, false
	}
	made, err := jsonrpc.MakeID(raw)
	return made, err == nil
}

// message makes a message of a complete object; it shares the object's memory. ok is false when the object is none.
func (s *scan) message(object []byte) (msg jsonrpc.Message, ok bool) {
	id, ok := s.id()
	if !ok || !s.done || !s.tagged() {
		return nil, false
	}
	if name := s.value(object, method); name != nil {
		req := &jsonrpc.Request{ID: id, Params: s.value(object, params)}
		return req, json.Unmarshal(name, &req.Method) == nil
	}
	resp := &jsonrpc.Response{ID: id, Result: s.value(object, result)}
	if raw := s.value(object, failure); raw != nil && string(raw) != "null" {
		wire := &jsonrpc.Error{}
		if json.Unmarshal(raw, wire) != nil {
			wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: string(raw)}
		}
		resp.Error = wire
	}
	return resp, id.IsValid()
}
