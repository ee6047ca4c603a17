package erpnexttest

// Invoice is an invoice as people see it.
type Invoice struct {
	Name, Reference, Customer, Total, Posted, Due string
	DocStatus                                     int
}

// Invoices are those of the site in the order in which they were made; deleted ones are left out.
func (s *Site) Invoices() (list []Invoice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.invoices {
		if !v.gone {
			list = append(list, Invoice{v.name, v.fields[s.refField()], v.fields["customer"], v.total, v.fields["posting_date"], v.fields["due_date"], v.docstatus})
		}
	}
	return list
}

// Edit changes the reference of an invoice by hand.
func (s *Site) Edit(name, reference string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.byName(name); v != nil {
		v.fields[s.refField()] = reference
	}
}

// Amend cancels an invoice and makes its successor, as people do: the field that is not copied stays empty.
func (s *Site) Amend(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.byName(name)
	if v == nil {
		return
	}
	v.docstatus = 2
	successor := *v
	successor.name, successor.docstatus, successor.asked, successor.submits = v.name+"-1", 1, "", 0
	successor.fields = map[string]string{}
	for field, text := range v.fields {
		successor.fields[field] = text
	}
	successor.fields[s.refField()] = ""
	s.invoices = append(s.invoices, &successor)
}

// Credit makes a credit note that carries the same reference.
func (s *Site) Credit(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.byName(name); v != nil {
		note := *v
		note.name, note.isReturn, note.asked, note.submits = v.name+"-R", true, "", 0
		s.invoices = append(s.invoices, &note)
	}
}
