package agent

import (
	"bytes"
	"context"
	"image"
	_ "image/gif"  // pictures of servers may be these
	_ "image/jpeg" // and these
	"image/png"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// KindSample is the kind of the requests of [Agent.Sample] in transcripts.
const KindSample = "sample"

// maxPixels bounds the pictures of servers.
const maxPixels = 50e6

// Sample asks the model what a tool of the project wants to know. The request is made within the budgets, without tools,
// and without secrets in its texts. The error is a *fault.Error. It may be called while a task waits for a call.
func (a *Agent) Sample(ctx context.Context, of model.Task, s tool.Sampling) (tool.Sampled, error) {
	of.Kind = KindSample
	request := model.Request{Task: of, System: a.output(s.System), MaxOutputTokens: s.MaxTokens}
	for _, m := range s.Messages {
		block, err := a.sampleBlock(m, len(s.Messages) > 1)
		if err != nil {
			return tool.Sampled{}, err
		}
		request.Blocks = append(request.Blocks, block)
	}
	r := &run{agent: a, budget: a.budget, now: a.opts.Now}
	if r.now == nil {
		r.now = time.Now
	}
	r.begun = r.now()
	reserved, err := r.checkBudget(request)
	if err != nil {
		return tool.Sampled{}, err
	}
	var turn Turn
	r.exchange(ctx, request, reserved, &turn)
	if end := r.failedRequest(ctx, turn.Err); end != nil {
		return tool.Sampled{}, end.err
	}
	answer := turn.Answer
	if answer.End == model.Refused {
		return tool.Sampled{}, fault.New(Refused, "", "the model refused: %s", brief(a.output(answer.Text), 300))
	}
	return tool.Sampled{Text: answer.Text, CutOff: answer.End == model.CutOff}, nil
}

// sampleBlock returns a message as a block. The role of each is told when there are several.
func (a *Agent) sampleBlock(m tool.SamplingMessage, several bool) (model.Block, error) {
	if m.Image == nil {
		text := a.output(m.Text)
		if several || text == "" {
			text = m.Role + ": " + text
		}
		return model.Block{Text: text}, nil
	}
	if !a.opts.Images {
		return model.Block{}, fault.New(fault.InvalidArguments, "", "pictures are not sent to this model")
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(m.Image))
	if err != nil || size.Width*size.Height > maxPixels {
		return model.Block{}, fault.New(fault.InvalidArguments, "", "the picture is not a PNG, JPEG or GIF that can be read")
	}
	picture, _, err := image.Decode(bytes.NewReader(m.Image))
	var out bytes.Buffer
	if err == nil {
		err = png.Encode(&out, picture)
	}
	if err != nil {
		return model.Block{}, fault.New(fault.InvalidArguments, "", "the picture is not a PNG, JPEG or GIF that can be read")
	}
	return model.Block{Image: smaller(out.Bytes())}, nil
}
