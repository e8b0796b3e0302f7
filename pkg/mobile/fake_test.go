package mobile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake simulates a device with a tree that its test defines. It records what is done, in words.
type fake struct {
	platform Platform
	start    time.Time
	nodes    func(f *fake, at time.Duration) []*screen.Node
	fail     map[string]error                                         // by method
	slow     time.Duration                                            // that Read takes
	readLog  func(ctx context.Context, q LogQuery) (DeviceLog, error) // nil for a log without lines

	mu        sync.Mutex
	log       []string
	touched   []*screen.Node // the topmost element under each touch, nil for none
	reads     int
	keyboard  *screen.Rect
	screen    *Screen // in place of all that makes one; nil for none
	statusBar int     // its height, of one that the screen lacks
	content   string  // of the field
	dumped    bool    // the hint of an empty field looks like its text
	ignores   bool    // SetText changes nothing
	atMost    int     // characters that the field takes; 0 for any
	front     string
	alert     string // of the system, which the screen may lack
	opens     string // what is in front after a launch; empty for no change
	turned    bool   // the app in front is twice as wide as high
	clipboard string
	closed    bool
	picture   color.Gray
	bar       color.Gray // of its status bar
}

const width, height = 1080, 2400

// keyboardArea is where the keyboard of the fake is.
func keyboardArea() *screen.Rect { return &screen.Rect{Top: 1500, Right: width, Bottom: height} }

func (f *fake) note(format string, args ...any) {
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

// did records a call, and returns the error that the test has set for it.
func (f *fake) did(method, format string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note(format, args...)
	return f.fail[method]
}

func (f *fake) Info() Info {
	return Info{ID: "emulator-5554", Product: "Pixel 7, Android 14", Width: width, Height: height}
}

func (f *fake) tree() *screen.Tree {
	dialects := []screen.Dialect{screen.AndroidAccessibility, screen.AndroidMaestro}
	if f.platform == IOS {
		dialects = []screen.Dialect{screen.IOSMaestro, screen.IOSAxe}
	}
	root := &screen.Node{Key: "root", Class: new("android.widget.FrameLayout"), Bounds: rect(0, 0, width, height)}
	root.Children = f.nodes(f, time.Since(f.start))
	wide, high := width, height
	if f.turned && f.front == f.opens {
		wide, high = height, width
		root.Bounds = rect(0, 0, wide, high)
	}
	tree := screen.NewTree(root, wide, high, dialects...)
	if f.dumped {
		tree.Unavailable = map[string]string{"androidAccessibility.hintTextRegex": "it is not in the dump"}
	}
	return tree
}

func (f *fake) Read(ctx context.Context) (Screen, error) {
	if err := act.Pause(ctx, f.slow); err != nil {
		return Screen{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	if f.screen != nil {
		return *f.screen, nil
	}
	return Screen{Tree: f.tree(), Keyboard: f.keyboard}, f.fail["Read"]
}

func (f *fake) Screenshot(context.Context) ([]byte, error) {
	picture := image.NewGray(image.Rect(0, 0, 100, 200))
	for i := range picture.Pix {
		picture.Pix[i] = f.picture.Y
		if f.bar.Y > 0 && i/100 < 100*f.statusBar/width {
			picture.Pix[i] = f.bar.Y
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, picture)
	return b.Bytes(), err
}

func (f *fake) Touch(_ context.Context, fingers ...Finger) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	tree := f.tree()
	var words []string
	for _, finger := range fingers {
		path := ""
		for i, p := range finger.Path {
			if i > 0 {
				path += " to "
			}
			path += fmt.Sprintf("%d,%d", p.X, p.Y)
		}
		path += fmt.Sprintf(" for %s", finger.Hold+finger.Move)
		if finger.Rest > 0 {
			path += fmt.Sprintf(" and %s still", finger.Rest)
		}
		if finger.Taps == 2 {
			path += " twice"
		}
		words = append(words, path)
	}
	f.note("touch %s", strings.Join(words, " and "))
	at := fingers[0].Path[0]
	if f.keyboard != nil && f.keyboard.Contains(at) {
		f.touched = append(f.touched, nil)
	} else {
		f.touched = append(f.touched, tree.At(at))
	}
	return f.fail["Touch"]
}

func (f *fake) SetText(_ context.Context, text string) error {
	if err := f.did("SetText", "set %q", text); err != nil || f.ignores {
		return err
	}
	f.enter(text)
	return nil
}

func (f *fake) enter(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.content = text; f.atMost > 0 {
		f.content = text[:min(f.atMost, len(text))]
	}
}

func (f *fake) Type(_ context.Context, text string) error {
	if err := f.did("Type", "type %q", text); err != nil {
		return err
	}
	f.enter(f.content + text)
	return nil
}

func (f *fake) Press(_ context.Context, key Key) error {
	switch {
	case key == Backspace && f.content != "":
		f.enter(f.content[:len(f.content)-1])
	case key == Paste && !f.ignores:
		f.enter(f.content + f.clipboard)
	}
	return f.did("Press", "press %s", key)
}

func (f *fake) HideKeyboard(context.Context) error {
	err := f.did("HideKeyboard", "hide keyboard")
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.keyboard = nil
	}
	return err
}

func (f *fake) Launch(_ context.Context, l Launch) error {
	words := fmt.Sprintf("launch %s", l.App)
	for word, set := range map[string]bool{" stop": l.Stop, " clear": l.Clear} {
		if set {
			words += word
		}
	}
	for _, name := range slices.Sorted(keysOf(l.Permissions)) {
		words += fmt.Sprintf(" %s=%s", name, l.Permissions[name])
	}
	for name, value := range l.Arguments {
		words += fmt.Sprintf(" %s:%v", name, value)
	}
	if f.opens != "" {
		f.front = f.opens
	}
	return f.did("Launch", "%s", sortWords(words))
}

func keysOf(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// sortWords sorts the words after the first two.
func sortWords(words string) string {
	list := strings.Fields(words)
	slices.Sort(list[2:])
	return strings.Join(list, " ")
}

func (f *fake) Stop(_ context.Context, app string) error  { return f.did("Stop", "stop %s", app) }
func (f *fake) Clear(_ context.Context, app string) error { return f.did("Clear", "clear %s", app) }

func (f *fake) Grant(_ context.Context, app string, permissions []string) error {
	return f.did("Grant", "grant %s %s", app, strings.Join(permissions, " "))
}

func (f *fake) Apps(_ context.Context, system bool) ([]string, error) {
	return []string{"com.example.orders", "com.example.notes"}, f.did("Apps", "apps %v", system)
}

func (f *fake) Foreground(context.Context) (string, error) { return f.front, f.fail["Foreground"] }

func (f *fake) Alert(context.Context) (string, error) { return f.alert, nil }

func (f *fake) StatusBar(context.Context) int { return f.statusBar }

func (f *fake) OpenURL(_ context.Context, url, _ string) error {
	return f.did("OpenURL", "open %s", url)
}

func (f *fake) Clipboard(context.Context) (string, error) { return f.clipboard, nil }

func (f *fake) SetClipboard(_ context.Context, text string) error {
	return f.did("SetClipboard", "clipboard %q", text)
}

func (f *fake) SetNetwork(_ context.Context, connected bool) error {
	return f.did("SetNetwork", "network %v", connected)
}

func (f *fake) Shell(_ context.Context, argv []string) (string, error) {
	return "output\n", f.did("Shell", "shell %s", strings.Join(argv, "|"))
}

func (f *fake) ReadLog(ctx context.Context, q LogQuery) (DeviceLog, error) {
	if f.readLog == nil {
		return DeviceLog{}, nil
	}
	return f.readLog(ctx, q)
}

func (f *fake) Close(context.Context) error {
	f.closed = true
	return f.did("Close", "close")
}

// rect returns the area between two points.
func rect(left, top, right, bottom int) *screen.Rect {
	return &screen.Rect{Left: left, Top: top, Right: right, Bottom: bottom}
}

// node returns an element with a text. Its key is the text.
func node(class, text string, bounds *screen.Rect, children ...*screen.Node) *screen.Node {
	n := &screen.Node{
		Key: screen.Key(class + "/" + text), Class: new("android.widget." + class), Bounds: bounds, Children: children,
	}
	if text != "" {
		n.Text = &text
	}
	n.Clickable = class == "Button"
	return n
}

// always returns a screen with the same elements at any time.
func always(nodes ...*screen.Node) func(*fake, time.Duration) []*screen.Node {
	return func(*fake, time.Duration) []*screen.Node { return nodes }
}

// fieldAnd returns a screen with a field that has the focus, and others.
func fieldAnd(others ...*screen.Node) func(*fake, time.Duration) []*screen.Node {
	return func(f *fake, _ time.Duration) []*screen.Node {
		field := node("EditText", f.content, rect(40, 300, 1040, 420))
		field.Key, field.Editable, field.Focused, field.Hint = "field", true, true, new("Name")
		return append([]*screen.Node{field}, others...)
	}
}

// phoneTest is a device over a fake.
type phoneTest struct {
	*testing.T
	fake   *fake
	device device.Device
	kept   []device.Artifact

	commands []tool.Advertised
}

// onPhone runs a test in which waiting takes no time.
func onPhone(t *testing.T, f *fake, s device.Session, run func(p *phoneTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &phoneTest{T: t, fake: f}
		f.start = time.Now()
		if f.platform == "" {
			f.platform = Android
		}
		if f.nodes == nil {
			f.nodes = always()
		}
		if f.front == "" {
			f.front = "com.example.orders"
		}
		if s.AppID == "" && s.AppIDs == nil {
			s.AppID = "com.example.orders"
		}
		s.Keep = func(a device.Artifact) (string, error) {
			p.kept = append(p.kept, a)
			return "screens/" + a.Name, nil
		}
		p.device = NewDevice(Options{
			Platform: f.platform, Limits: DefaultLimits(s.Driver),
			Open: func(context.Context) (Driver, error) { return f, nil },
		}, s)
		p.commands = advertisedTools(f.platform)
		run(p)
		if err := p.device.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if f.reads > 0 && !f.closed {
			t.Error("the driver was not closed")
		}
	})
}

// call calls a command, after the check of its arguments.
func (p *phoneTest) call(name string, args map[string]any) tool.Result {
	p.Helper()
	commands := p.commands
	i := slices.IndexFunc(commands, func(c tool.Advertised) bool { return c.Name == name })
	if i < 0 {
		p.Fatalf("%s has no command %s", p.fake.platform, name)
	}
	p.fits(commands[i], args)
	if check := commands[i].Check; check != nil {
		if err := check(args); err != nil {
			p.Fatalf("%s: %v", name, err)
		}
	}
	result, err := p.device.Call(p.Context(), tool.Call{Tool: name, Args: args})
	if err != nil {
		p.Fatalf("%s: %v", name, err)
	}
	return result
}

// does calls a command that has to succeed with a text, and compares what the driver did.
func (p *phoneTest) does(name string, args map[string]any, text string, log ...string) {
	p.Helper()
	p.fake.log = nil
	if r := p.call(name, args); !r.OK || r.Text != text {
		p.Errorf("%s: got %v %q (%s)\nwant %q", name, r.OK, r.Text, r.Hint, text)
	}
	if !slices.Equal(p.fake.log, log) {
		p.Errorf("%s: the driver did %q\nwant %q", name, p.fake.log, log)
	}
}

// fails calls a command that has to fail with a text.
func (p *phoneTest) fails(name string, args map[string]any, text string) tool.Result {
	p.Helper()
	r := p.call(name, args)
	if r.OK || r.Text != text {
		p.Errorf("%s: got %v %s %q\nwant %q", name, r.OK, r.Kind, r.Text, text)
	}
	return r
}

// byText returns the arguments of a recorded command for an element of Android.
func byText(text string) map[string]any {
	return map[string]any{"nodeSelector": map[string]any{"androidAccessibility": map[string]any{"textRegex": text}}}
}

// schemas are the resolved input schemas by their text.
var schemas sync.Map

// fits checks arguments with the input schema of a command.
func (p *phoneTest) fits(c tool.Advertised, args map[string]any) {
	p.Helper()
	known, ok := schemas.Load(string(c.InputSchema))
	if !ok {
		var schema jsonschema.Schema
		if err := json.Unmarshal(c.InputSchema, &schema); err != nil {
			p.Fatal(c.Name, err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			p.Fatal(c.Name, err)
		}
		known, _ = schemas.LoadOrStore(string(c.InputSchema), resolved)
	}
	data, err := json.Marshal(args)
	if err != nil {
		p.Fatal(c.Name, err)
	}
	decoded := map[string]any{}
	_ = json.Unmarshal(data, &decoded) // it was encoded
	resolved, _ := known.(*jsonschema.Resolved)
	if err := resolved.Validate(decoded); err != nil {
		p.Errorf("%s: the schema rejects %s: %v", c.Name, data, err)
	}
}
