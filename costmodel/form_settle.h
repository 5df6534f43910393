/* Parameters that say one thing together, in several ways: padding by a word,
 * axes left out, sizes or scales. Part of making a form (form.h). */
#ifndef COSTMODEL_FORM_SETTLE_H
#define COSTMODEL_FORM_SETTLE_H

#include "costmodel/form_list.h"

/* All of them for the node's operator; defaults are in the list already. */
void form_settle(struct forming *f);

/* Is a Softmax of before opset 13 over one dimension alone, as later ones are? */
bool form_is_one_axis(const struct forming *f);

#endif
