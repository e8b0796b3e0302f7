//go:build unix

package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/testdata/models"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// profileTrail opens the profile of the corner shop. TAP is the recorded call.
const profileTrail = `config: { title: Look at the profile }
trail:
  - step: Open the settings
    recording:
      PLATFORM:
        - launchApp: { appId: com.example.shop, launchMode: FORCE_RESTART }
        - tapOnElementBySelector: { nodeSelector: { BLOCK: { resourceIdRegex: ID(settings) } } }
  - step: Open the profile
    recording:
      PLATFORM:
        - TAP
        - assertVisible: { text: Phone, timeoutMs: 2000 }
`

// What has another id or other punctuation in the app is found again and written after a proof; a button of which only the name
// was recorded, and that has another one now, is not: nothing says that it is a button. Neither is a check of a text that the
// element of an id does not have any more.
func TestHealOnPhone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ tap, class, healed string }{
		"another id": {
			"tapOnElementBySelector: { nodeSelector: { BLOCK: { resourceIdRegex: ID(account), TEXT: Profile } }, timeoutMs: 500 } # the third one",
			"same", "tapOnElementBySelector: { nodeSelector: { BLOCK: { resourceIdRegex: ID(profile) } }, timeoutMs: 500 } # the third one",
		},
		"other punctuation": {
			"tapOnElementWithAccessibilityText: { accessibilityText: Profile!, timeoutMs: 500 }",
			"same", "tap:\n            nodeSelector:\n              BLOCK:\n                resourceIdRegex: ID(profile)\n            timeoutMs: 500",
		},
		"another name": {"tapOnElementBySelector: { nodeSelector: { BLOCK: { TEXT: Account } }, timeoutMs: 500 }", "different", ""},
		"another text of a check": {
			"assertVisible: { nodeSelector: { BLOCK: { resourceIdRegex: ID(profile), TEXT: Account } }, timeoutMs: 500 }", "different", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothPlatforms(t, func(t *testing.T, platform string, a *authored) {
				rule := func(kind, tool string, done map[string]any) models.Rule {
					return models.Rule{Task: "^" + kind + ": Open the profile", Turns: []models.Reply{{Calls: []models.Call{
						{Name: tool, Args: map[string]any{"ref": "@button Profile"}}, {Name: "step_done", Args: done},
					}}}}
				}
				_, at := provider(t, models.Rules(
					rule("step", "tap", map[string]any{"status": "done", "why": "It is open.", "expect": "Phone"}),
					rule("verify", "assertVisible", map[string]any{"status": "done", "why": "It is there."}),
				))
				a.write("trailblaze.yaml", fmt.Sprintf(`target: corner-shop
llm:
  model: test/rules
  providers: { test: { protocol: anthropic, baseUrl: "%s", apiKeyEnv: TEST_KEY } }
`, at))
				a.env = append(a.env, "TEST_KEY="+modelKey)
				text := map[string]string{"android": "textRegex", "ios": "accessibilityTextRegex"}[platform]
				names := strings.NewReplacer("PLATFORM", platform, "BLOCK", a.block, "TEXT", text,
					"ID(settings)", a.id("settings"), "ID(account)", a.id("account"), "ID(profile)", a.id("profile"))
				recorded := names.Replace(strings.Replace(profileTrail, "TAP", tt.tap, 1))
				want, code := names.Replace(strings.Replace(profileTrail, "TAP", tt.healed, 1)), 0
				if tt.healed == "" {
					want, code = recorded, 1
				}
				a.write("trails/profile.trail.yaml", recorded)
				a.app.Show(app.Orders)
				r := a.run("run", "--platform", platform, "--heal", "write", "--json")
				r.want(t, code)
				if proposed := ofType(r.events(t), "heal.proposed"); len(proposed) != 1 || proposed[0]["class"] != tt.class {
					t.Errorf("%v", proposed)
				}
				if got := a.read(t, "trails/profile.trail.yaml"); got != want {
					t.Errorf("%s", got)
				}
				a.away()
			})
		})
	}
}
