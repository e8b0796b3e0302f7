package locate

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// fakePage is a page in which a row is found by one text of it, and each of its kinds of buttons twice.
type fakePage struct{ tries int }

func (p *fakePage) Place(_ context.Context, selector map[string]any) (total, index int, err error) {
	p.tries++
	switch {
	case selector["index"] != nil:
		return 1, 0, nil
	case selector["childOf"] == nil && selector["containsDescendants"] != nil:
		return 1, -1, nil
	}
	return 2, 1, nil
}

func (p *fakePage) Finds(_ context.Context, selector map[string]any) (bool, error) {
	return selector["index"] != nil, nil
}

func (p *fakePage) BrowserName(context.Context) (role, name string, err error) {
	return "button", "", nil
}

func (p *fakePage) HasSecret(string) bool { return false }

// TestRowWithSeveralIsTriedOnce: what is around a row that has several elements of a kind is not tried, nor are other texts
// of it.
func TestRowWithSeveralIsTriedOnce(t *testing.T) {
	t.Parallel()
	const kinds = 10
	button := &screen.Node{Key: "/9", Role: "button"}
	row := &screen.Node{Key: "/2", Role: "row", Children: []*screen.Node{button}}
	for i, text := range []string{"Ann", "Oslo", "Editor", "Paid"} {
		cell := &screen.Node{Key: screen.Key(fmt.Sprint("/3", i)), Role: "cell", Label: &text}
		row.Children = append(row.Children, cell)
	}
	label := "Team"
	region := &screen.Node{Key: "/1", Role: "region", Label: &label, Children: []*screen.Node{row}}
	var facts Facts
	for i := range kinds {
		facts.Kind = append(facts.Kind, CSSSelector{Selector: fmt.Sprint("button.kind-", i)})
	}
	page := &fakePage{}
	best, found, err := Best(t.Context(), page, Element{Node: button, Tree: screen.NewTree(region, 0, 0, screen.Web), Facts: facts})
	if err != nil || !found || best.Selector["index"] != 1 || !strings.Contains(fmt.Sprint(best.Selector), "Ann") {
		t.Errorf("%+v, %v, %v", best, found, err)
	}
	if page.tries > kinds+5 {
		t.Errorf("%d selectors were tried for %d kinds", page.tries, kinds)
	}
}
