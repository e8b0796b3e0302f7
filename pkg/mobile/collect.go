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
	c.collected.Answers = append(c.collected.Answers, device.CollectedAnswer{
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
	c.collected.Answers = append(c.collected.Answers, device.CollectedAnswer{File: file, Question: question, Err: err})
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

// dumpedURL is a URL in a dump of Android.
var dumpedURL = lazyregexp.New(`\b(dat=\w*)(\S*)()`)

// dumpedTexts are the texts of apps in dumps of Android, each up to the next key. One pattern for each key, because the
// next key may be one, too.
func dumpedTexts() []*regexp.Regexp {
	var patterns []*regexp.Regexp
	for _, key := range []string{"hintText", "actionLabel", "label", "tickerText", "contentDescription"} {
		patterns = append(patterns, regexp.MustCompile(`(?m)\b(`+key+`=)(.*?)( \w+=|\s*$)`))
	}
	return patterns
}

// Done returns the collection.
func (c *Collecting) Done() device.Collection {
	if c.withText {
		return c.collected
	}
	shown := c.textPattern()
	for i, a := range c.collected.Answers {
		if strings.HasSuffix(a.File, ".txt") {
			c.collected.Answers[i].Data = []byte(maskDump(string(a.Data), shown))
		}
	}
	return c.collected
}

// maskDump replaces the texts of apps in what a command wrote: those that shown matches, those of fields, and the rest of
// URLs after their scheme. shown may be nil.
func maskDump(dump string, shown *regexp.Regexp) string {
	dump = replaceGroup(dump, dumpedURL(), "")
	for _, pattern := range dumpedTexts() {
		dump = replaceGroup(dump, pattern, "null")
	}
	for range 2 { // a text directly after another one shares with it what is between them
		if shown != nil {
			dump = replaceGroup(dump, shown, "")
		}
	}
	return dump
}

// replaceGroup replaces the second group of each match, unless it is a text that stays.
func replaceGroup(s string, pattern *regexp.Regexp, stays string) string {
	return pattern.ReplaceAllStringFunc(s, func(match string) string {
		m := pattern.FindStringSubmatch(match)
		if m == nil || m[2] == stays { // without what is around it, a match may not match
			return match
		}
		return m[1] + source.MaskText(m[2]) + m[3]
	})
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
	return regexp.MustCompile(`(?m)(^|[^\w./$])(` + strings.Join(alternatives, "|") + `)([^\w./$]|$)`)
}
