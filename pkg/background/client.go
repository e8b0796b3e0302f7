package background

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
)

const (
	// pollInterval is the time between two looks at whether the process of a session exited.
	pollInterval = 10 * time.Millisecond
	// releaseTimeout is for the lock of a process that was killed: it is released a little later than its connections
	// are closed.
	releaseTimeout = 2 * time.Second
	// endTimeout is how long a session may take to end. Servers that do not exit are killed earlier.
	endTimeout = 30 * time.Second
)

// Find returns the record of a session of a project that runs; project is its root, empty for a session of any. The
// error says why none is returned: fault.Server for one that ended by itself, else fault.Misuse.
func (f Folder) Find(name, project string) (Record, error) {
	if err := CheckName(name); err != nil {
		return Record{}, err
	}
	records, err := f.List()
	if err != nil {
		return Record{}, err
	}
	var running []string
	for _, r := range records {
		isOther := project != "" && r.Project != project
		if strings.EqualFold(r.Name, name) {
			if isOther {
				return Record{}, fault.New(fault.Misuse, "work in it in that folder or with --project; `trailblaze session list` lists the sessions",
					"%s is a session of %s", r.Name, r.Project)
			}
			return r, r.usable()
		}
		if r.Ended == nil && !isOther {
			running = append(running, r.Name)
		}
	}
	return Record{}, fault.New(fault.Misuse, fault.DidYouMeanListed(name, running, "`trailblaze session list` lists the sessions"),
		"session %q does not exist", name)
}

// usable returns an error for a session that has ended or is still being started.
func (r Record) usable() error {
	switch {
	case r.Ended != nil:
		return r.EndedError()
	case r.Socket == "":
		return fault.New(fault.Misuse, "wait until `trailblaze session start` has printed its name",
			"session %s is still being started", r.Name)
	}
	return nil
}

// Client sends requests to a session in another process.
type Client struct {
	folder Folder
	record Record
	http   *http.Client
}

var _ live.API = (*Client)(nil)

// Connect returns a client for a session that runs. version is that of this program.
func (f Folder) Connect(r Record, version string) (*Client, error) {
	c := f.client(r)
	if r.Version != version {
		return nil, fault.New(fault.Misuse,
			fmt.Sprintf("end it with `trailblaze session end %s` and start another one", r.Name),
			"session %s was started by trailblaze %s, this is %s", r.Name, r.Version, version)
	}
	return c, nil
}

// client returns a client that does not compare versions.
func (f Folder) client(r Record) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", r.Socket)
	}
	return &Client{f, r, &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Record returns the record of the session.
func (c *Client) Record() Record { return c.record }

// Info returns what is known of the session. It does not wait for other requests.
func (f Folder) Info(ctx context.Context, r Record) (Info, error) {
	return send[Info](ctx, f.client(r), "/info", struct{}{})
}

// Status implements [live.API].
func (c *Client) Status(ctx context.Context) (live.Status, error) {
	return send[live.Status](ctx, c, "/status", struct{}{})
}

// Snapshot implements [live.API].
func (c *Client) Snapshot(ctx context.Context, o live.SnapshotOptions) (live.Snapshot, error) {
	return send[live.Snapshot](ctx, c, "/snapshot", o)
}

// Step implements [live.API].
func (c *Client) Step(ctx context.Context, r live.StepRequest) (live.StepReport, error) {
	return send[live.StepReport](ctx, c, "/step", r)
}

// Edit implements [live.API].
func (c *Client) Edit(ctx context.Context, e live.Edit) (string, error) {
	return send[string](ctx, c, "/edit", e)
}

// Save implements [live.API].
func (c *Client) Save(ctx context.Context, r live.SaveRequest) (live.SaveReport, error) {
	return send[live.SaveReport](ctx, c, "/save", r)
}

// RunTrail implements [live.API].
func (c *Client) RunTrail(ctx context.Context, r live.TrailRequest) (live.TrailReport, error) {
	return send[live.TrailReport](ctx, c, "/replay", r)
}

// Toolbox implements [live.API]. Only the session can call its tools.
func (c *Client) Toolbox(ctx context.Context) (live.Toolbox, error) {
	return send[live.Toolbox](ctx, c, "/toolbox", struct{}{})
}

// Look implements [live.API].
func (c *Client) Look(ctx context.Context, picture bool) (live.Look, error) {
	return send[live.Look](ctx, c, "/look", picture)
}

// Locate implements [live.API].
func (c *Client) Locate(ctx context.Context, at live.Place) (live.Location, error) {
	return send[live.Location](ctx, c, "/locate", at)
}

// Subscribe implements [live.API]. The channel is closed when the session ends, before its device and servers are
// stopped. Numbers in arguments are json.Number.
func (c *Client) Subscribe(ctx context.Context, buffer int) (events <-chan event.Event, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	out, done := make(chan event.Event), make(chan struct{})
	stop = sync.OnceFunc(func() { cancel(); <-done })
	response, err := c.post(ctx, "/events", buffer) // its header comes when the session has subscribed
	if err != nil {
		close(done)
		close(out)
		return out, stop
	}
	go func() {
		defer close(done)
		defer close(out)
		defer func() { _ = response.Body.Close() }()
		receive(ctx, response.Body, out)
	}()
	return out, stop
}

// receive passes events on, of which each is a line of JSON.
func receive(ctx context.Context, lines io.Reader, out chan<- event.Event) {
	for decoder := json.NewDecoder(lines); ; {
		var line json.RawMessage
		if decoder.Decode(&line) != nil {
			return
		}
		record, err := event.Decode(line)
		if err != nil {
			continue
		}
		select {
		case out <- record.Event:
		case <-ctx.Done():
			return
		}
	}
}

// Err implements [live.API].
func (c *Client) Err() error {
	_, err := c.folder.Find(c.record.Name, c.record.Project)
	return err
}

// Close implements [live.API]. It waits until the process of the session has exited.
func (c *Client) Close(ctx context.Context) { _, _ = c.folder.End(ctx, c.record) }

// End ends a session and waits until its process has exited. It returns what was known of it.
func (f Folder) End(ctx context.Context, r Record) (Info, error) {
	limited, stop := context.WithTimeout(ctx, endTimeout)
	defer stop()
	info, err := send[Info](limited, f.client(r), "/end", struct{}{})
	if err == nil {
		return info, f.awaitExit(ctx, r)
	}
	if limited.Err() != nil && ctx.Err() == nil {
		err = tooSlow(r)
	}
	return info, err
}

// tooSlow returns the error for a session that does not end.
func tooSlow(r Record) error {
	return fault.New(fault.Server, "kill its process; `trailblaze doctor` then stops what it left running",
		"session %s did not end within %s; its process is %d", r.Name, endTimeout, r.PID)
}

// awaitExit waits until the process of a session has exited, for at most endTimeout.
func (f Folder) awaitExit(ctx context.Context, r Record) error {
	for deadline := time.Now().Add(endTimeout); ; {
		records, err := f.List()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(records, func(o Record) bool { return o.PID == r.PID && f.alive(o) }) {
			return nil
		}
		if time.Now().After(deadline) {
			return tooSlow(r)
		}
		select {
		case <-ctx.Done():
			return fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "waiting for the end of session "+r.Name)
		case <-time.After(pollInterval):
		}
	}
}

// alive reports whether the process of a session runs.
func (f Folder) alive(r Record) bool {
	unlock, err := f.lock()
	if err != nil || unlock == nil {
		return false
	}
	defer unlock()
	return f.running(r.Name)
}

// post sends a request.
func (c *Client) post(ctx context.Context, path string, request any) (*http.Response, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if len(body) > maxRequest {
		return nil, fault.New(fault.Misuse, "", "the request is larger than %d MiB", maxRequest>>20)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://session"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, c.lost(ctx, err)
	}
	return response, nil
}

// send sends a request and returns its result.
func send[Result any](ctx context.Context, c *Client, path string, request any) (result Result, err error) {
	response, err := c.post(ctx, path, request)
	if err != nil {
		return result, err
	}
	var a answer
	err = json.NewDecoder(response.Body).Decode(&a)
	err = errors.Join(err, response.Body.Close())
	if err != nil {
		return result, c.lost(ctx, err)
	}
	if err := a.err(); err != nil {
		return result, err
	}
	decoder := json.NewDecoder(bytes.NewReader(a.Result))
	decoder.UseNumber()
	if err := decoder.Decode(&result); err != nil {
		return result, fault.Wrap(fault.Server, err, "", "read the answer of session "+c.record.Name)
	}
	return result, nil
}

// lost returns the error for a request without an answer: why the session ended, if it did.
func (c *Client) lost(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "the request to session "+c.record.Name)
	}
	for deadline := time.Now().Add(releaseTimeout); time.Now().Before(deadline); <-time.After(pollInterval) {
		if _, err := c.folder.Find(c.record.Name, c.record.Project); err != nil {
			return err
		}
	}
	return fault.Wrap(fault.Server, cause, "the log is "+c.record.Log, "session "+c.record.Name+" does not answer")
}
