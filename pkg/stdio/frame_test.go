package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// frames runs a framer over r and returns what it found in order: messages as "method id" or "id result", stray text
// quoted.
func frames(r io.Reader, limit int) []string {
	var got []string
	f := framer{
		maxLine: limit,
		message: func(m jsonrpc.Message) { got = append(got, show(m)) },
		stray:   func(text []byte) { got = append(got, fmt.Sprintf("%q", text)) },
	}
	f.run(r)
	return got
}

func show(m jsonrpc.Message) string {
	switch m := m.(type) {
	case *jsonrpc.Request:
		return strings.TrimSpace(fmt.Sprintf("%s %v %s", m.Method, m.ID.Raw(), m.Params))
	case *jsonrpc.Response:
		if m.Error != nil {
			return fmt.Sprintf("%v error %v", m.ID.Raw(), m.Error)
		}
		return fmt.Sprintf("%v %s", m.ID.Raw(), m.Result)
	}
	return "neither"
}

func framingCases() []struct {
	name, in string
	want     []string
} {
	return []struct {
		name, in string
		want     []string
	}{
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{"a":[1,2]}}` + "\n", []string{`1 {"a":[1,2]}`}},
		{"the id at the end", `{"result":{"a":"}"},"jsonrpc":"2.0","id":7}` + "\n", []string{`7 {"a":"}"}`}},
		{"a string id", `{"jsonrpc":"2.0","id":"x\"y","result":1}` + "\n", []string{`x"y 1`}},
		{"spaces everywhere", "  { \"jsonrpc\" : \"2.0\" , \"id\" : 2 ,\t\"result\" : { } }  \n", []string{"2 { }"}},
		{"a notification", `{"jsonrpc":"2.0","method":"n","params":{"p":1}}` + "\n", []string{`n <nil> {"p":1}`}},
		{"a request", `{"jsonrpc":"2.0","id":3,"method":"ping"}` + "\n", []string{`ping 3`}},
		{"an error", `{"jsonrpc":"2.0","id":4,"error":{"code":-1,"message":"no"}}` + "\n", []string{"4 error no"}},
		{"an error that is not an object", `{"jsonrpc":"2.0","id":4,"error":"boom"}` + "\n", []string{`4 error "boom"`}},
		{"error null beside a result", `{"jsonrpc":"2.0","id":4,"error":null,"result":5}` + "\n", []string{"4 5"}},
		{"CRLF", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":2}\r\n", []string{"1 1", "2 2"}},
		{"a byte order mark", "\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"result":1}` + "\n", []string{"1 1"}},
		{"blank lines", "\n\r\n  \n" + `{"jsonrpc":"2.0","id":1,"result":1}` + "\n\n", []string{"1 1"}},
		{"no newline at the end", `{"jsonrpc":"2.0","id":1,"result":1}`, []string{"1 1"}},
		{"half a message at the end", `{"jsonrpc":"2.0","id":1,"res`, []string{`"{\"jsonrpc\":\"2.0\",\"id\":1,\"res"`}},
		{"stray text", "hello\nworld\n", []string{`"hello"`, `"world"`}},
		{"stray text without newline before a message", `stray{"jsonrpc":"2.0","id":1,"result":1}` + "\n", []string{`"stray"`, "1 1"}},
		{"stray text with braces before a message", `{ a: 1 } {"x":{}} {"jsonrpc":"2.0","id":1,"result":1}` + "\n", []string{`"{ a: 1 } {\"x\":{}} "`, "1 1"}},
		{"an open brace before a message", `{"a":{"b":[ {"jsonrpc":"2.0","id":1,"result":1}` + "\n", []string{`"{\"a\":{\"b\":[ "`, "1 1"}},
		{"stray text after a message", `{"jsonrpc":"2.0","id":1,"result":1}tail` + "\n", []string{"1 1", `"tail"`}},
		{"two messages in a line", `{"jsonrpc":"2.0","id":1,"result":1}{"jsonrpc":"2.0","id":2,"result":2}` + "\n", []string{"1 1", "2 2"}},
		{"a message inside a log record", `{"level":"info","msg":{"jsonrpc":"2.0","id":1,"result":1}}` + "\n", []string{`"{\"level\":\"info\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}}"`}},
		{"JSON that is not an object", "42\n[1]\n\"x\"\nnull\n", []string{`"42"`, `"[1]"`, `"\"x\""`, `"null"`}},
		{"an object that is not a message", `{"id":1,"result":1}` + "\n", []string{`"{\"id\":1,\"result\":1}"`}},
		{"another version", `{"jsonrpc":"1.0","id":1,"result":1}` + "\n", []string{`"{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":1}"`}},
		{"an error without an id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}` + "\n", []string{`"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"x\"}}"`}},
		{"an id of the wrong type", `{"jsonrpc":"2.0","id":true,"result":1}` + "\n", []string{`"{\"jsonrpc\":\"2.0\",\"id\":true,\"result\":1}"`}},
		{"a method of the wrong type", `{"jsonrpc":"2.0","id":1,"method":5}` + "\n", []string{`"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}"`}},
		{"a printed object", "{ jsonrpc: '2.0', id: 1, result: {} }\n", []string{`"{ jsonrpc: '2.0', id: 1, result: {} }"`}},
		{"a batch", ` [ {"jsonrpc":"2.0","id":1,"result":1}]` + "\r\n", []string{`" [ {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}]"`}},
		{"a level in brackets before a message", `[info] {"jsonrpc":"2.0","id":1,"result":1}` + "\n", []string{`"[info] "`, "1 1"}},
		{"invalid UTF-8", "\xff\xfe\n" + "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}\n", []string{`"\xff\xfe"`, "1 \"\xff\""}},
		{"a result that is not JSON, the id first", `{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}` + "\n", []string{
			`"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":NaN}}"`, "1 error the answer is not valid JSON: invalid character 'N' looking for beginning of value",
		}},
		{"a result that is not JSON, the id last", `{"result":[1,],"jsonrpc":"2.0","id":1}` + "\n", []string{
			`"{\"result\":[1,],\"jsonrpc\":\"2.0\",\"id\":1}"`, "1 error the answer is not valid JSON: invalid character ']' looking for beginning of value",
		}},
		{"a request that is not JSON", `{"jsonrpc":"2.0","id":1,"method":"m","params":NaN}` + "\n", []string{`"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":NaN}"`}},
		{"keys in capitals", `{"JSONRPC":"2.0","Id":1,"Result":1}` + "\n", []string{`"{\"JSONRPC\":\"2.0\",\"Id\":1,\"Result\":1}"`}},
		{"backslashes before a quote", `{"a":"\\","b":"\\\"","jsonrpc":"2.0","id":1,"result":"\\\\"}` + "\n", []string{`1 "\\\\"`}},
	}
}

func TestMessagesAreSeparatedFromStrayText(t *testing.T) {
	t.Parallel()
	for _, c := range framingCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, frames(strings.NewReader(c.in), maxLine)); diff != "" {
				t.Errorf("at once (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, frames(iotest.OneByteReader(strings.NewReader(c.in)), maxLine)); diff != "" {
				t.Errorf("byte by byte (-want +got):\n%s", diff)
			}
		})
	}
}

// answer makes a line of exactly size bytes in one of the orders that SDKs use.
func answer(size int, idLast bool) string {
	head, tail := `{"jsonrpc":"2.0","id":11,"result":{"text":"`, `","nested":{"id":99}}}`
	if idLast {
		head, tail = `{"result":{"id":99,"text":"`, `"},"jsonrpc":"2.0","id":11}`
	}
	return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
}

func TestLineOverTheLimitFailsOnlyItsCall(t *testing.T) {
	t.Parallel()
	const next = `{"jsonrpc":"2.0","id":12,"result":1}` + "\n"
	const limit = 200_000
	for _, c := range []struct {
		name string
		line string
		want string // the message in place of the line, "" for none
	}{
		{"exactly the limit", answer(limit, true), "11 <ok>"},
		{"one more, id last", answer(limit+1, true), "11 too large"},
		{"one more, id first", answer(limit+1, false), "11 too large"},
		{"much more", answer(10*limit, true), "11 too large"},
		{"a string id", `{"id":"a\"b","jsonrpc":"2.0","result":"` + strings.Repeat("x", limit) + `"}`, `a"b too large`},
		{"escapes", `{"result":"` + strings.Repeat(`\"\\`, limit) + `","id":11,"jsonrpc":"2.0"}`, "11 too large"},
		{"a request", `{"jsonrpc":"2.0","id":11,"method":"m","params":"` + strings.Repeat("x", limit) + `"}`, ""},
		{"a notification", `{"jsonrpc":"2.0","method":"m","params":"` + strings.Repeat("x", limit) + `"}`, ""},
		{"stray text", strings.Repeat("x", 3*limit), ""},
		{"other JSON with an id", `{"id":11,"data":"` + strings.Repeat("x", limit) + `"}`, ""},
		{"an id that is too long itself", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 2*limit) + `","result":1}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			var stray int
			f := framer{maxLine: limit, stray: func([]byte) { stray++ }, message: func(m jsonrpc.Message) {
				resp, ok := m.(*jsonrpc.Response)
				if !ok {
					t.Errorf("it delivered %s", show(m))
					return
				}
				switch {
				case resp.Error == nil && len(resp.Result) > 1000:
					got = append(got, fmt.Sprint(resp.ID.Raw(), " <ok>"))
				case fault.KindOf(resp.Error) == fault.TooLarge:
					var wire *jsonrpc.Error
					if !errors.As(resp.Error, &wire) || wire.Code != CodeTooLarge {
						t.Errorf("no JSON-RPC error in %v", resp.Error)
					}
					got = append(got, fmt.Sprint(resp.ID.Raw(), " too large"))
				default:
					got = append(got, show(m))
				}
			}}
			f.run(strings.NewReader(c.line + "\n" + next))
			want := []string{"12 1"}
			if c.want != "" {
				want = []string{c.want, "12 1"}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if over := len(c.line) > limit; over != (stray == 1) {
				t.Errorf("%d lines for the log", stray)
			}
		})
	}
}

func TestErrorOfLineOverLimitHasItsSize(t *testing.T) {
	t.Parallel()
	const want = "the answer is a line of 65.0 MiB, over the limit of 64 MiB"
	if got := tooLarge(65<<20, maxLine).Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// filler is a reader of n times x, which costs no memory.
type filler struct{ n int }

func (f *filler) Read(p []byte) (int, error) {
	if f.n == 0 {
		return 0, io.EOF
	}
	n := min(f.n, len(p))
	for i := range p[:n] {
		p[i] = 'x'
	}
	f.n -= n
	return n, nil
}

// It is not parallel: it measures what the whole process allocates.
//
//nolint:paralleltest // see above
func TestLineOverTheLimitUsesNoMemoryBeyondTheLimit(t *testing.T) {
	const limit, size = 256 << 10, 64 << 20
	in := io.MultiReader(
		strings.NewReader(`{"result":"`), &filler{size},
		strings.NewReader(`","jsonrpc":"2.0","id":5}`+"\n"),
	)
	var got []string
	f := framer{maxLine: limit, stray: func([]byte) {}, message: func(m jsonrpc.Message) { got = append(got, show(m)) }}
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	f.run(in)
	goruntime.ReadMemStats(&after)
	if len(got) != 1 || !strings.HasPrefix(got[0], "5 error the answer is a line of 64.0 MiB") {
		t.Errorf("got %q", got)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 32*limit {
		t.Errorf("%d bytes allocated for a limit of %d", used, limit)
	}
}

// TestTextThatOpensManyBracesIsSearchedForABoundedTime: without a bound this takes hours.
func TestTextThatOpensManyBracesIsSearchedForABoundedTime(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{`{`, `{"`, `{"a":`, `{"a":[`, `{"jsonrpc":`, `{"a":"`, `{x`} {
		text := strings.Repeat(unit, 512<<10/len(unit)) + `"jsonrpc"`
		if got := pieces(text + "\n"); got != 1 {
			t.Errorf("%d pieces from repeated %s", got, unit)
		}
	}
}

// pieces returns how many messages and pieces of stray text a framer finds.
func pieces(text string) int {
	n := 0
	f := framer{maxLine: maxLine, message: func(jsonrpc.Message) { n++ }, stray: func([]byte) { n++ }}
	f.run(strings.NewReader(text))
	return n
}

// TestDeepNestingIsStrayText: without a bound on the recursion the stack overflows, which nothing can recover from.
func TestDeepNestingIsStrayText(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"[", `{"a":`} {
		line := `{"jsonrpc":"2.0","id":1,"x":` + strings.Repeat(unit, 16<<20/len(unit)) + "\n"
		if got := pieces(line); got != 1 {
			t.Errorf("%d pieces from repeated %s", got, unit)
		}
	}
}

func TestMessageWithManyObjectsIsDelivered(t *testing.T) {
	t.Parallel()
	line := `starting {"jsonrpc":"2.0","id":1,"result":[` + strings.Repeat("{},", 200_000) + "1]}\n"
	got := frames(strings.NewReader(line), maxLine)
	if want := len(`1 [`) + 600_000 + len("1]"); len(got) != 2 || got[0] != `"starting "` || len(got[1]) != want {
		t.Errorf("%d pieces, the first %.100s", len(got), got[0])
	}
}

// TestMessagesAreParsedAsTheSDKDoes: what the SDK takes for a message is one, with the same parts.
func TestMessagesAreParsedAsTheSDKDoes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		line := randomMessage(rng)
		want, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got := frames(bytes.NewReader(line), maxLine)
		if diff := cmp.Diff([]string{show(want)}, got); diff != "" {
			t.Fatalf("%s (-SDK +ours):\n%s", line, diff)
		}
	}
}

// randomMessage has its members in any order, among others.
func randomMessage(rng *rand.Rand) []byte {
	var value func(depth int) any
	value = func(depth int) any {
		switch n := rng.IntN(8); {
		case n < 2 && depth > 0:
			m := map[string]any{}
			for range rng.IntN(4) {
				m[[]string{"id", "jsonrpc", "a\"b", "{", "method"}[rng.IntN(5)]] = value(depth - 1)
			}
			return m
		case n == 2 && depth > 0:
			return []any{value(depth - 1), value(depth - 1)}
		case n == 3:
			return nil
		case n == 4:
			return rng.IntN(1000)
		}
		return []string{"", `\`, `"`, `\"`, "}{][", "ünïcode\u2028\x00\n", "plain"}[rng.IntN(7)]
	}
	all := map[string]any{"jsonrpc": "2.0", "id": []any{1, "x", 2.0, `q"`}[rng.IntN(4)], "extra": value(2), "another": value(2)}
	switch rng.IntN(3) {
	case 0:
		all["result"] = value(4)
	case 1:
		all["method"], all["params"] = `m\"`, value(4)
	default:
		all["error"] = map[string]any{"code": rng.IntN(100), "message": value(0), "data": value(3)}
		if _, ok := all["error"].(map[string]any)["message"].(string); !ok {
			all["error"].(map[string]any)["message"] = "m"
		}
	}
	keys := []string{}
	for k := range all {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteString(" , ")
		}
		v, _ := json.Marshal(all[k])
		fmt.Fprintf(&b, "%q: %s", k, v)
	}
	b.WriteString("}")
	return b.Bytes()
}

// choppy reads in pieces of sizes that data decides.
type choppy struct {
	r     io.Reader
	sizes []byte
}

func (c *choppy) Read(p []byte) (int, error) {
	n := 1
	if len(c.sizes) > 0 {
		n, c.sizes = 1+int(c.sizes[0]), c.sizes[1:]
	}
	return c.r.Read(p[:min(n, len(p))])
}

// FuzzFraming: whatever a server writes and however it arrives, nothing breaks, all valid messages on lines of their
// own are delivered in order, and how the bytes are split changes nothing.
func FuzzFraming(f *testing.F) {
	for _, c := range framingCases() {
		f.Add([]byte(c.in), []byte{3, 0, 9}, byte(2))
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":"`+strings.Repeat("y", 600)+"\"}\n"), []byte{255}, byte(0))
	f.Fuzz(func(t *testing.T, data, sizes []byte, at byte) {
		const limit = 512
		// Valid lines between the lines of the rubbish.
		var in bytes.Buffer
		lines, sent := bytes.SplitAfter(data, []byte("\n")), 0
		for i, line := range lines {
			in.Write(line)
			if i%(int(at)+1) == 0 && (len(line) == 0 || line[len(line)-1] == '\n') {
				sent++
				fmt.Fprintf(&in, "{\"jsonrpc\":\"2.0\",\"method\":\"fuzz %d\"}\n", sent)
			}
		}
		whole := frames(bytes.NewReader(in.Bytes()), limit)
		if split := frames(&choppy{bytes.NewReader(in.Bytes()), sizes}, limit); !slices.Equal(whole, split) {
			t.Errorf("split otherwise:\n%q\n%q", whole, split)
		}
		next := 1
		for _, got := range whole {
			if got == fmt.Sprintf("fuzz %d <nil>", next) {
				next++
			}
		}
		if next != sent+1 {
			t.Errorf("%d of %d messages arrived:\n%q", next-1, sent, whole)
		}
	})
}
