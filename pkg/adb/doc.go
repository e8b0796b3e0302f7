// Package adb is a client of the adb server: devices, shell, files and forwarded ports of Android devices.
package adb
