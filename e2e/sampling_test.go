//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/testdata/models"
)

// sampledProject is a project with a model, and a server whose tools ask it.
func sampledProject(t *testing.T, at, entry string, calls ...string) *project {
	t.Helper()
	p := newProject(t, map[string]string{
		"trailblaze.yaml": "target: app\nplatform: web\nmcpServers:\n  - { name: s, script: ./testdata/servers/sample1.ts" + entry + " }\n" +
			fmt.Sprintf("llm:\n  model: test/rules\n  providers: { test: { protocol: anthropic, baseUrl: %q, apiKeyEnv: TEST_KEY } }\n", at),
		"trails/a.trail.yaml": webTrail(calls...),
	})
	p.env = append(p.env, "TEST_KEY="+modelKey)
	p.inPlace("bun", "sample1.ts")
	return p
}

// answers returns the texts of the calls of a run.
func (r result) answers(t *testing.T) (texts []string) {
	t.Helper()
	for _, e := range ofType(r.events(t), "call.finished") {
		text, _ := e["text"].(string)
		if failed, _ := e["error"].(string); failed != "" {
			text = failed
		}
		texts = append(texts, text)
	}
	return texts
}

func TestToolsAskModel(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"bun", "node+bundle", "embedded"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			server, at := provider(t, models.Script(models.Reply{Text: "blue"}))
			p := sampledProject(t, at, ", sampling: true", "ask: { question: Which colour? }", "createMessage: {}")
			p.env = append(p.env, "PATH="+wayPath(t, way))
			r := p.run("run", "--json")
			r.want(t, 0)
			if got := r.answers(t); len(got) != 2 || got[0] != "test/rules assistant endTurn: blue\ncapability true, told true" || got[1] != "blue" {
				t.Errorf("%q", got)
			}
			ended, requests := ofType(r.events(t), "trail.finished")[0], ofType(r.events(t), "llm.finished")
			if ended["mode"] != "assisted" || ended["requests"] != 2.0 || len(requests) != 2 || requests[0]["task"] != "1" {
				t.Errorf("%v %v", ended, requests)
			}
			if prompts := server.Prompts(); len(prompts) != 2 || prompts[0].System != "You name a colour." || prompts[0].Text() != "user: Of a mug\nuser: Which colour?" ||
				prompts[1].Text() != "Which colour?" || len(prompts[0].Tools) > 0 || prompts[0].Required {
				t.Errorf("%+v", prompts)
			}
			var sent struct {
				MaxTokens int `json:"max_tokens"`
			}
			if err := json.Unmarshal([]byte(server.Received()[0].Body), &sent); err != nil || sent.MaxTokens != 2000 {
				t.Errorf("%d tokens, %v", sent.MaxTokens, err)
			}
			transcripts := filepath.Join(p.session(t), "llm")
			p.env = append(p.env, "TEST_KEY=")
			p.run("run", "--llm-replay", transcripts).want(t, 0, "1 passed (1 assisted)")
			if n := len(server.Received()); n != 2 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestWhatToolsMayAskModel(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-of-the-shop"
	for name, tt := range map[string]struct {
		call, entry string
		reply       models.Reply
		flags       []string
		requests    int
		want        []string
	}{
		"at most five requests": {`ask: { question: x, times: 7 }`, ", sampling: true", models.Reply{Text: "blue"}, nil, 5, []string{"blue\n", "at most 5 times"}},
		"a picture":             {`ask: { question: x, picture: true }`, ", sampling: true", models.Reply{Text: "blue"}, nil, 1, []string{"endTurn: blue"}},
		"no tools":              {`ask: { question: x, tools: true }`, ", sampling: true", models.Reply{Text: "blue"}, nil, 0, []string{"-32602", "may not have tools"}},
		"no secrets":            {`ask: { question: "is it {{PASSWORD}}" }`, ", sampling: true", models.Reply{Text: "It is " + secret}, nil, 1, []string{"It is {{PASSWORD}}"}},
		"cut off":               {`ask: { question: x, maxTokens: 7 }`, ", sampling: true", models.Reply{Text: "bl", CutOff: true}, nil, 1, []string{"maxTokens: bl"}},
		"refused":               {`ask: { question: x }`, ", sampling: true", models.Reply{Text: "No.", Refused: true}, nil, 1, []string{"-32603", "the model refused"}},
		"within the budget":     {`ask: { question: x, times: 3 }`, ", sampling: true", models.Reply{Text: "blue"}, []string{"--budget", "requestsPerTrail=2"}, 2, []string{"blue", "2 requests for a trail"}},
		"not without the key":   {`ask: { question: x }`, "", models.Reply{Text: "blue"}, nil, 0, []string{"-32601", "does not have sampling: true", "capability false, told false"}},
		"not if it is false":    {`ask: { question: x }`, ", sampling: false", models.Reply{Text: "blue"}, nil, 0, []string{"does not have sampling: true", "capability false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, at := provider(t, models.Script(tt.reply))
			p := sampledProject(t, at, tt.entry, tt.call)
			p.env = append(p.env, "PATH="+wayPath(t, "bun"), "PASSWORD="+secret)
			r := p.run(append([]string{"run", "--json", "--secret", "PASSWORD"}, tt.flags...)...)
			r.want(t, 0)
			got := strings.Join(r.answers(t), "\n")
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in %s", want, got)
				}
			}
			if n := len(server.Received()); n != tt.requests {
				t.Errorf("%d requests", n)
			}
			for _, request := range server.Received() {
				if strings.Contains(request.Body, secret) {
					t.Error("the request has the secret")
				}
			}
			if name == "a picture" && len(server.Prompts()[0].Blocks[1].Image) == 0 {
				t.Error("no picture was sent")
			}
		})
	}
}

func TestToolsAskNoModelWithoutOne(t *testing.T) {
	t.Parallel()
	server, at := provider(t, models.Script(models.Reply{Text: "blue"}))
	p := sampledProject(t, at, ", sampling: true", "ask: { question: x }")
	p.env = append(p.env, "PATH="+wayPath(t, "bun"))
	p.run("tool", "ask", "question=x").want(t, 0, "only `trailblaze run` asks a model", "capability false")
	p.env = append(p.env, "TEST_KEY=")
	p.run("run").wantErr(t, 3, "TEST_KEY is not set")
	p.write("trailblaze.yaml", strings.Split(p.read(t, "trailblaze.yaml"), "llm:")[0])
	r := p.run("run", "--json")
	r.want(t, 0)
	if got := r.answers(t)[0]; !strings.Contains(got, "llm: model: or --llm") || !strings.Contains(got, "capability false, told false") {
		t.Errorf("%s", got)
	}
	if ended := ofType(r.events(t), "trail.finished")[0]; ended["mode"] != nil || len(server.Received()) > 0 {
		t.Errorf("%v, %d requests", ended, len(server.Received()))
	}
}

func TestServersOfAllKindsAskModel(t *testing.T) {
	t.Parallel()
	bun, err := filepath.Abs(bunPath)
	if err != nil {
		t.Fatal(err)
	}
	servers, err := filepath.Abs("../testdata/servers")
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	c := exec.Command(bun, "run", "--no-install", "sample1.ts")
	c.Dir, c.Env = servers, append(os.Environ(), "PORT="+port)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	await(func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	command := fmt.Sprintf("command: %q, args: [run, --no-install, sample2.mts], workingDir: %q", bun, servers)
	for name, entry := range map[string]string{"a command, on the newer SDK": command, "a URL": "url: http://127.0.0.1:" + port + "/mcp"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, at := provider(t, models.Script(models.Reply{Text: "blue"}))
			p := sampledProject(t, at, ", sampling: true", "ask: { question: Which colour? }")
			p.write("trailblaze.yaml", strings.Replace(p.read(t, "trailblaze.yaml"), "script: ./testdata/servers/sample1.ts", entry, 1))
			r := p.run("run", "--json")
			r.want(t, 0)
			if got := r.answers(t); len(got) != 1 || !strings.Contains(got[0], "blue") {
				t.Errorf("%q", got)
			}
		})
	}
}
