/* What is found out by reading all bytes of a model, which the database remembers as
 * long as its files stay what they were. */
#ifndef COSTMODEL_MODEL_MEMORY_H
#define COSTMODEL_MODEL_MEMORY_H

#include "costmodel/pricer.h"
#include "ir/model.h"

/* model_hash(), or what it was. */
struct hash128 model_known_hash(struct pricer *p, const struct model *m);

/* How large the numbers in weights are, which their file tells only when it is read
 * (targets/magnitude.h): as found when a model of these files was last kept. */
void model_recall(struct costdb *db, struct model *m, struct arena *a);
void model_keep(struct pricer *p, const struct model *m, struct arena *a);

/* The same as words; what is not understood is passed over. */
const char *magnitudes_print(const struct model *m, struct arena *a);
void magnitudes_read(struct model *m, const char *text, struct arena *a);

/* A hash of which files it is read from, and of when they are. False: one of them
 * could be written again without anything to tell it by, so nothing is remembered
 * of it. `now_ns` is since 1970. */
bool model_identity(
    const struct model *m, int64_t now_ns, struct hash128 *identity);

#endif
