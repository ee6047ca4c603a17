package web

import "testing"

// No form takes a number for another one than was meant.
func TestNumbersInForms(t *testing.T) {
	for typed, want := range map[string]string{"495,60": "495.60", "495.60": "495.60", "1 234,50": "1234.50", "1\u00a0234,50": "1234.50", "1.234,50": "1234.50", "1,234.50": "1234.50",
		"1'234.50": "1234.50", "1’234": "1234", "1234": "1234", " 1234,5 ": "1234.5", "1,234,567": "1234567", "1.234.567": "1234567", "1.234.567,89": "1234567.89", "0,125": "0.125",
		"0.125": "0.125", "1234,567": "1234.567", "12,3456": "12.3456", "1 234,500": "1234.500", "-5,5": "-5.5", "−5": "-5", "007": "007"} {
		if got, fault := typedNumber(typed, "EUR"); got != want || fault != "" {
			t.Errorf("%q is read as %q, %s", typed, got, fault)
		}
	}
	for _, typed := range []string{"1,234", "1.234", "-1,234", "12.500", "999,000"} {
		if got, fault := typedNumber(typed, "EUR"); fault != twoWays || got != "" {
			t.Errorf("%q is read as %q, %s", typed, got, fault)
		}
	}
	for _, typed := range []string{"", "abc", "1,", ",5", ".5", "1,2,3", "1 2 3", "12 34,5", "1,23,456", "1.234.50", "1,234.5.0", "12,345.678.9", "1e5", "NaN", "--5", "+5", "٣", "1..2", "0,123.45",
		"123456789012345678901", "1,1234567890123"} {
		if got, fault := typedNumber(typed, "EUR"); fault != noNumber || got != "" {
			t.Errorf("%q is read as %q, %s", typed, got, fault)
		}
	}
	if got, fault := typedNumber("1.234", "KWD"); got != "1.234" || fault != "" {
		t.Errorf("three decimals: %q %s", got, fault)
	}
	if _, fault := typedNumber("1,234", "KWD"); fault != twoWays {
		t.Errorf("a comma before three decimals: %s", fault)
	}
	if got, problem := formNumber("1.234", "EUR", []string{"1.234"}); got != "1.234" || problem != "" {
		t.Errorf("what stood there: %q %s", got, problem)
	}
}
