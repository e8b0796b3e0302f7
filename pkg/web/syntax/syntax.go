// Package syntax reads what people write in the arguments of commands for web pages: CSS selectors, keys, URLs and
// patterns of URLs, and names that are spelt almost like one on the page.
package syntax
