package migrations

import (
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// underTheRule is the first migration that must be tolerated by the version before it: two versions run side by side
// while a new one is rolled out. What is older was never rolled out over another version.
const underTheRule = 18

var (
	comments  = regexp.MustCompile(`(?m)--.*$`)
	statement = regexp.MustCompile(`(?s)[^;]+;`)
	created   = regexp.MustCompile(`(?i)CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)`)
	altered   = regexp.MustCompile(`(?i)ALTER\s+TABLE\s+(?:ONLY\s+)?(\w+)`)
	breaks    = regexp.MustCompile(`(?m)^-- Breaks the previous version: \S`)
	raises    = regexp.MustCompile(`(?i)UPDATE\s+schema_needs\s+SET\s+version\s*=\s*(\d+)`)
	forbidden = []struct {
		pattern *regexp.Regexp
		because string
	}{
		{regexp.MustCompile(`(?i)\bDROP\s+(TABLE|COLUMN|VIEW|FUNCTION|DEFAULT)\b`), "the previous version still uses what is dropped"},
		{regexp.MustCompile(`(?i)\bRENAME\b`), "the previous version knows the old name"},
		{regexp.MustCompile(`(?i)\bALTER\s+(COLUMN\s+)?\w+\s+(SET\s+DATA\s+)?TYPE\b`), "the previous version reads and writes the old type"},
		{regexp.MustCompile(`(?i)\bSET\s+NOT\s+NULL\b`), "the previous version may write NULL"},
		{regexp.MustCompile(`(?i)\bADD\s+(CONSTRAINT|CHECK|UNIQUE|FOREIGN|PRIMARY)\b`), "the previous version may write what a new constraint refuses"},
		{regexp.MustCompile(`(?i)\bCREATE\s+TRIGGER\b`), "a trigger acts on the previous version's writes too"},
	}
	addColumn   = regexp.MustCompile(`(?is)\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?\w+\s+[^,;]*?\bNOT\s+NULL\b[^,;]*`)
	uniqueIndex = regexp.MustCompile(`(?i)CREATE\s+UNIQUE\s+INDEX\s+(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?\w+\s+ON\s+(\w+)`)
	heldUp      = regexp.MustCompile(`(?i)CREATE\s+(?:UNIQUE\s+)?INDEX\s+(?:IF\s+NOT\s+EXISTS\s+)?\w+\s+ON\s+(items|attempts|item_keys|revisions|acts|item_search)\b`)
	hasDefault  = regexp.MustCompile(`(?i)\bDEFAULT\b`)
	onTable     = regexp.MustCompile(`(?i)\bON\s+(\w+)`)
)

// faults are the reasons why the previous version would not tolerate a migration.
func faults(number int, text string) (list []string) {
	up, _, _ := strings.Cut(text, "-- +goose Down")
	if breaks.MatchString(up) {
		if m := raises.FindStringSubmatch(comments.ReplaceAllString(up, "")); m == nil || m[1] != strconv.Itoa(number) {
			return []string{"it breaks the previous version and does not say so in schema_needs"}
		}
		return nil
	}
	up = comments.ReplaceAllString(up, "")
	own := map[string]bool{} // tables that this migration makes: nobody else knows them
	for _, m := range created.FindAllStringSubmatch(up, -1) {
		own[strings.ToLower(m[1])] = true
	}
	for _, s := range statement.FindAllString(up, -1) {
		if m := altered.FindStringSubmatch(s); m != nil && own[strings.ToLower(m[1])] || created.MatchString(s) {
			continue
		}
		if m := uniqueIndex.FindStringSubmatch(s); m != nil && !own[strings.ToLower(m[1])] {
			list = append(list, "the previous version may write what a new unique index refuses: "+strings.TrimSpace(s))
		}
		for _, f := range forbidden {
			if m := onTable.FindStringSubmatch(s); f.pattern.MatchString(s) && (m == nil || !own[strings.ToLower(m[1])]) {
				list = append(list, f.because+": "+strings.TrimSpace(s))
			}
		}
		for _, column := range addColumn.FindAllString(s, -1) {
			if !hasDefault.MatchString(column) {
				list = append(list, "the previous version does not fill in a new column: "+strings.TrimSpace(column))
			}
		}
	}
	return list
}

// While a new version is rolled out, the previous one goes on with the new schema: no migration may take away what it
// uses, or refuse what it writes.
func TestMigrationsAreToleratedByThePreviousVersion(t *testing.T) {
	for _, database := range []string{"postgres", "sqlite"} {
		dir, err := For(database)
		if err != nil {
			t.Fatal(err)
		}
		names, err := fs.Glob(dir, "*.sql")
		if err != nil || len(names) < underTheRule {
			t.Fatalf("%d files, %v", len(names), err)
		}
		for _, name := range names {
			number, err := strconv.Atoi(name[:5])
			if err != nil {
				t.Fatalf("%s has no number", name)
			}
			text, err := fs.ReadFile(dir, name)
			if err != nil {
				t.Fatal(err)
			}
			if number < underTheRule {
				continue
			}
			for _, f := range faults(number, string(text)) {
				t.Errorf("%s/%s: %s", database, name, f)
			}
			if s := heldUp.FindString(comments.ReplaceAllString(string(text), "")); s != "" && database == "postgres" && number > underTheRule {
				t.Errorf("%s/%s: nothing is recorded or claimed while this index is built: %s; write CREATE INDEX CONCURRENTLY", database, name, s)
			}
		}
	}
}

// The check itself: what is wrong on purpose must be found, and what is in order must pass.
func TestTheCheckOfMigrationsSees(t *testing.T) {
	for _, bad := range []string{
		"DROP TABLE acts;", "ALTER TABLE items DROP COLUMN remark;", "ALTER TABLE items RENAME COLUMN remark TO note;", "ALTER TABLE items RENAME TO things;",
		"ALTER TABLE items ALTER COLUMN remark TYPE varchar(10);", "ALTER TABLE items ALTER remark SET NOT NULL;", "ALTER TABLE items ADD COLUMN a text NOT NULL;",
		"ALTER TABLE items ADD COLUMN a text NOT NULL DEFAULT '', ADD COLUMN b text NOT NULL;", "ALTER TABLE items ADD CONSTRAINT c CHECK (sends < 5);",
		"CREATE UNIQUE INDEX one ON items (remark);", "CREATE TRIGGER t BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION f();",
		"ALTER TABLE items ALTER COLUMN remark DROP DEFAULT;", "-- Breaks the previous version: the column is gone.\nALTER TABLE items DROP COLUMN remark;",
		"-- Breaks the previous version: the column is gone.\n-- UPDATE schema_needs SET version = 30;\nALTER TABLE items DROP COLUMN remark;",
	} {
		if len(faults(30, "-- +goose Up\n"+bad+"\n-- +goose Down\n")) == 0 {
			t.Errorf("passes: %s", bad)
		}
	}
	for _, good := range []string{
		"CREATE TABLE n (a text NOT NULL, CONSTRAINT c CHECK (a <> ''));\nCREATE UNIQUE INDEX n_a ON n (a);", "ALTER TABLE items ADD COLUMN a text NOT NULL DEFAULT '';",
		"ALTER TABLE items ADD COLUMN a text;", "CREATE INDEX i ON items (remark);", "-- no DROP TABLE here\nUPDATE items SET remark = '';",
		"-- Breaks the previous version: the column is gone.\nALTER TABLE items DROP COLUMN remark;\nUPDATE schema_needs SET version = 30;",
	} {
		if f := faults(30, "-- +goose Up\n"+good+"\n-- +goose Down\nDROP TABLE n;"); len(f) > 0 {
			t.Errorf("%v", f)
		}
	}
}
