// Package ios is the kind of device for iOS (specification, section 15.3), over WebDriverAgent: a program on the phone
// or simulator that is reached by URL, or that a command of the user starts. What it cannot do is done with simctl for
// a simulator on this machine.
package ios
