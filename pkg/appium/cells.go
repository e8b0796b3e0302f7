package appium

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// CellReader reads the screen of the UiAutomator2 server with the rows and columns of elements in lists and grids, for
// each of which it makes a call: the source does not have them.
type CellReader struct {
	Source func(ctx context.Context, o source.Options) (source.Result, error)
	// Call makes a call that changes nothing.
	Call func(ctx context.Context, what string, call func(context.Context, *webdriver.Session) error) error
	// Strategy and Selector are the names of the arguments that say how elements are found and which.
	Strategy, Selector string
}

// Read returns the screen. The error is act.ErrChanged if the elements of lists and grids changed meanwhile.
func (r CellReader) Read(ctx context.Context, o source.Options) (source.Result, error) {
	o.Items = true
	before, err := r.Source(ctx, o)
	if err != nil || len(before.Items) == 0 {
		before.SetCells(nil)
		return before, err
	}
	cells, err := r.cells(ctx)
	if err != nil {
		return source.Result{}, err
	}
	now, err := r.Source(ctx, o)
	if err != nil {
		return source.Result{}, err
	}
	if len(cells) != len(now.Items) || !slices.EqualFunc(before.Items, now.Items, sameItem) {
		return source.Result{}, act.ErrChanged
	}
	now.SetCells(cells)
	return now, nil
}

// sameItem reports whether two elements of two screens are the same in the same place. nil stands for one outside of
// the tree.
func sameItem(a, b *screen.Node) bool {
	if a == nil || b == nil || a.Bounds == nil || b.Bounds == nil {
		return a == b
	}
	return a.Key == b.Key && *a.Bounds == *b.Bounds && a.String() == b.String()
}

// cells returns the rows and columns of the elements in lists and grids, in the order of the source; nil for one
// without.
func (r CellReader) cells(ctx context.Context) (cells []*source.Cell, err error) {
	request := map[string]any{r.Strategy: "xpath", r.Selector: "//*[@is-collection-item='true']"}
	err = r.Call(ctx, "reading the rows and columns", func(ctx context.Context, s *webdriver.Session) error {
		elements, err := s.Elements(ctx, request)
		if err != nil {
			return err
		}
		cells = make([]*source.Cell, len(elements))
		for i, path := range elements {
			var text string // JSON; empty for null
			if err := s.Get(ctx, path+"/attribute/collectionItemInfo", &text); err != nil {
				return err
			}
			if text == "" {
				continue
			}
			if err := json.Unmarshal([]byte(text), &cells[i]); err != nil {
				return fault.New(fault.ProtocolError, "", "the UiAutomator2 server sent a row and a column that cannot be read: %q", text)
			}
		}
		return nil
	})
	if webdriver.HasCode(err, webdriver.NoSuchElement, webdriver.StaleElement) {
		return nil, act.ErrChanged
	}
	return cells, err
}
