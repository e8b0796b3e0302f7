package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/files"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Update says which baselines a run writes.
type Update string

// The kinds of update. The zero value writes none, too.
const (
	UpdateNone    Update = "none"
	UpdateMissing Update = "missing" // those that do not exist
	UpdateChanged Update = "changed" // these, and those that differ
)

// UpdateModes returns the values of Update.
func UpdateModes() []string {
	return []string{string(UpdateNone), string(UpdateMissing), string(UpdateChanged)}
}

// Baselines are the pictures that a trail's screens are compared with.
type Baselines struct {
	Dir    string // absolute folder, which need not exist; empty without a trail
	Device string // what the pictures are of, as the end of their names: web-linux
	Update Update
}

// Defaults of the arguments of verifyScreenshot, which are those of Playwright and pixelmatch.
const (
	DefaultThreshold    = 0.2
	DefaultMaxDiffRatio = 0.001
)

// Properties are the properties of the input schema of verifyScreenshot that all kinds of device have.
const Properties = `"name": {"type": "string", "minLength": 1, "description": "Of the picture: letters, digits, -, _ and ."},
	"maxDiffRatio": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.001, "description": "The part of the pixels that may differ"},
	"threshold": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.2, "description": "How far apart a colour may be: 0 is equal, 1 is anything"}`

var namePattern = lazyregexp.New(`^[\pL\pN_-][\pL\pN._-]*$`)

// CheckName returns what is wrong with the name of a picture.
func CheckName(name string) error {
	if !namePattern().MatchString(name) {
		return fault.New(fault.InvalidArguments, "use letters, digits, -, _ and .", "name: %q cannot be part of a file name", name)
	}
	return nil
}

// Check is a comparison of the screen with a baseline.
type Check struct {
	Name                    string
	Threshold, MaxDiffRatio float64
	Limit                   time.Duration // for all pictures
	Pause                   time.Duration // between two pictures
	// Take returns a picture of what is compared, with what may differ painted over.
	Take func(ctx context.Context) (*image.RGBA, error)
}

// Verify takes pictures until two in a row are equal and match the baseline. When the limit is reached, the result
// fails and has the pictures as attachments. A baseline that Update names is written, and the result says so.
func (b Baselines) Verify(ctx context.Context, c Check) (tool.Result, error) {
	if b.Dir == "" {
		return tool.Result{}, fault.New(fault.ToolFailed, "add the call to the trail's file, and run it with --update-screenshots missing",
			"there is no trail whose pictures the screen could be compared with")
	}
	path := filepath.Join(b.Dir, c.Name+"-"+b.Device+".png")
	baseline, err := b.read(path)
	if err != nil {
		return tool.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	taken, diff, err := c.stablePicture(ctx, baseline)
	switch {
	case taken == nil && errors.Is(err, context.DeadlineExceeded) && fault.As(err) == nil:
		return failedResult(nil, "no picture of the screen was taken within %s", c.Limit), nil
	case taken == nil:
		return tool.Result{}, err
	case errors.Is(err, errSingle):
		r := failedResult(attachment("screen", taken), "only one picture of the screen was taken within %s, and two that are equal are needed", c.Limit)
		r.Hint = "raise the call's timeoutMs"
		return r, nil
	case err != nil:
		return failedResult(attachment("screen", taken), "the screen did not stay the same for two pictures within %s%s", c.Limit, causeText(err)), nil
	case diff == "":
		return tool.Result{OK: true, Text: fmt.Sprintf("the screen is as in %s", b.shownPath(path))}, nil
	case b.Update == UpdateChanged, b.Update == UpdateMissing && baseline == nil:
		return b.write(path, taken)
	case baseline == nil:
		r := failedResult(attachment("actual", taken), "the picture %s does not exist", b.shownPath(path))
		r.Hint = "run with --update-screenshots missing to write it, and look at it"
		return r, nil
	}
	return c.differenceResult(b.shownPath(path), baseline, taken, diff), nil
}

var (
	errUnstable = errors.New("no two pictures were equal")
	errSingle   = errors.New("only one picture was taken")
)

// causeText says why there was no second picture; empty when there was.
func causeText(err error) string {
	if errors.Is(err, errUnstable) {
		return ""
	}
	return "; " + err.Error()
}

// stablePicture takes pictures until two in a row are equal and match the baseline, or until ctx ends. It returns the
// last picture, and how it differs from the baseline: "" for a match. The error says that no two pictures were equal, or
// why no picture was taken.
func (c Check) stablePicture(ctx context.Context, baseline *image.RGBA) (taken *image.RGBA, diff string, err error) {
	err = errSingle
	for {
		now, takeErr := c.Take(ctx)
		switch {
		case takeErr != nil && taken == nil:
			return nil, "", takeErr
		case takeErr != nil && err != nil && ctx.Err() == nil:
			return taken, "", takeErr
		case takeErr != nil:
			return taken, diff, err
		case taken != nil && errors.Is(err, errSingle):
			err = errUnstable
		}
		if taken != nil && now.Rect == taken.Rect && bytes.Equal(now.Pix, taken.Pix) {
			if diff, err = c.describeDifference(baseline, now), nil; diff == "" || baseline == nil {
				return now, diff, nil
			}
		}
		taken = now
		select {
		case <-ctx.Done():
			return taken, diff, err
		case <-time.After(c.Pause):
		}
	}
}

// describeDifference says how a picture differs from the baseline, "" when it does not.
func (c Check) describeDifference(baseline, taken *image.RGBA) string {
	if baseline == nil {
		return "there is none"
	}
	if a, b := baseline.Rect.Size(), taken.Rect.Size(); a != b {
		return fmt.Sprintf("it is %d×%d pixels, expected %d×%d", b.X, b.Y, a.X, a.Y)
	}
	compared := Compare(baseline, taken, c.Threshold)
	if compared.Ratio() <= c.MaxDiffRatio {
		return ""
	}
	return fmt.Sprintf("%d of %d pixels differ (%.2g %%, allowed are %.2g %%)", compared.Different, compared.Pixels,
		100*compared.Ratio(), 100*c.MaxDiffRatio)
}

// differenceResult returns the result of a picture that differs.
func (c Check) differenceResult(shown string, baseline, taken *image.RGBA, diff string) tool.Result {
	pictures := append(attachment("expected", baseline), attachment("actual", taken)...)
	if baseline.Rect == taken.Rect {
		pictures = append(pictures, attachment("difference", Compare(baseline, taken, c.Threshold).Diff)...)
	}
	r := failedResult(pictures, "the screen is not as in %s: %s", shown, diff)
	r.Hint = "if the screen is right, run with --update-screenshots changed"
	return r
}

func failedResult(pictures []tool.Attachment, format string, args ...any) tool.Result {
	return tool.Result{Kind: fault.ToolFailed, Text: fmt.Sprintf(format, args...), Attachments: pictures}
}

func attachment(name string, p *image.RGBA) []tool.Attachment {
	return []tool.Attachment{{Type: "image", MIME: "image/png", Name: name, Data: EncodePNG(p)}}
}

// read returns a baseline, nil when it does not exist.
func (b Baselines) read(path string) (*image.RGBA, error) {
	data, err := files.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none, which is not a failure yet
	}
	var picture *image.RGBA
	if err == nil {
		picture, err = DecodePNG(data)
	}
	if err != nil {
		return nil, fault.Wrap(fault.ToolFailed, err, "run with --update-screenshots missing after you have removed it",
			"read the picture "+b.shownPath(path))
	}
	return picture, nil
}

// maxFile is the size in bytes of the largest baseline that is read.
const maxFile = 64 << 20

// write writes a baseline.
func (b Baselines) write(path string, p *image.RGBA) (tool.Result, error) {
	err := os.MkdirAll(b.Dir, 0o755)
	if err == nil {
		err = files.Replace(path, func(f *os.File) error {
			_, err := f.Write(EncodePNG(p))
			return err
		})
	}
	if err != nil {
		return tool.Result{}, fault.Wrap(fault.ToolFailed, err, "", "write the picture "+b.shownPath(path))
	}
	note := fmt.Sprintf("the picture %s was written, and the screen was not compared", b.shownPath(path))
	return tool.Result{OK: true, Text: note, Notes: []string{note}}, nil
}

// shownPath returns the path of a baseline as messages show it: with the folder of the trail's pictures.
func (b Baselines) shownPath(path string) string {
	return filepath.Base(b.Dir) + "/" + filepath.Base(path)
}
