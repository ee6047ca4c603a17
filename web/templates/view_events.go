package templates

// Events is the page of who may send events and who is told outcomes.
type Events struct {
	Shell
	Secret     *NewSecret
	Senders    []SenderRow
	Notices    []SenderRow // accounting systems that send notices
	Endpoints  []EndpointRow
	Systems    []Choice
	Silent     []Choice // accounting systems that do not send notices
	Automation string   // unless another is given
	Sender     SenderForm
	Endpoint   EndpointForm
}

// SenderRow is one sender.
type SenderRow struct {
	Name, Address, System, Automation, By, Path string
	Two                                         bool // the secret before the last one counts too
	Changed                                     Stamp
}

// EndpointRow is where outcomes go.
type EndpointRow struct {
	Name, Address, Automation, By, Path string
	Changed                             Stamp
}

// SenderForm is the form of a new sender as it was filled in.
type SenderForm struct {
	Name, ID, System, Automation string
	Problem                      map[string]string // by field; nil: none
}

// EndpointForm is the form of a new endpoint as it was filled in.
type EndpointForm struct {
	Name, Address, Automation string
	Problem                   map[string]string // by field; nil: none
}

// EventLog is the page of what was told and what was received.
type EventLog struct {
	Shell
	Failed   bool // only what could not be delivered
	Sent     []OutcomeRow
	Received []EventRow
}

// OutcomeRow is one message to an endpoint.
type OutcomeRow struct {
	Key, Step, Href, Told, To, Address, Error string
	Badge                                     Badge
	Also                                      Sentence
	At                                        Stamp
	Again                                     string // address of the button; empty: none
}

// EventRow is one event received.
type EventRow struct {
	Subject, Href, Type, From, ID, Detail string
	Badge                                 Badge
	Times                                 Sentence
	At                                    Stamp
}
