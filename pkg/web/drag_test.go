package web

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// dragPage has a card that stays at the lower edge of the viewport, where browsers scroll while something is dragged,
// and one that can be scrolled away from there. log has what happened to them, and says whether it was near an edge.
const dragPage = `<style>
	body { margin: 0; height: 4000px; position: relative }
	div { position: absolute; width: 100px; height: 20px; background: silver }
	#pinned { position: sticky; top: calc(100vh - 20px); margin-left: 200px } #low { top: calc(100vh - 20px) }
	#near { top: 300px; left: 0; height: 60px } #far { top: 3000px; height: 60px }
	#near.moves { transition: left 0.5s; left: 300px }
</style>
<div id="pinned" draggable="true">Pinned</div><div id="low" draggable="true">Low</div>
<div id="near">Near</div><div id="far">Far</div>
<script>
	const log = [], near = document.getElementById("near");
	const isInset = (y) => y >= 32 && y <= innerHeight - 32;
	addEventListener("dragstart", (e) => {
		e.dataTransfer.setData("text/plain", e.target.id);
		log.push(e.target.id + (isInset(e.clientY) ? " inset" : " at the edge"));
	});
	addEventListener("dragover", (e) => e.preventDefault());
	addEventListener("drop", (e) => {
		e.preventDefault();
		log.push("dropped " + e.dataTransfer.getData("text/plain") + " on " + e.target.id + (isInset(e.clientY) ? "" : " at the edge"));
	});
	addEventListener("dragend", (e) => log.push(e.dataTransfer.dropEffect === "none" ? "cancelled" : "ended"));
</script>`

// A drag works at an edge of the viewport, where browsers scroll while something is dragged, also with a target that is
// not ready at once or out of view.
func TestDragNearEdge(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := serve(t, map[string]http.HandlerFunc{"/drag": htmlPage(dragPage)})
	for _, c := range []struct{ prepare, from, to, want string }{
		{
			`addEventListener("dragstart", () => near.classList.add("moves"))`,
			"pinned", "near", "pinned at the edge, dropped pinned on near",
		},
		{`1`, "pinned", "far", "pinned at the edge, dropped pinned on far"},
		{`1`, "low", "near", "low inset, dropped low on near"},
		{`scrollTo(0, 2990)`, "pinned", "far", "pinned at the edge, dropped pinned on far"},
	} {
		u.mustCall("web_navigate", "url", url+"/drag")
		u.mustEval(c.prepare + "; 1")
		u.device.(*webDevice).limits.action = 20 * time.Second
		u.mustCall("web_dragTo", "from", m{"ref": "css=#" + c.from}, "to", m{"ref": "css=#" + c.to})
		if got := strings.TrimSuffix(u.mustEval(`log.join(", ")`), ", ended"); got != c.want {
			t.Errorf("%s to %s: got %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

// A drag whose target is gone when it has begun is cancelled.
func TestDragIsCancelled(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", serve(t, map[string]http.HandlerFunc{"/drag": htmlPage(dragPage)})+"/drag")
	u.mustEval(`addEventListener("dragstart", () => near.remove()); 1`)
	u.mustFail("web_dragTo", []any{"from", m{"ref": "css=#low"}, "to", m{"ref": "css=#near"}}, "#near was not found")
	if got, want := u.mustEval(`log.join(", ")`), "low inset, cancelled"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
