// Package adb is a client of the adb server: devices, shell, files and sockets of Android devices. It uses the server's
// protocol over its socket, and the adb program only to start the server.
//
// Every error is a *fault.Error whose cause is one of the errors of this package, where it is known. Nothing is sent
// twice.
package adb
