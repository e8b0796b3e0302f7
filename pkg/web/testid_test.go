package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestAttributeForTestIDs(t *testing.T) {
	t.Parallel()
	url := serve(t, map[string]http.HandlerFunc{"/page": htmlPage(`
		<button data-cy=save></button><button data-testid=print></button>
		<button data-cy=remove-0>Remove Ann</button><button data-cy=remove-1>Remove Bob</button>`)})
	u := openSessionIn(t, withOptions(t, map[string]string{"testIdAttribute": "data-cy"}), device.Session{Live: true})
	u.mustCall("navigate", "url", url+"/page")
	buttons := u.refsOf("- button")
	for i, want := range []string{"dataTestId:save", "cssSelector", "Remove Ann", "Remove Bob"} {
		result, err := u.call("web_click", "ref", buttons[i])
		if err != nil || !result.OK || !strings.Contains(fmt.Sprint(result.Located.Args), want) {
			t.Errorf("%s: %+v, %v", want, result.Located, err)
		}
	}
	u.mustCall("web_click", "nodeSelector", map[string]any{"web": map[string]any{"dataTestId": "save"}})
	if _, err := newBackend(device.Host{Values: map[string]string{"testIdAttribute": "a=b"}}); fault.KindOf(err) != fault.Misuse {
		t.Errorf("not the name of an attribute: %v", err)
	}
}
