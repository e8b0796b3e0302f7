package callback

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const wellFormed = `{"version":1,"session_id":"s","invocation_id":"i",` +
	`"action":{"type":"call_tool","tool_name":"t","arguments_json":"{}","memory_delta":{},"memory_deletions":[]}}`

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, want string }{
		{wellFormed, "", "the body is not JSON: EOF"},
		{wellFormed, "x", "the body is not JSON: invalid character 'x' looking for beginning of value"},
		{wellFormed, wellFormed[:20], "the body is not JSON: unexpected EOF"},
		{wellFormed, wellFormed + " {}", "the body is not a single JSON value: there is more after it"},
		{wellFormed, wellFormed + "]", "the body is not a single JSON value: there is more after it"},
		{wellFormed, wellFormed + "\x00", "the body is not a single JSON value: there is more after it"},
		{wellFormed, "[]", "the body is not a JSON object"},
		{wellFormed, "null", "the body is not a JSON object"},
		{wellFormed, `"x"`, "the body is not a JSON object"},
		{wellFormed, "{}", "action is missing"},
		{wellFormed, strings.Repeat("[", 20_000), "the body is not JSON: invalid character '[' exceeded max depth"},
		{`"s"`, "\"\xff\"", "the body is not UTF-8"},
		{`"version":1,`, `"version":"1",`, "version is not a number"},
		{`"session_id":"s",`, "", "session_id is missing"},
		{`"session_id":"s"`, `"session_id":""`, "session_id is empty"},
		{`"session_id":"s"`, `"session_id":{}`, "session_id is not a string"},
		{`"invocation_id":"i"`, `"invocation_id":7`, "invocation_id is not a string"},
		{`"action":{`, `"action":[],"x":{`, "action is not an object"},
		{`"type":"call_tool",`, "", "action.type is missing"},
		{`"type":"call_tool",`, `"type":true,`, "action.type is not a string"},
		{`"call_tool"`, `"read_memory"`, "action.type is unknown; the only type is call_tool"},
		{`"tool_name":"t",`, "", "action.tool_name is missing"},
		{`"tool_name":"t",`, `"tool_name":"",`, "action.tool_name is empty"},
		{`"tool_name":"t",`, `"tool_name":["t"],`, "action.tool_name is not a string"},
		{`"arguments_json":"{}",`, "", "action.arguments_json is missing"},
		{`"arguments_json":"{}",`, `"arguments_json":{},`, "action.arguments_json is not a string"},
		{`"arguments_json":"{}",`, `"arguments_json":"",`, "action.arguments_json is empty"},
		{`"arguments_json":"{}",`, `"arguments_json":"[]",`, "action.arguments_json is not a JSON object"},
		{`"arguments_json":"{}",`, `"arguments_json":"null",`, "action.arguments_json is not a JSON object"},
		{`"arguments_json":"{}",`, `"arguments_json":"{} {}",`, "action.arguments_json is not a single JSON value: there is more after it"},
		{`"arguments_json":"{}",`, `"arguments_json":"{",`, "action.arguments_json is not JSON: unexpected EOF"},
		{`"memory_delta":{}`, `"memory_delta":[]`, "action.memory_delta is not an object of strings"},
		{`"memory_delta":{}`, `"memory_delta":{"a":1}`, "action.memory_delta is not an object of strings"},
		{`"memory_delta":{}`, `"memory_delta":{"a":null}`, "action.memory_delta is not an object of strings"},
		{`"memory_deletions":[]`, `"memory_deletions":{}`, "action.memory_deletions is not a list of strings"},
		{`"memory_deletions":[]`, `"memory_deletions":["a",null]`, "action.memory_deletions is not a list of strings"},
	} {
		body := strings.Replace(wellFormed, c.old, c.new, 1)
		if body == wellFormed {
			t.Fatalf("%q is not in the body", c.old)
		}
		if _, err := decodeCallback([]byte(body)); err == nil || err.Error() != c.want {
			t.Errorf("%.200s:\ngot  %v\nwant %s", body, err, c.want)
		}
	}
	for _, body := range []string{wellFormed, " \r\n\t" + wellFormed + "\n ", strings.Replace(wellFormed, "[]", "null", 1)} {
		if _, err := decodeCallback([]byte(body)); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestRequestWithoutVersionIsVersion1(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", `"version":null,`, `"Version":2,`, `"version":1.0,`, `"version":1e0,`} {
		m, err := decodeCallback([]byte(strings.Replace(wellFormed, `"version":1,`, version, 1)))
		if problem := m.versionProblem(); err != nil || problem != "" {
			t.Errorf("%s: %v %s", version, err, problem)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		wellFormed, `{"tool_name":"t","params_json":"{\"n\":1e400}"}`, "{}", "[", `{"version":1e999}`, "\xff",
		strings.Replace(wellFormed, `"s"`, `"\ud800\u0000"`, 1), strings.Replace(wellFormed, "{}", `{\"a\":{\"a\":[-0.0]}}`, 1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, endpoint := range []endpoint{{decodeCallback, encodeResult}, {decodeExecute, encodeMessage}} {
			q, err := endpoint.decode(body)
			if err != nil {
				continue
			}
			if !json.Valid(body) || !utf8.Valid(body) || q.Tool == "" || q.Args == nil {
				t.Errorf("accepted: %+v", q)
			}
			args, err := json.Marshal(q.Args)
			if err != nil {
				t.Errorf("arguments cannot be encoded: %v", err)
			}
			again, err := object(args)
			if diff := cmp.Diff(q.Args, again); err != nil || diff != "" {
				t.Errorf("arguments differ after encoding and decoding: %v %s", err, diff)
			}
			for _, out := range [][]byte{
				endpoint.encode(Response{OK: true, Text: q.Tool, Structured: args, delta: q.Args}, ""), endpoint.encode(Response{}, q.Tool),
			} {
				if !json.Valid(out) || bytes.Contains(out, []byte("internal error")) && !bytes.Contains(body, []byte("internal error")) {
					t.Errorf("response: %s", out)
				}
			}
		}
	})
}
