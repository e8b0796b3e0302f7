package web

import "testing"

// What was not found is compared with what a person would look at: the dialog on top first, then the page from its
// beginning.
func TestCandidatesOfAPage(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.show(`<form id=f><input name=id></form><p>Aardvark</p><p>Bee</p><p>Cat</p><p>Dog</p><p>Elk</p>
		<div role=dialog><p>Invalid username or password</p></div>
		<input class=tc-titlebar><button>Apply bold</button><button>Confirm changes to this tiddler</button>`)
	u.mustFail("web_verifyTextVisible", []any{"text", "Nothing of it"},
		`the page has "Invalid username or password", "Apply bold", "Confirm changes to this tiddler", "Aardvark", "Bee"`)
	u.mustFail("web_click", []any{"ref", `button "Confirm it"`}, `the page has "Confirm changes to this tiddler"`)
	u.mustFail("web_click", []any{"ref", "css=.tc-titlebar input"}, `the page has "input.tc-titlebar"`)
	u.mustFail("web_click", []any{"ref", "css=#g"}, `the page has "#f"`)
}
