package web

import (
	"context"
	"errors"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// errGone says that the document or the element is not there any more: resolve it again.
var errGone = errors.New("the page has changed meanwhile")

// handler runs a command on a tab. A *fault.Error of kind Crashed is a browser or a page that is gone, and ends the session; any other
// becomes a failed result.
type handler func(ctx context.Context, t *tab, args map[string]any) (tool.Result, error)

// frame is a document of the page: the main one, or one in an iframe, which may live in a process and a session of its own.
type frame struct {
	tab     *tab
	id      string
	parent  *frame // nil for the main frame
	session *cdp.Session
}

// handle is an object of a frame's isolated world, such as an element. It dies with the document.
type handle struct {
	frame    *frame
	objectID string
}

// release lets the object go. Releasing nil, or what is gone, does nothing.
func (h *handle) release() {}

// main is the frame of the page itself.
func (t *tab) main() *frame { panic("stub") }

// frames are the main frame and then, in document order, those inside it that are loaded.
func (t *tab) frames() []*frame { panic("stub") }

// eval calls trailblaze.<function> of page.js in the isolated world of f and decodes into result, unless that is nil, what it returns or
// what its promise becomes. args are JSON values or *handle. It is errGone when the document is replaced meanwhile.
func (f *frame) eval(ctx context.Context, function string, result any, args ...any) error {
	panic("stub")
}

// handle does the same and keeps the result as an object; nil for null and undefined.
func (f *frame) handle(ctx context.Context, function string, args ...any) (*handle, error) {
	panic("stub")
}

// origin is where the frame's viewport begins in the viewport of the main frame, in CSS pixels.
func (f *frame) origin(ctx context.Context) (x, y float64, err error) { panic("stub") }

// axNodes is the accessibility tree of a frame. It waits here for aria.Node:
// func (t *tab) axNodes(ctx context.Context, f *frame) ([]aria.Node, error)

// node is the element of a node of the accessibility tree.
func (t *tab) node(ctx context.Context, f *frame, backendNodeID int) (*handle, error) {
	panic("stub")
}
