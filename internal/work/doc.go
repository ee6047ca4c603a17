// Package work is the pure core of Onefold: what an item is, what may happen to it, and when something may be sent.
//
// It does no I/O and reads no clock: every function takes the time as an argument. [Next] is the only place that
// assigns a status and [Gate] the only place that allows a send; everything else in the product asks them.
package work
