package web

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// benchPage opens a page of a benchmark with a document.
func benchPage(b *testing.B, html string) *page {
	b.Helper()
	backend := sharedBrowser.get(b)
	d := backend.Open(device.Session{
		Log: func(string, string, string) {}, Broken: func(err error) { b.Error(err) },
	}).(*webDevice)
	b.Cleanup(func() { _ = d.Close(context.WithoutCancel(b.Context())) })
	p, err := d.waitForPage(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := navigate(b.Context(), p, map[string]any{"url": "data:text/html,<!doctype html>"}); err != nil {
		b.Fatal(err)
	}
	if _, err := p.evaluate(b.Context(), fmt.Sprintf("document.write(%q), document.close()", html)); err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkNotices is the time from a change of the page to the end of the assertion that waits for it.
func BenchmarkNotices(b *testing.B) {
	p := benchPage(b, `<h1>Late</h1><input id=box type=checkbox><div id=place></div>
		<iframe srcdoc="<div id=inner></div>"></iframe>`)
	for _, c := range []struct {
		name, change, undo string
		run                handler
		args               map[string]any
	}{
		{"text", `place.innerHTML = "<p>Here</p>"`, `place.innerHTML = ""`, webVerifyTextVisible, m{"text": "Here"}},
		{"role", `place.innerHTML = "<button>Here</button>"`, `place.innerHTML = ""`, webVerifyElementVisible, m{"ref": `button "Here"`}},
		{"state", `box.checked = true`, `box.checked = false`, webVerifyState, m{"ref": "css=#box", "state": "checked"}},
		{"text gone", `place.innerHTML = ""`, `place.innerHTML = "<p>Here</p>"`, webVerifyTextNotVisible, m{"text": "Here"}},
		{"count", `place.innerHTML = "<i>a</i><i>b</i>"`, `place.innerHTML = ""`, webVerifyCount, m{"ref": "css=i", "count": 2}},
		{"title", `document.title = "here"`, `document.title = ""`, webVerifyTitle, m{"pattern": "here"}},
		{"URL", `history.replaceState(0, "", "#here")`, `history.replaceState(0, "", "#")`, webVerifyURL, m{"pattern": "here"}},
		{"snapshot", `place.innerHTML = "<p>Here</p>"`, `place.innerHTML = ""`, webVerifyAriaSnapshot, m{"snapshot": "- paragraph: Here"}},
		{"text in a frame", `frames[0].inner.innerHTML = "<p>There</p>"`, `frames[0].inner.innerHTML = ""`, webVerifyTextVisible, m{"text": "There"}},
		{"gone in a frame", `frames[0].inner.innerHTML = ""`, `frames[0].inner.innerHTML = "<b>x</b>"`, webVerifyElementNotVisible, m{"ref": "css=b"}},
	} {
		b.Run(strings.ReplaceAll(c.name, " ", "-"), func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				script := fmt.Sprintf(`%s; window.at = 0; setTimeout(() => { at = Date.now(); %s }, %d); 1`, c.undo, c.change, 100+i*7%50)
				if _, err := p.evaluate(b.Context(), script); err != nil {
					b.Fatal(err)
				}
				if _, err := c.run(b.Context(), p, c.args); err != nil {
					b.Fatal(err)
				}
				end := time.Now()
				at, err := evaluateInPage(b.Context(), p, "at")
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, end.Sub(time.UnixMilli(at)))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}

func evaluateInPage(ctx context.Context, p *page, expression string) (int64, error) {
	text, err := p.evaluate(ctx, expression)
	var value int64
	_, _ = fmt.Sscan(text, &value)
	return value, err
}

// BenchmarkRelations is the search of an element by its relations in a page with 10,000 elements, beside that by a CSS
// selector and the reading of the tree.
func BenchmarkRelations(b *testing.B) {
	p := benchPage(b, `<ul></ul><script>
		for (let i = 0; i < 2000; i++)
			document.querySelector("ul").insertAdjacentHTML("beforeend", "<li><div><b>Item " + i + "</b><i>12.00</i><button>Buy</button></div></li>");
	</script>`)
	run := func(name string, args map[string]any) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := webVerifyElementVisible(b.Context(), p, args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("css", m{"ref": "css=li:nth-child(1900) button"})
	row := func(block m) m {
		block["containsDescendants"] = []any{webBlock("ariaNameRegex", "Item 1900")}
		return block
	}
	run("roles", m{"nodeSelector": m{"web": m{"ariaRole": "button"}, "childOf": row(webBlock("ariaRole", "listitem"))}})
	run("css-in-relation", m{"nodeSelector": m{"web": m{"ariaRole": "button"}, "childOf": row(webBlock("cssSelector", "li"))}})
	run("css-in-both", m{"nodeSelector": m{"web": m{"cssSelector": "button"}, "childOf": row(webBlock("cssSelector", "li"))}})
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.tree(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkTexts is the time to find a text in a table of 5,000 rows: in a cell, across cells and across rows.
func BenchmarkTexts(b *testing.B) {
	var rows strings.Builder
	for i := range 5000 {
		rows.WriteString("<tr>")
		for j := range 8 {
			fmt.Fprintf(&rows, "<td>r%dc%d text", i, j)
		}
	}
	p := benchPage(b, "<table>"+rows.String()+"</table>")
	for name, args := range map[string]m{
		"cell":         {"text": "r4000c3 text"},
		"cells":        {"text": "r4000c3 text r4000c4 text"},
		"rows":         {"text": "r4000c7 text r4001c0 text"},
		"pattern":      {"pattern": "r4000c3 t.xt"},
		"rows-pattern": {"pattern": "r4000c7 t.xt r4001c0"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := webVerifyTextVisible(b.Context(), p, args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
