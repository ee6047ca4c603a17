package stripe

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/bojanz/currency"
)

// Stripe counts in a currency's smallest unit, with its own idea of what that is (docs.stripe.com/currencies): two
// decimals unless listed here, which differs from ISO 4217 for some.
var (
	zeroDecimals = []string{"BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF"}
	// Counted in thousandths, but the last digit must be 0.
	threeDecimals = []string{"BHD", "JOD", "KWD", "OMR", "TND"}
)

// unitOf returns how many decimals Stripe counts in, and the multiple that an amount must be of. UGX is refused: Stripe's
// page lists it as counted in shillings and, further down, in hundredths; read back, the mistake would not show.
func unitOf(code string) (decimals int, grain int64, err error) {
	switch {
	case code == "UGX":
		return 0, 0, errors.New("amounts in UGX are not understood: Stripe's documentation contradicts itself about them")
	case code == "ISK": // counted in hundredths that must be 00
		return 2, 100, nil
	case slices.Contains(zeroDecimals, code):
		return 0, 1, nil
	case slices.Contains(threeDecimals, code):
		return 3, 10, nil
	}
	return 2, 1, nil
}

var decimal = regexp.MustCompile(`^-?[0-9]{1,20}(\.[0-9]{1,20})?$`)

func ratOf(text string) (*big.Rat, bool) {
	if !decimal.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

func power10(n int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
}

// minor is an amount as Stripe counts it. An amount that Stripe cannot hold is an error in the user's words.
func minor(a currency.Amount) (*big.Int, error) {
	decimals, grain, err := unitOf(a.CurrencyCode())
	if err != nil {
		return nil, err
	}
	r, ok := ratOf(a.Number())
	if !ok {
		return nil, fmt.Errorf("the amount %q is not a plain number", a.Number())
	}
	r.Mul(r, power10(decimals))
	if !r.IsInt() || new(big.Int).Rem(r.Num(), big.NewInt(grain)).Sign() != 0 {
		return nil, fmt.Errorf("the amount %s %s does not fit: Stripe counts it in steps of %s", a.Number(), a.CurrencyCode(), step(decimals, grain))
	}
	return r.Num(), nil
}

func step(decimals int, grain int64) string {
	return point(big.NewInt(grain), decimals)
}

// major reads an amount as Stripe counts it; false if it is no whole number or the currency is not understood.
func major(count, code string) (currency.Amount, bool) {
	code = strings.ToUpper(code)
	decimals, _, err := unitOf(code)
	n, ok := new(big.Int).SetString(count, 10)
	if err != nil || !ok {
		return currency.Amount{}, false
	}
	a, err := currency.NewAmount(point(n, decimals), code)
	return a, err == nil
}

// point sets the decimal point.
func point(n *big.Int, decimals int) string {
	return new(big.Rat).Quo(new(big.Rat).SetInt(n), power10(decimals)).FloatString(decimals)
}

// times is quantity × price as Stripe counts it, rounded half away from zero to what Stripe can hold.
func times(quantity, price *big.Rat, code string) (*big.Int, error) {
	decimals, grain, err := unitOf(code)
	if err != nil {
		return nil, err
	}
	r := new(big.Rat).Mul(quantity, price)
	r.Mul(r, power10(decimals)).Quo(r, new(big.Rat).SetInt64(grain))
	whole, _ := new(big.Int).SetString(r.FloatString(0), 10)
	return whole.Mul(whole, big.NewInt(grain)), nil
}

// exact writes a decimal with at most 12 places, the most that Stripe takes; false if it has more.
func exact(r *big.Rat) (string, bool) {
	text := r.FloatString(12)
	if back, ok := new(big.Rat).SetString(text); !ok || back.Cmp(r) != 0 {
		return "", false
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), "."), true
}
