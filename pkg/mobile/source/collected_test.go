package source_test

import (
	"bytes"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/testdata/phones/collected"
)

// The screens that devices of all kinds have sent are read, and have visible elements with texts.
func TestCollectedScreens(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func([]byte, source.Options) (source.Result, error){
		"source.xml": source.UIAutomator2, "dump.xml": source.Dump, "source.json": source.WDAJSON,
	} {
		answers, err := collected.Answers(name)
		if err != nil {
			t.Error(err)
		}
		for device, data := range answers {
			if name == "dump.xml" && !bytes.Contains(data, []byte("<hierarchy")) {
				continue // the phone could not be dumped
			}
			got, err := read(data, source.Options{Width: 1, Height: 1})
			if err != nil {
				t.Errorf("%s of %s: %v", name, device, err)
				continue
			}
			texts := 0
			for _, n := range got.Tree.Nodes() {
				if n.Bounds == nil {
					t.Errorf("%s of %s: %s has no bounds", name, device, n)
				}
				if n.Text != nil || n.Label != nil {
					texts++
				}
			}
			if texts == 0 || got.Tree.Width <= 1 || got.Tree.Height <= 1 {
				t.Errorf("%s of %s: %d elements with texts on a screen of %dx%d", name, device, texts, got.Tree.Width, got.Tree.Height)
			}
		}
	}
}
