package studio

import "testing"

func TestAddressesOfAppAreRecordedAsPaths(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://shop.example":                     "/",
		"https://shop.example/":                    "/",
		" https://shop.example/a%2Fb?q={{word}}#x": "/a%2Fb?q={{word}}#x",
		"https://shop.example?q=1":                 "/?q=1",
		"https://shop.example#top":                 "/#top",
		"https://shop.example//other.example/":     "https://shop.example//other.example/",
		"https://shop.example:8443/":               "https://shop.example:8443/",
		"https://shop.example.org/":                "https://shop.example.org/",
		"http://shop.example/":                     "http://shop.example/",
		"/cart":                                    "/cart",
		"about:blank":                              "about:blank",
	} {
		if got := (App{BaseURL: "https://shop.example/start"}).pathOf(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
	if got := (App{}).pathOf("https://shop.example/"); got != "https://shop.example/" {
		t.Errorf("without an app: %q", got)
	}
	if got := (App{BaseURL: "file:///shop/index.html"}).pathOf("file:///shop/index.html"); got != "file:///shop/index.html" {
		t.Errorf("a file: %q", got)
	}
}
