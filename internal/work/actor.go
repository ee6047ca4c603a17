package work

import "slices"

// Role is a set of rights. A person may hold several.
type Role string

const (
	Viewer   Role = "viewer"   // reads
	Operator Role = "operator" // checks, resolves, retries, closes: finance and support
	Ops      Role = "ops"      // reads attempts, pauses and resumes systems
	Admin    Role = "admin"    // policies, systems, people, tokens
)

// ActorKind says what kind of actor did something.
type ActorKind string

const (
	Person     ActorKind = "person"     // signed in on the pages
	Token      ActorKind = "token"      // an API token
	Automation ActorKind = "automation" // the engine or a planned run
	Console    ActorKind = "console"    // a sub-command on the server itself
)

// Actor is who does something. The zero Actor has no rights.
type Actor struct {
	Kind  ActorKind
	ID    string // stable, unique within Kind
	Name  string // as shown to colleagues
	Roles []Role
}

// Can reports whether the actor holds at least one of the roles.
func (a Actor) Can(roles ...Role) bool {
	return slices.ContainsFunc(roles, func(r Role) bool { return slices.Contains(a.Roles, r) })
}

// Same reports whether both are one and the same actor.
func (a Actor) Same(b Actor) bool { return a.Kind == b.Kind && a.ID == b.ID }

// Label is the short text under which the actor is recorded, for example "person:7 Ada Brown".
func (a Actor) Label() string {
	if a.Kind == "" {
		return ""
	}
	return string(a.Kind) + ":" + a.ID + " " + a.Name
}
