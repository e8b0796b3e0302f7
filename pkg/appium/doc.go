// Package appium drives phones through a WebDriver session of an Appium server or a device cloud.
//
// User and key, and the secrets in capabilities, are in no error, message or log of this package.
package appium
