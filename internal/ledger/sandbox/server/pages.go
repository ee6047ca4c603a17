package server

import "net/http"

func (s *Server) pages(*http.ServeMux) {}
