// Package ios is the kind of device for iOS, over WebDriverAgent.
package ios
