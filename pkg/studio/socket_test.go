package studio

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

type testDocument struct {
	Version int    `json:"version"`
	Text    string `json:"text"`
}

type testState struct {
	Version int `json:"version"`
}

func lines(texts ...string) logMessage {
	var m logMessage
	for _, text := range texts {
		m.Lines = append(m.Lines, logLine{Text: text})
	}
	return m
}

func TestMessagesThatAreNotRequestsAreSurvived(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	page := s.connect(t)
	for name, tc := range map[string]struct {
		kind       websocket.MessageType
		data, want string
	}{
		"binary":        {websocket.MessageBinary, `{"id":1,"do":"echo"}`, "it is binary"},
		"not UTF-8":     {websocket.MessageText, "{\"id\":1,\"do\":\"echo\",\"x\":\"\xff\"}", "it is not UTF-8"},
		"not JSON":      {websocket.MessageText, "x", "invalid character"},
		"empty":         {websocket.MessageText, "", "unexpected end"},
		"null":          {websocket.MessageText, "null", `"do" is missing`},
		"array":         {websocket.MessageText, "[]", "cannot unmarshal"},
		"two values":    {websocket.MessageText, `{"id":1,"do":"echo"}{}`, "invalid character"},
		"deep":          {websocket.MessageText, `{"id":1,"do":"echo","x":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + "}", "exceeded max depth"},
		"id of text":    {websocket.MessageText, `{"id":"1","do":"echo"}`, "cannot unmarshal"},
		"huge id":       {websocket.MessageText, `{"id":1e30,"do":"echo"}`, "cannot unmarshal"},
		"do of another": {websocket.MessageText, `{"id":1,"do":7}`, "cannot unmarshal"},
		"no do":         {websocket.MessageText, `{"id":1}`, `"do" is missing`},
		"wrong field":   {websocket.MessageText, `{"id":1,"do":"seen","seq":"x"}`, "cannot unmarshal"},
		"unknown":       {websocket.MessageText, `{"id":1,"do":"frobnicate"}`, `the request "frobnicate" is not known`},
		"huge name":     {websocket.MessageText, `{"id":1,"do":"` + strings.Repeat("x", 1<<20) + `"}`, "is not known"},
	} {
		page.send(t, tc.kind, tc.data)
		m := page.until(t, func(m message) bool { return m.Re != nil })
		if m.OK || m.Error == nil || !strings.Contains(m.Error.Message, tc.want) {
			t.Errorf("%s: %s", name, m.raw)
		}
	}
	for range 3 { // an id that repeats
		page.send(t, websocket.MessageText, `{"id":5,"do":"echo"}`)
	}
	for range 3 {
		if m := page.until(t, func(m message) bool { return m.Re != nil }); *m.Re != 5 || !m.OK {
			t.Errorf("%s", m.raw)
		}
	}
}

func TestRepliesSayWhatWentWrongWithoutSecrets(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	page := s.connect(t)
	if m := page.ask(t, "echo", `,"x":"é"`); string(m.Result) != `{"id":1,"do":"echo","x":"é"}` {
		t.Errorf("echo: %s", m.raw)
	}
	for do, want := range map[string]failure{
		"other":    {Message: `the request "other" is not known to {{SECRET}}`, Hint: "look for {{SECRET}}", Kind: fault.InvalidArguments},
		"problems": {Message: ":2:3: {{SECRET}} is wrong", Hint: "leave {{SECRET}} out", Kind: fault.Config, Problems: []problem{{2, 3, "{{SECRET}} is wrong", "leave {{SECRET}} out", "error"}}},
		"nan":      {Message: "the answer could not be encoded: json: unsupported type: func()"},
	} {
		if m := page.ask(t, do, ""); m.OK || m.Error == nil || cmp.Diff(want, *m.Error) != "" {
			t.Errorf("%s: %s\n%s", do, m.raw, cmp.Diff(&want, m.Error))
		}
	}
	if m := page.ask(t, "panic", ""); m.OK || !strings.Contains(m.Error.Message, "internal error: oh") {
		t.Errorf("panic: %s", m.raw)
	}
	if m := page.ask(t, "look", ""); !m.OK || m.Result != nil {
		t.Errorf("look: %s", m.raw)
	}
}

func TestRequestsBeginInOrderAndRunBesideEachOther(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	page := s.connect(t)
	first := page.request(t, "wait", "")
	if m := page.ask(t, "echo", ""); !m.OK {
		t.Errorf("beside one that waits: %s", m.raw)
	}
	for i := range 50 {
		page.request(t, fmt.Sprint("n", i), "")
	}
	page.ask(t, "echo", "")
	begun, _, _ := s.desk.noted()
	for i, name := range begun[2:52] {
		if name != fmt.Sprint("n", i) {
			t.Fatalf("begun %q", begun)
		}
	}
	close(s.desk.release)
	page.until(t, func(m message) bool { return m.Re != nil && *m.Re == first && m.OK })
}

func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	page := s.connect(t)
	for range maxPending {
		page.request(t, "wait", "")
	}
	if m := page.ask(t, "echo", ""); m.OK || !strings.Contains(m.Error.Message, "256 requests of this page run already") {
		t.Errorf("one more: %s", m.raw)
	}
	if m := page.ask(t, "seen", `,"seq":1`); !m.OK {
		t.Errorf("what the server itself does: %s", m.raw)
	}
	close(s.desk.release)
	page.until(t, func(m message) bool { return m.Re != nil && *m.Re == maxPending })
}

// A request goes on when its page is closed, and ends with the server.
func TestRequestsOutliveTheirPage(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	page := s.connect(t)
	page.request(t, "wait", "")
	page.ask(t, "echo", "")
	_ = page.CloseNow()
	eventually(t, "the page is closed", func() bool {
		open, _, _ := s.count()
		return open == 0
	})
	if _, ended, _ := s.desk.noted(); len(ended) > 0 {
		t.Errorf("ended with the page: %q", ended)
	}
	s.end(t)
	if _, ended, _ := s.desk.noted(); !slices.Equal(ended, []string{"context canceled"}) {
		t.Errorf("ended with the server: %q", ended)
	}
}

func TestOnePageControls(t *testing.T) {
	t.Parallel()
	d := newFakeDesk()
	d.greeting = []push{{onState, testState{1}}}
	s := startServerWith(t, d, nil)
	first := s.connect(t)
	first.state(t, true, 1)
	second := s.connect(t)
	second.state(t, false, 2)
	first.state(t, true, 2)
	if m := second.ask(t, "act", ""); m.OK || m.Error.Hint != "press Take over" {
		t.Errorf("without control: %s", m.raw)
	}
	if m := second.ask(t, "look", ""); !m.OK {
		t.Errorf("looking: %s", m.raw)
	}
	if m := second.ask(t, "takeOver", ""); !m.OK {
		t.Errorf("takeOver: %s", m.raw)
	}
	first.state(t, false, 2)
	if m := second.ask(t, "act", ""); !m.OK {
		t.Errorf("with control: %s", m.raw)
	}
	if m := first.ask(t, "act", ""); m.OK {
		t.Errorf("after control was taken: %s", m.raw)
	}
	_ = second.Close(websocket.StatusNormalClosure, "")
	first.state(t, true, 1)
	if begun, _, _ := d.noted(); !slices.Equal(begun, []string{"look", "act"}) {
		t.Errorf("the desk was asked for %q", begun)
	}
}

// TestControlIsWhatTheProtocolSays compares with the comments of protocol.ts.
func TestControlIsWhatTheProtocolSays(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("page/src/protocol.ts")
	if err != nil {
		t.Fatal(err)
	}
	declared := strings.SplitN(string(source), "export type Do =", 2)[1]
	declared = strings.SplitN(declared, "export ", 2)[0]
	count := 0
	for _, m := range regexp.MustCompile(`(/\*\*(?:[^*]|\*[^/])*\*/)?\s*\| \{ do: "(\w+)"`).FindAllStringSubmatch(declared, -1) {
		says := regexp.MustCompile(`(?i)(needs|;) control\b`).MatchString(m[1])
		if says != needsControl(m[2]) {
			t.Errorf("%s: protocol.ts says %t, the server %t", m[2], says, !says)
		}
		count++
	}
	if count < 20 {
		t.Errorf("%d requests were found", count)
	}
}

func TestPagesAreBounded(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	var pages []*testPage
	for range maxPages {
		pages = append(pages, s.connect(t))
	}
	eventually(t, "all are open", func() bool {
		open, _, _ := s.count()
		return open == maxPages
	})
	if m := s.connect(t).next(t); m.On != "bye" || !strings.Contains(m.Why, "16 pages are open already") {
		t.Errorf("one more: %s", m.raw)
	}
	_ = pages[0].CloseNow()
	eventually(t, "there is room again", func() bool {
		open, _, _ := s.count()
		return open == maxPages-1
	})
	if m := s.connect(t).ask(t, "echo", ""); !m.OK {
		t.Errorf("in its place: %s", m.raw)
	}
}

func TestAPageGetsTheNewestPictureWhenItHasShownTheOneBefore(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	page := s.connect(t)
	page.ask(t, "visible", `,"visible":true`)
	picture := func(seq int) {
		t.Helper()
		m := page.until(t, func(m message) bool { return m.On == "picture" })
		data := page.next(t)
		if m.Seq != seq || data.On != "binary" || string(data.picture) != fmt.Sprint("picture ", seq) {
			t.Errorf("picture %d, %q; want %d", m.Seq, data.picture, seq)
		}
	}
	show := func(seq int) { s.picture(pictureMessage{Seq: seq}, fmt.Appendf(nil, "picture %d", seq)) }
	show(1)
	picture(1)
	for seq := 2; seq <= 100; seq++ {
		show(seq)
	}
	page.request(t, "seen", `,"seq":99`) // was not sent
	if m := page.ask(t, "echo", ""); !m.OK {
		t.Errorf("%s", m.raw)
	}
	page.request(t, "seen", `,"seq":1`)
	picture(100)

	page.request(t, "seen", `,"seq":100`)
	s.picture(pictureMessage{Seq: 101, Withheld: "it may show PASSWORD"}, nil)
	page.until(t, func(m message) bool { return m.On == "picture" && m.Seq == 101 })
	show(102) // although the one before was not a picture
	picture(102)

	page.ask(t, "visible", `,"visible":false`)
	show(103)
	if m := page.ask(t, "echo", ""); !m.OK {
		t.Errorf("%s", m.raw)
	}
	page.request(t, "visible", `,"visible":true`)
	picture(103)

	late := s.connect(t)
	if m := late.until(t, func(m message) bool { return m.On == "picture" }); m.Seq != 103 {
		t.Errorf("a page that opens gets picture %d", m.Seq)
	}
}

func TestTheDeskIsToldHowManyPagesLook(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	told := func(want ...int) {
		t.Helper()
		eventually(t, fmt.Sprint("watched ", want), func() bool {
			_, _, counts := s.desk.noted()
			return slices.Equal(counts, want)
		})
	}
	first := s.connect(t)
	told(1)
	second := s.connect(t)
	told(1, 2)
	first.ask(t, "visible", `,"visible":false`)
	told(1, 2, 1)
	first.ask(t, "visible", `,"visible":false`)
	_ = second.Close(websocket.StatusNormalClosure, "")
	told(1, 2, 1, 0)
}

// A page that stops reading is closed. Until then it makes nobody wait.
func TestAPageThatDoesNotReadMakesNobodyWait(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(o *serverOptions) { o.limits.write = 3 * time.Second })
	page, stuck := s.connect(t), s.upgrade(t)
	eventually(t, "both are open", func() bool {
		open, _, _ := s.count()
		return open == 2
	})
	pushed, large := make(chan struct{}), strings.Repeat("x", 1<<20)
	go func() {
		defer close(pushed)
		for version := 1; version <= 12; version++ {
			s.push(onDocument, testDocument{version, large})
		}
	}()
	page.until(t, func(m message) bool { return m.On == onDocument && m.Version == 12 })
	<-pushed
	if m := page.ask(t, "echo", ""); !m.OK {
		t.Errorf("%s", m.raw)
	}
	version := 12
	eventually(t, "the other is closed", func() bool {
		version++
		s.push(onDocument, testDocument{version, large}) // until what the system keeps for the page is full
		open, _, _ := s.count()
		return open == 1
	})
	_ = stuck.Close()
}

// waiting returns a page to which nothing is sent yet.
func waiting(s *server) *page {
	return &page{server: s, cancel: func() {}, wake: make(chan struct{}, 1), latest: map[string][]byte{}}
}

// sent returns what a page is sent.
func sent(p *page) []string {
	var all []string
	for {
		data, _, _ := p.next()
		if data == nil {
			return all
		}
		all = append(all, string(data))
	}
}

func TestOnlyTheNewestWaitsForASlowPage(t *testing.T) {
	t.Parallel()
	s := newServer(serverOptions{port: 1, now: func() time.Time { return time.Unix(0, 0).UTC() }})
	p := waiting(s)
	if !s.open(p) {
		t.Fatal("the page is not open")
	}
	for version := 1; version <= 9; version++ {
		s.push(onState, testState{version})
		s.push(onDocument, testDocument{version, "t"})
		s.push("other", testState{version})
	}
	for i := range maxLines + 5 {
		s.push(onLog, lines(fmt.Sprint("line ", i)))
	}
	s.push("none", struct{}{})
	s.push("function", func() {})
	got := sent(p)
	log := got[len(got)-2]
	if want := `{"on":"log","lines":[{"time":"1970-01-01T00:00:00Z","level":"warn","text":"6 lines were left out, because this page was slow"},` +
		`{"time":"0001-01-01T00:00:00Z","level":"","text":"line 6"},`; !strings.HasPrefix(log, want) || !strings.Contains(log, "function could not be sent") {
		t.Errorf("log: %.300s", log)
	}
	if none := got[len(got)-1]; none != `{"on":"none"}` {
		t.Errorf("none: %s", none)
	}
	want := []string{`{"on":"state","version":9,"controls":true,"pages":1}`, `{"on":"document","version":9,"text":"t"}`}
	for version := 1; version <= 9; version++ {
		want = append(want, fmt.Sprintf(`{"on":"other","version":%d}`, version))
	}
	if diff := cmp.Diff(want, got[:len(got)-2]); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	s.push(onState, testState{9}) // as before
	if again := sent(p); len(again) > 0 {
		t.Errorf("sent again: %q", again)
	}
	s.takeOver(p)
	if again := sent(p); len(again) != 1 {
		t.Errorf("sent after a change of the pages: %q", again)
	}
}

func TestWhatIsPushedMeanwhileCountsMoreThanTheGreeting(t *testing.T) {
	t.Parallel()
	d := newFakeDesk()
	d.greeting = []push{{onState, testState{1}}, {onDocument, testDocument{1, "t"}}, {onLog, lines("first")}}
	s := newServer(serverOptions{port: 1, now: time.Now})
	s.handler = d
	p := waiting(s)
	s.open(p)
	s.push(onDocument, testDocument{2, "t"})
	p.greet()
	want := []string{
		`{"on":"document","version":2,"text":"t"}`, `{"on":"state","version":1,"controls":true,"pages":1}`,
		`{"on":"log","lines":[{"time":"0001-01-01T00:00:00Z","level":"","text":"first"}]}`,
	}
	if diff := cmp.Diff(want, sent(p)); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

func TestAPageWithTooMuchToReadIsClosed(t *testing.T) {
	t.Parallel()
	s := newServer(serverOptions{port: 1, now: time.Now})
	p, closed := waiting(s), 0
	p.cancel = func() { closed++ }
	s.open(p)
	for i := range maxQueue {
		s.push("other", testState{i})
	}
	if closed != 0 {
		t.Errorf("closed too early")
	}
	if s.push("other", testState{}); closed != 1 {
		t.Errorf("closed %d times", closed)
	}
}

func TestTheEndIsSaidToEveryPage(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	page, stuck := s.connect(t), s.upgrade(t)
	page.ask(t, "echo", "")
	for range 20 {
		s.push(onDocument, testDocument{1, strings.Repeat("x", 1<<20)})
	}
	s.cancel()
	page.until(t, func(m message) bool { return m.On == "bye" && m.Why == "trailblaze studio has ended" })
	if _, err := page.read(t); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("after bye: %v", err)
	}
	s.wait(t)
	if !isClosed(stuck) {
		t.Error("a page that reads nothing stayed open")
	}
	s.push(onState, testState{1}) // is nothing for anybody
	if late := waiting(s.server); s.open(late) {
		t.Error("a page was opened after the end")
	}
}

// TestTheStudioEndsAfterItsPages follows pages that are opened and closed.
func TestTheStudioEndsAfterItsPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDesk()
		s := newServer(serverOptions{port: 1, now: time.Now})
		s.handler = d
		started, ended := time.Now(), make(chan time.Time, 1)
		go func() {
			s.follow(t.Context())
			ended <- time.Now()
		}()
		still := func(after time.Duration) {
			t.Helper()
			<-time.After(after)
			synctest.Wait()
			if len(ended) > 0 {
				t.Fatalf("ended after %s", (<-ended).Sub(started))
			}
		}
		still(time.Hour) // no page was opened yet
		p, other := waiting(s), waiting(s)
		s.open(p)
		still(time.Hour)
		s.close(p)
		still(59 * time.Second)
		s.open(other) // a page that is loaded again
		still(time.Hour)
		d.keep(true)
		s.close(other)
		still(time.Hour)
		d.keep(false)
		last := time.Now()
		if gone := (<-ended).Sub(last); gone > time.Minute {
			t.Errorf("ended after %s", gone)
		}
	})
}
