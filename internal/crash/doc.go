// Package crash holds the crash runs: real servers, a real accounting system and a real database, all as processes of
// their own, killed and frozen at random while work is recorded and faults are on. Afterwards the accounting system's own
// file and the database are compared. It has no code that ships.
//
//	go test ./internal/crash                                    a short run on both databases, and PostgreSQL servers of its own that
//	                                                            are restarted, fail over and have no room; about two minutes
//	go test ./internal/crash -run TestTorture -torture -v       the long run; see the flags -kills, -items and -seed
package crash
