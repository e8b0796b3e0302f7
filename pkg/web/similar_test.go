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

// A failure says what the page asks a person to correct, which is often its cause.
func TestFailureSaysWhatThePageSays(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	u.show(`<p>Signing in</p><div role=alert hidden>Old</div><div role=alert>Access denied for clerk</div>`)
	u.mustFail("web_verifyTextVisible", []any{"text", "Signing out"}, `the page has "Signing in"`, `, which says "Access denied for clerk")`)
	u.show(`<p>Signing in</p><div role=alert style="height: 9px"><p hidden>Card declined</p></div>
		<div role=alert style="position: absolute; width: 1px; height: 1px; overflow: hidden">Sign in - Shop</div>`)
	u.mustFail("web_verifyTextVisible", []any{"text", "Signing out"}, `; page about:blank "")`)
	u.show(`<form><label>Street <input required></label><button>Order</button></form>`)
	u.mustFail("web_verifyTextVisible", []any{"text", "Thank you"}, `; page about:blank "")`)
	u.mustCall("web_click", "ref", "Order")
	u.mustFail("web_verifyTextVisible", []any{"text", "Thank you"}, `, which says "Street: Please fill out this field.")`)
	var polled map[string]string
	if err := u.page().main().eval(t.Context(), "location", &polled); err != nil || len(polled) != 2 {
		t.Errorf("%v %v: the checks of the URL and the title read more than these", polled, err)
	}
}
