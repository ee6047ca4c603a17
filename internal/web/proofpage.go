package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"onefold/internal/automation/proof"
	"onefold/internal/work"
	"onefold/web/templates"
)

// proofRoutes are the pages on which admins prove a system.
func (s *server) proofRoutes(r *router) {
	r.page(get, systemsPath+"/:id/proofs", admins, s.proofsPage)
	r.page(post, systemsPath+"/:id/proofs", admins, s.beginProof)
	r.page(get, systemsPath+"/:id/proofs/:proof", admins, s.proofPage)
	r.page(post, systemsPath+"/:id/proofs/:proof/caution", admins, s.adoptProof)
}

func proofsPath(systemID string) string { return systemPath(systemID) + "/proofs" }

func proofPath(r proof.Run) string {
	return proofsPath(r.SystemID) + "/" + strconv.FormatInt(r.ID, 10)
}

func (s *server) proofsPage(c echo.Context) error {
	return s.showProofs(c, http.StatusOK, nil, nil)
}

// showProofs shows the page on which a proof is begun: with what was typed, if it was refused.
func (s *server) showProofs(c echo.Context, status int, typed *proof.Wish, refused *proof.Why) error {
	ctx, by, w := c.Request().Context(), person(c), templates.Proofs
	id := c.Param("id")
	plan, err := s.proofs.Plan(ctx, by, id)
	if err != nil {
		return err
	}
	earlier, err := s.proofs.Earlier(ctx, by, id)
	if err != nil {
		return err
	}
	named := text(plan.System.Name, 80)
	m := templates.ProofNew{Heading: say(w.Title, "name", named), System: named, Back: systemPath(id), Post: proofsPath(id), Books: w.Test, After: w.Stays}
	if m.Shell, _, err = s.shell(c, m.Heading); err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	show := view{s.Zone, now}
	if plan.Removes {
		m.After = w.Removes
	}
	if !plan.TestBooks {
		m.Books = w.Live
	}
	if plan.Refusal != nil {
		m.Refusal = whyText(plan.Refusal)
	}
	if len(earlier) > 0 && !earlier[0].State.Ended() {
		m.Running = proofPath(earlier[0])
	}
	wish := plan.Before
	if typed != nil {
		wish = *typed
	}
	m.Fields = proofFields(plan, wish, refused)
	if refused != nil && refused.Code != proof.WhyCustomer && refused.Code != proof.WhyAmount && refused.Code != proof.WhyConsent && m.Refusal == "" {
		m.Problem = whyText(refused)
	}
	for _, r := range earlier {
		m.Earlier = append(m.Earlier, templates.ProofRow{Href: proofPath(r), At: show.exact(r.At), By: text(orText(r.By.Name, templates.People.Nobody), 60), Badge: proofBadge(r), Books: proofBooks(r)})
	}
	return render(c, status, templates.ProofNewPage(m))
}

func proofFields(plan proof.Plan, wish proof.Wish, refused *proof.Why) []templates.FormField {
	w := templates.Proofs
	wrong := func(code string) string {
		if refused != nil && refused.Code == code {
			return w.Refusal[code]
		}
		return ""
	}
	fields := []templates.FormField{
		{Name: "customer", Label: w.Customer, Help: w.CustomerHelp, Value: text(wish.Customer, 200), Required: true, Problem: wrong(proof.WhyCustomer)},
		{Name: "amount", Label: w.Amount, Value: orText(text(wish.Amount, 30), "1.00"), Required: true, Problem: wrong(proof.WhyAmount)},
		{Name: "currency", Label: w.Currency, Value: text(wish.Currency, 3), Required: true},
	}
	if !plan.TestBooks {
		fields = append(fields, templates.FormField{Name: "consent", Label: say(w.Consent, "name", plan.System.Name), Help: w.ConsentHelp, Value: text(wish.Consent, 100), Required: true, Problem: wrong(proof.WhyConsent)})
	}
	return fields
}

func whyText(why *proof.Why) string {
	return say(templates.Proofs.Refusal[why.Code], "text", strings.TrimSuffix(text(why.Text, 300), "."))
}

func proofBooks(r proof.Run) string {
	if r.Live {
		return templates.Proofs.AtLive
	}
	return templates.Proofs.AtTest
}

func proofBadge(r proof.Run) templates.Badge {
	w, state := templates.Proofs, string(r.State)
	return templates.Badge{Sign: w.Sign[state], Tone: w.Tone[state], Text: w.Badge[state]}
}

func (s *server) beginProof(c echo.Context) error {
	wish := proof.Wish{Customer: c.FormValue("customer"), Amount: c.FormValue("amount"), Currency: c.FormValue("currency"), Consent: c.FormValue("consent")}
	r, err := s.proofs.Begin(c.Request().Context(), person(c), c.Param("id"), wish)
	if why, ok := proof.IsWhy(err); ok {
		return s.showProofs(c, http.StatusUnprocessableEntity, &wish, why)
	}
	if errors.Is(err, proof.ErrRunning) {
		return s.showProofs(c, http.StatusConflict, &wish, &proof.Why{Code: "running"})
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, proofPath(r)+"?did=begun")
}

// proof is the run that the address names.
func (s *server) proof(c echo.Context) (proof.Run, error) {
	id, err := strconv.ParseInt(c.Param("proof"), 10, 64)
	if err != nil {
		return proof.Run{}, echo.ErrNotFound
	}
	r, err := s.proofs.One(c.Request().Context(), person(c), id)
	if errors.Is(err, proof.ErrUnknown) || err == nil && r.SystemID != c.Param("id") {
		return r, echo.ErrNotFound
	}
	return r, err
}

// proofPage shows how far a run is, and then its report.
func (s *server) proofPage(c echo.Context) error {
	ctx, w := c.Request().Context(), templates.Proofs
	r, err := s.proof(c)
	if err != nil {
		return err
	}
	named := text(r.System, 80)
	m := templates.ProofRun{Heading: say(w.RunTitle, "name", named), System: named, Back: proofsPath(r.SystemID), Here: proofPath(r), Version: strconv.FormatInt(r.Version, 10), Open: !r.State.Ended(),
		Badge: proofBadge(r), Result: w.Result[string(r.State)], Books: w.Test}
	if m.Shell, _, err = s.shell(c, m.Heading); err != nil {
		return err
	}
	now, err := s.review.Now(ctx)
	if err != nil {
		return err
	}
	show := view{s.Zone, now}
	m.By = templates.Say(w.By, map[string]any{"at": show.clock(r.At), "who": text(orText(r.By.Name, templates.People.Nobody), 60)})
	if r.Live {
		m.Books = w.Live
	}
	for _, step := range r.Steps {
		m.Steps = append(m.Steps, show.proofStep(step))
	}
	for _, l := range r.Left {
		m.Left = append(m.Left, templates.ProofLeft{ID: text(l.ID, 100), Number: text(orText(l.Number, l.ID), 100), Reference: text(l.Reference, 100), URL: l.URL, Why: text(l.Why, 200)})
	}
	if r.State == proof.Interrupted {
		m.References = r.References
	}
	if r.State.Ended() && r.Offer != (work.Caution{}) {
		m.Offers = ProofOffers(r.Offer)
		if !r.Adopted {
			m.Adopt = proofPath(r) + "/caution"
		}
	}
	switch c.QueryParam("did") {
	case "begun":
		if m.Open {
			m.Notice = &templates.Notice{Good: true, Say: templates.Say(w.Begun, nil)}
		}
	case "adopted":
		m.Notice = &templates.Notice{Good: true, Say: templates.Say(w.Adopted, nil)}
	}
	return render(c, http.StatusOK, templates.ProofRunPage(m))
}

func (v view) proofStep(s proof.Step) templates.ProofStep {
	w, state := templates.Proofs, string(s.State)
	m := templates.ProofStep{Name: w.Steps[s.Name], Badge: templates.Badge{Sign: w.StateSign[state], Tone: w.StateTone[state], Text: w.StateName[state]}, Says: ProofSays(s)}
	if at := s.Ended; !at.IsZero() {
		stamp := v.exact(at)
		m.At = &stamp
	}
	return m
}

func (s *server) adoptProof(c echo.Context) error {
	r, err := s.proof(c)
	if err != nil {
		return err
	}
	err = s.proofs.Adopt(c.Request().Context(), person(c), r.ID)
	if errors.Is(err, proof.ErrRunning) {
		return c.Redirect(http.StatusSeeOther, proofPath(r))
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, proofPath(r)+"?did=adopted")
}
