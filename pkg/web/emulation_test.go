package web

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
)

func TestEmulation(t *testing.T) {
	t.Parallel()
	var agent, language, own string
	url := serve(t, map[string]http.HandlerFunc{
		"/page": func(w http.ResponseWriter, r *http.Request) {
			agent, language, own = r.Header.Get("User-Agent"), r.Header.Get("Accept-Language"), r.Header.Get("X-Own")
			htmlPage(`<meta name=viewport content="width=device-width"><iframe src="about:blank"></iframe><button onclick="this.textContent='pressed'">press</button>`)(w, r)
		},
		"/inner": htmlPage("inner"),
	})
	u := openSessionIn(t, withOptions(t, map[string]string{
		"preset": "iPhone 14", "locale": "de-DE", "timezone": "Asia/Tokyo", "colorScheme": "dark", "extraHeaders": `{"X-Own": "mine"}`,
		"geolocation": `{"latitude": 46.95, "longitude": 7.45}`, "permissions": `["notifications"]`,
	}), device.Session{})
	_ = url
	const facts = `JSON.stringify([innerWidth, devicePixelRatio, navigator.maxTouchPoints > 0, navigator.userAgent.includes("iPhone"), navigator.language,
		new Intl.NumberFormat().format(12345.6), Intl.DateTimeFormat().resolvedOptions().timeZone, matchMedia("(prefers-color-scheme: dark)").matches])`
	const want = `[390,3,true,true,"de-DE","12.345,6","Asia/Tokyo",true]`
	u.mustCall("navigate", "url", url+"/page")
	check := func(where, script string) {
		t.Helper()
		if got := u.mustEval(script); got != want {
			t.Errorf("%s: %s, want %s", where, got, want)
		}
	}
	check("the page", facts)
	if !strings.Contains(agent, "iPhone") || !strings.HasPrefix(language, "de-DE") || own != "mine" {
		t.Errorf("the request has %q, %q, %q", agent, language, own)
	}
	if got := u.mustEval(`new Promise(r => navigator.geolocation.getCurrentPosition(p => r(p.coords.latitude), e => r(e.message)))`); got != "46.95" {
		t.Errorf("the place is %s", got)
	}
	u.mustCall("web_click", "ref", "press")
	u.mustCall("web_verifyTextVisible", "text", "pressed")
	u.mustEval(`window.open("/page"); 0`)
	u.mustCall("web_waitForTab")
	check("a new tab", facts)
	u.mustEval(`{const f = document.createElement("iframe"); f.src = ` + "`" + otherSite(url) + "/inner`" + `; document.body.append(f)}; 0`)
	inner := u.waitForFrames("/page", "blank", "/inner")[2]
	var inFrame string
	if err := inner.evaluate(t.Context(), `Intl.DateTimeFormat().resolvedOptions().timeZone + navigator.language + navigator.userAgent.includes("iPhone")`, &inFrame); err != nil ||
		inFrame != "Asia/Tokyode-DEtrue" {
		t.Errorf("a frame: %s, %v", inFrame, err)
	}

	offline := openSessionIn(t, withOptions(t, map[string]string{"offline": "true", "deviceScaleFactor": "2", "userAgent": "mine"}), device.Session{})
	offline.mustFail("navigate", []any{"url", url + "/page"}, "the network is not connected")
	if got := offline.mustEval("[devicePixelRatio, navigator.userAgent].join()"); got != "2,mine" {
		t.Error(got)
	}
}

func TestOptionsOfEmulation(t *testing.T) {
	t.Parallel()
	for _, tt := range [][3]string{
		{"preset", "iPhone 99", `preset: "iPhone 99" is not a known device`},
		{"preset", "Pixel", `preset: "Pixel" is not a known device`},
		{"locale", "german!", `locale: "german!" is not a locale`},
		{"timezone", "Europe/Nowhere", `timezone: "Europe/Nowhere" is not a known time zone`},
		{"geolocation", `{"latitude": 91, "longitude": 0}`, "geolocation: latitude 91 is out of range"},
		{"geolocation", `{"latitude": 1}`, `geolocation: "longitude" is missing`},
		{"geolocation", `{"lat": 1}`, `geolocation: unknown key "lat"`},
		{"geolocation", `here`, "geolocation: here is not a place"},
		{"permissions", "[cameras]", `permissions: "cameras" is not a known permission`},
		{"colorScheme", "purple", `colorScheme: "purple" is not a color scheme`},
		{"deviceScaleFactor", "0", `deviceScaleFactor: "0" is not a number above 0`},
		{"extraHeaders", `{"A B": "x"}`, `extraHeaders: "A B" is not a header`},
		{"extraHeaders", `["x"]`, "extraHeaders: this is not a mapping"},
		{"navigationTimeout", "soon", `navigationTimeout: "soon" is not a time limit`},
		{"permissions", "camera, geolocation", ""},
		{"locale", "zh-Hant-TW", ""},
		{"timezone", "UTC", ""},
	} {
		_, err := newOptions(device.Host{Values: map[string]string{tt[0]: strings.Trim(tt[1], "[]")}})
		switch {
		case err == nil && tt[2] != "", err != nil && (tt[2] == "" || !strings.Contains(err.Error(), tt[2])):
			t.Errorf("%s %s: %v, want %s", tt[0], tt[1], err, tt[2])
		}
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	url := serve(t, map[string]http.HandlerFunc{
		"/page": htmlPage(`<script>
			window.log = [];
			setTimeout(() => log.push("minute"), 60000);
			setTimeout(() => Promise.resolve().then(() => setTimeout(() => log.push("nested"), 1000)), 30000);
			let n = 0; const every = setInterval(() => { log.push("every" + ++n); if (n === 3) clearInterval(every) }, 25000);
			clearTimeout(setTimeout(() => log.push("never"), 100));
			let drawn = 0; const draw = () => { drawn++; requestAnimationFrame(draw) }; draw();
		</script>`),
		"/frame": htmlPage(`<iframe src="/page"></iframe>`),
	})
	u.mustCall("web_setClock", "now", "2027-01-31T12:00:00Z")
	u.mustCall("navigate", "url", url+"/page")
	if got := u.mustEval(`[new Date().toISOString().slice(0, 15), new Date(Date.now()).getUTCFullYear(), Date().includes("2027"), new Date instanceof Date,
		new Date(2020, 1, 1).getFullYear(), new Intl.DateTimeFormat("en", {year: "numeric"}).format(), Date.UTC(2020), Object.prototype.toString.call(new Date()),
		new Date().constructor === Date, class extends Date {}.now() > 1.8e12, performance.now() < 60000]`); got !=
		`["2027-01-31T12:0",2027,true,true,2020,"2027",1577836800000,"[object Date]",true,true,true]` {
		t.Errorf("the dates are %s", got)
	}
	before := u.mustEval("performance.now()")
	u.mustCall("web_setClock", "advanceMs", 40000)
	if got := u.mustEval(`[log.join(), drawn > 1000]`); got != `["every1,nested",true]` {
		t.Errorf("after 40 s: %s", got)
	}
	u.mustCall("web_setClock", "advanceMs", 65000)
	if got := u.mustEval(`[log.join(), performance.now() - ` + before + ` > 105000, Date.now() > Date.parse("2027-01-31T12:01:45Z")]`); got !=
		`["every1,nested,every2,minute,every3",true,true]` {
		t.Errorf("after 105 s: %s", got)
	}
	u.mustEval("new Promise(r => setTimeout(r, 20))")
	u.mustCall("navigate", "url", url+"/frame")
	u.mustCall("web_setClock", "advanceMs", 25500, "now", "2028-02-29")
	if got := u.mustEval(`[frames[0].log.join(), new frames[0].Date().getUTCFullYear(), performance.now() < 60000]`); got != `["every1",2028,true]` {
		t.Errorf("in a frame: %s", got)
	}
	for want, args := range map[string][]any{
		"needs now or advanceMs":                 {},
		`now: "tomorrow" is not a date and time`: {"now", "tomorrow"},
		`now: "2027-02-30" is not a date`:        {"now", "2027-02-30"},
	} {
		u.mustFail("web_setClock", args, want)
	}
	late := openSession(t)
	late.mustCall("navigate", "url", url+"/page")
	if got := late.mustCall("web_setClock", "advanceMs", 1); !strings.Contains(got, "timers that the page had started before are not affected") {
		t.Error(got)
	}
}

func TestIgnoreHTTPSErrors(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(htmlPage("<title>secure</title>"))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	openSession(t).mustFail("navigate", []any{"url", server.URL}, "its certificate is not signed by a known authority")
	u := openSessionIn(t, withOptions(t, map[string]string{"ignoreHttpsErrors": "true"}), device.Session{})
	u.mustCall("navigate", "url", server.URL)
	if got := u.mustEval("document.title"); got != "secure" {
		t.Errorf("the page is %s", got)
	}
}
