/* What the files of `marq db` share. */
#ifndef CLI_DB_H
#define CLI_DB_H

#include "cli/cli.h"
#include "db/admin.h"

struct db_args {
	struct cli *cli;
	const char *verb; /* "stat", "merge", ... */
	const char *db; /* the database */
	struct db_where where; /* --fact, --outcome, --before, --subject */
	uint32_t keep; /* --keep */
	bool retired; /* --retired: list those too */
	bool really; /* --really: do what is otherwise only counted */
	bool lines; /* --jsonl */
	const char *arg[64]; /* [nargs] after the verb */
	uint32_t nargs;
	struct notes notes;
};

typedef bool db_verb(struct db_args *d, struct err *err);

db_verb db_stat_verb, db_envs_verb, db_list_verb, db_show_verb;
db_verb db_merge_verb, db_export_verb, db_import_verb, db_gc_verb;
db_verb db_verify_verb, db_invalidate_verb, db_migrate_verb, db_backup_verb;
db_verb db_repair_verb;

/* `marq db canary MODEL -t TARGET...` has the options of a search. */
cli_command db_canary;

#endif
