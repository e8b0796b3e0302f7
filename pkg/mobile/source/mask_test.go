package source_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/mobile/source"
)

func TestMask(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		source, want string
		texts        []string
	}{
		"UiAutomator2": {
			`<android.widget.Button index="0" text="Delete order 17 &amp; &#10;&#233; 日本 👍" content-desc="" resource-id="com.example:id/text" package="a" class="android.widget.Button" hint='It"s' bounds="[0,0][1,1]" actions="ACTION_SELECT" />`,
			`<android.widget.Button index="0" text="Xxxxxx xxxxx 00 &amp; &#10;x 字字 👍" content-desc="" resource-id="com.example:id/text" package="a" class="android.widget.Button" hint='Xx"x' bounds="[0,0][1,1]" actions="ACTION_SELECT" />`,
			[]string{"Delete order 17 & \né 日本 👍", `It"s`},
		},
		"extras": {
			`<android.view.View extras="AccessibilityNodeInfo.targetUrl=https://bank.example/?token=a1&amp;b=2;x;androidx.compose.ui.semantics.testTag=pay;AccessibilityNodeInfo.clickable=true" />`,
			`<android.view.View extras="AccessibilityNodeInfo.targetUrl=xxxxx://xxxx.xxxxxxx/?xxxxx=x0&amp;x=0;x;androidx.compose.ui.semantics.testTag=pay;AccessibilityNodeInfo.clickable=true" />`,
			nil,
		},
		"WebDriverAgent XML": {
			`<XCUIElementTypeButton type="XCUIElementTypeButton" value="" name="delete" label="Delete" enabled="true" /><XCUIElementTypeStaticText name="Ada" label="Ada" value="true"/>`,
			`<XCUIElementTypeButton type="XCUIElementTypeButton" value="" name="delete" label="Xxxxxx" enabled="true" /><XCUIElementTypeStaticText name="Xxx" label="Xxx" value="xxxx"/>`,
			[]string{"Delete", "Ada", "Ada"},
		},
		"WebDriverAgent JSON": {
			`{"value": {"type": "Button", "label": "Gr\u00fc\"ße", "name": "Gr\u00fc\"ße", "rawIdentifier": "save", "value": null, "placeholderValue": "<x>", "isEnabled": "1", "rect": {"x": 1}}}`,
			`{"value": {"type": "Button", "label": "Xxx\"xx", "name": "Xxx\"xx", "rawIdentifier": "save", "value": null, "placeholderValue": "<x>", "isEnabled": "1", "rect": {"x": 1}}}`,
			[]string{`Grü"ße`, `Grü"ße`, "<x>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			masked, texts := source.Mask([]byte(tc.source))
			if diff := cmp.Diff(tc.want, string(masked)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !slices.Equal(texts, tc.texts) {
				t.Errorf("texts %q", texts)
			}
			if again, _ := source.Mask(masked); string(again) != string(masked) {
				t.Errorf("again: %s", again)
			}
		})
	}
}

// A masked source has the same elements in the same places.
func TestMaskedScreenIsRead(t *testing.T) {
	t.Parallel()
	element := with(`text="Order 1149"`, `resource-id="com.example:id/number"`, `content-desc="Grüße"`)
	masked, _ := source.Mask([]byte(element))
	before, after := uiAutomator2(t, element), uiAutomator2(t, string(masked))
	if len(before.Tree.Nodes()) != len(after.Tree.Nodes()) || strings.Contains(string(masked), "Order") || strings.Contains(string(masked), "Gr") {
		t.Errorf("%s", masked)
	}
}
