package work_test

import "github.com/bojanz/currency"

func mustAmount(number, code string) currency.Amount {
	a, err := currency.NewAmount(number, code)
	if err != nil {
		panic(err)
	}
	return a
}
