package web

import (
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
)

func TestPathsThatAgentsMayOpen(t *testing.T) {
	t.Parallel()
	check := Kind().CheckForAgent
	for address, want := range map[string]bool{
		".env": false, "logs/a.log": false, "page.html": true, "a/page.HTM?x=.env#y": true, ".env?page.html": false, ".env#page.html": false,
		"/etc/passwd": false, "/cart": false, "/a/{{x}}.html": false, "${f}.html": false, "a.html?x=${f}": true, "https://shop.example/.env": true, " .env ": false, "": true,
	} {
		for _, command := range []string{"navigate", "web_navigate"} {
			if err := check(command, device.Arguments{"url": address}, ""); (err == nil) != want {
				t.Errorf("%s %q: %v", command, address, err)
			}
		}
	}
	if err := check("web_navigate", device.Arguments{"url": "/cart/{{id}}"}, "https://shop.example"); err != nil {
		t.Errorf("a path of the target: %v", err)
	}
	if err := check("web_waitForRequest", device.Arguments{"url": "**/api"}, ""); err != nil {
		t.Errorf("a pattern: %v", err)
	}
}
