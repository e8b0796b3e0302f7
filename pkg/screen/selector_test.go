package screen_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// object decodes JSON.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// selector parses a selector that has to be valid.
func selector(t testing.TB, text string) *screen.Selector {
	t.Helper()
	s, err := screen.ParseSelector(object(t, text), screen.ParseOptions{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// everyKey is a selector for each dialect with all its keys.
func everyKey() map[string]string {
	return map[string]string{
		"web": `{"web": {"cssSelector": "#a", "dataTestId": "b", "ariaRole": "button", "ariaNameRegex": "c", "ariaDescriptorRegex": "d",
			"headingLevel": 2, "nthIndex": 3}}`,
		"androidAccessibility": `{"androidAccessibility": {"textRegex": "a", "contentDescriptionRegex": "b", "hintTextRegex": "c",
			"resourceIdRegex": "d", "classNameRegex": "e", "composeTestTagRegex": "f", "labeledByTextRegex": "g",
			"stateDescriptionRegex": "h", "paneTitleRegex": "i", "roleDescriptionRegex": "j", "uniqueId": "k", "isEnabled": true,
			"isClickable": false, "isCheckable": true, "isChecked": true, "isSelected": true, "isFocused": true, "isEditable": true,
			"isScrollable": true, "isPassword": true, "isHeading": true, "isMultiLine": true, "inputType": 1,
			"collectionItemRowIndex": 2, "collectionItemColumnIndex": 3}}`,
		"androidMaestro": `{"androidMaestro": {"textRegex": "a", "accessibilityTextRegex": "b", "hintTextRegex": "c",
			"resourceIdRegex": "d", "classNameRegex": "e", "clickable": true, "enabled": true, "focused": true, "checked": true,
			"selected": false}}`,
		"iosMaestro": `{"iosMaestro": {"textRegex": "a", "accessibilityTextRegex": "b", "hintTextRegex": "c", "resourceIdRegex": "d",
			"classNameRegex": "e", "focused": true, "selected": true}}`,
		"iosAxe": `{"iosAxe": {"roleRegex": "a", "subroleRegex": "b", "labelRegex": "c", "valueRegex": "d", "typeRegex": "e",
			"titleRegex": "f", "uniqueId": "g", "customAction": "h", "enabled": false}}`,
		"compose": `{"compose": {"textRegex": "a", "editableTextRegex": "b", "contentDescriptionRegex": "c", "testTag": "d",
			"role": "e", "toggleableState": "On", "isEnabled": true, "isFocused": true, "isSelected": true, "isPassword": true}}`,
		"relations": `{"web": {"ariaRole": "button"}, "below": {"web": {"ariaRole": "row"}}, "above": {}, "leftOf": {}, "rightOf": {},
			"childOf": {"childOf": {"index": 1}}, "containsChild": {"compose": {}}, "containsDescendants": [{"index": 2}, {}], "index": 0}`,
	}
}

func TestSelectorsRoundTrip(t *testing.T) {
	t.Parallel()
	for name, text := range everyKey() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := selector(t, text)
			got, err := json.Marshal(s.Map())
			if err != nil {
				t.Fatal(err)
			}
			want, err := json.Marshal(object(t, text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("written back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryKeyOfTheSchemaIsParsed(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties map[string]struct {
			Properties map[string]struct{ Type string }
		}
	}
	if err := json.Unmarshal([]byte(screen.SelectorSchema(screen.Dialects()...)), &schema); err != nil {
		t.Fatal(err)
	}
	for _, d := range screen.Dialects() {
		block, _ := object(t, everyKey()[string(d)])[string(d)].(map[string]any)
		if len(block) != len(schema.Properties[string(d)].Properties) {
			t.Errorf("%s: the schema has %d keys, the test %d", d, len(schema.Properties[string(d)].Properties), len(block))
		}
		for key := range schema.Properties[string(d)].Properties {
			if _, ok := block[key]; !ok {
				t.Errorf("%s: %s is only in the schema", d, key)
			}
		}
	}
	relations := object(t, everyKey()["relations"])
	if got, want := len(schema.Properties), len(screen.Dialects())+len(relations)-1; got != want {
		t.Errorf("the schema has %d members, want %d", got, want)
	}
	own := screen.SelectorSchema(screen.Web)
	if !json.Valid([]byte(own)) || strings.Contains(own, "textRegex") || !strings.Contains(own, `"compose": {"type": "object"}`) {
		t.Errorf("schema for the web: %s", own)
	}
}

func TestSchemaAcceptsWhatIsParsed(t *testing.T) {
	t.Parallel()
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(screen.SelectorSchema(screen.Dialects()...)), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range everyKey() {
		if err := resolved.Validate(object(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{
		`{"bellow": {}}`, `{"web": {"ariaRoles": "a"}}`, `{"compose": {"isFocused": "true"}}`, `{"index": -1}`, `{"below": "a"}`,
		`{"containsDescendants": []}`, `{"web": {"nthIndex": "1"}}`, `{"iosAxe": {"childOf": {}}}`,
	} {
		if resolved.Validate(object(t, text)) == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

func TestPartsOfSelectors(t *testing.T) {
	t.Parallel()
	s := selector(t, `{"web": {"ariaRole": "button", "ariaNameRegex": "Save", "nthIndex": 2}, "below": {"web": {"dataTestId": "a"}, "childOf": {"compose": {}}}}`)
	b := s.Block
	if n, ok := b.Number("nthIndex"); b.Text("ariaRole") != "button" || b.Text("dataTestId") != "" || !ok || n != 2 ||
		b.Pattern("ariaNameRegex") == nil || b.Pattern("ariaRole") != nil {
		t.Errorf("parts of %s", s)
	}
	var none *screen.Block
	if _, ok := none.Number("nthIndex"); ok || none.Text("ariaRole") != "" || none.Pattern("ariaNameRegex") != nil {
		t.Error("no block has parts")
	}
	if blocks := s.Blocks(); len(blocks) != 3 || blocks[0] != b || blocks[2].Dialect != screen.Compose {
		t.Errorf("blocks: %v", blocks)
	}
	for text, want := range map[string]bool{
		`{}`: true, `{"web": {}}`: true, `{"web": {"ariaRole": ""}}`: true, `{"index": 0}`: false, `{"below": {}}`: false,
		`{"containsDescendants": [{}]}`: false, `{"web": {"ariaRole": "link"}}`: false,
	} {
		if got := selector(t, text).Empty(); got != want {
			t.Errorf("%s says nothing: %v", text, got)
		}
	}
}

func TestMistakesInSelectors(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"below": `, 11) + "{}" + strings.Repeat("}", 11)
	for name, tt := range map[string]struct{ selector, message, hint string }{
		"unknown key": {
			`{"web": {}, "bellow": {}}`, "nodeSelector.bellow: unknown key", `did you mean "below"?`,
		},
		"unknown block": {`{"webb": {}}`, "nodeSelector.webb: unknown key", `did you mean "web"?`},
		"unknown key of a block": {
			`{"below": {"web": {"ariaRoles": "button"}}}`, "nodeSelector.below.web.ariaRoles: unknown key", `did you mean "ariaRole"?`,
		},
		"key of a block beside it": {
			`{"textRegex": "a"}`, "nodeSelector.textRegex: unknown key",
			"textRegex stands in a driver block: androidAccessibility, androidMaestro, iosMaestro, compose",
		},
		"relation in a block": {
			`{"iosMaestro": {"childOf": {}}}`, "nodeSelector.iosMaestro.childOf: unknown key", "childOf stands beside iosMaestro, not in it",
		},
		"two blocks": {
			`{"web": {}, "compose": {}}`, "nodeSelector: has 2 driver blocks: web, compose", "a selector has at most one driver block",
		},
		"no object":           {`{"below": "a"}`, "nodeSelector.below: expected an object, found a text", ""},
		"null":                {`{"childOf": null}`, "nodeSelector.childOf: expected an object, found nothing", ""},
		"block that is null":  {`{"web": null}`, "nodeSelector.web: expected an object, found nothing", ""},
		"text that is null":   {`{"web": {"ariaNameRegex": null}}`, "nodeSelector.web.ariaNameRegex: expected a text, found nothing", ""},
		"number for text":     {`{"compose": {"testTag": 5}}`, "nodeSelector.compose.testTag: expected a text, found 5", "write it in quotes"},
		"text for flag":       {`{"compose": {"isFocused": "true"}}`, `nodeSelector.compose.isFocused: expected true or false, found "true"`, ""},
		"text for number":     {`{"web": {"nthIndex": "1"}}`, `nodeSelector.web.nthIndex: expected a whole number from 0, found "1"`, ""},
		"negative":            {`{"index": -1}`, "nodeSelector.index: expected a whole number from 0, found -1", ""},
		"fraction":            {`{"index": 1.5}`, "nodeSelector.index: expected a whole number from 0, found 1.5", ""},
		"list for selector":   {`{"below": []}`, "nodeSelector.below: expected an object, found an empty list", ""},
		"selector for list":   {`{"containsDescendants": {}}`, "nodeSelector.containsDescendants: expected a list of selectors, found an object", ""},
		"empty list":          {`{"containsDescendants": []}`, "nodeSelector.containsDescendants: expected a list of selectors, found an empty list", ""},
		"in a list":           {`{"containsDescendants": [{}, {"x": 1}]}`, "nodeSelector.containsDescendants[1].x: unknown key", ""},
		"unknown role":        {`{"web": {"ariaRole": "buton"}}`, `nodeSelector.web.ariaRole: "buton" is not an ARIA role`, `did you mean "button"?`},
		"malformed pattern":   {`{"web": {"ariaNameRegex": "Total ("}}`, `nodeSelector.web.ariaNameRegex: "Total (": error parsing regexp: missing closing ): ` + "`Total (`", `to match a text as it is, write \Qtext\E`},
		"unsupported pattern": {`{"iosMaestro": {"textRegex": "a(?!b)"}}`, `nodeSelector.iosMaestro.textRegex: "a(?!b)": a look-ahead (?!…) is not supported in patterns`, `to match a text as it is, write \Qtext\E`},
		"too deep":            {deep, "nodeSelector" + strings.Repeat(".below", 11) + ": relations stand in one another more than 10 deep", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := screen.ParseSelector(object(t, tt.selector), screen.ParseOptions{})
			e := fault.As(err)
			if e == nil || e.Kind != fault.InvalidArguments {
				t.Fatalf("error %v", err)
			}
			if tt.hint == "" {
				e.Hint = ""
			}
			if diff := cmp.Diff([]string{tt.message, tt.hint}, []string{e.Message, e.Hint}); diff != "" {
				t.Errorf("message and hint (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := screen.ParseSelector(object(t, strings.Repeat(`{"below": `, 10)+"{}"+strings.Repeat("}", 10)), screen.ParseOptions{}); err != nil {
		t.Errorf("ten deep: %v", err)
	}
	if _, err := screen.ParseSelector("button", screen.ParseOptions{Path: "to.nodeSelector"}); err == nil ||
		err.Error() != "to.nodeSelector: expected an object, found a text" {
		t.Errorf("no object: %v", err)
	}
	_, err := screen.ParseSelector(object(t, `{"a": 1, "web": {"b": 2, "ariaNameRegex": "("}}`), screen.ParseOptions{})
	if parts := fault.Split(err); len(parts) != 3 {
		t.Errorf("%d mistakes are reported, want 3: %v", len(parts), err)
	}
}

func TestNumbersOfEveryDecoder(t *testing.T) {
	t.Parallel()
	for _, value := range []any{2, int64(2), uint64(2), 2.0, json.Number("2")} {
		s, err := screen.ParseSelector(map[string]any{"index": value}, screen.ParseOptions{})
		if err != nil || s.Index == nil || *s.Index != 2 {
			t.Errorf("%T: %v, %v", value, s.Index, err)
		}
	}
}

func TestAppIDInPatterns(t *testing.T) {
	t.Parallel()
	text := `{"androidAccessibility": {"resourceIdRegex": "{{target.appId}}:id/{{ target.appId }}"}}`
	for name, tt := range map[string]struct {
		target  screen.Target
		matches []string
		not     []string
	}{
		"known": {
			screen.Target{AppID: "com.a", AppIDs: []string{"com.a", "com.b"}}, []string{"com.a:id/com.a"}, []string{"comXa:id/com.a", "com.b:id/com.b"},
		},
		"one of several": {
			screen.Target{AppIDs: []string{"com.a", "com.b"}}, []string{"com.a:id/com.b", "com.b:id/com.b"}, []string{"comXa:id/com.a"},
		},
		"one": {screen.Target{AppIDs: []string{"com.a"}}, []string{"com.a:id/com.a"}, []string{"com.b:id/com.a"}},
		"none": {
			screen.Target{}, []string{"{{target.appId}}:id/{{ target.appId }}"}, []string{"com.a:id/com.a"},
		},
	} {
		s, err := screen.ParseSelector(object(t, text), screen.ParseOptions{Target: tt.target})
		if err != nil {
			t.Fatal(err)
		}
		p := s.Block.Pattern("resourceIdRegex")
		for _, id := range tt.matches {
			if !p.Matches(id) {
				t.Errorf("%s: %s does not match %s", name, p, id)
			}
		}
		for _, id := range tt.not {
			if p.Matches(id) {
				t.Errorf("%s: %s matches %s", name, p, id)
			}
		}
		if diff := cmp.Diff(object(t, text), s.Map()); diff != "" {
			t.Errorf("%s: written back (-want +got):\n%s", name, diff)
		}
	}
}

func TestLegacySelectors(t *testing.T) {
	t.Parallel()
	legacy := `{"textRegex": "a", "idRegex": "b", "enabled": true, "focused": false, "selected": true, "checked": true, "index": "1.0",
		"size": {"width": 1}, "traits": ["x"], "css": "y", "containsChild": {"textRegex": "c", "size": {}},
		"containsDescendants": [{"checked": false}], "childOf": {"idRegex": "d"}}`
	for d, tt := range map[screen.Dialect]struct {
		want    string
		ignored []string
	}{
		screen.AndroidAccessibility: {
			`{"androidAccessibility": {"textRegex": "a", "resourceIdRegex": "b", "isEnabled": true, "isFocused": false, "isSelected": true,
				"isChecked": true}, "index": 1, "containsChild": {"androidAccessibility": {"textRegex": "c"}},
				"containsDescendants": [{"androidAccessibility": {"isChecked": false}}],
				"childOf": {"androidAccessibility": {"resourceIdRegex": "d"}}}`,
			[]string{"selector.containsChild.size", "selector.css", "selector.size", "selector.traits"},
		},
		screen.IOSMaestro: {
			`{"iosMaestro": {"textRegex": "a", "resourceIdRegex": "b", "focused": false, "selected": true}, "index": 1,
				"containsChild": {"iosMaestro": {"textRegex": "c"}}, "containsDescendants": [{}],
				"childOf": {"iosMaestro": {"resourceIdRegex": "d"}}}`,
			[]string{
				"selector.checked", "selector.containsChild.size", "selector.containsDescendants[0].checked", "selector.css", "selector.enabled",
				"selector.size", "selector.traits",
			},
		},
	} {
		s, ignored, err := screen.ParseLegacySelector(object(t, legacy), d, screen.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(s.Map())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(object(t, tt.want), object(t, string(got))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d, diff)
		}
		if diff := cmp.Diff(tt.ignored, ignored); diff != "" {
			t.Errorf("%s: ignored (-want +got):\n%s", d, diff)
		}
	}
	for text, want := range map[string]string{
		`{"textRegexp": "a"}`:              "selector.textRegexp: unknown key",
		`{"below": {"textRegex": 3}}`:      "selector.below.androidAccessibility.textRegex: expected a text, found 3",
		`{"index": "first"}`:               `selector.index: expected a whole number from 0, found "first"`,
		`{"childOf": 3}`:                   "selector.childOf: expected an object, found a number",
		`{"containsDescendants": "three"}`: "selector.containsDescendants: expected a list of selectors, found a text",
	} {
		if _, _, err := screen.ParseLegacySelector(object(t, text), screen.AndroidAccessibility, screen.ParseOptions{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestSelectorsInWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`: "element",
		`{"web": {"ariaRole": "Button", "ariaNameRegex": "Save"}}`:                                                            `button "Save"`,
		`{"web": {"ariaRole": "button", "ariaNameRegex": "Save|Open", "nthIndex": 1}}`:                                        `button matching "Save|Open" number 1 from 0`,
		`{"web": {"ariaNameRegex": "Save"}}`:                                                                                  `element "Save"`,
		`{"web": {"cssSelector": "#a > b"}}`:                                                                                  "element at #a > b",
		`{"web": {"dataTestId": "save"}}`:                                                                                     `element with data-testid "save"`,
		`{"androidAccessibility": {"textRegex": "Discard\\?", "isClickable": true}}`:                                          `text "Discard?" with isClickable`,
		`{"androidAccessibility": {"isChecked": false, "inputType": 2}}`:                                                      "element with isChecked false with inputType 2",
		`{"iosMaestro": {"resourceIdRegex": "Cancel"}, "index": 2}`:                                                           `element with resourceId "Cancel", index 2`,
		`{"iosMaestro": {"textRegex": ".*\\QAdd\\E.*"}}`:                                                                      `text containing "Add"`,
		`{"iosAxe": {"customAction": "Delete"}, "leftOf": {"iosAxe": {"labelRegex": "Row"}}}`:                                 `element with customAction "Delete" left of element with label "Row"`,
		`{"compose": {"textRegex": "a"}, "childOf": {"compose": {"textRegex": "b"}, "below": {"compose": {"testTag": "c"}}}}`: `text "a" inside (text "b" below element with testTag "c")`,
		`{"containsDescendants": [{"compose": {"textRegex": "a"}}, {"compose": {"textRegex": "b"}}]}`:                         `element containing text "a" containing text "b"`,
		`{"compose": {"textRegex": "a\n\"b\u202e"}}`:                                                                          `text "a \"b"`,
	} {
		if got := selector(t, text).String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func FuzzSelectorsRoundTrip(f *testing.F) {
	for _, text := range everyKey() {
		f.Add(text)
	}
	f.Add(`{"web": {"ariaRole": "BUTTON"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			return
		}
		s, err := screen.ParseSelector(value, screen.ParseOptions{})
		if err != nil {
			return
		}
		written := s.Map()
		again, err := screen.ParseSelector(written, screen.ParseOptions{})
		if err != nil {
			t.Fatalf("%v is written back as %v: %v", value, written, err)
		}
		if diff := cmp.Diff(written, again.Map()); diff != "" {
			t.Errorf("written twice (-first +second):\n%s", diff)
		}
		if s.String() != again.String() || strings.ContainsAny(s.String(), "\n\r") {
			t.Errorf("in words: %q and %q", s, again)
		}
	})
}
