package android

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// sixthRow returns the arguments of a command for a row of a list.
func sixthRow() map[string]any {
	return map[string]any{"nodeSelector": map[string]any{"androidAccessibility": map[string]any{
		"collectionItemRowIndex": 5, "collectionItemColumnIndex": 0,
	}}}
}

func TestRowsAndColumnsAreReadWhenASelectorNamesThem(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	s := d.backend().Open(d.session())
	defer func() { _ = s.Close(within(t)) }()
	p.App.Show(app.Orders)
	if result := call(t, s, "assertVisible", map[string]any{"text": "30 orders"}); !result.OK {
		t.Fatal(result.Text)
	}
	asked := func() int {
		return len(slices.DeleteFunc(p.Requests(), func(r string) bool { return !strings.HasSuffix(r, "/elements") }))
	}
	if asked() > 0 {
		t.Error("rows and columns were read though no selector names them")
	}
	if result := call(t, s, "tapOnElementBySelector", sixthRow()); !result.OK {
		t.Fatal(result.Text)
	}
	if result := call(t, s, "assertVisible", map[string]any{"text": fmt.Sprint("Order ", app.FirstOrder-5)}); !result.OK {
		t.Error(result.Text)
	}
	result := call(t, s, "assertNotVisibleBySelector", sixthRow())
	if !result.OK {
		t.Error(result.Text)
	}
	if result := call(t, s, "findMatches", map[string]any{"selector": sixthRow()["nodeSelector"]}); result.Text != "[]" {
		t.Errorf("findMatches: %s", result.Text)
	}
}

func TestRowsThatMoveWhileTheyAreReadAreReadAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := d.phone(phones.AndroidOptions{Server: serverVersion})
	dr, closeAll := d.open()
	defer closeAll()
	p.App.Show(app.Orders)
	const rowHeight = 240
	scroll := func(by int) {
		p.App.Touch(app.Finger{Path: []screen.Point{{X: 540, Y: 1600}, {X: 540, Y: 1600 - by}}})
	}
	scroll(1000)
	reads := 0
	p.SetIntercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/source") {
			if reads++; reads == 2 { // after the rows and columns
				scroll(rowHeight) // so that there are as many as before
			}
		}
		return false
	})
	if _, err := dr.ReadCells(within(t)); !errors.Is(err, act.ErrChanged) {
		t.Errorf("rows took the places of others: %v", err)
	}
	if _, err := dr.ReadCells(within(t)); err != nil {
		t.Error(err)
	}
}

func TestRowsAndColumnsNeedTheServer(t *testing.T) {
	t.Parallel()
	d := newDeskWithoutServer(t)
	p := d.phone(phones.AndroidOptions{})
	s := d.backend().Open(d.session())
	defer func() { _ = s.Close(within(t)) }()
	p.App.Show(app.Orders)
	for _, command := range []string{"tapOnElementBySelector", "assertNotVisibleBySelector"} {
		result := call(t, s, command, sixthRow())
		if result.OK || result.Kind != fault.InvalidArguments || !strings.Contains(result.Text, "Appium's UiAutomator2 server does") {
			t.Errorf("%s: %v %s %q", command, result.OK, result.Kind, result.Text)
		}
	}
}
