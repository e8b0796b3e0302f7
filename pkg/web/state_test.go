package web

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/web/storage"
)

func TestStorageState(t *testing.T) {
	t.Parallel()
	url := serve(t, nil)
	other := otherSite(url)
	a := openSession(t)
	a.mustCall("navigate", "url", other+"/page-store.html")
	a.mustEval(`localStorage.setItem("where", "other"); 0`)
	a.mustCall("navigate", "url", url+"/page-store.html")
	a.mustEval(`document.cookie = "plain=1"; localStorage.setItem("where", "ü"); 0`)
	a.mustCall("web_applyCookies", "cookiesJson", `[{"name": "part", "value": "2", "url": "https://shop.example", "secure": true, "sameSite": "None",
		"partitionKey": "https://top.example", "_crHasCrossSiteAncestor": true}]`)
	text := a.mustCall("web_getStorageState")
	var state storage.State
	if err := json.Unmarshal([]byte(text), &state); err != nil || len(state.Cookies) != 2 || len(state.Origins) != 2 {
		t.Fatalf("%v: %s", err, text)
	}
	if !strings.Contains(text, `"partitionKey":"https://top.example","_crHasCrossSiteAncestor":true`) {
		t.Errorf("the partitioned cookie: %s", text)
	}
	if got := a.mustCall("web_listTabs"); strings.Count(got, "index") != 1 {
		t.Errorf("tabs: %s", got)
	}

	file := filepath.Join(t.TempDir(), "state.json")
	withDatabase := strings.Replace(text, `"origins":[`, `"origins":[{"origin":"https://db.example","localStorage":[],"indexedDB":[{"name":"x"}]},`, 1)
	if err := os.WriteFile(file, []byte(withDatabase), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(u *testSession) {
		t.Helper()
		for origin, want := range map[string]string{url: "ü", other: "other"} {
			u.mustCall("navigate", "url", origin+"/page-store.html")
			if got := u.mustEval(`localStorage.getItem("where")`); got != want {
				t.Errorf("%s: %s, want %s", origin, got, want)
			}
		}
		if got := u.mustCall("web_getStorageState"); !strings.Contains(got, `"name":"plain"`) || !strings.Contains(got, `"partitionKey"`) {
			t.Errorf("the state is %s", got)
		}
	}
	backend := sharedBrowser.get(t)
	b := openSessionIn(t, backend, device.Session{TrailDir: filepath.Dir(file)})
	const ignored = "applied 2 cookies and the local storage of 2 origins; indexedDB of 1 origin was ignored"
	if got := b.mustCall("web_applyStorageState", "path", "state.json"); got != ignored {
		t.Error(got)
	}
	check(b)
	b.mustCall("web_applyStorageState", "json", text)
	configured := openSessionIn(t, withOptions(t, map[string]string{"storageState": "state.json"}), device.Session{Root: filepath.Dir(file)})
	check(configured)
	for want, args := range map[string][]any{
		"needs either path or json":          {},
		"does not exist":                     {"path", "missing.json"},
		"may not be read":                    {"path", "/etc/passwd"},
		"not a JSON object":                  {"json", "[]"},
		"it has neither cookies nor origins": {"json", "{}"},
		`"nowhere" is not an origin`:         {"json", `{"origins": [{"origin": "nowhere"}]}`},
		"cookie 1 has no name":               {"json", map[string]any{"cookies": []any{map[string]any{}}}},
	} {
		b.mustFail("web_applyStorageState", args, want)
	}
	missing := openSessionIn(t, withOptions(t, map[string]string{"storageState": "missing.json"}), device.Session{Root: filepath.Dir(file)})
	if _, err := missing.call("web_currentUrl"); fault.KindOf(err) != fault.Misuse {
		t.Errorf("a state that is missing: %v", err)
	}
}

// withOptions returns a backend with options that uses the shared browser.
func withOptions(t *testing.T, values map[string]string) device.Backend {
	t.Helper()
	shared := sharedBrowser.get(t)
	if _, err := shared.(*backend).browser(t.Context(), func(string, string, string) {}); err != nil {
		t.Fatal(err)
	}
	b, err := newBackend(device.Host{Values: values})
	if err != nil {
		t.Fatal(err)
	}
	b.(*backend).current = shared.(*backend).current
	return b
}
