//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/testdata/fakeserver/encodings"
)

// gossip is a server that returns what it receives in every part of its responses, rejections included.
func gossip(works bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		said := fmt.Sprintf("%s at %s by %s: %s %s", r.Header.Get("Authorization"), r.URL, r.Header.Get("X-Team"), user, password)
		var in struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		switch {
		case !works:
			http.Error(w, said, http.StatusInternalServerError)
			return
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case in.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := map[string]any{
			"initialize": map[string]any{
				"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "serverInfo": map[string]any{"name": said, "version": "1"},
			},
			"tools/list": map[string]any{"tools": []any{
				map[string]any{"name": "echo", "description": said, "inputSchema": map[string]any{"type": "object", "title": said}},
				map[string]any{"name": 1, said: said}, // which is skipped with a warning
			}},
			"tools/call": map[string]any{
				"content": []any{map[string]any{"type": "text", "text": said}}, "structuredContent": map[string]any{"said": said},
			},
		}[in.Method]
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": in.ID, "result": result})
	}
}

func TestVariablesInURLAreRedacted(t *testing.T) {
	t.Parallel()
	canaries := map[string]string{"KEY": "can4ry-key", "USER_TOKEN": "can4ry user", "PASS": "can4ry/pass", "SHORT": "q7Zx", "WORDS": "open can4ry sesame"}
	for name, entry := range map[string]string{
		"path":     "url: 'http://HOST/s/${KEY}/mcp'",
		"user":     "url: 'http://can4ry%20user@HOST/mcp'",
		"password": "url: 'http://me:can4ry%2Fpass@HOST/mcp'",
		"query":    "url: 'http://HOST/mcp?k=a&k=${KEY}&s=${SHORT}'",
		"whole":    "url: '${WHOLE}'",
		"headers":  "url: 'http://HOST/mcp', headers: { X-Team: '${WORDS}', Authorization: 'Bearer ${SHORT}' }",
	} {
		for _, works := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, works %t", name, works), func(t *testing.T) {
				t.Parallel()
				s := httptest.NewServer(gossip(works))
				t.Cleanup(s.Close)
				host := strings.TrimPrefix(s.URL, "http://")
				p := newProject(t, map[string]string{
					"trailblaze.yaml":     "target: app\nplatform: web\nmcpServers:\n  - { " + strings.ReplaceAll(entry, "HOST", host) + " }\n",
					"trails/a.trail.yaml": webTrail("echo: {}"),
				})
				for name, value := range canaries {
					p.env = append(p.env, name+"="+value)
				}
				p.env = append(p.env, "WHOLE=http://"+host+"/s/can4ry-key/mcp?k=q7Zx", noBrowser)
				for _, args := range [][]string{
					{"check"},
					{"check", "--json"},
					{"doctor"},
					{"doctor", "--json"},
					{"doctor", "--deep"},
					{"doctor", "--deep", "--json"},
					{"toolbox", "list", "-v", "--why"},
					{"toolbox", "list", "--why", "--json"},
					{"tool", "echo"},
					{"tool", "echo", "--json"},
					{"run", "-v", "--html", "page", "--record", "r.trail.yaml", "trails/a.trail.yaml"},
					{"run", "--json", "--junit", "out.xml"},
				} {
					r := p.run(args...)
					for _, canary := range canaries {
						noForm(t, fmt.Sprintf("%q stdout", args), r.stdout, encodings.Of(canary))
						noForm(t, fmt.Sprintf("%q stderr", args), r.stderr, encodings.Of(canary))
					}
					if args[0] == "tool" && !strings.Contains(r.stdout+r.stderr, "{{") {
						t.Errorf("nothing was hidden:\n%s%s", r.stdout, r.stderr)
					}
				}
				for _, canary := range canaries {
					for _, where := range []string{"logs", "out.xml", "page"} {
						noFormBelow(t, filepath.Join(p.dir, where), encodings.Of(canary))
					}
				}
			})
		}
	}
}

func TestUnsetVariableIsReportedAtItsPosition(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n  - url: https://tools.example.com/mcp?key=${TEAM_TOKEN}\n" +
			"    headers: { Authorization: \"Bearer ${TEAM_TOKEN}\" }\n",
		"trails/a.trail.yaml": webTrail("echo: {}"),
	})
	for _, args := range [][]string{{"run"}, {"tool", "echo"}, {"toolbox", "list"}, {"check"}} {
		p.run(args...).wantErr(t, fault.ExitMisuse, "the environment variable TEAM_TOKEN is not set", `headers: { Authorization: "Bearer ${TEAM_TOKEN}" }`,
			"url: https://tools.example.com/mcp?key=${TEAM_TOKEN}")
	}
	p.env = append(p.env, "TEAM_TOKEN=")
	p.run("check").wantErr(t, 0, "warning: trailblaze.yaml:5:31: header Authorization is empty after expanding environment variables")
}

func TestRejectionOfLaterCallIsError(t *testing.T) {
	t.Parallel()
	for status, kind := range map[int]string{500: "server", 401: "permission denied"} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			works := gossip(true)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				if bytes.Contains(body, []byte("tools/call")) {
					http.Error(w, "out of luck", status)
					return
				}
				works(w, r)
			}))
			t.Cleanup(s.Close)
			p := newProject(t, map[string]string{
				"trailblaze.yaml":     "target: app\nplatform: web\nmcpServers: { team: { url: '" + s.URL + "' } }\n",
				"trails/a.trail.yaml": webTrail("echo: {}"),
			})
			r := p.run("run", "--json")
			r.want(t, 2, fmt.Sprint(status), kind)
			if got := outcomes(t, r)["a"]; got != "error" {
				t.Errorf("the trail is %s", got)
			}
		})
	}
}
