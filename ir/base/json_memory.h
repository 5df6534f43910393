/* Memory of JSON documents that are read: one piece for each, which goes as one. A tree
 * has an allocation for each value and each text; getting and freeing them one by one
 * took as long as reading them. */
#ifndef IR_BASE_JSON_MEMORY_H
#define IR_BASE_JSON_MEMORY_H

#include <stdbool.h>

struct cJSON;

/* From here to the end what cJSON allocates on this thread belongs to one document, whose
 * root is the first of it; all of it goes at the end unless it is to be kept. */
void json_memory_begin(void);
void json_memory_end(bool keep);

/* Give a document back; NULL is none. */
void json_memory_free(struct cJSON *root);

#endif
