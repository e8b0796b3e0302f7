package agent_test

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/model"
)

// shopTasks are the steps of an order in the shop, with what a model answers that sees what it is sent.
func shopTasks() []struct {
	agent.Task
	answer func(seen string) []model.Call
} {
	field := func(seen, name, text string) model.Call {
		return use("web_type", "ref", ref(seen, `textbox "`+name+`"`), "text", text)
	}
	return []struct {
		agent.Task
		answer func(seen string) []model.Call
	}{
		{step("Look for the mug"), func(seen string) []model.Call {
			return []model.Call{use("web_type", "ref", ref(seen, `searchbox "Search"`), "text", "mug"), done("Search")}
		}},
		{step("Open its page"), both(click(`link "Enamel mug"`), done("Quantity"))},
		{step("Put two green ones into the cart"), func(seen string) []model.Call {
			return []model.Call{
				use("web_selectOption", "ref", ref(seen, `combobox "Colour"`), "values", []string{"Forest"}),
				use("web_type", "ref", ref(seen, `spinbutton "Quantity"`), "text", "2"),
				use("web_click", "ref", ref(seen, `button "Add to cart"`)), done("Cart (2)"),
			}
		}},
		{step("Open the cart"), both(click(`link "Cart (2)"`), done("Your cart"))},
		{verify("The cart has two mugs for 25.00 €"), func(seen string) []model.Call {
			return []model.Call{
				textVisible("25.00 €"),
				use("web_verifyValue", "ref", ref(seen, `spinbutton "Quantity of Enamel mug, Forest"`), "type", "VALUE", "expected", "2"),
				finish("done", "both hold", ""),
			}
		}},
		{step("Go to the checkout"), both(click(`link "Check out"`), done("Your order"))},
		{step("Fill in the form"), func(seen string) []model.Call {
			return []model.Call{
				field(seen, "Name", "Ada"), field(seen, "Email", "ada@example.com"), field(seen, "Street", "1 Main St"), field(seen, "City", "Oslo"),
				use("web_selectOption", "ref", ref(seen, `combobox "Country"`), "values", "Norway"), field(seen, "Card number", "4242 4242 4242 4242"),
				use("web_setChecked", "ref", ref(seen, `checkbox "I have read the terms"`), "checked", true), done("I have read the terms"),
			}
		}},
	}
}

// TestShopIsBoughtFrom carries out a trail of seven steps in the shop, and holds the requests to their bars.
func TestShopIsBoughtFrom(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).open(t)
	f.visit(shop(t) + "/index.html")
	m := &thinker{}
	a := agent.New(agent.Options{Model: m, Context: "Prices are in euros."})
	of := agent.Trail{Title: "Buy a mug"}
	for _, task := range shopTasks() {
		of.Steps = append(of.Steps, task.Text)
	}
	for i, task := range shopTasks() {
		m.think = func(r model.Request) model.Answer {
			var seen strings.Builder
			for _, b := range r.Blocks {
				seen.WriteString(b.Text + "\n")
			}
			return called(task.answer(seen.String())...)
		}
		task.Trail, task.Trail.Index = of, i
		if out := a.Do(t.Context(), f, task.Task); out.Outcome != event.Passed || len(out.Warnings) > 0 || len(out.Turns) != 1 {
			t.Fatalf("%s: %d requests, %v %q", task.Text, len(out.Turns), out.Err, out.Warnings)
		}
	}
	wantLayout(t, m.requests)
	sum := 0
	for i, r := range m.requests {
		sum += bytesOf(r) / 4
		if i >= 5 && r.Task.Kind == m.requests[i-1].Task.Kind {
			if share := same(m.requests[i-1], r) * 100 / bytesOf(r); share < 60 {
				t.Errorf("request %d: only %d %% are as before", i, share)
			}
		}
	}
	first, mean := bytesOf(m.requests[0])/4, sum/len(m.requests)
	t.Logf("%d requests, %d tokens, the first %d, on average %d", len(m.requests), sum, first, mean)
	if first > 2600 || mean > 3000 || len(m.requests) > 10 {
		t.Error("a bar is missed")
	}
	recorded := f.recording()
	for _, want := range []string{"step: Fill in the form", "verify: \"The cart has two mugs", "ariaRole: spinbutton", "expected: \"2\""} {
		if !strings.Contains(recorded, want) {
			t.Errorf("%q is missing in\n%s", want, recorded)
		}
	}
	if strings.Contains(recorded, "ref: e") {
		t.Errorf("references were recorded\n%s", recorded)
	}
}
