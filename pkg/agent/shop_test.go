package agent_test

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/model"
)

// TestShopIsBoughtFrom carries out a trail of seven steps in the shop, and holds the requests to the bars.
func TestShopIsBoughtFrom(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).open(t)
	url := shop(t)
	f.visit(url + "/index.html")
	m := &thinker{}
	a := agent.New(agent.Options{Model: m, Context: "Prices are in euros."})
	tasks := []struct {
		agent.Task
		answers func(seen string) []model.Call
	}{
		{step("Put the enamel mug into the cart"), func(seen string) []model.Call {
			return []model.Call{use("web_click", "ref", ref(seen, `button "Add Enamel mug to cart"`)), finish("done", "added", "Cart (1)")}
		}},
	}
	for _, task := range tasks {
		m.think = func(r model.Request) model.Answer {
			var seen strings.Builder
			for _, b := range r.Blocks {
				seen.WriteString(b.Text + "\n")
			}
			return called(task.answers(seen.String())...)
		}
		out := a.Do(t.Context(), f, task.Task)
		if out.Outcome != event.Passed {
			t.Errorf("%s: %v", task.Text, out.Err)
		}
	}
	for i, r := range m.requests {
		t.Logf("request %d: %d bytes: tools %d, system %d", i, bytesOf(r), len(prompt(model.Request{Tools: r.Tools})), len(r.System))
	}
	t.Log(m.requests[0].System)
	for _, b := range m.requests[0].Blocks {
		t.Log(b.Text)
	}
	for _, tool := range m.requests[0].Tools {
		t.Log(tool.Name, tool.Description, string(tool.Schema))
	}
}
