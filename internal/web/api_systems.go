package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"onefold/internal/work"
)

// apiSystem is an accounting system as the API shows it. Empty fields say that all is well.
type apiSystem struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Works        bool   `json:"works"` // it is sent to: not paused, not stopped, no trouble with the login
	InFlight     int    `json:"in_flight"`
	PausedAt     string `json:"paused_at,omitempty"`
	PauseReason  string `json:"pause_reason,omitempty"`
	LoginProblem string `json:"login_problem,omitempty"`
	StoppedUntil string `json:"stopped_until,omitempty"` // it could not be reached
	LookFirst    string `json:"look_first_since,omitempty"`
}

// apiSystems answers GET /api/v1/systems.
func (s *server) apiSystems(c echo.Context) error {
	states, err := s.systems.List(c.Request().Context(), person(c))
	if err != nil {
		return err
	}
	list := make([]apiSystem, len(states))
	for i, st := range states {
		list[i] = systemToAPI(st.System, st.InFlight)
	}
	return c.JSON(http.StatusOK, map[string][]apiSystem{"systems": list})
}

func systemToAPI(sys work.System, inFlight int) apiSystem {
	return apiSystem{ID: sys.ID, Name: sys.Name, InFlight: inFlight, PausedAt: apiTime(sys.PausedAt), PauseReason: text(sys.PauseReason, 300),
		LoginProblem: text(sys.LoginProblem, 300), StoppedUntil: apiTime(sys.BreakerUntil), LookFirst: apiTime(sys.LookFirst),
		Works: sys.PausedAt.IsZero() && sys.LoginProblem == "" && sys.BreakerUntil.IsZero()}
}
