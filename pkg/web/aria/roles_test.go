package aria

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

func TestRolesAreThoseOfScreen(t *testing.T) {
	t.Parallel()
	for _, list := range []roles{
		withChecked, withDisabled, withExpanded, withInvalid, withLevel, withSelected,
		namedByContent, namesByContent, withoutName,
	} {
		words := strings.Fields(string(list))
		if string(list) != " "+strings.Join(words, " ")+" " {
			t.Errorf("%q: want one space around each role", list)
		}
		for _, word := range words {
			if !screen.IsRole(word) || !list.has(word) {
				t.Errorf("%s is not a role", word)
			}
		}
	}
	if withLevel.has("") || withLevel.has("list") || withLevel.has("heading listitem ") {
		t.Error("a word that is not in a list is found in it")
	}
}
