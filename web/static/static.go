// Package static holds the style sheet, the script and the icon of the pages. They are part of the binary, and their
// addresses contain a hash of their content, so that browsers may keep them for ever.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
)

//go:embed *.css *.js *.svg
var files embed.FS

// File is one embedded file.
type File struct {
	Type   string // its content type
	Body   []byte
	Packed []byte // the body, gzip
}

var (
	byAddress = map[string]File{}
	addresses = map[string]string{}
	types     = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
)

func init() {
	names, err := fs.Glob(files, "*")
	if err != nil {
		panic(err) // cannot happen: the pattern is constant
	}
	for _, name := range names {
		body, err := files.ReadFile(name)
		if err != nil {
			panic(err) // cannot happen: it is embedded
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(name)
		hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		addresses[name] = hashed
		byAddress[hashed] = File{types[ext], body, pack(body)}
	}
}

// pack compresses once, for all time. Pages are not packed: what a stranger types may stand beside a secret on them, and the
// length would tell.
func pack(body []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // cannot happen: a buffer takes everything
	}
	return b.Bytes()
}

// Address returns the hashed name of an embedded file.
func Address(name string) string { return addresses[name] }

// Open returns the file with this hashed name.
func Open(address string) (File, bool) {
	f, ok := byAddress[address]
	return f, ok
}
