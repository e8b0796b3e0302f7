package live

import (
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
)

func TestURLsThatAgentsMayOpen(t *testing.T) {
	t.Parallel()
	s := &Session{opts: Options{AllowedOrigins: []string{"https://shop.example"}}, shown: &device.View{URL: "http://127.0.0.1:8080/cart"}}
	for address, want := range map[string]bool{
		"https://shop.example/": true, "HTTPS://SHOP.example/a?b=https://other.example": true, "/cart": true, "cart?x=1#y": true,
		"http://127.0.0.1:8080/other": true, "http://127.0.0.1:8081/": false, "http://shop.example/": false, "https://shop.example.evil.example/": false,
		"https://other.example/": false, "//other.example/": false, "file:///etc/passwd": false, " javascript:alert(1)": false, "javascript:alert(1)": false,
		"data:text/html,x": false, "about:blank": false, "https:shop.example": false, "https://shop.example@other.example/": false, "%": false,
		"/cart/{{id}}": true, "https://shop.example/{{id}}": true, "https://shop.example/a?b={{c}}": true, "h{{rest}}": false, "{{url}}": false,
		"https://shop.example{{rest}}": false, "https://{{host}}/": false, "/{{rest}}": false, "//{{host}}/": false, "cart{{rest}}": false,
		"https://other.example/{{id}}": false, "https://shop.example:{{port}}/": false, "java{{x}}": false, "shop://orders/1": false,
		"/cart/${id}": true, "https://shop.example/a?b=${c}{{d}}": true, "h${rest}": false, "${url}": false, "java${x}": false,
		"https://shop.example${rest}": false, "https://${host}/": false, "/${rest}": false, "cart${rest}/{{id}}": false,
	} {
		if got := s.allowsURL(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
	if s.shown = nil; s.allowsURL("/\\{{x}}") {
		t.Error("a path that may become a host")
	}
	if s.allowsURL("http://127.0.0.1:8080/") {
		t.Error("a page that is not shown")
	}
}
