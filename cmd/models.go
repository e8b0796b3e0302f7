package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/spawn"
)

// modelFlags are the flags of commands that may ask a model.
type modelFlags struct {
	llm, replay string
	budget      []string
}

func (f *modelFlags) bind(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.llm, "llm", "", "`PROVIDER/MODEL` that is asked; wins over llm: model: of the project")
	flags.StringArrayVar(&f.budget, "budget", nil,
		"`KEY=VALUE` of what the model may use, such as requestsPerStep=6; wins over llm: budget: of the project (repeatable)")
	flags.StringVar(&f.replay, "llm-replay", "",
		"take the answers of the model from the transcripts in `DIR`: the folder llm of a session, or a folder of them")
}

// given returns the names of those of the flags that are on the command line.
func (f *modelFlags) given(c *cobra.Command) []string {
	return slices.DeleteFunc([]string{"llm", "budget", "llm-replay"}, func(name string) bool { return !c.Flags().Changed(name) })
}

// models is the model of a command, and what it may use.
type models struct {
	*program
	model.Model
	name     string // PROVIDER/MODEL
	context  string
	settings model.Settings
	price    *model.Price // nil when it is not known
	limits   agent.Limits
	budget   *agent.Budget
	waiting  func(message string) // is told of waits; nil for nobody
	close    func()

	mu   sync.Mutex
	used map[string]*agent.Used // by the replay of a trail, see run.Assisted
}

// models returns the model that flags and the project name. It sends nothing.
func (p *program) models(project *config.Project, f modelFlags) (*models, error) {
	llm := project.LLM
	m := &models{program: p, context: llm.Context, close: func() {}, used: map[string]*agent.Used{}}
	limits, err := limits(llm.Budget, f.budget)
	if err != nil {
		return nil, err
	}
	m.limits, m.budget = limits, agent.NewBudget(limits)
	provider, of, settings, err := llm.Find(f.llm)
	if f.replay != "" {
		return m.replayed(f, cmp.Or(f.llm, llm.Model), settings)
	}
	if err != nil {
		return nil, err
	}
	m.name, m.settings, m.price = provider.Name+"/"+of, settings, settings.Price
	if err := m.checkCosts(); err != nil {
		return nil, err
	}
	key := cmp.Or(llm.Keys[provider.KeyEnv], p.env(provider.KeyEnv)) // the latter without a project
	p.redactor.Add(map[string]string{cmp.Or(provider.KeyEnv, "key"): key})
	client, err := model.New(model.Options{
		Provider: provider, Model: of, Settings: settings, Key: key, Redact: p.redactor.Text, Proxy: p.Proxy,
		KeyCommand: p.keyCommand(provider, cmp.Or(project.Root, p.Dir)), CacheKey: of + " " + p.Build.Version,
		Waiting: func(wait time.Duration, why string) {
			if m.waiting != nil {
				m.waiting(fmt.Sprintf("%s: waiting %s: %s", m.name, wait.Round(time.Second), why))
			}
		},
	})
	if err != nil {
		return nil, err
	}
	m.Model, m.close = client, client.Close
	return m, nil
}

// closeIdle closes the connections to the provider. m may be nil.
func (m *models) closeIdle() {
	if m != nil {
		m.close()
	}
}

// showWaits calls show when a request has to wait, before the first is made. m may be nil.
func (m *models) showWaits(show func(message string)) {
	if m != nil {
		m.waiting = show
	}
}

// replayed takes the answers from transcripts, which cost nothing.
func (m *models) replayed(f modelFlags, name string, settings model.Settings) (*models, error) {
	replay, err := model.NewReplay(m.abs(f.replay))
	m.Model, m.name, m.settings, m.price = replay, cmp.Or(name, "transcripts"), settings, &model.Price{}
	return m, err
}

// checkCosts returns an error for a limit of costs without a price.
func (m *models) checkCosts() error {
	if m.price != nil || m.limits.CostPerTrail == 0 && m.limits.CostPerRun == 0 {
		return nil
	}
	_, of, _ := strings.Cut(m.name, "/")
	return fault.New(fault.Misuse, "write llm: { models: { "+of+": { price: { input: …, output: … } } } } in trailblaze.yaml, per million tokens, or leave the limit out",
		"the budget limits costs, and the price of %s is not known", m.name)
}

// cost returns what an exchange costs; nil without a price.
func (m *models) cost() func(model.Usage) float64 {
	if m.price == nil {
		return nil
	}
	return func(u model.Usage) float64 {
		cost, _ := m.price.Cost(u)
		return cost
	}
}

// limits returns what the project and flags allow.
func limits(b config.LLMBudget, flags []string) (agent.Limits, error) {
	l := agent.Limits{
		RequestsPerStep: cmp.Or(b.RequestsPerStep, agent.DefaultRequests), RequestsPerTrail: cmp.Or(b.RequestsPerTrail, 60),
		TokensPerTrail: cmp.Or(b.TokensPerTrail, 300_000), TimePerStep: cmp.Or(b.TimePerStep, 3*time.Minute),
		CostPerTrail: b.CostPerTrail, CostPerRun: b.CostPerRun,
	}
	set := map[string]func(string) error{
		"requestsPerStep": setCount(&l.RequestsPerStep), "requestsPerTrail": setCount(&l.RequestsPerTrail), "tokensPerTrail": setCount(&l.TokensPerTrail),
		"timePerStep": setDuration(&l.TimePerStep), "costPerTrail": setAmount(&l.CostPerTrail), "costPerRun": setAmount(&l.CostPerRun),
	}
	known := []string{"requestsPerStep", "requestsPerTrail", "tokensPerTrail", "timePerStep", "costPerTrail", "costPerRun"}
	values, err := pairs("budget", flags)
	if err != nil {
		return l, err
	}
	for key, value := range values {
		if set[key] == nil {
			return l, fault.New(fault.Misuse, fault.DidYouMean(key, known), "--budget: unknown key %q; known: %s", key, strings.Join(known, ", "))
		}
		if err := set[key](value); err != nil {
			return l, fault.New(fault.Misuse, err.Error(), "--budget %s: %q is not valid", key, value)
		}
	}
	return l, nil
}

func setCount(to *int) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return errors.New("write a whole number, at least 1")
		}
		*to = n
		return nil
	}
}

func setDuration(to *time.Duration) func(string) error {
	return func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return errors.New("write a duration like 90s or 3m")
		}
		*to = d
		return nil
	}
}

func setAmount(to *float64) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !(n > 0) || n > 1e9 {
			return errors.New("write an amount like 0.50")
		}
		*to = n
		return nil
	}
}

// keyCommand returns what runs the command that prints the key of a provider, nil for a provider without one.
func (p *program) keyCommand(provider model.Provider, dir string) func(context.Context) (string, error) {
	if len(provider.KeyCommand) == 0 {
		return nil
	}
	return func(ctx context.Context) (string, error) { return p.runKeyCommand(ctx, provider, dir) }
}

func (p *program) runKeyCommand(ctx context.Context, provider model.Provider, dir string) (string, error) {
	const maxKey = 64 << 10
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var printed []byte
	process, err := p.supervisor.Start(ctx, spawn.Spec{
		Name: "apiKeyCommand", Command: provider.KeyCommand[0], Args: provider.KeyCommand[1:], Dir: dir, Env: p.Env, Terminate: true,
		Stdout: func(_ context.Context, stdout io.Reader) { printed, _ = io.ReadAll(io.LimitReader(stdout, maxKey)) },
	})
	if err != nil {
		return "", err
	}
	_ = process.Stdin().Close()
	select {
	case <-process.Done():
	case <-ctx.Done():
	}
	exit := process.ExitError() // before Stop, which makes it the end that was asked for
	if err := process.Stop(context.WithoutCancel(ctx)); err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(printed))
	p.redactor.Add(map[string]string{"key": key})
	failed := exit != nil && exit.Message != "exited with code 0"
	if key == "" || failed || ctx.Err() != nil {
		why := "it printed nothing"
		switch {
		case failed:
			why = "it " + exit.Message
		case ctx.Err() != nil:
			why = "it did not end within a minute"
		}
		return "", fault.New(fault.Provider, "run the command yourself", "the apiKeyCommand of provider %q gave no key: %s", provider.Name, why)
	}
	return key, nil
}

// asked is a Model that reports each request, and writes what was sent and answered.
type asked struct {
	model.Recorder
	emit  func(event.Event)
	mu    sync.Mutex     // held while a request is made: tools may ask while others do
	last  model.Exchange // of the request that ended last
	count map[string]int // requests by task
}

// asking returns a Model that keeps transcripts in a folder of a session, and emits events. Its requests are made one
// after another.
func (m *models) asking(dir string, emit func(event.Event)) *asked {
	a := &asked{emit: emit, count: map[string]int{}}
	a.Recorder = model.Recorder{
		Model: m.Model, Name: m.name, Dir: dir, Price: m.price, Redact: m.redactor.Text, Now: m.Now, Finished: func(x model.Exchange) { a.last = x },
	}
	return a
}

// Ask implements model.Model.
func (a *asked) Ask(ctx context.Context, r model.Request) (model.Answer, model.Usage, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = model.Exchange{}
	answer, usage, err := a.Recorder.Ask(ctx, r)
	a.count[r.Task.Step]++
	status := string(answer.End)
	if err != nil {
		status = string(fault.KindOf(err))
	}
	file := ""
	if a.last.File != "" {
		file = "llm/" + filepath.Base(a.last.File)
	}
	a.emit(event.LLMFinished{
		N: a.count[r.Task.Step], Task: r.Task.Step, Status: status, Tokens: usage.Uncached + usage.CacheRead + usage.CacheWrite,
		CachedTokens: usage.CacheRead, OutputTokens: usage.Output, Estimated: usage.Estimated, Cost: a.last.Cost,
		DurationMs: a.last.DurationMs, Attempts: usage.Attempts, File: file,
	})
	return answer, usage, err
}
