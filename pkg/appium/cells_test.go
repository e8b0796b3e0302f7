package appium_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

func TestRowsAndColumns(t *testing.T) {
	t.Parallel()
	item := `<x class="a.b.X" text="TEXT" bounds="[0,0][9,9]" displayed="true" a11y-important="true" is-collection-item="true"/>`
	listOf := func(texts ...string) reply {
		xml := `<hierarchy rotation="0" width="1080" height="2400"><y class="a.b.Y" bounds="[0,0][9,9]">`
		for _, text := range texts {
			xml += strings.Replace(item, "TEXT", text, 1)
		}
		data, _ := json.Marshal(xml + `</y></hierarchy>`)
		return value(string(data))
	}
	const two = `[{"element-6066-11e4-a52e-4f735466cecf": "e1"}, {"ELEMENT": "e2"}]`
	s := startServer(t, map[string]reply{
		"GET /source": listOf("a", "b"), "POST /elements": value(two), "GET /element/e2/attribute/collectionItemInfo": {},
		"GET /element/e1/attribute/collectionItemInfo": value(`"{\"rowIndex\":3,\"rowSpan\":1,\"columnIndex\":2}"`),
	})
	d := s.open(mobile.Android)
	reader := d.(mobile.CellReader)
	now, err := reader.ReadCells(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	items := now.Tree.Nodes()[1:]
	if *items[0].Row != 3 || *items[0].Column != 2 || items[1].Row != nil {
		t.Errorf("row and column: %v, %v, %v", *items[0].Row, *items[0].Column, items[1].Row)
	}
	want := []string{
		"GET /source", `POST /elements {"using":"xpath","value":"//*[@is-collection-item='true']"}`,
		"GET /element/e1/attribute/collectionItemInfo", "GET /element/e2/attribute/collectionItemInfo", "GET /source",
	}
	if diff := cmp.Diff(want, s.take()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	s.set("POST /elements", value(`[{"ELEMENT": "e1"}]`))
	if _, err := reader.ReadCells(t.Context()); !errors.Is(err, act.ErrChanged) {
		t.Errorf("an element more than in the source: %v", err)
	}
	s.set("POST /elements", value(two))
	s.set("GET /element/e2/attribute/collectionItemInfo", failure(http.StatusNotFound, "stale element reference", "gone"))
	if _, err := reader.ReadCells(t.Context()); !errors.Is(err, act.ErrChanged) {
		t.Errorf("an element that is gone: %v", err)
	}
	s.set("GET /element/e2/attribute/collectionItemInfo", value(`"row 3"`))
	if _, err := reader.ReadCells(t.Context()); fault.KindOf(err) != fault.ProtocolError || !strings.Contains(err.Error(), "row 3") {
		t.Errorf("what is not JSON: %v", err)
	}
	s.take()
	s.set("GET /source", listOf())
	if _, err := reader.ReadCells(t.Context()); err != nil || !slices.Equal(s.take(), []string{"GET /source"}) {
		t.Errorf("a screen without lists: %v", err)
	}
}
