//go:build unix

package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trailblaze/trailblaze/testdata/models"
)

const modelKey = "sk-e2e-0123456789"

// modelProject starts a provider and returns a project that names a model of it.
func modelProject(t *testing.T, s *models.Server, protocol, more string) *project {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	path := map[string]string{"anthropic": ""}
	if _, isRoot := path[protocol]; !isRoot {
		path[protocol] = "/v1"
	}
	s.Key = modelKey
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "llm:\n  model: fake/scripted\n  providers:\n    fake: { protocol: " + protocol + ", baseUrl: \"" + server.URL + path[protocol] +
			"\", apiKeyEnv: FAKE_KEY }\n" + more,
		".env": "FAKE_KEY=" + modelKey + "\n",
	})
	return p
}

func TestDoctorAsksModelThreeTimes(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"anthropic", "openai-responses", "openai-chat"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			s := &models.Server{Policy: models.Examined()}
			p := modelProject(t, s, protocol, "  models: { scripted: { price: { input: 3, cacheRead: 0.3, output: 15 } } }\n")
			r := p.runWith(nil, "doctor", "--llm", "--json")
			checks := doctorChecks(t, r)
			for name, detail := range map[string]string{
				"model": "fake/scripted answers", "tool calls": "when it has to", "long prompts": "reads the beginning", "pictures": "sees what is on a picture",
				"cached tokens": "% of a request", "cost": "tokens sent",
			} {
				if c := checks[name]; c.Status != "ok" || !strings.Contains(c.Detail, detail) {
					t.Errorf("%s is %+v", name, c)
				}
			}
			if strings.Contains(checks["cost"].Detail, "~") || strings.Contains(checks["cost"].Detail, "unknown") {
				t.Errorf("cost is %s", checks["cost"].Detail)
			}
			if n := len(s.Received()); n != 3 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestDoctorWithoutFlagSendsNothing(t *testing.T) {
	t.Parallel()
	s := &models.Server{Policy: models.Examined()}
	p := modelProject(t, s, "anthropic", "")
	if checks := doctorChecks(t, p.runWith(nil, "doctor", "--json")); checks["model"].Status != "" || len(s.Received()) > 0 {
		t.Errorf("%d requests: %+v", len(s.Received()), checks)
	}
}

func TestDoctorSaysWhatAModelLacks(t *testing.T) {
	t.Parallel()
	examined := models.Examined()
	for name, tc := range map[string]struct {
		server *models.Server
		code   int
		want   []string
	}{
		"required call": {
			&models.Server{Policy: models.Script(models.Reply{Text: "Hello!"})}, 0,
			[]string{"warn  tool calls", "a call is required, but it answered with text", "toolCalls: json"},
		},
		"context that is cut": {&models.Server{Policy: func(p models.Prompt) models.Reply {
			if text := p.Blocks[0].Text; len(text) > 10_000 {
				p.Blocks[0].Text = text[len(text)-10_000:]
			}
			return examined(p)
		}}, 2, []string{"FAIL  long prompts", "did not reach the model", "OLLAMA_CONTEXT_LENGTH"}},
		"pictures": {&models.Server{Policy: examined, Check: func(p models.Prompt) string {
			for _, b := range p.Blocks {
				if len(b.Image) > 0 {
					return "this model does not support images"
				}
			}
			return ""
		}}, 2, []string{"FAIL  pictures", "this model does not support images", "images: false"}},
		"blind": {&models.Server{Policy: func(p models.Prompt) models.Reply {
			return examined(models.Prompt{Blocks: p.Blocks[:min(2, len(p.Blocks))]})
		}}, 0, []string{"warn  pictures"}},
		"no usage": {&models.Server{Policy: examined, Fault: models.Always(models.NoUsage)}, 0, []string{"none are reported", "~", "is unknown"}},
		"key":      {&models.Server{Policy: examined, Fault: models.Always(models.BadKey)}, 2, []string{"FAIL  model", "rejects the key", "FAKE_KEY"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := modelProject(t, tc.server, "openai-chat", "").runWith(nil, "doctor", "--llm")
			r.want(t, tc.code, tc.want...)
			if strings.Contains(r.stdout+r.stderr, modelKey) {
				t.Error("the key is shown")
			}
		})
	}
}

func TestDoctorModelThatIsMisuse(t *testing.T) {
	t.Parallel()
	s := &models.Server{Policy: models.Examined()}
	p := modelProject(t, s, "openai-chat", "")
	p.runWith(nil, "doctor", "--llm", "nobody/x").wantErr(t, 3, `unknown provider "nobody"`)
	p.runWith(nil, "doctor", "--llm", "scripted").wantErr(t, 3, `"scripted" is not PROVIDER/MODEL`)
	p.runWith(nil, "doctor", "fake/scripted").wantErr(t, 3, "fake/scripted")
	p.write(".env", "")
	p.runWith(nil, "doctor", "--llm").wantErr(t, 3, "FAKE_KEY is not set")
	p.write("trailblaze.yaml", "target: a\n")
	p.runWith(nil, "doctor", "--llm").wantErr(t, 3, "no model is configured")
	if n := len(s.Received()); n > 0 {
		t.Errorf("%d requests", n)
	}
}

func TestDoctorRunsKeyCommand(t *testing.T) {
	t.Parallel()
	s := &models.Server{Policy: models.Examined()}
	server := httptest.NewServer(s)
	defer server.Close()
	s.Key = modelKey
	p := newProject(t, map[string]string{"trailblaze.yaml": "llm:\n  model: fake/scripted\n  providers:\n    fake: { protocol: openai-chat, baseUrl: \"" +
		server.URL + "\", apiKeyCommand: [sh, -c, \"echo " + modelKey + "\"] }\n"})
	p.runWith(nil, "doctor", "--llm").want(t, 0, "fake/scripted answers")
	if n := len(s.Received()); n != 3 {
		t.Errorf("%d requests", n)
	}
}

// A provider's text is shown while trailblaze waits: what it says must not reach the terminal as commands.
func TestDoctorShowsNoControlCharactersOfAProvider(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) > 1 {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		w.Header().Set("Retry-After", "2.1") // shorter waits are not shown
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("busy\x1b]0;taken over\a\x1b[2J\x00"))
	}))
	t.Cleanup(server.Close)
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "llm: { model: fake/x, providers: { fake: { protocol: openai-chat, baseUrl: \"" + server.URL + "\" } } }\n",
	})
	r := p.runWith(nil, "doctor", "--llm")
	if !strings.Contains(r.stderr, "busy") || strings.ContainsAny(r.stderr+r.stdout, "\x1b\a\x00") {
		t.Errorf("%q", r.stderr)
	}
}
