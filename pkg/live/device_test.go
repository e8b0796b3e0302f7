package live_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// app is a simulated device: buttons with a name. Tapping a button that is named in opens shows another one, Photo
// returns a picture, and Crash ends the session.
type app struct {
	mu      sync.Mutex
	buttons []string
	opens   map[string]string
	closes  map[string]string // the button that tapping a button removes
	leads   map[string]string // the document that tapping a button leads to
	at      string            // the document
	tapped  []string
	loading []string         // what each view shows in place of buttons, until the last
	gone    []device.Message // in the next view
	log     *device.PageLog  // of the console
	blocked []string         // URLs that the next view says were blocked
	refs    *screen.References
	// typed is what a field holds, if there is one.
	typed string
	// released counts how often the device was released for other sessions.
	released int
	trailDir string
	// waits makes calls of launchApp wait until it is closed.
	waits chan struct{}
	// picture returns what a screenshot shows; "png" if it is nil.
	picture func() string
	// views is how many more times the screen can be read, if it is silent after them.
	views  int
	silent bool
}

// silentAfter lets the screen be read some more times.
func (a *app) silentAfter(views int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.views, a.silent = views, true
}

func (a *app) kind() device.Kind {
	text := `"text": {"type": "string"}, "ref": {"type": "string"}, "nodeSelector": {"type": "object"}`
	return device.Kind{
		Name: "app", Drivers: []string{"playwright-native"},
		Restricted: []string{"web_evaluate", "web_route"}, AllowedWith: map[string]string{"web_route": "abort"}, Checks: append(device.CoreChecks(), "assertNotVisible", device.AssertWaypoint), Reads: device.CoreReads(), StartCommands: device.CoreStartCommands(), Commands: func() []tool.Advertised {
			return []tool.Advertised{
				device.Command("launchApp", "Opens the app.", `"app": {"type": "object"}, "appId": {"type": "string"}`),
				device.Command("openUrl", "Opens a URL.", `"url": {"type": "string"}`),
				device.Command("tap", "Taps a button.", text),
				device.Command("assertVisible", "Fails unless a button is shown.", text),
				device.Command("assertNotVisible", "Fails if a button is shown.", text),
				device.Command(device.AssertWaypoint, "Passes.", device.WaypointProperties),
				device.Command("isVisible", "Returns whether a button is shown.", text),
				device.Command("web_evaluate", "Runs a script.", ""),
				device.Command("web_fillSecret", "Fills a field.", `"value": {"type": "string", "writeOnly": true}`),
				device.Command("web_route", "Answers requests.", `"url": {"type": "string"}, "abort": {}, "body": {"type": "string"}`),
			}
		},
	}
}

func (a *app) Open(s device.Session) device.Device {
	a.refs = s.References
	return a
}

func (a *app) SetTrailDir(dir string) { a.trailDir = dir }

func (*app) Classifiers(context.Context) ([]string, error) { return nil, nil }
func (*app) Check(context.Context) (string, error)         { return "", nil }
func (*app) Close(context.Context) error                   { return nil }
func (*app) Prepare()                                      {}
func (*app) Size() (width, height int)                     { return 100, 100 }
func (*app) Evidence(context.Context) []device.Artifact    { return nil }

func (a *app) Release(context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.released++
	return nil
}

func (a *app) View(_ context.Context, o device.ViewOptions) (device.View, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o.Show == device.ShowConsole {
		return device.View{Log: a.log}, nil
	}
	if a.views--; a.silent && a.views < 0 {
		return device.View{}, fault.New(fault.CallTimeout, "", "it is silent")
	}
	if len(a.loading) > 0 {
		a.buttons, a.loading = a.loading[:1], a.loading[1:]
	}
	tree := a.tree()
	if o.Peek {
		a.refs.Number(tree)
		shot := "png"
		if a.picture != nil {
			shot = a.picture()
		}
		return device.View{
			URL: "app://main", Title: "App", Tree: tree, Part: tree, Ref: a.refs.Ref, Screenshot: []byte(shot),
			Geometry: device.Geometry{Width: 100, Height: 100, PixelRatio: 2},
		}, nil
	}
	a.refs.See(tree)
	blocked, gone := a.blocked, a.gone
	a.blocked, a.gone = nil, nil
	return device.View{
		URL: "app://main", Title: "App", Tree: tree, Part: tree, Ref: a.refs.Ref, Screenshot: []byte("png"), Blocked: blocked, Messages: gone,
	}, nil
}

// Locate implements device.Locator: buttons are 10 high.
func (a *app) Locate(_ context.Context, at device.Place) (device.Location, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	tree := a.tree()
	a.refs.Number(tree)
	n := tree.At(at.Point)
	if at.Ref != "" {
		found, err := a.refs.Lookup(at.Ref, tree, screen.ToRead)
		if err != nil {
			return device.Location{}, err
		}
		n = found.Node
	}
	if n == nil {
		return device.Location{}, fault.New(fault.ToolFailed, "", "nothing is there")
	}
	return device.Location{Node: n, Ref: a.refs.Ref(n), Candidates: []device.Candidate{
		{By: "text", Selector: map[string]any{"text": *n.Label}, Matches: 1, Notes: []string{*n.Label + " may change"}},
	}}, nil
}

func (a *app) tree() *screen.Tree {
	root := &screen.Node{Role: "document", Key: screen.Key("root" + a.at)}
	if a.typed != "" {
		field := &screen.Node{Role: "textbox", Value: &a.typed, States: screen.States{Editable: true}}
		root.Children = append(root.Children, field)
	}
	for i, name := range a.buttons {
		root.Children = append(root.Children, &screen.Node{
			Role: "button", Label: &name, Key: screen.Key(name), States: screen.States{Clickable: true},
			Bounds: &screen.Rect{Top: 10 * i, Right: 100, Bottom: 10*i + 10},
		})
	}
	return screen.NewTree(root, 100, 100, screen.Web)
}

func (a *app) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	text, _ := c.Args["text"].(string)
	if text == "Hang" {
		<-ctx.Done()
		return tool.Result{Kind: fault.CallTimeout, Text: "cancelled"}, nil
	}
	if a.waits != nil && c.Tool == "launchApp" {
		select {
		case <-a.waits:
		case <-ctx.Done():
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	result := tool.Result{OK: true, Text: c.Tool + " " + text}
	if c.Tool == device.AssertWaypoint {
		return result, nil
	}
	if c.Tool == "assertNotVisible" {
		result.OK = !slices.Contains(a.buttons, text)
		return result, nil
	}
	if _, ok := c.Args["ref"]; ok && c.FromTrail {
		text = a.buttons[0]
	} else if ref, ok := c.Args["ref"].(string); ok {
		found, err := a.refs.Lookup(ref, a.tree(), screen.ToAct)
		if err != nil {
			e := fault.As(err)
			return tool.Result{Kind: e.Kind, Text: e.Message, Hint: e.Hint}, nil
		}
		text = *found.Node.Label
		result.Located = &tool.Located{Args: map[string]any{"text": text}}
	}
	shown := slices.Contains(a.buttons, text)
	switch c.Tool {
	case "launchApp", "web_evaluate", "web_fillSecret", "web_route":
		return result, nil
	case "isVisible":
		result.Text = fmt.Sprint(shown)
		return result, nil
	}
	if !shown {
		return tool.Result{Kind: fault.ToolFailed, Text: fmt.Sprintf("%q is not shown", text)}, nil
	}
	if c.Tool == "tap" {
		a.tapped = append(a.tapped, text)
		a.at += a.leads[text]
		if opened := a.opens[text]; opened != "" {
			a.buttons = append(a.buttons, opened)
		}
		a.buttons = slices.DeleteFunc(a.buttons, func(name string) bool { return name == a.closes[text] })
		switch text {
		case "Photo":
			result.Attachments = []tool.Attachment{{Type: "image", MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}}
		case "Crash":
			return tool.Result{}, fault.New(fault.Crashed, "", "the app is gone")
		}
	}
	return result, nil
}

// taps returns what was tapped, in order.
func (a *app) taps() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.tapped, " ")
}

func (a *app) set(buttons ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.buttons = buttons
}
