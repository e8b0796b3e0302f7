package device_test

import (
	"testing"

	"github.com/trailblaze/trailblaze/pkg/device"
)

func TestFirstNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "none": "", "3": "3", "Order 00042 of 3 May": "42", "Total: $1,234.50": "1234.5", "1.234,50 €": "1234.5", "12,50": "12.5",
		"1,234": "1234", "1.234": "1.234", "1,234,567": "1234567", "1.234.567": "1234567", "1\u00a0234,5": "1234.5", "1 234": "1", "1'234.5": "1234.5",
		"-5 °C": "-5", "−5": "-5", "-$3.20": "-3.2", "item-5": "5", "2-3": "2", "0.000": "0", "-0": "0", "7.": "7", "(12)": "12", "v1.2.3": "1.2",
		"9007199254740993": "9007199254740993", "0.10": "0.1", "100": "100", "1234,567": "1234.567",
	} {
		if got := device.FirstNumber(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
