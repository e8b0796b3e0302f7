package phones

// routes registers what WebDriverAgent answers.
func (p *IPhone) routes() {
	p.webDriver.handle("GET /status", value(map[string]any{"ready": true, "state": "success"}))
}
