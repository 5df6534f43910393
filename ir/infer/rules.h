/* The rules, one per family of operators; table.c says which operator follows
 * which. Internal to ir/infer. */
#ifndef IR_INFER_RULES_H
#define IR_INFER_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/infer/rule.h"

/* elementwise.c */
bool rule_same(struct site *s);
bool rule_test(struct site *s);
bool rule_broadcast(struct site *s);
bool rule_compare(struct site *s);
bool rule_pow(struct site *s);
bool rule_where(struct site *s);
bool rule_prelu(struct site *s);
bool rule_clip(struct site *s);
bool rule_dropout(struct site *s);
bool rule_cast(struct site *s);
bool rule_castlike(struct site *s);
bool rule_bitcast(struct site *s);
bool rule_like(struct site *s);
bool rule_eyelike(struct site *s);
/* Input i is one element at most (rank 0, or dimensions of 1). */
bool need_max_count(struct site *s, uint32_t i, const char *what);
/* An attribute that holds an element type; `otherwise` when absent. */
bool attr_dtype(
    struct site *s, const char *name, enum dtype otherwise, enum dtype *out);

/* ml.c */
bool rule_ml_classifier(struct site *s);
bool rule_ml_regressor(struct site *s);
bool rule_ml_zipmap(struct site *s);

/* conv.c */
bool rule_conv(struct site *s);
bool rule_convinteger(struct site *s);
bool rule_qlinearconv(struct site *s);
bool rule_convtranspose(struct site *s);
bool rule_deformconv(struct site *s);
bool rule_causalconv(struct site *s);

/* pool.c */
bool rule_pool(struct site *s);
bool rule_maxpool(struct site *s);
bool rule_globalpool(struct site *s);
bool rule_maxunpool(struct site *s);
bool rule_maxroipool(struct site *s);
bool rule_roialign(struct site *s);

/* matmul.c */
bool rule_matmul(struct site *s);
bool rule_matmulinteger(struct site *s);
bool rule_qlinearmatmul(struct site *s);
bool rule_gemm(struct site *s);

/* norm.c */
bool rule_batchnorm(struct site *s);
bool rule_instancenorm(struct site *s);
bool rule_groupnorm(struct site *s);
bool rule_layernorm(struct site *s);
bool rule_rmsnorm(struct site *s);
bool rule_lrn(struct site *s);
bool rule_softmax(struct site *s);
bool rule_axis_same(struct site *s);
bool rule_mvn(struct site *s);

/* reduce.c */
bool rule_reduce(struct site *s);
bool rule_argreduce(struct site *s);
bool rule_cumulate(struct site *s);

/* reshape.c */
bool rule_reshape(struct site *s);
bool rule_flatten(struct site *s);
bool rule_squeeze(struct site *s);
bool rule_unsqueeze(struct site *s);

/* move.c */
bool rule_transpose(struct site *s);
bool rule_concat(struct site *s);
bool rule_split(struct site *s);
bool rule_expand(struct site *s);
bool rule_tile(struct site *s);
bool rule_depthtospace(struct site *s);
bool rule_spacetodepth(struct site *s);
/* Output `out` has the shape that input i holds. */
bool out_from_shape(struct site *s, uint32_t out, enum dtype dtype, uint32_t i);

/* slice.c */
bool rule_slice(struct site *s);
bool rule_pad(struct site *s);
bool rule_centercroppad(struct site *s);

/* gather.c */
bool rule_gather(struct site *s);
bool rule_gatherelements(struct site *s);
bool rule_gathernd(struct site *s);
bool rule_scatterelements(struct site *s);
bool rule_scatternd(struct site *s);

/* make.c */
bool rule_constant(struct site *s);
bool rule_constantofshape(struct site *s);
bool rule_shape(struct site *s);
bool rule_size(struct site *s);
bool rule_range(struct site *s);
bool rule_random(struct site *s);

/* quant.c */
bool rule_quantize(struct site *s);
bool rule_dequantize(struct site *s);
bool rule_dynamicquantize(struct site *s);

/* rnn.c */
bool rule_rnn(struct site *s);
bool rule_gru(struct site *s);
bool rule_lstm(struct site *s);

/* resize.c */
bool rule_resize(struct site *s);
bool rule_upsample(struct site *s);
bool rule_gridsample(struct site *s);
bool rule_affinegrid(struct site *s);

/* select.c */
bool rule_topk(struct site *s);
bool rule_nonzero(struct site *s);
bool rule_onehot(struct site *s);
bool rule_compress(struct site *s);
bool rule_unique(struct site *s);
bool rule_trilu(struct site *s);
bool rule_reversesequence(struct site *s);
bool rule_nonmaxsuppression(struct site *s);
bool rule_multinomial(struct site *s);
bool rule_det(struct site *s);
bool rule_tensorscatter(struct site *s);

/* attention.c */
bool rule_attention(struct site *s);
bool rule_rotaryembedding(struct site *s);
bool rule_linearattention(struct site *s);
bool rule_swiglu(struct site *s);

/* signal.c */
bool rule_dft(struct site *s);
bool rule_stft(struct site *s);
bool rule_window(struct site *s);
bool rule_melweightmatrix(struct site *s);

/* loss.c */
bool rule_loss(struct site *s);

/* sequence.c */
bool rule_sequenceempty(struct site *s);
bool rule_sequenceconstruct(struct site *s);
bool rule_sequenceinsert(struct site *s);
bool rule_sequenceat(struct site *s);
bool rule_sequenceerase(struct site *s);
bool rule_sequencelength(struct site *s);
bool rule_splittosequence(struct site *s);
bool rule_concatfromsequence(struct site *s);
bool rule_optional(struct site *s);
bool rule_optionalgetelement(struct site *s);
bool rule_optionalhaselement(struct site *s);

/* strings.c */
bool rule_regexfullmatch(struct site *s);
bool rule_stringconcat(struct site *s);
bool rule_stringsplit(struct site *s);
bool rule_stringnormalizer(struct site *s);
bool rule_tfidf(struct site *s);
bool rule_imagedecoder(struct site *s);
bool rule_col2im(struct site *s);

/* einsum.c */
bool rule_einsum(struct site *s);

/* control.c, loop.c, scan.c */
bool rule_if(struct site *s);
bool rule_loop(struct site *s);
bool rule_scan(struct site *s);
bool rule_sequencemap(struct site *s);

/* value.c: symbolic content of small integer outputs */
bool value_same(struct site *s);
bool value_cast(struct site *s);
bool value_gather(struct site *s);
bool value_concat(struct site *s);
bool value_slice(struct site *s);
bool value_arithmetic(struct site *s);
bool value_reduce(struct site *s);
bool value_equal(struct site *s);
bool value_where(struct site *s);

#endif
