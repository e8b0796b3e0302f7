// Package cdp speaks the Chrome DevTools Protocol: calls, events and the end of a connection, over two pipes or a WebSocket. It decodes
// no more than it must, since every browser version has fields and values that nobody has heard of before, and it refuses to know
// what a page is. Everything in it may be used from any goroutine.
package cdp
