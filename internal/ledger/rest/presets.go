package rest

import (
	"embed"
	"slices"
	"strings"
)

// Definitions of systems, as text that an admin can change.
//
//go:embed presets/*.yaml
var presetFiles embed.FS

func presetNames() []string {
	files, err := presetFiles.ReadDir("presets")
	if err != nil {
		return nil
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	return names
}

// preset is the text of a preset; empty if there is none of the name.
func preset(name string) string {
	if !slices.Contains(presetNames(), name) {
		return ""
	}
	text, err := presetFiles.ReadFile("presets/" + name + ".yaml")
	if err != nil {
		return ""
	}
	return string(text)
}
