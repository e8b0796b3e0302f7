// Package webdriver is a client of the W3C WebDriver protocol, for automation servers of phones.
package webdriver
