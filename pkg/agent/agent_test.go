package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// ordersPage opens the page with an order.
func (b browser) ordersPage(t *testing.T) *fixture {
	t.Helper()
	f := b.open(t)
	f.visit(pages(t, map[string]string{"/": orders, "/summary": summary}) + "/")
	return f
}

func TestVerifyRecordsOnlyWhatCounts(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).ordersPage(t)
	f.calls("Go on", trail.Call{Tool: "web_navigate", Args: map[string]any{"url": f.url() + "summary"}})
	m := scripted(say(textVisible("Order 7"), textVisible("Paid in full"), use("web_verifyTextNotVisible", "text", "Gift wrop"), done("")), say(done("")))
	out := f.do(m, verify("The order is paid"))
	if out.Outcome != event.Passed {
		t.Fatal(out.Err)
	}
	recorded := f.recording()
	if !strings.Contains(recorded, "Paid in full") || strings.Contains(recorded, "Order 7") || strings.Contains(recorded, "Gift wrop") {
		t.Errorf("recorded\n%s", recorded)
	}
}

func (f *fixture) url() string {
	f.Helper()
	status, err := f.Status(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	return status.URL
}

// TestRememberedValueIsNeverExpected has a model that puts a value into memory in a step, and checks with it in a verify.
func TestRememberedValueIsNeverExpected(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).ordersPage(t)
	m := scripted(both(click(`checkbox "Gift wrap"`), through("rememberValue", "name", "total", "value", "Order 7"), done("Gift wrap")))
	a := agent.New(agent.Options{Model: m})
	if out := a.Do(t.Context(), f, step("Wrap it")); out.Outcome != event.Passed {
		t.Fatal(out.Err)
	}
	cheats := scripted(
		say(textVisible("{{total}}"), done("")), say(through("assertEquals", "expected", "Order 7", "actual", "{{ total }}"), done("")),
		say(through("assertNotEquals", "expected", "x", "actual", "${total}"), done("")), say(textVisible("{{total.0}}"), done("")),
	)
	m.think = cheats.think
	out := a.Do(t.Context(), f, verify("The total is right"))
	if out.Outcome != event.Failed || out.Err.Kind != agent.NotDone {
		t.Errorf("%s: %v", out.Outcome, out.Err)
	}
	for i, turn := range out.Turns[:4] {
		if !strings.Contains(turn.Result, "total has a value that you have put into memory") {
			t.Errorf("turn %d: %s", i, turn.Result)
		}
	}
}

func TestNothingToDoPassesOnlyUnrecordedSteps(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).ordersPage(t)
	before := f.recording()
	task := step("Close the banner, if there is one")
	task.Recordable = false
	out := f.do(scripted(say(finish("nothing_to_do", "no banner", ""))), task)
	if out.Outcome != event.Passed || !slices.Equal(out.Warnings, []string{`there was nothing to do: "no banner"`}) {
		t.Errorf("%v %q", out.Err, out.Warnings)
	}
	if out = f.do(scripted(both(click(`checkbox "Gift wrap"`), done("Gift wrap"))), task); out.Outcome != event.Passed {
		t.Error(out.Err)
	}
	if diff := cmp.Diff(before, f.recording()); diff != "" {
		t.Errorf("it was recorded:\n%s", diff)
	}
	task.Recordable = true
	out = f.do(scripted(say(finish("nothing_to_do", "no banner", ""))), task)
	if out.Outcome != event.Failed || !strings.Contains(out.Err.Hint, "recordable: false") {
		t.Errorf("%+v", out.Err)
	}
}

// TestTextOfSeveralElementsIsExpected has a text that reads as one, and is in a line of the screen for each part.
func TestTextOfSeveralElementsIsExpected(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).open(t)
	f.visit(pages(t, map[string]string{"/": `<p>Hello, <em>Ada</em>!</p>
		<footer><strong id=n>0</strong> items left<ul><li>All</ul></footer>
		<button onclick="n.textContent = 1; n.nextSibling.data = ' item left'">Add</button>`}) + "/")
	add := click(`button "Add"`)
	m := scripted(both(add, done("Hello, Ada!")), both(add, done("0 items left")), both(add, done("1 item left")))
	out := f.do(m, step("Add a task"))
	if out.Outcome != event.Passed || len(out.Turns) != 3 {
		t.Errorf("%d turns: %v", len(out.Turns), out.Err)
	}
}

// TestExpectedTextIsWaitedFor has a text that comes long after the screen has settled.
func TestExpectedTextIsWaitedFor(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).open(t)
	f.visit(pages(t, map[string]string{"/": `<p id=p>Cart</p><button onclick="setTimeout(() => p.textContent = 'Order placed', 1500)">Buy</button>`}) + "/")
	m := scripted(both(click(`button "Buy"`), done("Order placed")))
	out := f.do(m, step("Buy it"), func(o *agent.Options) { o.ExpectLimit = time.Minute })
	if out.Outcome != event.Passed || len(out.Turns) != 1 {
		t.Errorf("%d turns: %v", len(out.Turns), out.Err)
	}
}

// TestWaitForExpectedTextEndsWithTheTimeForTheStep has a text that never comes.
func TestWaitForExpectedTextEndsWithTheTimeForTheStep(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).ordersPage(t)
	m := scripted(both(click(`checkbox "Gift wrap"`), done("Order deleted")))
	out := f.do(m, step("Delete order 7"), func(o *agent.Options) {
		o.ExpectLimit, o.Budget = time.Hour, agent.NewBudget(agent.Limits{TimePerStep: 3 * time.Second})
	})
	if out.Err == nil || out.Err.Kind != agent.OverBudget {
		t.Errorf("%v", out.Err)
	}
}

func TestRetriesBeginAgainOnTheScreenAsItIs(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).ordersPage(t)
	task := step("Delete order 7")
	task.MaxRetries = 1
	m := scripted(
		both(click(`checkbox "Gift wrap"`)), say(finish("failed", "lost", "")),
		both(click(`button "Delete order 7"`), done("Order deleted")),
	)
	out := f.do(m, task)
	if out.Outcome != event.Passed || len(out.Turns) != 3 || out.Used.Requests != 3 {
		t.Fatalf("%v %+v", out.Err, out.Used)
	}
	again := m.requests[2]
	if len(again.Blocks) != 2 || !strings.Contains(again.Blocks[1].Text, "[checked]") || again.Blocks[0].Text != m.requests[0].Blocks[0].Text {
		t.Errorf("%+v", again.Blocks)
	}
}

func TestErrorsOfTheModelEndTheTaskAsErrors(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	f := b.ordersPage(t)
	down := asks(func(context.Context) error {
		return fault.New(fault.Provider, "try again later", "the provider cannot be reached")
	})
	out := agent.New(agent.Options{Model: down}).Do(t.Context(), f, step("Do it"))
	if out.Outcome != event.Error || out.Err.Kind != fault.Provider || len(out.Turns) != 1 || out.Turns[0].Err == nil {
		t.Errorf("%s: %v", out.Outcome, out.Err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	out = agent.New(agent.Options{Model: asks(func(ctx context.Context) error {
		cancel(errors.New("stopped"))
		return ctx.Err()
	})}).Do(ctx, f, step("Do it"))
	if out.Outcome != event.Error || out.Err.Kind != fault.Cancelled {
		t.Errorf("%s: %v", out.Outcome, out.Err)
	}
	broken := b.open(t, project(map[string]func() tool.Result{"crash": func() tool.Result {
		return tool.Result{Fatal: true, Kind: fault.ToolFatal, Text: "out of order"}
	}}))
	out = broken.do(scripted(say(use("crash"))), step("Do it"))
	if out.Outcome != event.Error || !strings.Contains(out.Err.Error(), "out of order") {
		t.Errorf("%s: %v", out.Outcome, out.Err)
	}
}

// asks is a model whose requests fail.
type asks func(ctx context.Context) error

func (a asks) Ask(ctx context.Context, _ model.Request) (model.Answer, model.Usage, error) {
	return model.Answer{}, model.Usage{}, a(ctx)
}

func TestBudgetsAreExceededByNoRequest(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	price := func(u model.Usage) float64 { return float64(u.Uncached+2*u.CacheWrite+10*u.Output) / 1e6 }
	for name, c := range map[string]struct {
		limits agent.Limits
		says   string
	}{
		"requests of a step":  {agent.Limits{RequestsPerStep: 3}, "3 requests for a step"},
		"requests of a trail": {agent.Limits{RequestsPerTrail: 3}, "3 requests for a trail"},
		"tokens":              {agent.Limits{TokensPerTrail: 9000}, "9000 tokens for a trail"},
		"cost of a trail":     {agent.Limits{CostPerTrail: 0.02}, "0.02 for a trail"},
		"cost of a run":       {agent.Limits{CostPerRun: 0.02}, "0.02 for a run"},
		"time":                {agent.Limits{TimePerStep: time.Minute}, "1m0s for a step"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := b.ordersPage(t)
			m := scripted(looks(20)...)
			budget, now := agent.NewBudget(c.limits), time.Now()
			o := agent.Options{Model: m, Budget: budget, Cost: price, Now: func() time.Time {
				now = now.Add(5 * time.Second)
				return now
			}}
			a := agent.New(o)
			out := a.Do(t.Context(), f, step("Look"))
			if out.Outcome != event.Failed || out.Err.Kind != agent.OverBudget || !strings.HasSuffix(out.Err.Error(), c.says) {
				t.Errorf("%s: %v", out.Outcome, out.Err)
			}
			used, l := a.Used(), c.limits
			if total := used.Tokens.Uncached + used.Tokens.Output; l.TokensPerTrail > 0 && total > l.TokensPerTrail || used.Cost > 0.02 && l.CostPerRun+l.CostPerTrail > 0 {
				t.Errorf("used %+v", used)
			}
			if diff := budget.Cost() - used.Cost; diff > 1e-9 || diff < -1e-9 || used.Requests < 2 || used.Requests != len(m.requests) {
				t.Errorf("the run has cost %v, the trail %+v", budget.Cost(), used)
			}
		})
	}
}

func TestBudgetOfRunIsShared(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	budget := agent.NewBudget(agent.Limits{CostPerRun: 2.5})
	for i, want := range []event.Outcome{event.Passed, event.Passed, event.Failed} {
		f := b.ordersPage(t)
		m := scripted(both(click(`button "Delete order 7"`), done("Order deleted")))
		out := agent.New(agent.Options{Model: m, Budget: budget, Cost: func(model.Usage) float64 { return 1 }}).Do(t.Context(), f, step("Delete it"))
		if out.Outcome != want {
			t.Errorf("trail %d: %s %v", i, out.Outcome, out.Err)
		}
	}
}

func TestBudgetOfTrailCountsEarlierAttempts(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).ordersPage(t)
	used := &agent.Used{}
	budget := agent.NewBudget(agent.Limits{RequestsPerTrail: 1})
	for i, want := range []event.Outcome{event.Passed, event.Failed} {
		m := scripted(both(click(`button "Delete order 7"`), done("Order deleted")))
		out := agent.New(agent.Options{Model: m, Budget: budget, Used: used}).Do(t.Context(), f, step("Delete it"))
		if out.Outcome != want || used.Requests != 1 {
			t.Errorf("attempt %d: %s %v, %d requests", i, out.Outcome, out.Err, used.Requests)
		}
	}
}

func TestRequestEndsWithTheTimeForTheStep(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).ordersPage(t)
	for _, tt := range []struct {
		failed  error // of the provider, until the time is over
		outcome event.Outcome
		kind    fault.Kind
	}{
		{context.DeadlineExceeded, event.Failed, agent.OverBudget},
		{fault.New(fault.RateLimit, "", "too many requests"), event.Error, fault.RateLimit},
	} {
		waits := asks(func(ctx context.Context) error {
			<-ctx.Done()
			return tt.failed
		})
		o := agent.Options{Model: waits, Budget: agent.NewBudget(agent.Limits{TimePerStep: 2 * time.Second})}
		out := agent.New(o).Do(t.Context(), f, step("Do it"))
		if out.Outcome != tt.outcome || out.Err.Kind != tt.kind {
			t.Errorf("%v: %s: %v", tt.failed, out.Outcome, out.Err)
		}
	}
}

func TestCallEndsWithTheTimeForTheStep(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).ordersPage(t)
	o := agent.Options{
		Model:  scripted(say(through("web_wait", "seconds", 600))),
		Budget: agent.NewBudget(agent.Limits{TimePerStep: 2 * time.Second}),
	}
	out := agent.New(o).Do(t.Context(), f, step("Do it"))
	if out.Outcome != event.Failed || out.Err.Kind != agent.OverBudget {
		t.Errorf("%s: %v", out.Outcome, out.Err)
	}
	if out = f.do(scripted(both(click(`button "Delete order 7"`), done("Order deleted"))), step("Delete it")); out.Outcome != event.Passed {
		t.Errorf("the session cannot be used any more: %v", out.Err)
	}
}

func TestProgressIsTold(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).ordersPage(t)
	var got []agent.Progress
	m := scripted(say(use("look")), both(click(`button "Delete order 7"`), done("Order deleted")))
	out := f.do(m, step("Delete it"), func(o *agent.Options) {
		o.Notify = func(p agent.Progress) { got = append(got, p) }
	})
	if out.Outcome != event.Passed || len(got) != 4 {
		t.Fatalf("%v %+v", out.Err, got)
	}
	if got[0].Turn != nil || got[1].Turn == nil || got[2].Request != 2 || got[3].Used != out.Used || got[0].Task.Step != "2" {
		t.Errorf("%+v", got)
	}
	if sent := got[3].Turn.Sent; len(sent) != 1 || !strings.HasPrefix(sent[0].Text, "TURN 1\nok: 1 look\n") {
		t.Errorf("%+v", sent)
	}
	if first := out.Turns[0].Sent; len(first) != 2 || !strings.HasSuffix(first[0].Text, "TASK step: Delete it") {
		t.Errorf("%+v", first)
	}
}

// TestOtherPageIsShownWhole has a model that needs what is on another page than the one that it began with.
func TestOtherPageIsShownWhole(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).ordersPage(t)
	m := scripted(both(click(`link "Next page"`)), both(click(`button "Delete order 7"`)), say(done("")))
	if out := f.do(m, step("Delete it there")); out.Outcome != event.Passed {
		t.Fatal(out.Err)
	}
	block := m.requests[1].Blocks[2].Text
	if !strings.Contains(block, "title: /summary\n- heading \"Summary\" [ref=e") {
		t.Error(block)
	}
	wantLayout(t, m.requests)
}

// TestTranscriptIsReplayedWithOtherReferences records in one session, and replays in one whose elements have other numbers.
// One of two buttons that look alike is pressed.
func TestTranscriptIsReplayedWithOtherReferences(t *testing.T) {
	t.Parallel()
	const twins = `<p role=status></p><button onclick="this.previousElementSibling.textContent='first'">Add</button>
<button onclick="document.querySelector('p').textContent='second'">Add</button>`
	b := openBrowser(t)
	url := pages(t, map[string]string{"/": twins, "/other": summary})
	dir := t.TempDir()
	recorder := &model.Recorder{Dir: dir, Model: scripted(both(click(`button "Add"`), done("second")))}
	f := b.open(t)
	f.visit(url + "/")
	if out := agent.New(agent.Options{Model: recorder}).Do(t.Context(), f, step("Add the second")); out.Outcome != event.Passed {
		t.Fatal(out.Err)
	}
	replay, err := model.NewReplay(dir)
	if err != nil {
		t.Fatal(err)
	}
	f = b.open(t)
	f.visit(url + "/other")
	f.visit(url + "/")
	if out := agent.New(agent.Options{Model: replay}).Do(t.Context(), f, step("Add the second")); out.Outcome != event.Passed {
		t.Error(out.Err)
	}
}

func TestValueIsNotASecretWhoseNameItsNameContains(t *testing.T) {
	t.Parallel()
	f := openBrowser(t).ordersPage(t)
	m := scripted(both(func(seen string) model.Call {
		return use("web_type", "ref", ref(seen, `textbox "Note"`), "text", "${PIN_COUNT}")
	}), say(done("")))
	if out := f.do(m, step("Write how many there are")); out.Outcome != event.Passed {
		t.Error(out.Err)
	}
}
