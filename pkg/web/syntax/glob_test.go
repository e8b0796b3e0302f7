package syntax

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Globs match what they match in Playwright.
func TestGlobsMatchAsInPlaywright(t *testing.T) {
	t.Parallel()
	globs := strings.Fields(`https://shop.example/ https://shop.example https://shop.example/* https://shop.example/** **/api/** **/*.{png,jpg} **/api/orders?id=1
		**/api/orders*  /api/* api/orders ./api/* ../x https://*.example/** HTTPS://SHOP.example/API https://shop.example:443/a/../b http*://shop.example/** **/a\\?b
		{a,b} **/{a,b}/c https://shop.example/{a,b}?x=* *orders* ** * **/ **/a/**/b https://shop.example/a\*b about:blank data:* file:///x/* **/api/orders/(1)
		https://shop.example/?q=* {a{b}} a} {a **/[id] **/a,b`)
	urls := strings.Fields(`https://shop.example/ https://shop.example/api/orders https://shop.example/api/orders?id=1 https://shop.example/api/orders/1
		https://www.shop.example/x https://www.example/x/y https://shop.example/pic.png https://shop.example/a/c https://shop.example/x/b/c https://shop.example/b
		https://shop.example/API http://shop.example/x https://shop.example/a?b about:blank data:text/html,x file:///x/y https://shop.example/a/b
		https://shop.example/a/x/y/b https://shop.example/a*b https://shop.example/api/orders/(1) https://shop.example/?q=1 https://shop.example/a?x=2
		https://shop.example/base/api/orders https://shop.example/[id] https://shop.example/a,b`)
	for _, base := range []string{"", "https://shop.example/base/"} {
		input, _ := json.Marshal(map[string]any{"base": base, "globs": globs, "urls": urls})
		command := exec.Command("node", "globs.mjs")
		command.Dir = filepath.Join("..", "..", "..", "testdata", "web", "playwright")
		command.Stdin, command.Stderr = strings.NewReader(string(input)), os.Stderr
		output, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		var want [][]*bool
		if err := json.Unmarshal(output, &want); err != nil {
			t.Fatal(err)
		}
		for i, glob := range globs {
			pattern, err := ParseURLPattern(glob, base)
			for k, url := range urls {
				switch is := want[i][k]; {
				case is == nil && err == nil:
					t.Errorf("base %q: %s is accepted", base, glob)
				case is == nil || !*is && err != nil: // patterns that match nothing are errors
				case err != nil:
					t.Errorf("base %q: %s: %v, want %v for %s", base, glob, err, *is, url)
				case pattern.Match(url) != *is:
					t.Errorf("base %q: %s matches %s: %v, want %v", base, glob, url, !*is, *is)
				}
			}
		}
	}
}
