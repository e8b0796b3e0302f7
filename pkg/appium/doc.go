// Package appium drives phones through a WebDriver session of an Appium server or a device cloud.
package appium
