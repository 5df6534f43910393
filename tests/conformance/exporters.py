#!/usr/bin/env python3
"""exporters.py MARQ [NAME-PART]: small models as exporters write them, run by
ONNX Runtime without optimisations and by `marq run` in every mix of targets."""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper, parser

marq, part = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
MIXES = ["host"], ["dnnl", "host"], ["dnnl", "xnnpack", "blas", "host"], ["mrvl", "dnnl", "host"]
rng = np.random.default_rng(3)
CASES = []


def real(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def f32(x):
    return np.array(x, np.float32)


def i64(x):
    return np.array(x, np.int64)


def case(name, signature, body, fed, held=(), opset=17, ml=3, want=None):
    """The model in ONNX's text form; fed: its inputs by name; held: initialisers;
    want: its outputs, where not ONNX Runtime's are."""
    CASES.append((name, signature, body, fed, dict(held), opset, ml, want))


def shapes_from_data():
    """What comes out is as large as the data say: detection heads, boolean
    indices, beams, tokens."""
    x = real(4, 6)
    mask = "z = Constant<value_float = 0.0>() p = Greater(x, z)"
    case("nonzero", "(float[4,6] x) => (int64[2,n] y)", "y = NonZero(x)", dict(x=np.where(x > 0, x, f32(0))))
    case("boolean_index", "(float[4,6] x) => (float[n] y)", f"{mask} i = NonZero(p) t = Transpose(i) y = GatherND(x, t)",
         dict(x=x))
    case("boolean_index_rows", "(float[4,6] x, bool[4] k) => (float[n,3] y)", """i = NonZero(k) t = Transpose(i)
         g = GatherND(x, t) y = MatMul(g, w)""", dict(x=x, k=np.array([1, 0, 1, 1], bool)), dict(w=real(6, 3)))
    case("masked_assign", "(float[4,6] x) => (float[4,6] y)", f"""{mask} i = NonZero(p) t = Transpose(i) s = Shape(t)
         u = Slice(s, zero, one) v = Expand(seven, u) y = ScatterND(x, t, v)""", dict(x=x),
         dict(zero=i64([0]), one=i64([1]), seven=f32([7])))
    case("compress", "(float[4,6] x, bool[6] k) => (float[4,n] y, float[m] z)",
         "y = Compress<axis = 1>(x, k) z = Compress(x, k)", dict(x=x, k=np.array([0, 1, 1, 0, 0, 1], bool)))
    case("unique", "(int64[8] x) => (int64[n] y, int64[n] i, int64[8] v, int64[n] c)", "y, i, v, c = Unique(x)",
         dict(x=i64([3, 1, 3, 2, 1, 9, 9, 9])))
    case("unique_rows", "(float[4,2] x) => (float[n,2] y)", "y = Unique<axis = 0>(x)",
         dict(x=f32([[1, 2], [0, 1], [1, 2], [0, 1]])))
    case("range_of_data", "(int64[3] n) => (int64[k] y)", """m = ReduceMax<keepdims = 0>(n) y = Range(zero, m, one)""",
         dict(n=i64([2, 5, 3])), dict(zero=i64(0), one=i64(1)))
    case("lengths_to_mask", "(int64[3] n) => (bool[3,k] y)", """m = ReduceMax<keepdims = 0>(n) r = Range(zero, m, one)
         u = Unsqueeze(n, axis) y = Less(r, u)""", dict(n=i64([2, 5, 3])), dict(zero=i64(0), one=i64(1), axis=i64([1])))
    case("constant_of_data", "(int64[2] s) => (float[a,b] y)",
         "y = ConstantOfShape<value = float[1] {2.5}>(s)", dict(s=i64([3, 2])))
    case("expand_to_data", "(float[1,3] x, int64[2] s) => (float[a,b] y)", "y = Expand(x, s)",
         dict(x=real(1, 3), s=i64([4, 3])))
    case("tile_by_data", "(float[2,3] x, int64[2] s) => (float[a,b] y)", "y = Tile(x, s)",
         dict(x=real(2, 3), s=i64([2, 3])))
    case("reshape_to_data", "(float[4,6] x, int64[2] s) => (float[a,b] y)", "r = Reshape(x, s) y = Softmax<axis = 1>(r)",
         dict(x=x, s=i64([3, -1])))
    case("slice_to_data", "(float[4,6] x, int64[1] e) => (float[4,k] y, float[4,1] z)",
         "y = Slice(x, zero, e, one) z = ReduceSum(y, one)", dict(x=x, e=i64([4])), dict(zero=i64([0]), one=i64([1])))
    case("one_hot_depth", "(int64[4] x, int64 d) => (float[4,k] y)", "y = OneHot(x, d, v)",
         dict(x=i64([1, 0, 3, 2]), d=i64(5)), dict(v=f32([0, 1])))
    case("pad_by_data", "(float[4,6] x, int64[4] p) => (float[a,b] y)", "y = Pad(x, p)",
         dict(x=x, p=i64([1, 0, 2, 1])))
    case("resize_to_data", "(float[1,1,4,6] x, int64[4] s) => (float[1,1,a,b] y)",
         'y = Resize<mode = "linear", coordinate_transformation_mode = "half_pixel">(x, "", "", s)'.replace('""', ""),
         dict(x=real(1, 1, 4, 6), s=i64([1, 1, 7, 3])))
    case("top_k_of_data", "(float[4,6] x, int64[1] k) => (float[4,k] v, int64[4,k] i)", "v, i = TopK(x, k)",
         dict(x=x, k=i64([2])))
    boxes = np.concatenate([c := np.abs(real(1, 8, 2)), c + 1], 2)
    nms = dict(most=i64([3]), iou=f32([0.5]), least=f32([0.1]))
    head = "s = NonMaxSuppression(b, p, most, iou, least)"
    fed = dict(b=boxes, p=np.abs(real(1, 2, 8)))
    case("detections", "(float[1,8,4] b, float[1,2,8] p) => (int64[n,3] s)", head, fed, nms)
    case("detections_gathered", "(float[1,8,4] b, float[1,2,8] p) => (float[n,4] y, float[n] q)", f"""{head}
         i = Gather<axis = 1>(s, two) f = Squeeze(b, zero) y = Gather(f, i) q = GatherND(p, s)""", fed,
         nms | dict(two=i64(2), zero=i64([0])))
    case("detections_best", "(float[1,8,4] b, float[1,2,8] p) => (float[k,4] y)", f"""{head}
         i = Gather<axis = 1>(s, two) q = GatherND(p, s) n = Shape(i) k = Min(n, five) v, j = TopK<axis = 0>(q, k)
         g = Gather(i, j) f = Squeeze(b, zero) y = Gather(f, g)""", fed,
         nms | dict(two=i64(2), zero=i64([0]), five=i64([5])))
    case("rois_classified", "(float[1,8,4] b, float[1,2,8] p, float[1,3,8,8] x) => (float[n,5] y)", f"""{head}
         i = Gather<axis = 1>(s, two) f = Squeeze(b, zero) r = Gather(f, i) m = Shape(i) z = ConstantOfShape<value = int64[1] {{0}}>(m)
         a = RoiAlign<output_height = 4, output_width = 4, spatial_scale = 2.0>(x, r, z) c = Conv<pads = [1,1,1,1]>(a, w)
         d = Relu(c) g = GlobalAveragePool(d) h = Flatten(g) y = Gemm<transB = 1>(h, u)""", fed | dict(x=real(1, 3, 8, 8)),
         nms | dict(two=i64(2), zero=i64([0]), w=real(6, 3, 3, 3), u=real(5, 6)))
    case("then_static_again", "(float[4,6] x) => (float[1,3] y)", f"""{mask} i = NonZero(p) t = Transpose(i)
         g = GatherND(x, t) v, j = TopK(g, three) r = Reshape(v, shape) y = MatMul(r, w)""", dict(x=x),
         dict(three=i64([3]), shape=i64([1, 3]), w=real(3, 3)))
    case("while", "(float[2,2] x, int64 n) => (float[2,2] y, float[k,2,2] ys)", """c = Constant<value = bool {1}>()
         y, ys = Loop<body = b (int64 i, bool ci, float[2,2] a) => (bool co, float[2,2] ao, float[2,2] s)
         {ao = MatMul(a, w) s = Tanh(ao) q = ReduceMax<keepdims = 0>(s) h = Constant<value_float = 0.9>() co = Less(q, h)}>(n, c, x)""",
         dict(x=f32([[0.1, 0], [0, 0.1]]), n=i64(9)), dict(w=f32([[1.5, 0.1], [0.2, 1.4]])))
    case("branches_of_two_shapes", "(float[4,6] x) => (float[n,6] y)", """s = ReduceSum<keepdims = 0>(x) z = Constant<value_float = 0.0>()
         c = Greater(s, z) y = If<then_branch = t () => (float[2,6] a) {st = Constant<value_ints = [0]>() e = Constant<value_ints = [2]>()
         a = Slice(x, st, e)}, else_branch = f () => (float[4,6] b) {b = Neg(x)}>(c)""", dict(x=x))
    # for x of one row the branch not taken breaks a rule, but only then
    case("branch_not_of_this_size", "(float[a,b] x, bool c) => (float[u,v] y)", """s = Shape(x) d = Gather(s, zero) p = Equal(d, one)
         r = Relu(x) y = If<then_branch = t () => (float[h,i] m) {m = Neg(r)}, else_branch = f () => (float[j,k] n) {
         q = If<then_branch = t2 () => (float[l] e) {e = Squeeze(r, axis)}, else_branch = f2 () => (float[o,w] g) {g = Abs(r)}>(p)
         n = Transpose<perm = [1, 0]>(q)}>(c)""", dict(x=real(1, 6), c=np.array(True)), dict(zero=i64(0), one=i64(1), axis=i64([0])))
    case("grown_in_a_loop", "(float[1,3] x, int64 n) => (float[k,3] y)", """c = Constant<value = bool {1}>() y = Loop<body =
         b (int64 i, bool ci, float[m,3] a) => (bool co, float[l,3] ao) {co = Identity(ci) ao = Concat<axis = 0>(a, x)}>(n, c, x)""",
         dict(x=real(1, 3), n=i64(3)))
    case("empty", "(float[4,6] x) => (int64[2,n] y, float[n] g)",
         "y = NonZero(x) t = Transpose(y) g = GatherND(x, t)", dict(x=np.zeros((4, 6), np.float32)))


def sequences():
    x = real(6, 4)
    case("split_and_join", "(float[6,4] x) => (float[n,4] y)", """q = SplitToSequence<axis = 0>(x, s) a = SequenceAt(q, one)
         b = SequenceAt(q, zero) r = SequenceConstruct(b, a) t = SequenceInsert(r, a) y = ConcatFromSequence<axis = 0>(t)""",
         dict(x=x), dict(s=i64([2, 4]), one=i64(1), zero=i64(0)))
    case("sequence_out", "(float[6,4] x) => (seq(float[a,4]) y, int64 n)",
         "y = SplitToSequence<axis = 0>(x, s) n = SequenceLength(y)", dict(x=x), dict(s=i64([1, 2, 3])))
    case("sequence_erased", "(float[6,4] x) => (float[6,3] y)", """q = SplitToSequence<axis = 1, keepdims = 0>(x)
         r = SequenceErase(q, one) y = ConcatFromSequence<axis = 1, new_axis = 1>(r)""", dict(x=x), dict(one=i64(1)))
    case("sequence_in_a_loop", "(float[6,4] x, int64 n) => (float[n,4] y)", """e = SequenceEmpty() c = Constant<value = bool {1}>()
         q = Loop<body = b (int64 i, bool ci, seq(float[a,4]) p) => (bool co, seq(float[c,4]) r) {co = Identity(ci)
         g = Gather(x, i) u = Unsqueeze(g, zero) r = SequenceInsert(p, u)}>(n, c, e) y = ConcatFromSequence<axis = 0>(q)""",
         dict(x=x, n=i64(4)), dict(zero=i64([0])))
    case("sequence_computed_on", "(float[6,4] x) => (float[2,5] y)", """q = SplitToSequence<axis = 0>(x, s) a = SequenceAt(q, one)
         y = MatMul(a, w)""", dict(x=x), dict(s=i64([4, 2]), one=i64(1), w=real(4, 5)))
    case("sequence_in", "(seq(float[a,4]) x) => (float[n,4] y)", "y = ConcatFromSequence<axis = 0>(x)",
         dict(x=[real(2, 4), real(3, 4)]))
    case("optional", "(float[6,4] x) => (float[6,4] y, bool h)", """o = Optional(x) h = OptionalHasElement(o)
         g = OptionalGetElement(o) y = Relu(g)""", dict(x=x), opset=18)


def pipelines():
    """scikit-learn's: scores of a classifier as maps, strings as labels."""
    x = real(5, 3)
    linear = 'coefficients = [1.0, 2.0, -1.0, 0.5, 0.1, 0.3], intercepts = [0.1, -0.2], post_transform = "SOFTMAX"'
    case("zipmap", "(float[5,3] x) => (int64[5] l, seq(map(int64, float)) z)", f"""l, p =
         ai.onnx.ml.LinearClassifier<classlabels_ints = [3, 7], {linear}>(x) n = ai.onnx.ml.Normalizer<norm = "L1">(p)
         z = ai.onnx.ml.ZipMap<classlabels_int64s = [3, 7]>(n)""", dict(x=x))
    case("categories", "(string[4,1] s, float[4,2] x) => (float[4,5] y)", """e = ai.onnx.ml.OneHotEncoder<cats_strings = ["a", "b", "c"]>(s)
         f = Reshape(e, t) y = Concat<axis = 1>(f, x)""", dict(s=np.array([["a"], ["c"], ["z"], ["b"]], object), x=real(4, 2)),
         dict(t=i64([-1, 3])))
    case("labels_decoded", "(float[4,3] x) => (string[4] y)", """a = ArgMax<axis = 1, keepdims = 0>(x)
         y = ai.onnx.ml.LabelEncoder<keys_int64s = [0, 1, 2], values_strings = ["red", "green", "blue"]>(a)""",
         dict(x=real(4, 3)))


def texts():
    """Strings that operators make, moved, kept in loops and counted."""
    fed = dict(s=np.array([["Ab", "cd"], ["eF", "ab"]], object))
    case("texts_counted", "(string[2,2] s) => (string[4] t, float[3] y)", """j = StringConcat(s, e) f = Reshape(j, shape)
         u = Gather(f, turn) t = StringNormalizer<case_change_action = "LOWER", locale = "C.UTF-8">(u) y = TfIdfVectorizer<mode = "TF", min_gram_length = 1,
         max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], ngram_indexes = [0, 1, 2], pool_strings = ["ab!", "cd!", "x"]>(t)""",
         fed, dict(e=np.array(["!"], object), shape=i64([4]), turn=i64([3, 2, 1, 0])), opset=20)
    case("texts_split", "(string[2,2] s) => (string[a,b,c] p, int64[2,2] n, string[2,k] g)", """j = StringConcat(s, e)
         p, n = StringSplit<delimiter = " ">(j) q = Gather<axis = 2>(p, zero) g = Concat<axis = 1>(q, s)""", fed,
         dict(e=np.array([" of two"], object), zero=i64(0)), opset=20)
    case("texts_in_a_loop", "(string[2,2] s, int64 n) => (string[2,2] y, string[k,2,2] ys)", """c = Constant<value = bool {1}>()
         y, ys = Loop<body = b (int64 i, bool ci, string[2,2] a) => (bool co, string[2,2] ao, string[2,2] z)
         {co = Identity(ci) ao = StringConcat(a, e) z = StringConcat(e, ao)}>(n, c, s)""", dict(fed, n=i64(3)),
         dict(e=np.array(["+"], object)), opset=20)
    case("texts_of_a_branch", "(string[2,2] s, bool c) => (string[2,2] y)", """y = If<then_branch = t () => (string[2,2] a)
         {a = StringConcat(s, s)}, else_branch = f () => (string[2,2] b) {b = Identity(s)}>(c)""", dict(fed, c=np.array(True)), opset=20)
    case("texts_in_a_sequence", "(string[2,2] s) => (string[2,4] y)", """j = StringConcat(s, e) q = SequenceConstruct(s, j)
         r = SequenceInsert(q, j, zero) a = SequenceErase(r, zero) y = ConcatFromSequence<axis = 1>(a)""", fed,
         dict(e=np.array(["!"], object), zero=i64(0)), opset=20)


def unstated():
    """What ONNX Runtime's optimiser saves: fused operators, and no shapes of what is between them."""
    x = real(2, 4, 6)
    case("unstated_product", "(float[b,4,6] x) => (float[b,4,4] y)", """t = Transpose<perm = [0, 1, 2]>(x) n = Shape(w) c = Slice(n, zero, one)
         u = Slice(w, zero, c) y = com.microsoft.FusedMatMul<transB = 1, alpha = 0.5>(t, u)""", dict(x=x),
         dict(w=real(4, 6), zero=i64([0]), one=i64([1])))
    case("unstated_mask", "(float[b,4,16] x, int64[b,4,4] m) => (float[b,4,16] y)", """r = Relu(x) k = Cast<to = 6>(m)
         y = com.microsoft.MultiHeadAttention<num_heads = 2>(r, r, r, "", k)""".replace('""', ""), dict(x=real(2, 4, 16),
         m=i64([[[1, 1, 1, 0]] * 4, [[1, 1, 0, 0]] * 4])))
    case("unstated_rotation", "(float[b,4,16] x, int64[b,4] p) => (float[b,4,16] y)", """r = Relu(x) q = Add(p, p) k = Slice(c, zero, end)
         y = com.microsoft.RotaryEmbedding(r, q, k, k)""", dict(x=real(2, 4, 16), p=i64([[0, 1, 2, 3]] * 2)),
         dict(c=real(12, 8), zero=i64([0]), end=i64([9])))
    case("unstated_pool", "(float[b,4,4,6] x) => (float[b,2,2,6] y)", """q = QuantizeLinear(x, s, z) p = com.microsoft.QLinearAveragePool<
         kernel_shape = [2, 2], strides = [2, 2], channels_last = 1>(q, s, z, s, z) m = com.microsoft.NhwcMaxPool<kernel_shape = [1, 1]>(p)
         y = DequantizeLinear(m, s, z)""", dict(x=real(2, 4, 4, 6)), dict(s=f32(.02), z=np.array(128, np.uint8)))
    case("unstated_twice", "(float[b,4,6] x) => (float[b,n,4] y)", """a = Relu(x) f = com.microsoft.FusedMatMul<transB = 1>(a, w)
         g = com.microsoft.Gelu(f) h = Slice(f, zero, end, one) y = com.microsoft.FusedMatMul<transA = 1>(g, h)""", dict(x=x),
         dict(w=real(4, 6), zero=i64([0]), end=i64([4]), one=i64([1])))


def sampled():
    """Between pixels and beyond the image."""
    fed = dict(x=real(1, 2, 5, 6), g=real(1, 4, 7, 2) * f32(0.9))
    for mode in "linear", "nearest", "cubic":
        for pad in "zeros", "border", "reflection":
            for align in 0, 1:
                case(f"sampled_{mode}_{pad}_{align}", "(float[1,2,5,6] x, float[1,4,7,2] g) => (float[1,2,4,7] y)",
                     f'y = GridSample<mode = "{mode}", padding_mode = "{pad}", align_corners = {align}>(x, g)', fed, opset=20)


def resized():
    """A scale that is no whole part of a float makes 7 of 10, as TensorFlow's exporter counts on."""
    for scale in 0.7, 0.3, 1.1, 1.7, 2.3:
        size = int(np.float32(10) * np.float32(scale))
        case(f"resized_{int(scale * 10)}", f"(float[1,1,10,10] x) => (float[1,1,{size},10] y)", 'y = Resize<mode = "linear">(x, "", s)'.replace('""', ""),
             dict(x=real(1, 1, 10, 10)), dict(s=f32([1, 1, scale, 1])))


def branches():
    """An output stated as the exporter guessed it, behind a branch."""
    case("stated_of_a_branch", "(float[4,6] x) => (float[24] z)", """s = Shape(x) n = Size(s) o = Constant<value = int64 {0}>()
         c = Equal(n, o) y = If<then_branch = t () => (float[24] a) {s1 = Constant<value_ints = [-1]>() a = Reshape(x, s1)}, else_branch =
         f () => (float[24] b) {b = Identity(x)}>(c) z = Relu(y)""", dict(x=real(4, 6)))


def drawn():
    """Random numbers, of which every runtime draws its own: type and shape are compared."""
    x = real(2, 6)
    case("noise", "(float[2,6] x) => (float[2,6] y, float[2,6] z)", """n = RandomNormalLike(x) a = Add(x, n) b = Relu(a)
         y = MatMul(b, w) z = MatMul(x, w)""", dict(x=x), dict(w=real(6, 6)))
    case("noise_of_its_own", "(float[2,6] x) => (float[2,6] y)", """n = RandomNormal<shape = [2,6], seed = 3.0>() u = RandomUniform<
         shape = [6], low = -1.0>() a = Mul(x, n) y = Add(a, u)""", dict(x=x))
    case("noise_in_a_loop", "(float[2,6] x, int64 n) => (float[2,6] y)", """c = Constant<value = bool {1}>() y = Loop<body = b (int64 i,
         bool ci, float[2,6] a) => (bool co, float[2,6] ao) {co = Identity(ci) r = RandomUniformLike(a) ao = Add(a, r)}>(n, c, x)""",
         dict(x=x, n=i64(3)))
    case("token_drawn", "(float[2,6] x) => (int64[2,1] y, bool[2,6] k)", """y = Multinomial<dtype = 7>(x) p = Sigmoid(x)
         k = Bernoulli<dtype = 9>(p)""", dict(x=x))


def newest():
    """What the newest opsets added, against numpy: ONNX Runtime lacks it."""
    q, k = real(1, 2, 3, 4), real(1, 2, 5, 4)
    score = np.einsum("bhik,bhjk->bhij", q, k) / 2
    place = np.arange(5)[None] - np.arange(3)[:, None]
    for left, right in (1, -1), (-1, 0), (1, 1), (0, 2):
        seen = ((left < 0) | (place >= -left)) & ((right < 0) | (place <= right))
        p = np.where(seen, np.exp(score), 0)
        y = np.einsum("bhij,bhjk->bhik", p / p.sum(-1, keepdims=True), k)
        case(f"window_{left + 1}_{right + 1}", "(float[1,2,3,4] q, float[1,2,5,4] k) => (float[1,2,3,4] y)",
             f"y = Attention<left_window_size = {left}, right_window_size = {right}>(q, k, k)", dict(q=q, k=k), opset=25,
             want=[y.astype(np.float32)])
    x = real(1, 3, 4, 6)
    blocks = x.reshape(1, 3, 2, 2, 3, 2)
    for mode, order in ("DCR", (0, 3, 5, 1, 2, 4)), ("CRD", (0, 1, 3, 5, 2, 4)):
        case(f"space_to_depth_{mode}", "(float[1,3,4,6] x) => (float[1,12,2,3] y)",
             f'y = SpaceToDepth<blocksize = 2, mode = "{mode}">(x)', dict(x=x), opset=28,
             want=[blocks.transpose(order).reshape(1, 12, 2, 3)])


def graph_of(name, signature, body, held):
    graph = parser.parse_graph(f"{name} {signature} {{{body}}}")
    graph.initializer.extend(numpy_helper.from_array(v, k) for k, v in held.items())
    return graph


def proto(value, name):
    if isinstance(value, list):
        return numpy_helper.from_list([{k: np.float32(x) for k, x in v.items()} if isinstance(v, dict) else np.asarray(v)
                                       for v in value], name)
    return numpy_helper.from_array(np.asarray(value), name)


def session(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def write(folder, name, signature, body, fed, held, opset, ml, want):
    model = helper.make_model(graph_of(name, signature, body, held), ir_version=8, opset_imports=[
        helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("ai.onnx.ml", ml)])
    path = f"{folder}/model.onnx"
    onnx.save(model, path)
    if want is None:
        want = session(path).run(None, fed)
    given = [fed[i.name] for i in model.graph.input]
    for kind, values in ("input", given), ("output", want):
        for i, value in enumerate(values):
            with open(f"{folder}/{kind}_{i}.pb", "wb") as file:
                file.write(proto(value, f"{kind}{i}").SerializeToString())


def run(folder, mix):
    targets = [word for target in mix for word in ("-t", target)]
    done = subprocess.run([marq, "run", f"{folder}/model.onnx", *targets, "--data", folder, "--no-measure", "--db",
                           "none", "--runs", "1", "--format", "json"], capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 1) or not done.stdout.startswith("{"):
        return f"status {done.returncode}: " + (done.stderr.strip().splitlines()[-1:] or [""])[0][-200:]
    for check in json.loads(done.stdout)["checks"]:
        error, span = check["max_error"], check["range"]
        if not check["matches"] and not 0 < error <= 1e-5 + 2e-4 * span:
            return f"{check['output']} differs from the {check['against']} by {error} of {span}"
    return ""


def run_written(folder, fed):
    """ONNX Runtime takes partitioned.onnx, with the sizes bound that were fed."""
    shapes = [w for k, v in fed.items() if getattr(v, "ndim", 0) for w in ("--shape", f"{k}={'x'.join(map(str, v.shape))}")]
    done = subprocess.run([marq, "search", f"{folder}/model.onnx", "-t", "dnnl", "-t", "host", "--no-measure", "--db", "none",
                           "--search", "eager", "-o", f"{folder}/out", *shapes], capture_output=True, text=True, timeout=600)
    if done.returncode:
        return f"status {done.returncode}: " + done.stderr.strip().splitlines()[-1][-200:]
    try:
        took = session(f"{folder}/out/partitioned.onnx")
        took.run(None, {i.name: fed[i.name] for i in took.get_inputs()})
    except Exception as e:  # noqa: BLE001: whatever it says
        return f"partitioned.onnx: {str(e).splitlines()[0][:200]}"
    return ""


for make in shapes_from_data, sequences, pipelines, texts, unstated, sampled, resized, branches, drawn, newest:
    make()
failed = passed = 0
for c in CASES:
    if part not in c[0]:
        continue
    with tempfile.TemporaryDirectory() as folder:
        try:
            write(folder, *c)
        except Exception as e:  # noqa: BLE001: whatever it says
            print(f"FAILED {c[0]}: ONNX Runtime does not run it: {str(e).splitlines()[0][:200]}")
            failed += 1
            continue
        said = {"+".join(mix): run(folder, mix) for mix in MIXES}
        if c[-1] is None:
            said["ONNX Runtime"] = run_written(folder, c[3])
        failed, passed = failed + sum(map(bool, said.values())), passed + sum(not t for t in said.values())
        for where, text in said.items():
            if text:
                print(f"FAILED {c[0]} on {where}: {text}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0 or passed == 0)
