package livetool

import (
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/pagetext"
)

// Answer is the answer of a tool.
type Answer struct {
	Text     string
	Pictures []Picture
	Failed   bool // the tool did not do what was asked for
	limit    int  // of the text in bytes, when more than maxAnswer was asked for
}

// Picture is a part of an answer that a model is shown.
type Picture struct {
	MIME string
	Data []byte
}

// The largest sizes of answers and of their parts, in bytes.
const (
	maxAnswer    = 12 << 10
	maxRecording = 8 << 10
	maxSchema    = 2 << 10
	maxToolbox   = 1 << 10
	maxDiff      = 3 << 10
)

// faultText returns the message of an error and what to do about it.
func faultText(err error) string {
	var b strings.Builder
	for i, e := range fault.Split(err) {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(fault.WithoutOutput(e.Error()))
	}
	writeHints(&b, err)
	return pagetext.CutMiddle(b.String(), 4<<10)
}

func writeHints(b *strings.Builder, err error) {
	for _, hint := range fault.Hints(err) {
		b.WriteString("\nhint: " + hint)
	}
}
