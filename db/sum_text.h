/* The SQL of checksums (db/sum.h). Rows that another program changes lose
 * theirs, by triggers that we ourselves never run. */
#ifndef DB_SUM_TEXT_H
#define DB_SUM_TEXT_H

/* Of a row m with its subject s and environment e. */
#define SUM_OF_ROW \
	"attempt_sum(m.uuid,s.hash,e.hard,m.outcome,m.n,m.low_ns,m.median_ns," \
	"m.high_ns,m.min_ns,m.max_error,m.span_ns,m.limit_ns,m.detail,m.at_utc," \
	"m.retired)"

/* Attempts whose checksum is another; those that have none are believed. */
#define DAMAGED_ROWS \
	" FROM measurement m NOT INDEXED LEFT JOIN subject s USING(subject_id)" \
	" LEFT JOIN environment e USING(env_id)" \
	" WHERE m.sum IS NOT NULL AND (m.sum IS NOT " SUM_OF_ROW \
	" OR s.hash IS NOT bytes_hash(s.bytes))"

#define TRIGGER_ON_ATTEMPT \
	"CREATE TRIGGER measurement_changed AFTER UPDATE ON measurement" \
	" WHEN NEW.sum IS OLD.sum BEGIN UPDATE measurement SET sum=NULL" \
	" WHERE measurement_id=NEW.measurement_id; END"
#define TRIGGER_ON_ENVIRONMENT \
	"CREATE TRIGGER environment_changed AFTER UPDATE OF hard ON environment" \
	" BEGIN UPDATE measurement SET sum=NULL WHERE env_id=NEW.env_id; END"
#define TRIGGER_ON_SUBJECT \
	"CREATE TRIGGER subject_changed AFTER UPDATE OF hash,bytes ON subject" \
	" BEGIN UPDATE measurement SET sum=NULL" \
	" WHERE subject_id=NEW.subject_id; END"

#endif
