package live

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Look is what the device shows, for somebody who looks on while calls are made. Bounds are in the unit of
// [device.Geometry]: CSS pixels of the viewport, pixels on Android, points on iOS.
type Look struct {
	URL   string `json:"url,omitempty"`
	Title string `json:"title,omitempty"`
	// Width and Height are the size of what is shown, ScrollX and ScrollY how far the page is scrolled, and PixelRatio
	// the number of pixels of the picture for one unit; 0 if it is not known.
	Width      float64  `json:"width"`
	Height     float64  `json:"height"`
	ScrollX    float64  `json:"scrollX,omitempty"`
	ScrollY    float64  `json:"scrollY,omitempty"`
	PixelRatio float64  `json:"pixelRatio,omitempty"`
	Root       *Element `json:"root"`                 // what is around all elements; nil for an empty screen
	Screenshot []byte   `json:"screenshot,omitempty"` // PNG
	Withheld   string   `json:"withheld,omitempty"`   // why the screenshot that was asked for is missing
}

// Element is an element of the screen.
type Element struct {
	Ref     string   `json:"ref,omitempty"`
	Role    string   `json:"role"`
	Name    string   `json:"name,omitempty"`
	Content string   `json:"content,omitempty"` // what it holds, such as the text in a field
	States  []string `json:"states,omitempty"`  // such as checked and level=2
	Focused bool     `json:"focused,omitempty"` // keys go to it
	// ContentSelected says that all of its content is selected, so that a key replaces it.
	ContentSelected bool         `json:"contentSelected,omitempty"`
	Bounds          *screen.Rect `json:"bounds,omitempty"` // nil when unknown; may be outside of what is shown
	// Kind says what kind of control it is, if that changes how a person uses it: on the web select, select-multiple,
	// contenteditable, textarea, or the type of an input, such as date or file; on phones password. Options are those of
	// a select.
	Kind     string     `json:"kind,omitempty"`
	Options  []Option   `json:"options,omitempty"`
	Children []*Element `json:"children,omitempty"`
}

// Option is an entry of a select.
type Option struct {
	Label    string `json:"label"`
	Value    string `json:"value"`
	Selected bool   `json:"selected,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
}

// Place says which element is meant: that of a reference, or without one what a person would point at at a point, in
// the unit of [Look].
type Place struct {
	Ref string `json:"ref,omitempty"`
	X   int    `json:"x,omitempty"`
	Y   int    `json:"y,omitempty"`
	// Best asks for the first candidate only, without its number of matches. It takes less time.
	Best bool `json:"best,omitempty"`
}

// Location is an element with the selectors that a recording could use for it.
type Location struct {
	Element    Element     `json:"element"` // without its children
	Candidates []Candidate `json:"candidates"`
}

// Candidate is described at [device.Candidate].
type Candidate struct {
	By       string         `json:"by"`
	Selector map[string]any `json:"selector"`
	Matches  int            `json:"matches"`
	Notes    []string       `json:"notes,omitempty"`
}

// Look returns what the device shows now, with a picture of the same moment on request. It does not wait for the
// request that runs, and disturbs none: what it shows does not count as shown to the one who makes the calls.
func (s *Session) Look(ctx context.Context, picture bool) (Look, error) {
	done, err := s.beginLook()
	if err != nil {
		return Look{}, err
	}
	defer done()
	return s.look(ctx, picture)
}

// look is Look while nothing else uses the device.
func (s *Session) look(ctx context.Context, picture bool) (Look, error) {
	v, err := s.peek(ctx, picture)
	if err != nil {
		return Look{}, err
	}
	g := v.Geometry
	l := Look{
		URL: v.URL, Title: v.Title, Width: g.Width, Height: g.Height, ScrollX: g.ScrollX, ScrollY: g.ScrollY,
		PixelRatio: g.PixelRatio, Screenshot: v.Screenshot, Withheld: v.Withheld,
	}
	if root := v.Tree.Root(); root != nil {
		l.Root = elements(root, v.Ref)
	}
	return l, nil
}

// peek reads the screen while nothing else uses the device. A picture that shows a secret is withheld.
func (s *Session) peek(ctx context.Context, picture bool) (device.View, error) {
	v, err := s.inner.View(ctx, device.ViewOptions{Peek: true, Screenshot: picture})
	if err != nil {
		return v, err
	}
	if picture && v.Withheld == "" && s.showsSecret(v) {
		v.Withheld = "the screen shows a secret"
	}
	if !picture || v.Withheld != "" {
		v.Screenshot = nil
	}
	return v, nil
}

// beginLook returns an error if nobody can look at the device: the session has ended, or a replay uses its device. The
// caller calls done at its end.
func (s *Session) beginLook() (done func(), err error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	if !s.lent.TryRLock() {
		return nil, fault.New(fault.Device, "look again when the replay has ended", "a replay uses the device of the session")
	}
	return s.lent.RUnlock, nil
}

// elements returns a node with what is below it.
func elements(n *screen.Node, ref func(*screen.Node) string) *Element {
	e := element(n, ref(n))
	for _, child := range n.Children {
		e.Children = append(e.Children, elements(child, ref))
	}
	return &e
}

func element(n *screen.Node, ref string) Element {
	e := Element{
		Ref: ref, Role: n.RoleName(), Name: n.Name(), Content: n.Content(), States: n.StateWords(), Focused: n.Focused, Bounds: n.Bounds,
		Kind: n.Kind, ContentSelected: n.ContentSelected,
	}
	if n.Password && e.Kind == "" {
		e.Kind = "password"
	}
	for _, o := range n.Options {
		e.Options = append(e.Options, Option(o))
	}
	return e
}

// Locate returns the element at a place and the selectors that a recording could use for it, best first: the first is
// what a call with its reference records. It does not act. Like Look, it does not wait for the request that runs.
func (s *Session) Locate(ctx context.Context, at Place) (Location, error) {
	done, err := s.beginLook()
	if err != nil {
		return Location{}, err
	}
	defer done()
	found, err := s.inner.Locate(ctx, device.Place{Ref: at.Ref, Point: screen.Point{X: at.X, Y: at.Y}, Best: at.Best})
	if err != nil {
		return Location{}, err
	}
	l := Location{Element: element(found.Node, found.Ref), Candidates: []Candidate{}}
	for _, c := range found.Candidates {
		l.Candidates = append(l.Candidates, Candidate{By: c.By, Selector: c.Selector, Matches: c.Matches, Notes: c.Notes})
	}
	return l, nil
}
