package network

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRequestsOfLongSessionsAreBounded(t *testing.T) {
	t.Parallel()
	traffic := New(Config{})
	t.Cleanup(traffic.Close)
	for i := range 3 * maxExchanges {
		traffic.events++
		traffic.add(&Exchange{url: fmt.Sprint(i), requested: traffic.events, ended: traffic.events})
		if i%100 == 0 {
			traffic.StartAction()
		}
	}
	got := traffic.requests(func(*Exchange) bool { return true })
	if len(got) > 2*maxExchanges || got[len(got)-1].url != fmt.Sprint(3*maxExchanges-1) {
		t.Errorf("%d requests are remembered, the last is %s", len(got), got[len(got)-1].url)
	}
}
