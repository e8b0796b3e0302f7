// Package android is the kind of device for Android, over adb and the UiAutomator2 server.
package android
