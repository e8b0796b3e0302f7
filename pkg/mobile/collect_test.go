package mobile

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// The texts of the screen are replaced in all answers, and so are the texts of fields and URLs in what commands write.
func TestTextsOfCollectedAnswers(t *testing.T) {
	t.Parallel()
	const source = `<hierarchy><node text="Order 1149" class="a.Orders" /><node text="OK" /><node text="Orders" /></hierarchy>`
	const dump = `mCurrentFocus=Window{7a8b9c u0 Orders}
  EditorInfo: inputType=0x1 hintText=Your name, please label=null packageName=com.example.shop
  intent={act=android.intent.action.VIEW dat=shop://orders/1149?name=Ada cmp=com.example.shop/.Orders}
  title Order 1149, and com.example.Orders stays OK
  Orders Orders Order 1149 Orders
  hintText=Code actionLabel=Grace label=Grace
`
	const masked = `mCurrentFocus=Window{7a8b9c u0 Xxxxxx}
  EditorInfo: inputType=0x1 hintText=Xxxx xxxx, xxxxxx label=null packageName=com.example.shop
  intent={act=android.intent.action.VIEW dat=shop://xxxxxx/0000?xxxx=Xxx cmp=com.example.shop/.Orders}
  title Xxxxx 0000, and com.example.Orders stays OK
  Xxxxxx Xxxxxx Xxxxx 0000 Xxxxxx
  hintText=Xxxx actionLabel=Xxxxx label=Xxxxx
`
	for _, withText := range []bool{false, true} {
		c := NewCollecting(device.CollectOptions{WithText: withText})
		answer := func(text string, err error) func(context.Context) ([]byte, error) {
			return func(context.Context) ([]byte, error) { return []byte(text), err }
		}
		c.Ask(t.Context(), "window.txt", "dumpsys window", answer(dump, nil))
		c.AskScreen(t.Context(), "source.xml", "GET /source", answer(source, nil))
		c.Ask(t.Context(), "broken.txt", "dumpsys broken", answer("", errors.New("no such service")))
		c.Identifies("R5CT12", "abc")
		got := c.Done()
		want := []string{masked, strings.NewReplacer("Order 1149", "Xxxxx 0000", `"OK"`, `"XX"`, `"Orders"`, `"Xxxxxx"`).Replace(source)}
		if withText {
			want = []string{dump, source}
		}
		for i, text := range want {
			if diff := cmp.Diff(text, string(got.Answers[i].Data)); diff != "" {
				t.Errorf("with text %t: -want +got:\n%s", withText, diff)
			}
		}
		if got.Answers[2].Err == nil || !cmp.Equal(got.Replace, map[string]string{"R5CT12": "X0XX00"}) {
			t.Errorf("%+v", got)
		}
	}
}
