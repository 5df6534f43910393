/* What merging a file and saving what is whole of a damaged one share. */
#ifndef DB_MERGING_H
#define DB_MERGING_H

#include "db/idmap.h"
#include "db/merge_row.h"
#include "ir/base/buf.h"

/* An environment of theirs. */
struct merging_env {
	const char *hard;
	db_id to; /* DB_NO_ID: it is malformed */
};

/* A subject of theirs that was met lately. */
struct merging_subject {
	db_id from, to;
	struct hash128 hash; /* of its bytes */
	bool is_set;
	bool is_whole; /* is that the hash it is stored with? */
};

struct merging {
	struct costdb *to, *from;
	struct merge_in in;
	struct arena a, turn; /* of the file; of the open transaction */
	struct idmap envs; /* to indexes into env[] */
	struct merging_env *env; /* [nenvs] */
	uint32_t nenvs;
	struct idmap runs, conditions; /* as of this transaction */
	struct merging_subject *subject; /* [nremembered] by id, modulo that */
	uint32_t nremembered;
	struct buf sum;
	bool is_trusted; /* all pages were looked at */
	bool salvages; /* what cannot be read is as if it were not there */
	uint64_t survived; /* faults */
	struct notes *notes;
};

void merging_init(struct merging *m);
void merging_release(struct merging *m);

/* Before any row: their environments. */
bool merging_environments(struct merging *m, struct err *err);

/* Their attempts after ?1 by id, each with its subject; to be finalized. */
bool merging_prepare(struct merging *m, sqlite3_stmt **s, struct err *err);

/* The row that statement stands at, looked at and let in. */
bool merging_attempt(struct merging *m, sqlite3_stmt *s, struct err *err);
db_id merging_id(sqlite3_stmt *s);

/* Models and what else there is. */
bool merging_rest(struct merging *m, struct err *err);

/* A fault of a file that is salvaged ends nothing; the first is told. */
bool merging_survives(struct merging *m, struct err *err);

#endif
