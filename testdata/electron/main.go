// Command electron plays an Electron app for tests: Chromium whose DevTools refuse what those of Electron refuse. Its
// arguments are Chromium's; with --app=URL it has a window, and --user-data-dir=FOLDER keeps it apart from a browser.
//
// Electron embeds the content layer of Chromium. It has no browser contexts that clients may create, opens no tabs for
// them, and lacks the domains of the browser around that layer, such as windows. Playwright calls none of it for
// Electron (server/electron/electron.ts and server/chromium/crBrowser.ts of playwright-core 1.65.1).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const portFlag = "--remote-debugging-port="

func run(args []string) error {
	port, others := "", []string{portFlag + "0"}
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, portFlag); ok {
			port = value
		} else {
			others = append(others, arg)
		}
	}
	name := os.Getenv("TRAILBLAZE_BROWSER")
	if strings.Contains(name, "headless") { // which has no windows
		name = ""
	}
	if name == "" {
		name = "chromium"
	}
	chromium := exec.Command(name, others...)
	stderr, err := chromium.StderrPipe()
	if err != nil {
		return err
	}
	if err := chromium.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return chromium.Wait()
		}
		if url, ok := strings.CutPrefix(strings.TrimSpace(line), "DevTools listening on "); ok && port != "" {
			if err := serve(port, url); err != nil {
				return errors.Join(err, chromium.Process.Kill())
			}
			continue
		}
		fmt.Fprint(os.Stderr, line)
	}
}

// serve answers at a port as DevTools, with those at a URL.
func serve(port, url string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	own := "ws://" + listener.Addr().String() + "/devtools/browser/electron"
	mux := http.NewServeMux()
	mux.HandleFunc("/json/version", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"Browser": "Chrome", "webSocketDebuggerUrl": own})
	})
	mux.HandleFunc("/devtools/browser/electron", func(w http.ResponseWriter, r *http.Request) { relay(w, r, url) })
	go func() { _ = http.Serve(listener, mux) }()
	fmt.Fprintf(os.Stderr, "\nDevTools listening on %s\n", own)
	return nil
}

// message is what of a call its answer depends on.
type message struct {
	ID        int64          `json:"id"`
	SessionID string         `json:"sessionId"`
	Method    string         `json:"method"`
	Params    map[string]any `json:"params"`
}

// relay passes messages between a client and DevTools at a URL, until one of them ends.
func relay(w http.ResponseWriter, r *http.Request, url string) {
	client, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer client.CloseNow()
	devtools, _, err := websocket.Dial(r.Context(), url, nil)
	if err != nil {
		return
	}
	defer devtools.CloseNow()
	client.SetReadLimit(-1)
	devtools.SetReadLimit(-1)
	ctx, cancel := context.WithCancel(r.Context())
	var writing sync.Mutex // to the client
	write := func(data []byte) bool {
		writing.Lock()
		defer writing.Unlock()
		return client.Write(ctx, websocket.MessageText, data) == nil
	}
	var answers sync.WaitGroup
	answers.Go(func() {
		defer cancel()
		for {
			_, data, err := devtools.Read(ctx)
			if err != nil || !write(data) {
				return
			}
		}
	})
	defer answers.Wait()
	defer cancel()
	for {
		_, data, err := client.Read(ctx)
		if err != nil {
			return
		}
		var m message
		_ = json.Unmarshal(data, &m)
		if m.Method == "Inspector.enable" { // as for a window that has not shown anything yet
			crashed, _ := json.Marshal(map[string]any{"method": "Inspector.targetCrashed", "sessionId": m.SessionID, "params": map[string]any{}})
			write(crashed)
		}
		if code, text := m.refusal(); code != 0 {
			answer := map[string]any{"id": m.ID, "error": map[string]any{"code": code, "message": text}}
			if m.SessionID != "" {
				answer["sessionId"] = m.SessionID
			}
			refused, _ := json.Marshal(answer)
			write(refused)
			continue
		}
		if devtools.Write(ctx, websocket.MessageText, data) != nil {
			return
		}
	}
}

// refusal returns the error with which Electron answers a call; 0 for one that it carries out.
func (m message) refusal() (code int, text string) {
	const serverError, invalidParams, methodNotFound = -32000, -32602, -32601
	switch m.Method {
	case "Target.createTarget":
		return serverError, "Not supported"
	case "Target.createBrowserContext":
		return serverError, "Failed to create browser context."
	case "Browser.setDownloadBehavior", "Browser.grantPermissions", "Browser.setPermission", "Browser.resetPermissions":
		return serverError, "Browser context management is not supported."
	case "Browser.close", "Browser.getWindowForTarget", "Browser.getWindowBounds", "Browser.setWindowBounds",
		"Browser.setContentsSize", "Browser.setDockTile", "Browser.executeBrowserCommand":
		return methodNotFound, fmt.Sprintf("'%s' wasn't found", m.Method)
	}
	if id, has := m.Params["browserContextId"]; has {
		return invalidParams, fmt.Sprintf("Failed to find browser context for id %v", id)
	}
	return 0, ""
}
