package studio

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// outlet is where the desk shows what changed.
type outlet interface {
	push(on string, body any)
	picture(m pictureMessage, data []byte)
}

// desk carries out what people ask for in a live session.
type desk struct{}

func newDesk(context.Context, Options, outlet) *desk { return &desk{} }

func (d *desk) start() error { return nil }

func (d *desk) close() {}

// greet implements handler.
func (d *desk) greet() []push { return nil }

// begin implements handler.
func (d *desk) begin(name string, _ json.RawMessage) func(context.Context) (any, error) {
	return func(context.Context) (any, error) {
		return nil, fault.New(fault.InvalidArguments, "", "the request %q is not known", name)
	}
}

// watched implements handler.
func (d *desk) watched(int) {}

// unsaved implements handler.
func (d *desk) unsaved() bool { return false }

// file implements handler.
func (d *desk) file(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
