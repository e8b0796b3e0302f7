package mobile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image/png"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/mobile/source"
)

// Collecting asks a phone one question after another, and keeps the answers.
type Collecting struct {
	collected device.Collection
	withText  bool
	texts     []string // of the screen
}

// NewCollecting returns a collection without answers.
func NewCollecting(o device.CollectOptions) *Collecting {
	return &Collecting{withText: o.WithText, collected: device.Collection{Replace: map[string]string{}}}
}

// answerLimit is how long a phone may take for one answer.
const answerLimit = time.Minute

// Ask keeps the answer to a question as a file.
func (c *Collecting) Ask(ctx context.Context, file, question string, ask func(ctx context.Context) ([]byte, error)) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	began := time.Now()
	data, err := ask(ctx)
	c.collected.Answers = append(c.collected.Answers, device.Answer{
		File: file, Question: question, Data: bytes.Clone(data), Err: err, Took: time.Since(began),
	})
}

// AskScreen is Ask for a source of the screen. Its texts are replaced here and in all other answers, unless they are to
// stay.
func (c *Collecting) AskScreen(ctx context.Context, file, question string, ask func(ctx context.Context) ([]byte, error)) {
	c.Ask(ctx, file, question, ask)
	if c.withText {
		return
	}
	answer := &c.collected.Answers[len(c.collected.Answers)-1]
	masked, texts := source.Mask(answer.Data)
	answer.Data, c.texts = masked, append(c.texts, texts...)
}

// AskPicture takes a screenshot, of which it keeps only the size.
func (c *Collecting) AskPicture(ctx context.Context, d Driver) {
	c.Ask(ctx, "screenshot.txt", "a screenshot", func(ctx context.Context) ([]byte, error) {
		data, err := d.Screenshot(ctx)
		if err != nil {
			return nil, err
		}
		size, err := png.DecodeConfig(bytes.NewReader(data))
		return fmt.Appendf(nil, "%d x %d pixels, %d bytes, black: %t\n", size.Width, size.Height, len(data), isBlack(data)), err
	})
}

// Failed keeps why something could not be asked.
func (c *Collecting) Failed(file, question string, err error) {
	c.collected.Answers = append(c.collected.Answers, device.Answer{File: file, Question: question, Err: err})
}

// Is says which product the device is.
func (c *Collecting) Is(product string) { c.collected.Product = product }

// minIdentifier is the number of characters of the shortest text that identifies a device.
const minIdentifier = 4

// Identifies replaces texts in all answers by ones of the same shape.
func (c *Collecting) Identifies(texts ...string) {
	for _, text := range texts {
		if len(text) >= minIdentifier {
			c.collected.Replace[text] = source.MaskText(text)
		}
	}
}

var (
	// dumpedText is a text of the app in a dump of Android, up to the next key.
	dumpedText = lazyregexp.New(`\b(hintText|actionLabel|label|tickerText|contentDescription)=(.*?)( \w+=|\s*$)`)
	dumpedURL  = lazyregexp.New(`\bdat=(\w*)(\S*)`)
)

// Done returns the collection.
func (c *Collecting) Done() device.Collection {
	if c.withText {
		return c.collected
	}
	find := c.textPattern()
	for i := range c.collected.Answers {
		a := &c.collected.Answers[i]
		if !strings.HasSuffix(a.File, ".txt") {
			continue
		}
		var lines []string
		for line := range strings.SplitSeq(string(a.Data), "\n") {
			line = dumpedURL().ReplaceAllStringFunc(line, func(s string) string {
				m := dumpedURL().FindStringSubmatch(s)
				return "dat=" + m[1] + source.MaskText(m[2])
			})
			line = dumpedText().ReplaceAllStringFunc(line, func(s string) string {
				m := dumpedText().FindStringSubmatch(s)
				if m[2] == "null" {
					return s
				}
				return m[1] + "=" + source.MaskText(m[2]) + m[3]
			})
			if find != nil {
				line = find.ReplaceAllStringFunc(line, func(s string) string {
					m := find.FindStringSubmatch(s)
					return m[1] + source.MaskText(m[2]) + m[3]
				})
			}
			lines = append(lines, line)
		}
		a.Data = []byte(strings.Join(lines, "\n"))
	}
	return c.collected
}

// minText is the number of letters of the shortest text of a screen that is replaced in other answers: shorter ones are
// also parts of what programs write.
const minText = 4

// textPattern returns a pattern for the texts of the screen where they are not part of a name, nil without any.
func (c *Collecting) textPattern() *regexp.Regexp {
	var alternatives []string
	slices.SortFunc(c.texts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, text := range slices.Compact(c.texts) {
		letters := 0
		for _, r := range text {
			if unicode.IsLetter(r) {
				letters++
			}
		}
		if letters >= minText && !strings.Contains(text, "\n") {
			alternatives = append(alternatives, regexp.QuoteMeta(text))
		}
	}
	if alternatives == nil {
		return nil
	}
	return regexp.MustCompile(`(^|[^\w./$])(` + strings.Join(alternatives, "|") + `)([^\w./$]|$)`)
}
