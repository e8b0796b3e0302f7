// Package webdriver is a client of the W3C WebDriver protocol, for automation servers of phones: the UiAutomator2
// server, WebDriverAgent, Appium and device clouds.
//
// Every call ends when its context does, and at the latest after Options.Limit. A request that acts is sent at most
// once: on a connection of its own, so that a connection which the server closed meanwhile cannot fail it. Redirects
// are not followed.
package webdriver
