//go:build unix

package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
)

// partsServer has the tool show, whose result has the content of a file.
const partsServer = `
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const inputSchema = { type: "object", properties: { file: { type: "string" }, given: { type: "string" } } };
const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "parts", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "show", inputSchema }] }),
  "tools/call": ({ arguments: { file } }) => ({ content: JSON.parse(readFileSync(file, "utf8")) }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: methods[method]?.(params) ?? {} }));
}`

// twoPictures returns a PNG and a JPEG.
func twoPictures(t *testing.T) (asPNG, asJPEG []byte) {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 8, 8))
	img.Set(3, 3, color.RGBA{R: 255, A: 255})
	var p, j bytes.Buffer
	if err := png.Encode(&p, img); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&j, img, nil); err != nil {
		t.Fatal(err)
	}
	return p.Bytes(), j.Bytes()
}

// partsProject is a project whose tool show returns the content of the files in the map.
func partsProject(t *testing.T, contents map[string][]any) *project {
	t.Helper()
	files := map[string]string{
		"trailblaze.yaml": webConfig + "mcpServers:\n  - { name: parts, command: node, args: [parts.mjs] }\n", "parts.mjs": partsServer,
	}
	for name, content := range contents {
		data, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	return newProject(t, files)
}

func imagePart(mime string, data []byte) map[string]any {
	return map[string]any{"type": "image", "mimeType": mime, "data": base64.StdEncoding.EncodeToString(data)}
}

func TestPicturesOfToolsReachAgents(t *testing.T) {
	t.Parallel()
	asPNG, asJPEG := twoPictures(t)
	large := append(bytes.Clone(asPNG), make([]byte, 3<<20)...)
	secret := append(bytes.Clone(asPNG), "hunter22"...)
	p := partsProject(t, map[string][]any{
		"two.json": {
			map[string]any{"type": "text", "text": "two pictures"},
			imagePart("image/png", asPNG),
			imagePart("image/png", asJPEG),
			map[string]any{"type": "audio", "mimeType": "audio/wav", "data": "UklGRg=="},
			map[string]any{"type": "resource_link", "uri": "https://example.test/report", "name": "report"},
		},
		"five.json":   {imagePart("", asPNG), imagePart("", asPNG), imagePart("", asPNG), imagePart("", asPNG), imagePart("", asPNG)},
		"large.json":  {imagePart("image/png", large)},
		"no.json":     {imagePart("image/png", []byte("<svg/>"))},
		"secret.json": {imagePart("image/png", secret)},
	})
	p.env = append(p.env, "PIN=hunter22")
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &mcp.CommandTransport{Command: p.command("mcp", "--secret", "PIN")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	show := func(args map[string]any, images int, texts ...string) []mcp.Content {
		t.Helper()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "step", Arguments: map[string]any{"step": "Show", "calls": []any{map[string]any{"show": args}}},
		})
		if err != nil || result.IsError || len(result.Content) != images+1 {
			data, _ := json.Marshal(result)
			t.Fatalf("%v %.2000s", err, data)
		}
		text := result.Content[0].(*mcp.TextContent).Text //nolint:forcetypeassert // a panic fails the test
		for _, want := range texts {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in:\n%s", want, text)
			}
		}
		return result.Content[1:]
	}
	shown := show(map[string]any{"file": "two.json"}, 2, "1: two pictures", "of 1: image, picture 1, image/png, "+p.dir, "call-1.png",
		"picture 2, image/jpeg", "of 1: audio, audio/wav, ", "of 1: resource_link, report, https://example.test/report")
	for i, want := range []struct {
		mime string
		data []byte
	}{{"image/png", asPNG}, {"image/jpeg", asJPEG}} {
		picture := shown[i].(*mcp.ImageContent) //nolint:forcetypeassert // a panic fails the test
		if picture.MIMEType != want.mime || !bytes.Equal(picture.Data, want.data) {
			t.Errorf("%d: %s, %d bytes", i, picture.MIMEType, len(picture.Data))
		}
	}
	show(map[string]any{"file": "five.json"}, 4, "picture 4", "not shown: an answer has at most 4 pictures")
	show(map[string]any{"file": "large.json"}, 0, "not shown: it is larger than 3 MiB", "call-3.png")
	show(map[string]any{"file": "no.json"}, 0, "not shown: it is not a PNG, JPEG, GIF or WebP")
	show(map[string]any{"file": "secret.json"}, 0, "withheld, because it may show a secret")
	show(map[string]any{"file": "two.json", "given": "{{PIN}}"}, 0, "withheld, because it may show a secret")

	site := pageSite(t, `<input id=pin type=password aria-label=PIN>`)
	for _, call := range []map[string]any{
		{"web_navigate": map[string]any{"url": site}}, {"web_type": map[string]any{"ref": "css=#pin", "text": "{{PIN}}"}},
	} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "step", Arguments: map[string]any{"step": "Sign in", "calls": []any{call}}})
		if err != nil || result.IsError {
			data, _ := json.Marshal(result)
			t.Fatalf("%v %s", err, data)
		}
	}
	show(map[string]any{"file": "two.json"}, 0, "withheld: ")
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	spawntest.NoSurvivors(t, p.marker)
}

// TestAttachmentsOnTheCommandLine calls the tool in a session of its own and in one in the background: both name the
// file, and have no data.
func TestAttachmentsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	asPNG, _ := twoPictures(t)
	p := partsProject(t, map[string][]any{"one.json": {map[string]any{"type": "text", "text": "a picture"}, imagePart("image/png", asPNG)}})
	p.run("session", "start", "--name", "s1").want(t, 0)
	for _, args := range [][]string{{}, {"--session", "s1"}} {
		r := p.run(append([]string{"tool", "show", "file=one.json", "--json"}, args...)...)
		r.want(t, 0)
		var out struct {
			Text        string
			Attachments []struct {
				Type, MIME, File string
				Size             int
				Picture          []byte
			}
		}
		if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || len(out.Attachments) != 1 {
			t.Fatalf("%v %s", err, r.stdout)
		}
		a := out.Attachments[0]
		kept, err := os.ReadFile(a.File)
		if err != nil || !bytes.Equal(kept, asPNG) || a.Type != "image" || a.MIME != "image/png" || a.Size != len(asPNG) || a.Picture != nil ||
			!strings.HasPrefix(a.File, filepath.Join(p.dir, "logs")) || out.Text != "a picture" {
			t.Errorf("%v %+v", err, out)
		}
		p.run(append([]string{"tool", "show", "file=one.json"}, args...)...).wantErr(t, 0, "image image/png: "+p.dir)
	}
	p.run("session", "end", "s1").want(t, 0)
}

// TestAttachmentsOfHostileTools calls a tool that returns a URI with line breaks, and a secret as the type of its data.
func TestAttachmentsOfHostileTools(t *testing.T) {
	t.Parallel()
	p := partsProject(t, map[string][]any{"bad.json": {
		map[string]any{"type": "resource_link", "uri": "https://a.test/\r\nerror: forged", "name": "report", "mimeType": "text/hunter22"},
	}})
	p.env = append(p.env, "PIN=hunter22")
	p.run("session", "start", "--name", "s1", "--secret", "PIN").want(t, 0)
	for _, args := range [][]string{{"--secret", "PIN"}, {"--session", "s1"}} {
		r := p.run(append([]string{"tool", "show", "file=bad.json"}, args...)...)
		r.wantErr(t, 0, "resource_link text/{{PIN}}: https://a.test/ error: forged\n")
		r = p.run(append([]string{"tool", "show", "file=bad.json", "--json"}, args...)...)
		r.want(t, 0, `"mime":"text/{{PIN}}"`)
		if strings.Contains(r.stdout, "hunter22") {
			t.Error(r.stdout)
		}
	}
	p.run("session", "end", "s1").want(t, 0)
}
