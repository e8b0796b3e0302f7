package web

import (
	"context"
	"testing"
)

// TestPageIsReadOnceForOneAnswer changes the page between two reads of it.
func TestPageIsReadOnceForOneAnswer(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.mustCall("web_navigate", "url", "data:text/html,<button>Save</button><p>text")
	p := u.page()
	read := func(ctx context.Context) (buttons int) {
		found, err := p.main().query(ctx, "button", "Save")
		if err != nil {
			t.Fatal(err)
		}
		if documents := momentOf(ctx).captured(); documents == nil {
			if _, err := p.captureAll(ctx); err != nil {
				t.Fatal(err)
			}
		}
		return len(found)
	}
	ctx := atOneMoment(t.Context())
	before := read(ctx)
	documents := momentOf(ctx).captured()
	u.mustEval("document.querySelector('button').remove()")
	if again := read(ctx); before != 1 || again != 1 || documents == nil {
		t.Errorf("%d buttons, then %d", before, again)
	}
	if later := read(atOneMoment(t.Context())); later != 0 {
		t.Errorf("a later answer is about %d buttons", later)
	}
	if now := read(t.Context()); now != 0 {
		t.Errorf("an answer without a moment is about %d buttons", now)
	}
}
