package mobile

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

func TestFingers(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	for _, tt := range []struct {
		platform Platform
		tool     string
		args     args
		text     string
		log      string
	}{
		{Android, "swipe", nil, "swiped down", "540,1200 to 540,2160 for 400ms"},
		{Android, "swipe", args{"direction": "up"}, "swiped up", "540,1200 to 540,240 for 400ms"},
		{Android, "swipe", args{"direction": "LEFT", "durationMs": 100}, "swiped left", "972,1200 to 108,1200 for 100ms"},
		{Android, "swipe", args{"direction": "RIGHT"}, "swiped right", "108,1200 to 972,1200 for 400ms"},
		{IOS, "swipe", args{"direction": "UP"}, "swiped up", "540,2160 to 540,240 for 400ms"},
		{IOS, "swipe", nil, "swiped down", "540,480 to 540,2160 for 400ms"},
		{Android, "swipe", args{"direction": "LEFT", "swipeOnElementText": "1150"}, `swiped left over button "ORD-1150"`, "972,450 to 108,450 for 400ms"},
		{Android, "swipe", args{"direction": "UP", "swipeOnElementText": "1150"}, `swiped up over button "ORD-1150"`, "200,450 to 200,240 for 400ms"},
		{Android, "swipeWithRelativeCoordinates", args{"startRelative": "50%,62.5%", "endRelative": "0%,100%"}, "swiped from 50%,62.5% to 0%,100%", "540,1500 to 0,2399 for 400ms"},
		{Android, "dragByPoints", args{"startX": 1, "startY": 2, "endX": 3, "endY": 4}, "dragged from 1,2 to 3,4", "1,2 to 3,4 for 1s and 150ms still"},
		{Android, "scroll", nil, "scrolled down", "540,1800 to 540,600 for 600ms and 150ms still"},
		{Android, "scroll", args{"direction": "UP", "amount": 100}, "scrolled up", "540,1150 to 540,1250 for 600ms and 150ms still"},
		{Android, "scroll", args{"direction": "RIGHT", "amount": 9999}, "scrolled right", "972,1200 to 108,1200 for 600ms and 150ms still"},
		{Android, "pinch", args{"scale": 2}, "pinched with scale 2", "324,1200 to 108,1200 for 600ms and 756,1200 to 972,1200 for 600ms"},
		{Android, "pinch", args{"scale": 0.5}, "pinched with scale 0.5", "108,1200 to 324,1200 for 600ms and 972,1200 to 756,1200 for 600ms"},
	} {
		f := &fake{platform: tt.platform, nodes: always(node("Button", "ORD-1150", rect(100, 400, 300, 500)))}
		onPhone(t, f, device.Session{}, func(p *phoneTest) { p.does(tt.tool, tt.args, tt.text, "touch "+tt.log) })
	}
}

// list is a screen with a list of twelve rows, which each scroll moves by half of the screen.
func list(f *fake, _ time.Duration) []*screen.Node {
	scrolled := 0
	for _, line := range f.log {
		var x, from, to int
		if n, _ := fmt.Sscanf(line, "touch %d,%d to %d,%d", &x, &from, &x, &to); n == 4 {
			scrolled = max(0, min(scrolled+1200*cmp.Compare(from, to), 12*600-2000))
		}
	}
	l := node("ListView", "", rect(0, 200, width, 2200))
	l.Scrollable = true
	for i := range 12 {
		top := 200 + i*600 - scrolled
		l.Children = append(l.Children, node("TextView", "Row "+string(rune('A'+i)), rect(0, top, width, top+600)))
	}
	return []*screen.Node{l}
}

func TestScrollUntilTextIsVisible(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	const down, up = "touch 540,1800 to 540,600 for 600ms and 150ms still", "touch 540,600 to 540,1800 for 600ms and 150ms still"
	const top = "touch 540,960 to 540,360 for 600ms and 150ms still"
	for name, tt := range map[string]struct {
		args args
		want string
		log  []string
	}{
		"visible at once": {args{"text": "row a"}, `text "Row A" is visible after 0 scrolls`, nil},
		"completely":      {args{"text": "Row D"}, `text "Row D" is visible after 1 scroll`, []string{down}},
		"a part of it": {
			args{"text": "Row D", "visibilityPercentage": 30}, `text "Row D" is visible after 0 scrolls`, nil,
		},
		"far": {args{"textRegex": "Row [JKL]"}, `text "Row J" is visible after 4 scrolls`, []string{down, down, down, down}},
		"in the upper part": {
			args{"text": "Row D", "scrollStartPosition": "TOP"}, `text "Row D" is visible after 1 scroll`, []string{top},
		},
		"in the middle": {
			args{"text": "Row D", "visibilityPercentage": 30, "centerElement": true}, `text "Row D" is visible after 1 scroll`, []string{down},
		},
		"the first, as far as it goes": {args{"text": "Row A", "centerElement": true}, `text "Row A" is visible after 1 scroll`, []string{up}},
		"the last, as far as it goes": {
			args{"text": "Row L", "centerElement": true}, `text "Row L" is visible after 6 scrolls`, []string{down, down, down, down, down, down},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onPhone(t, &fake{nodes: list}, device.Session{}, func(p *phoneTest) {
				p.does("scrollUntilTextIsVisible", tt.args, tt.want, tt.log...)
			})
		})
	}
	onPhone(t, &fake{nodes: list, keyboard: keyboardArea()}, device.Session{}, func(p *phoneTest) {
		p.does("scrollUntilTextIsVisible", args{"text": "Row D"}, `text "Row D" is visible after 1 scroll`, "hide keyboard", down)
		p.fails("scrollUntilTextIsVisible", args{"text": "Row Z"},
			`text containing "Row Z" was not found; the screen does not scroll further down (within 20s; app com.example.orders)`)
	})
	onPhone(t, &fake{nodes: always(node("Toast", "Saved", nil))}, device.Session{}, func(p *phoneTest) {
		p.does("scrollUntilTextIsVisible", args{"text": "saved"}, `generic "Saved" is visible after 0 scrolls`)
	})
}
