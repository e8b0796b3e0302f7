package chromium

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/httpclient"
)

// connect connects to the browser at CDPURL.
func (o Options) connect(ctx context.Context, listen Listener) (*Browser, error) {
	conn, err := dial(ctx, o.CDPURL)
	if err != nil {
		return nil, connectError("a browser", o.CDPURL, "--cdp-url, TRAILBLAZE_CDP_URL or cdpUrl", err)
	}
	b := &Browser{Conn: conn, Name: o.CDPURL, Headed: o.Headed}
	if err := b.Attach(ctx, listen); err != nil {
		_ = b.Conn.Close()
		return nil, connectError("a browser", o.CDPURL, "--cdp-url, TRAILBLAZE_CDP_URL or cdpUrl", err)
	}
	return b, nil
}

// dial connects to http://HOST:PORT or ws://….
func dial(ctx context.Context, address string) (*cdp.Conn, error) {
	if strings.HasPrefix(address, "http") {
		var err error
		if address, err = webSocketURL(ctx, address); err != nil {
			return nil, err
		}
	}
	transport, err := cdp.Dial(ctx, address, nil)
	if err != nil {
		return nil, err
	}
	return cdp.NewConn(transport), nil
}

// connectError is the error when nothing that can be driven runs at an address. what is the kind of thing, settings
// are where the address may come from.
func connectError(what, address, settings string, err error) error {
	return &fault.Error{
		Kind:    fault.Device,
		Message: fmt.Sprintf("cannot connect to %s at %s: %v", what, address, err),
		Cause:   err,
		Hint: fmt.Sprintf("%s is the URL of %s that was started with --remote-debugging-port: http://HOST:PORT or ws://…",
			settings, what),
	}
}

// webSocketURL requests the URL of a browser's WebSocket. Chrome rejects requests whose Host is a name other than
// localhost, and answers a URL with the Host of the request, so for a browser in a container both are replaced.
func webSocketURL(ctx context.Context, address string) (string, error) {
	base, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: httpclient.NoUpgrade(&http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true})}
	for _, host := range []string{base.Host, "localhost"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("json", "version").String(), nil)
		if err != nil {
			return "", err
		}
		request.URL.RawQuery = base.RawQuery
		request.Host = host
		response, err := client.Do(request)
		if err != nil {
			return "", err
		}
		data, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		_ = response.Body.Close()
		switch {
		case err != nil:
			return "", err
		case response.StatusCode == http.StatusInternalServerError && host != "localhost":
			continue
		case response.StatusCode != http.StatusOK:
			return "", fmt.Errorf("%s answers %s", request.URL, response.Status)
		}
		return withHost(data, base)
	}
	return "", fmt.Errorf("%s refuses the request", address)
}

// withHost reads the response of /json/version and replaces the host by the one that was connected to.
func withHost(data []byte, base *url.URL) (string, error) {
	var version struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.Unmarshal(data, &version); err != nil || version.URL == "" {
		return "", fmt.Errorf("%s is not the debugging port of a browser", base)
	}
	socket, err := url.Parse(version.URL)
	if err != nil {
		return "", err
	}
	socket.Host = base.Host
	if base.Scheme == "https" {
		socket.Scheme = "wss"
	}
	return socket.String(), nil
}

// dialPort connects to a browser that chose a port and writes it to a file.
func dialPort(ctx context.Context, folder string, process device.Process) (cdp.Transport, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if data, err := os.ReadFile(filepath.Join(folder, "DevToolsActivePort")); err == nil {
			if port, path, ok := strings.Cut(strings.TrimSpace(string(data)), "\n"); ok {
				return cdp.Dial(ctx, "ws://127.0.0.1:"+port+path, nil)
			}
		}
		select {
		case <-tick.C:
		case <-process.Done():
			return nil, io.ErrUnexpectedEOF
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
