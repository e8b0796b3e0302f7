package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// neededBy returns the error of a model with the trails that cannot be replayed without it.
func neededBy(err error, trails []string) error {
	e := fault.As(err)
	if e == nil {
		return err
	}
	const most = 10
	listed := slices.Clone(trails[:min(len(trails), most)])
	if more := len(trails) - most; more > 0 {
		listed = append(listed, "and "+text.Count(more, "other"))
	}
	needing := *e
	needing.Message = e.Message + "\nthese trails call " + tool.AssertWithModel + ", which needs a model on every run:\n  " + strings.Join(listed, "\n  ")
	return &needing
}

// judge implements session.Judge.
func (t *tasks) judge(ctx context.Context, call tool.Call) (tool.Result, error) {
	if call.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, call.Timeout, fault.New(fault.CallTimeout, "change its `timeout:` in the trail",
			"timeout: the claim was not judged within %s, the timeout of the recorded call", call.Timeout))
		defer cancel()
	}
	j, err := t.askAbout(ctx, call)
	switch kind := fault.KindOf(err); {
	case err == nil:
		return t.judged(call, j), nil
	case fault.KindOf(context.Cause(ctx)) == fault.CallTimeout:
		err = context.Cause(ctx)
	case slices.Contains([]fault.Kind{fault.Cancelled, fault.IO, fault.Bug}, kind):
		return tool.Result{}, err
	}
	e := fault.As(err)
	return tool.Result{Kind: e.Kind, Text: tool.AssertWithModel + ": " + e.Message, Hint: e.Hint}, nil
}

// askAbout asks the model about the claim of a call, when the screen has come to rest.
func (t *tasks) askAbout(ctx context.Context, call tool.Call) (agent.Judgment, error) {
	if err := t.checkFolder(); err != nil {
		return agent.Judgment{}, err
	}
	screen := live.Attach(ctx, t.Session, t.Walk, t.options)
	if err := screen.Observe(ctx); err != nil {
		return agent.Judgment{}, err
	}
	c := agent.Claim{Trail: t.projectPath(), Step: t.Walk.At().Number()}
	c.That, _ = call.Args["that"].(string)
	c.Within, _ = call.Args["within"].(string)
	c.Image, _ = call.Args["image"].(bool)
	return t.agent.Judge(ctx, screen, c)
}

// judged returns the result for a judgment, with both answers.
func (t *tasks) judged(call tool.Call, j agent.Judgment) tool.Result {
	that, _ := call.Args["that"].(string)
	answers := []string{
		"judged by " + t.name + ", the claim: " + j.Claim.String(),
		"judged by " + t.name + ", its negation: " + j.Negation.String(),
	}
	r := tool.Result{OK: j.Kind() == "", Kind: j.Kind(), Text: strings.Join(answers, "\n")}
	switch j.Kind() {
	case "":
		r.Notes = answers
		return r
	case fault.JudgedFalse:
		r.Hint = "if the app is right, correct the claim; the folder llm of the session has what the model was shown"
	default:
		r.Hint = "say in the claim what exactly has to be on the screen, narrow it with within, or check it without a model"
	}
	r.Text = string(j.Kind()) + ": " + t.output(that) + "\n" + r.Text
	return r
}

// maySample reports whether tools of a project may ask the model in a run: the entry of a server says so, and a model is
// configured.
func maySample(project *config.Project, f modelFlags) bool {
	return (f.llm != "" || f.replay != "" || project.LLM.Model != "") &&
		slices.ContainsFunc(project.AllServers(), func(s config.Server) bool { return s.Sampling })
}

// sample implements session.Sampler.
func (t *tasks) sample(ctx context.Context, r tool.Sampling) (tool.Sampled, error) {
	if err := t.checkFolder(); err != nil {
		return tool.Sampled{}, err
	}
	answer, err := t.agent.Sample(ctx, model.Task{Trail: t.projectPath(), Step: t.Walk.At().Number()}, r)
	answer.Model = t.name
	return answer, err
}
