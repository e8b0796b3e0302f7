package agent_test

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// painted returns a picture of a size as a format.
func painted(t *testing.T, format string, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	p, err := image.NewGray(image.Rect(0, 0, width, height)), error(nil)
	switch format {
	case "png":
		err = png.Encode(&b, p)
	case "jpeg":
		err = jpeg.Encode(&b, p, nil)
	case "gif":
		err = gif.Encode(&b, p, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPicturesOfToolsAreSentAsPNG(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		data []byte
		long int // side of what is sent; 0 if it is refused
	}{
		"a PNG":          {painted(t, "png", 20, 10), 20},
		"a JPEG":         {painted(t, "jpeg", 20, 10), 20},
		"a GIF":          {painted(t, "gif", 20, 10), 20},
		"a large one":    {painted(t, "png", 4000, 2000), 1280},
		"too large":      {painted(t, "png", 10_000, 6_000), 0},
		"no picture":     {[]byte("hello"), 0},
		"an empty one":   {[]byte{}, 0},
		"half a picture": {painted(t, "png", 200, 100)[:60], 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &thinker{think: func(model.Request) model.Answer { return model.Answer{End: model.Said, Text: "grey"} }}
			a := agent.New(agent.Options{Model: m, Images: true})
			got, err := a.Sample(t.Context(), model.Task{Trail: "a.trail.yaml", Step: "2"},
				tool.Sampling{MaxTokens: 7, Messages: []tool.SamplingMessage{{Role: "user", Image: tt.data}}})
			if tt.long == 0 {
				if fault.KindOf(err) != fault.InvalidArguments || len(m.requests) > 0 {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || got.Text != "grey" || a.Used().Requests != 1 {
				t.Fatalf("%+v %v", got, err)
			}
			r := m.requests[0]
			sent, err := png.DecodeConfig(bytes.NewReader(r.Blocks[0].Image))
			if err != nil || sent.Width != tt.long || r.MaxOutputTokens != 7 || r.Task != (model.Task{Trail: "a.trail.yaml", Step: "2", Kind: "sample"}) {
				t.Errorf("%v %+v %+v", err, sent, r.Task)
			}
		})
	}
	a := agent.New(agent.Options{})
	_, err := a.Sample(t.Context(), model.Task{}, tool.Sampling{Messages: []tool.SamplingMessage{{Role: "user", Image: painted(t, "png", 2, 2)}}})
	if err == nil || !strings.Contains(err.Error(), "not sent to this model") {
		t.Errorf("%v", err)
	}
}
