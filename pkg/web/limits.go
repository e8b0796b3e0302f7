package web

import (
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
)

// limits bound what commands wait for (specification, section 15.1). Tests use shorter ones.
type limits struct {
	call       time.Duration // for a call that names no limit
	action     time.Duration // for an element to become ready for an action
	assertion  time.Duration // for a condition that is asserted
	navigation time.Duration // for a page to load
	response   time.Duration // for an answer that the page is about to give, and for each explanation
	first      time.Duration // for the first answer of a page, however short the other limits are
}

func defaultLimits() limits {
	return limits{
		call: 30 * time.Second, action: 10 * time.Second, assertion: 5 * time.Second, navigation: 30 * time.Second,
		response: time.Second, first: 5 * time.Second,
	}
}

// within are the limits of an action whose element has to be ready within some time.
func (l limits) within(ready time.Duration) act.Limits {
	return act.Limits{Ready: ready, First: l.first, Response: l.response}
}

func (p *page) limits() limits { return p.device.limits }
