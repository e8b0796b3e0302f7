package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

func TestViewTellsKindsOfControls(t *testing.T) {
	t.Parallel()
	types := []string{
		"checkbox", "color", "date", "datetime-local", "email", "file", "month", "number", "password", "radio", "range", "search", "text", "time", "url", "week",
	}
	var body strings.Builder
	for _, kind := range types {
		fmt.Fprintf(&body, "<p><input type=%s aria-label=%[1]s>", kind)
	}
	body.WriteString(`<p><textarea aria-label=textarea></textarea><div contenteditable role=textbox aria-label=contenteditable>a</div>
		<select aria-label=select>
			<option value=1>One <option>  Two
				words<option label=Three value=3 disabled>3<optgroup disabled label=More><option value="">Four</optgroup>
		</select>
		<select aria-label=select-multiple multiple><option selected>A<option>B<option selected value=c>C</select>
		<select aria-label=empty></select><button aria-label=none>b</button>`)
	u := openLive(t, device.Session{})
	u.mustCall("web_navigate", "url", serve(t, map[string]http.HandlerFunc{"/kinds": htmlPage(body.String())})+"/kinds")
	u.mustCall("web_selectOption", "ref", u.refOf(`combobox "select"`), "values", []any{"Two words"})
	nodes := map[string]*screen.Node{}
	for _, n := range u.view(device.ViewOptions{Peek: true}).Tree.Nodes() {
		nodes[n.Name()] = n
	}
	for _, kind := range append(types, "textarea", "contenteditable", "select", "select-multiple") {
		if n := nodes[kind]; n == nil || n.Kind != kind {
			t.Errorf("%s is %+v", kind, n)
		}
	}
	if n := nodes["none"]; n.Kind != "" || n.Options != nil {
		t.Errorf("a button is %+v", n)
	}
	for _, name := range []string{"select", "select-multiple", "empty"} {
		var want []screen.Option
		text := u.mustEval(`JSON.stringify([...document.querySelector('[aria-label="` + name + `"]').options].map(o => (
			{ Label: o.label, Value: o.value, Selected: o.selected, Disabled: o.matches(':disabled') })))`)
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if len(want) == 0 {
			want = nil
		}
		if diff := cmp.Diff(want, nodes[name].Options); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestViewTellsFocus(t *testing.T) {
	t.Parallel()
	const field = `<input aria-label=%s>`
	pages := map[string]http.HandlerFunc{
		"/inner": htmlPage(fmt.Sprintf(field, "inner") + `<iframe srcdoc="<input aria-label=innermost>"></iframe>`),
	}
	url := serve(t, pages)
	other := strings.Replace(url, "127.0.0.1", "localhost", 1)
	u := openLive(t, device.Session{})
	u.mustCall("web_navigate", "url", serve(t, map[string]http.HandlerFunc{"/main": htmlPage(
		fmt.Sprintf(field, "plain") + `<div contenteditable role=textbox aria-label=editable>a</div><select aria-label=list><option>a</select>
		<x-open></x-open><iframe src="` + other + `/inner"></iframe><script>
		document.querySelector('x-open').attachShadow({ mode: 'open' }).innerHTML = '<input aria-label=shadow>';</script>`)})+"/main")
	focused := func() (names []string) {
		for _, n := range u.view(device.ViewOptions{Peek: true}).Tree.Nodes() {
			if n.Focused {
				names = append(names, n.Name())
			}
		}
		return names
	}
	if names := focused(); names != nil {
		t.Errorf("%v have the focus at first", names)
	}
	for _, name := range []string{"plain", "inner", "shadow", "innermost", "editable", "list"} {
		u.mustCall("web_click", "nodeSelector", map[string]any{"web": map[string]any{"ariaNameRegex": "^" + name + "$"}})
		if diff := cmp.Diff([]string{name}, focused()); diff != "" {
			t.Error(diff)
		}
	}
}
