// Command hello is the floor for `trailblaze version`: a Go program that prints a line.
package main

import "fmt"

func main() { fmt.Println("hello") }
