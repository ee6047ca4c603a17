// Command write puts state-machine.md and state-machine.svg into the folder that is its only argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"onefold/internal/work/statedoc"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: write FOLDER")
		os.Exit(2)
	}
	all := statedoc.Derive()
	for name, text := range map[string]string{"state-machine.md": statedoc.Markdown(all), "state-machine.svg": statedoc.SVG(all)} {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), []byte(text), 0o644); err != nil { //nolint:gosec // docs are for everyone
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
