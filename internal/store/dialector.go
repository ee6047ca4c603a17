package store

import (
	"database/sql"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
)

// sqliteDialector lets gorm speak to SQLite through any driver. It makes no schema: the migrations do. See
// docs/decisions/0005-sqlite-driver.md.
type sqliteDialector struct{ db *sql.DB }

func (d sqliteDialector) Name() string { return "sqlite" }

func (d sqliteDialector) Initialize(db *gorm.DB) error {
	db.ConnPool = d.db
	callbacks.RegisterDefaultCallbacks(db, &callbacks.Config{
		CreateClauses: []string{"INSERT", "VALUES", "ON CONFLICT", "RETURNING"},
		UpdateClauses: []string{"UPDATE", "SET", "FROM", "WHERE", "RETURNING"},
		DeleteClauses: []string{"DELETE", "FROM", "WHERE", "RETURNING"},
	})
	db.ClauseBuilders["FOR"] = func(clause.Clause, clause.Builder) {} // SQLite locks the whole file
	return nil
}

func (d sqliteDialector) BindVarTo(w clause.Writer, _ *gorm.Statement, _ any) {
	_ = w.WriteByte('?')
}

// QuoteTo quotes a column name, or table.column.
func (d sqliteDialector) QuoteTo(w clause.Writer, name string) {
	_ = w.WriteByte('"')
	for _, b := range []byte(name) {
		switch b {
		case '.':
			_, _ = w.WriteString(`"."`)
		case '"':
			_, _ = w.WriteString(`""`)
		default:
			_ = w.WriteByte(b)
		}
	}
	_ = w.WriteByte('"')
}

func (d sqliteDialector) Explain(text string, vars ...any) string {
	return logger.ExplainSQL(text, nil, `'`, vars...)
}

func (d sqliteDialector) DefaultValueOf(*schema.Field) clause.Expression {
	return clause.Expr{SQL: "NULL"}
}

func (d sqliteDialector) DataTypeOf(field *schema.Field) string { return string(field.DataType) }

// Migrator is nil: there is no AutoMigrate here.
func (d sqliteDialector) Migrator(*gorm.DB) gorm.Migrator { return nil }
