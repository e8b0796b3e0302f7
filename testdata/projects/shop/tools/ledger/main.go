// Ledger adds up amounts of money exactly.
//
// Copy this file for a server in Go: the project starts the built program with `command:` in a target or in
// trailblaze.yaml.
package main

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type line struct {
	// The product. The sum does not need it, but carts and catalogues contain it.
	SKU      string `json:"sku,omitempty"`
	Name     string `json:"name,omitempty"`
	Category string `json:"category,omitempty"`

	Price    string `json:"price" jsonschema:"the price of one piece, such as 12.50"`
	Quantity *int64 `json:"quantity,omitempty" jsonschema:"how many pieces, 1 when absent"`
}

type sumInput struct {
	Lines []line `json:"lines"`
}

type assertInput struct {
	Lines []line `json:"lines"`
	Total string `json:"total" jsonschema:"what the lines must add up to"`
}

type sum struct {
	Total string `json:"total"`
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "shop-ledger", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{
		Name:        "sumPrices",
		Description: "Adds up prices, exactly.",
	}, sumPrices)
	mcp.AddTool(server, &mcp.Tool{
		Name:        "assertTotal",
		Description: "Fails unless the lines add up to the total.",
	}, assertTotal)
	// Run returns when the input ends.
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1)
	}
}

func sumPrices(_ context.Context, _ *mcp.CallToolRequest, in sumInput) (*mcp.CallToolResult, sum, error) {
	total, err := add(in.Lines)
	if err != nil {
		return nil, sum{}, err
	}
	return nil, sum{Total: total.FloatString(2)}, nil
}

// assertTotal fails by returning an error: the SDK makes it a result with isError, and the trail fails with its text.
func assertTotal(_ context.Context, _ *mcp.CallToolRequest, in assertInput) (*mcp.CallToolResult, any, error) {
	total, err := add(in.Lines)
	if err != nil {
		return nil, nil, err
	}
	want, err := parse(in.Total)
	if err != nil {
		return nil, nil, err
	}
	if total.Cmp(want) != 0 {
		return nil, nil, fmt.Errorf("the lines add up to %s, expected %s", total.FloatString(2), in.Total)
	}
	text := &mcp.TextContent{Text: "the total is " + in.Total}
	return &mcp.CallToolResult{Content: []mcp.Content{text}}, nil, nil
}

func add(lines []line) (*big.Rat, error) {
	total := new(big.Rat)
	for _, l := range lines {
		price, err := parse(l.Price)
		if err != nil {
			return nil, err
		}
		if l.Quantity != nil {
			price.Mul(price, new(big.Rat).SetInt64(*l.Quantity))
		}
		total.Add(total, price)
	}
	return total, nil
}

var priceFormat = regexp.MustCompile(`^[0-9]+\.[0-9]{2}$`)

func parse(price string) (*big.Rat, error) {
	amount, ok := new(big.Rat).SetString(price)
	if !ok || !priceFormat.MatchString(price) {
		return nil, fmt.Errorf("%q is not a price; write it like 12.50", price)
	}
	return amount, nil
}
