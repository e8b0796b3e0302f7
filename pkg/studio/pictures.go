package studio

// shot is a picture of the screen.
type shot struct {
	message pictureMessage
	data    []byte // empty when the picture is withheld
}

// picture shows a picture of the screen to all visible pages. A page gets it when it has shown the one before, and only
// the newest.
func (s *server) picture(m pictureMessage, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest = &shot{m, data}
	for _, p := range s.pages {
		p.signal()
	}
}

// nextPicture returns the picture to send now; nil for none. The caller holds mu.
func (p *page) nextPicture() *shot {
	newest := p.server.newest
	if !p.visible || p.unseen != nil || newest == p.sent {
		return nil
	}
	p.sent = newest
	if len(newest.data) > 0 {
		p.unseen = newest
	}
	return newest
}

// seen says that a page has shown the picture with a number.
func (p *page) seen(seq int) {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	if p.unseen != nil && p.unseen.message.Seq == seq {
		p.unseen = nil
		p.signal()
	}
}

// show says whether a page is visible. A hidden one shows nothing, so it may never answer the last picture.
func (p *page) show(visible bool) {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	if visible != p.visible {
		p.visible, p.unseen = visible, nil
		p.signal()
		p.server.signal()
	}
}
