// Package syntax reads what people write in the arguments of commands for web pages: which element is meant, texts, CSS
// selectors, keys, dates, URLs and patterns of URLs, and names that are almost those on the page.
package syntax
