/* Models in folders as ONNX's own are: NAME/model.onnx, perhaps with test data. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include "ir/model.h"

/* Input i of the test data of a folder; false: there is none. */
bool folder_input(struct tensor *out, const char *folder, const struct graph *g,
    uint32_t i, struct arena *a);

/* Its model with the shapes of the data, normalised. */
bool folder_model(
    struct model *out, const char *folder, struct arena *a, struct err *err);

/* check() of each folder in argv[1..argc) that `count` counts; how many are not
 * right. */
uint32_t folders_each(int argc, char **argv,
    bool (*check)(const char *folder, const char *name), uint32_t *count);

#endif
