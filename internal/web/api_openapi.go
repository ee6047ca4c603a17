package web

import (
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"
)

const openAPIPath = "/api/v1/openapi.yaml"

// openAPIText describes the whole API; api_openapi_test.go holds the routes, the requests and the answers to it.
//
//go:embed openapi.yaml
var openAPIText []byte

// openAPI answers GET /api/v1/openapi.yaml.
func (s *server) openAPI(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "public, max-age=3600")
	return c.Blob(http.StatusOK, "application/yaml", openAPIText)
}
