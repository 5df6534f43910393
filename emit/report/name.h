/* What the page calls the model and the folder of its result. */
#ifndef EMIT_REPORT_NAME_H
#define EMIT_REPORT_NAME_H

struct page_view;

/* Set v->title ("yolox/model.onnx": the file, and the folder of one whose name
 * says nothing) and v->folder, as commands of the page take it. */
void name_result(struct page_view *v);

#endif
