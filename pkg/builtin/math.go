package builtin

import (
	"fmt"
	"math/big"
	"strings"
)

// The limits of an expression.
const (
	longestExpression = 4096 // characters
	deepestExpression = 100  // parentheses and minus signs around a number
)

// evaluate evaluates an expression exactly. The remainder has the sign of the dividend.
//
//	sum     = product { ("+" | "-") product }
//	product = factor { ("*" | "/" | "%") factor }
//	factor  = "-" factor | "(" sum ")" | digits [ "." digits ]
func evaluate(expression string) (*big.Rat, error) {
	c := calculation{text: []rune(expression)}
	if len(c.text) > longestExpression {
		return nil, fmt.Errorf("an expression can have at most %d characters, this one has %d", longestExpression,
			len(c.text))
	}
	value, err := c.sum()
	if err == nil && c.peek() != end {
		err = c.expectedError("an operator")
	}
	return value, err
}

// calculation is an expression that is being parsed and evaluated.
type calculation struct {
	text  []rune
	at    int
	depth int
}

const end rune = -1

// peek skips spaces and returns the next character, end at the end.
func (c *calculation) peek() rune {
	for ; c.at < len(c.text); c.at++ {
		if !strings.ContainsRune(" \t\r\n", c.text[c.at]) {
			return c.text[c.at]
		}
	}
	return end
}

// take reads and returns the next character if it is one of chars, else it returns end.
func (c *calculation) take(chars string) rune {
	next := c.peek()
	if next == end || !strings.ContainsRune(chars, next) {
		return end
	}
	c.at++
	return next
}

func (c *calculation) expectedError(what string) error {
	found := "the end"
	if next := c.peek(); c.at < len(c.text) {
		found = fmt.Sprintf("%q", string(next))
	}
	return fmt.Errorf("position %d: expected %s, found %s", c.at+1, what, found)
}

func (c *calculation) sum() (*big.Rat, error) {
	total, err := c.product()
	for err == nil {
		operator := c.take("+-")
		if operator == end {
			break
		}
		var next *big.Rat
		if next, err = c.product(); err != nil {
			break
		}
		if operator == '-' {
			next.Neg(next)
		}
		total.Add(total, next)
	}
	return total, err
}

func (c *calculation) product() (*big.Rat, error) {
	total, err := c.factor()
	for err == nil {
		operator := c.take("*/%")
		if operator == end {
			break
		}
		at := c.at
		var next *big.Rat
		if next, err = c.factor(); err != nil {
			break
		}
		switch {
		case operator == '*':
			total.Mul(total, next)
		case next.Sign() == 0:
			return nil, fmt.Errorf("position %d: division by zero", at)
		case operator == '/':
			total.Quo(total, next)
		default:
			total.Sub(total, next.Mul(next, whole(new(big.Rat).Quo(total, next))))
		}
	}
	return total, err
}

// whole returns the number without its fraction.
func whole(r *big.Rat) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Quo(r.Num(), r.Denom()))
}

func (c *calculation) factor() (*big.Rat, error) {
	opener := c.take("-(")
	if opener == end {
		return c.number()
	}
	if c.depth++; c.depth > deepestExpression {
		return nil, fmt.Errorf("position %d: more than %d levels of parentheses and minus signs", c.at, deepestExpression)
	}
	defer func() { c.depth-- }()
	if opener == '-' {
		value, err := c.factor()
		if err != nil {
			return nil, err
		}
		return value.Neg(value), nil
	}
	value, err := c.sum()
	if err == nil && c.take(")") == end {
		err = c.expectedError(`an operator or ")"`)
	}
	return value, err
}

func (c *calculation) number() (*big.Rat, error) {
	c.peek()
	begin := c.at
	if !c.digits() {
		return nil, c.expectedError(`a number, "(" or "-"`)
	}
	if c.at < len(c.text) && c.text[c.at] == '.' {
		c.at++
		if !c.digits() {
			return nil, c.expectedError("a digit")
		}
	}
	if err := c.exponent(); err != nil {
		return nil, err
	}
	value, _ := new(big.Rat).SetString(string(c.text[begin:c.at]))
	return value, nil
}

// exponent reads the exponent of a number, as JSON has it for small and large ones, unless it has none.
func (c *calculation) exponent() error {
	const mostDigits = 3 // so that no number is too large to calculate with
	if c.at == len(c.text) || c.text[c.at] != 'e' && c.text[c.at] != 'E' {
		return nil
	}
	c.at++
	if c.at < len(c.text) && (c.text[c.at] == '+' || c.text[c.at] == '-') {
		c.at++
	}
	begin := c.at
	if !c.digits() {
		return c.expectedError("a digit")
	}
	if c.at-begin > mostDigits {
		return fmt.Errorf("position %d: an exponent can have at most %d digits", begin+1, mostDigits)
	}
	return nil
}

// digits reads digits and reports whether there were any.
func (c *calculation) digits() bool {
	begin := c.at
	for c.at < len(c.text) && '0' <= c.text[c.at] && c.text[c.at] <= '9' {
		c.at++
	}
	return c.at > begin
}
