#!/usr/bin/env python3
"""contrib.py MARQ [NAME-PART]: every operator of com.microsoft and ai.onnx.ml."""
from contrib_case import *  # noqa: F403


def stray():
    """Of the default domain, as ONNX once tried them out."""
    x = real(1, 3, 4, 4)
    case("Affine", "", "Affine", [x], alpha=1.5, beta=-0.25)
    case("ImageScaler", "", "ImageScaler", [x], scale=0.5, bias=[0.1, -0.2, 0.3])
    case("ParametricSoftplus", "", "ParametricSoftplus", [x], alpha=0.7, beta=1.3)
    case("ScaledTanh", "", "ScaledTanh", [x], alpha=0.7, beta=1.3)


def elsewhere():
    """What ONNX Runtime has kernels of for other processors only."""
    for shape in (2, 5, 8), (1, 3, 2):
        case(f"BiasSplitGelu_{shape[2]}", MS, "BiasSplitGelu", [real(*shape, scale=2), real(shape[2])],
             instead=["x = Add(x0, x1)", "l, r = Split <axis = -1, num_outputs = 2> (x)", "g = Gelu (r)", "y0 = Mul(l, g)"])
    for bias in None, real(6):
        for how in "", "strides = [2, 1], pads = [1, 0, 1, 2], ", "dilations = [1, 2], ":
            attrs = onnx.parser.parse_node(f"y = Conv <{how}group = 2> (x)").attribute
            attrs = {a.name: helper.get_attribute_value(a) for a in attrs}
            case(f"NhwcConv_{how[:7]}_{bias is None}", MS, "NhwcConv", [real(2, 7, 8, 4), real(6, 2, 3, 3), bias], fixed=(1, 2),
                 instead=["x = Transpose <perm = [0, 3, 1, 2]> (x0)",
                          f"y = Conv <{how}group = 2> (x, x1{', x2' if bias is not None else ''})",
                          "y0 = Transpose <perm = [0, 2, 3, 1]> (y)"], **attrs)


def words(*texts):
    return np.array(texts, object)


def texts():
    """Operators of strings."""
    week = words("monday", "Tuesday", "ÉTÉ", "monday", "", "straße Ω")
    for how in "NONE", "LOWER", "UPPER":
        for strict in 0, 1:
            for stop in ["MONDAY"], ["monday", "été", ""], list(week):
                for v in week, week[None]:
                    case(f"StringNormalizer_{how}_{strict}_{len(stop)}_{v.ndim}", "", "StringNormalizer", [v], standard=10,
                         case_change_action=how, is_case_sensitive=strict, stopwords=stop, locale="C.UTF-8")
        case(f"StringNormalizer_{how}", "", "StringNormalizer", [week], standard=10, case_change_action=how, locale="C.UTF-8")
    case("StringConcat", "", "StringConcat", [week, week[::-1].copy()], standard=20)
    case("StringConcat_spread", "", "StringConcat", [week.reshape(2, 3), words("a", "", "c")], standard=20)
    case("StringConcat_scalar", "", "StringConcat", [np.array("x", object), week.reshape(2, 1, 3)], standard=20)
    # ONNX Runtime takes only blanks for white space
    lines = words("a,b,,c", ",", "", "no comma", " two  words ", "a,,b,,c,,", "  of three words")
    for by in None, "", ",", ",,", "o":
        for most in None, 1, 2:
            how = {k: v for k, v in (("delimiter", by), ("maxsplit", most)) if v is not None}
            case(f"StringSplit_{by}_{most}", "", "StringSplit", [lines], outputs=2, standard=20, **how)
    case("StringSplit_two", "", "StringSplit", [lines[:6].reshape(2, 3)], outputs=2, standard=20, delimiter=",")
    case("StringSplit_none", "", "StringSplit", [lines[:0]], outputs=2, standard=20)
    grams(week)


def grams(week):
    pool = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7, 2, 5, 4]
    how = dict(ngram_counts=[0, 4, 10], ngram_indexes=[0, 1, 2, 3, 4, 5, 6, 8], standard=9)
    rows = i64([[1, 1, 3, 3, 3, 7, 4, 5], [8, 6, 7, 5, 6, 8, 4, 2]])
    for mode in "TF", "IDF", "TFIDF":
        for least, most, skip in (1, 1, 0), (2, 2, 0), (2, 2, 5), (1, 2, 1), (1, 3, 2), (3, 3, 3), (2, 3, 100):
            for name, v in ("rows", rows), ("row", rows[1]), ("narrow", rows.astype(np.int32)), ("short", rows[:, :1].copy()):
                for weights in {}, dict(weights=[.5, 2., 1., 3., -1., 4., .25, 8.]):
                    case(f"TfIdf_{mode}_{least}_{most}_{skip}_{name}_{len(weights)}", "", "TfIdfVectorizer", [v], mode=mode,
                         min_gram_length=least, max_gram_length=most, max_skip_count=skip, pool_int64s=pool[:12] + [5],
                         **weights, **how)
    case("TfIdf_empty", "", "TfIdfVectorizer", [rows[:, :0].copy()], mode="TF", min_gram_length=1, max_gram_length=2,
         max_skip_count=0, pool_int64s=pool[:10], **{**how, "ngram_counts": [0, 4], "ngram_indexes": [0, 1, 2, 3, 4, 5, 6]})
    for v in week, week.reshape(2, 3):
        case(f"TfIdf_texts_{v.ndim}", "", "TfIdfVectorizer", [v], mode="TFIDF", min_gram_length=1, max_gram_length=2,
             max_skip_count=1, ngram_counts=[0, 3], ngram_indexes=[4, 0, 2, 1, 3], weights=[1., 2., 3., 4., 5.], standard=9,
             pool_strings=["monday", "", "ÉTÉ", "monday", "ÉTÉ", "Tuesday", "ÉTÉ"])


def quantised():
    x, y = whole(0, 256, 2, 8, 5, 5, dtype=np.uint8), whole(0, 256, 2, 8, 5, 5, dtype=np.uint8)
    q = [f32(0.02), u8(120)]
    out = [f32(0.05), u8(100)]
    for op in "QLinearAdd", "QLinearMul":
        case(op, MS, op, [x, *q, y, f32(0.01), u8(3), *out], fixed=(1, 2, 4, 5, 6, 7), steps=1)
    s = [whole(-128, 128, 2, 8, dtype=np.int8), f32(0.1), np.array(3, np.int8)]
    case("QLinearAdd_s8", MS, "QLinearAdd", [*s, *s, f32(0.2), np.array(-5, np.int8)],
         fixed=(1, 2, 4, 5, 6, 7), steps=1)
    case("QLinearSigmoid", MS, "QLinearSigmoid", [x, *q, f32(1 / 256), u8(0)], fixed=(1, 2, 3, 4), steps=1)
    case("QLinearLeakyRelu", MS, "QLinearLeakyRelu", [x, *q, *out], fixed=(1, 2, 3, 4), steps=1, alpha=0.2)
    case("QLinearSoftmax", MS, "QLinearSoftmax", [x, *q, f32(1 / 256), u8(0)], fixed=(1, 2, 3, 4), steps=1,
         axis=1, opset=13)
    case("QLinearSoftmax_12", MS, "QLinearSoftmax", [x, *q, f32(1 / 256), u8(0)], fixed=(1, 2, 3, 4), steps=1,
         axis=2, opset=12)
    case("QLinearGlobalAveragePool", MS, "QLinearGlobalAveragePool", [x, *q, *q], fixed=(1, 2, 3, 4), steps=1)
    case("QLinearGlobalAveragePool_nhwc", MS, "QLinearGlobalAveragePool", [x, *q, *q], fixed=(1, 2, 3, 4),
         steps=1, channels_last=1)
    case("QLinearAveragePool", MS, "QLinearAveragePool", [x, *q, *q], fixed=(1, 2, 3, 4), steps=1,
         kernel_shape=[2, 2], strides=[1, 1])
    k = whole(-64, 65, 6, 8, 3, 3, dtype=np.int8)
    per = (rng.random(6) * 0.02 + 0.01).astype(np.float32)
    for last in 0, 1:
        v = x.transpose(0, 2, 3, 1).copy() if last else x
        case(f"QLinearConv_{last}", MS, "QLinearConv", [v, *q, k, per, np.zeros(6, np.int8), f32(.3), u8(128), whole(-500,
             500, 6, dtype=np.int32)], fixed=range(1, 9), steps=1, channels_last=last, pads=[1, 1, 1, 1], strides=[2, 2])
        case(f"QLinearConv_line_{last}", MS, "QLinearConv", [v[:, 0] if last else v[:, :, 0], *q, k[:, :, 0].copy(), f32(.02),
             np.array(0, np.int8), f32(.3), u8(128)], fixed=range(1, 8), steps=1, channels_last=last)
    case("QLinearConv_apart", MS, "QLinearConv", [x.transpose(0, 2, 3, 1).copy(), *q, whole(-64, 65, 8, 1, 3, 3, dtype=np.int8),
         f32(.02), np.array(0, np.int8), f32(.3), u8(128)], fixed=range(1, 8), steps=1, channels_last=1, group=8)
    for v in x, whole(-128, 128, 2, 7, 7, 3, dtype=np.int8):
        case(f"NhwcMaxPool_{v.dtype}", MS, "NhwcMaxPool", [v], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
        case(f"NhwcMaxPool_{v.dtype}_edge", MS, "NhwcMaxPool", [v], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    case("QLinearConcat", MS, "QLinearConcat", [*out, x, *q, y, f32(0.03), u8(7)],
         fixed=(0, 1, 3, 4, 6, 7), steps=1, axis=1)
    case("QLinearWhere", MS, "QLinearWhere", [x > 100, x, *q, y, f32(0.03), u8(7), *out],
         fixed=(2, 3, 5, 6, 7, 8), steps=1)
    a = whole(0, 256, 4, 8, dtype=np.uint8)
    # Small enough that no sum of two products leaves 16 bits: without VNNI,
    # ONNX Runtime's u8 times s8 saturates there, which no standard asks for.
    b = whole(-64, 65, 8, 6, dtype=np.int8)
    zero = np.zeros(6, np.int8)
    scales = (rng.random(6) * 0.02 + 0.01).astype(np.float32)
    bias = whole(-500, 500, 6, dtype=np.int32)
    case("QGemm", MS, "QGemm", [a, *q, b, scales, zero, bias, f32(0.1), u8(128)],
         fixed=(1, 2, 3, 4, 5, 6, 7, 8), steps=1)
    case("QGemm_float", MS, "QGemm", [a, *q, b, scales, zero, bias, None, None], fixed=(1, 2, 3, 4, 5, 6))
    case("QGemm_transB", MS, "QGemm", [a, *q, b.T.copy(), f32(0.02), np.array(0, np.int8)],
         fixed=(1, 2, 3, 4, 5), transB=1)
    f = real(4, 8)
    case("DynamicQuantizeMatMul", MS, "DynamicQuantizeMatMul", [f, b, f32(0.02), np.array(2, np.int8), real(6)],
         fixed=(1, 2, 3, 4))
    case("DynamicQuantizeMatMul_columns", MS, "DynamicQuantizeMatMul", [f, b, scales, zero], fixed=(1, 2, 3))
    case("MatMulIntegerToFloat", MS, "MatMulIntegerToFloat",
         [a, b, f32(0.02), scales, u8(120), zero, real(6)], fixed=(1, 2, 3, 4, 5, 6))
    dynamic_lstm()
    blocks_of_weights()


def dynamic_lstm():
    h, n, e = 5, 2, 4
    for low, dtype in (0, np.uint8), (-64, np.int8):
        high = low + (256 if low == 0 else 129)
        w, r = whole(low, high, n, e, 4 * h, dtype=dtype), whole(low, high, n, h, 4 * h, dtype=dtype)
        parts = [np.full(n, 0.01, np.float32), np.full(n, 128 if low == 0 else 3, dtype)]
        rows = [(rng.random((n, 4 * h)) * 0.02).astype(np.float32), np.full((n, 4 * h), 128 if low == 0 else 0, dtype)]
        bits = dtype.__name__
        x, bias = real(6, 3, e), real(n, 8 * h)
        fixed = (1, 2, 3, 8, 9, 10, 11)
        how = dict(outputs=3, fixed=fixed, steps=2e-3, hidden_size=h)
        one = [v[:1] for v in (w, r)]
        case(f"DynamicQuantizeLSTM_{bits}", MS, "DynamicQuantizeLSTM",
             [x, w, r, bias, None, None, None, None, *parts, *parts], direction="bidirectional", **how)
        case(f"DynamicQuantizeLSTM_{bits}_rows", MS, "DynamicQuantizeLSTM",
             [x, w, r, bias, None, None, None, None, *rows, *rows], direction="bidirectional", **how)
        case(f"DynamicQuantizeLSTM_{bits}_state", MS, "DynamicQuantizeLSTM",
             [x, *one, bias[:1], None, real(1, 3, h), real(1, 3, h), None, *[v[:1] for v in (*parts, *parts)]],
             direction="reverse", **how)
        case(f"DynamicQuantizeLSTM_{bits}_peepholes", MS, "DynamicQuantizeLSTM",
             [x, *one, bias[:1], None, None, None, real(1, 3 * h), *[v[:1] for v in (*parts, *parts)]], **how)


def blocks_of_weights():
    k, cols, block = 40, 6, 16
    blocks = (k + block - 1) // block
    for bits in 2, 4, 8:
        packed = whole(0, 256, cols, blocks, block * bits // 8, dtype=np.uint8)
        sc = (rng.random(cols * blocks) * 0.1).astype(np.float32)
        zp = whole(0, 256, cols * ((blocks * bits + 7) // 8), dtype=np.uint8)
        group = np.repeat(np.arange(blocks), block)[:k].astype(np.int32)[::-1].copy()
        how = dict(fixed=(1, 2, 3, 4, 5), K=k, N=cols, bits=bits, block_size=block)
        forms = {"": [], "_zeros": [zp], "_bias": [zp, None, real(cols)]}
        if bits == 4:
            forms |= {"_real_zeros": [real(cols * blocks)], "_group": [None, group], "_group_zeros": [zp, group]}
        for name, more in forms.items():
            case(f"MatMulNBits_{bits}{name}", MS, "MatMulNBits", [real(2, 3, k), packed, sc, *more], **how)
        case(f"MatMulNBits_{bits}_half", MS, "MatMulNBits",
             [real(3, k).astype(np.float16), packed, sc.astype(np.float16), zp], steps=2e-3, **how)
    wide = whole(0, 256, 300, 20, 16, dtype=np.uint8)
    case("MatMulNBits_wide", MS, "MatMulNBits", [real(5, 620), wide, real(6000, scale=0.1)], fixed=(1, 2), K=620,
         N=300, bits=4, block_size=32)
    case("MatMulNBits_none", MS, "MatMulNBits", [real(3, k), np.zeros((cols, 0, 8), np.uint8), np.zeros(0, np.float32),
         None, None, real(cols)], fixed=(1, 2, 5), K=k, N=cols, bits=4, block_size=16)
    at = whole(-10, 10, 3, 2)
    for bits in 2, 4, 8:
        codes = whole(0, 256, 10, 32 * bits // 8, dtype=np.uint8)
        sc = (rng.random((10, 2)) * 0.1).astype(np.float32)
        for name, more in ("", []), ("_zeros", [whole(0, 256, 10, (2 * bits + 7) // 8, dtype=np.uint8)]):
            case(f"GatherBlockQuantized_{bits}{name}", MS, "GatherBlockQuantized", [codes, at, sc, *more],
                 fixed=(0, 2, 3), block_size=16, bits=bits, quantize_axis=1, gather_axis=0)
    for axis in 0, 1, 2:
        for kind in TensorProto.INT4, TensorProto.UINT4:
            codes = helper.make_tensor("x0", kind, (3, 20, 5), whole(*((-8, 8) if kind == TensorProto.INT4 else (0, 16)),
                                       300).tolist())
            zero = helper.make_tensor("x3", kind, (3, 2, 5), whole(0, 8, 30).tolist())
            for name, more in ("", []), ("_zeros", [zero]):
                case(f"GatherBlockQuantized_{kind}_{axis}{name}", MS, "GatherBlockQuantized",
                     [codes, whole(0, 3, 2), (rng.random((3, 2, 5)) * 0.1).astype(np.float32), *more], fixed=(0, 2, 3),
                     block_size=16, quantize_axis=1, gather_axis=axis)


def fused():
    x, g, b, bias = real(2, 3, 8), real(8), real(8), real(8)
    case("LayerNorm_simplified", "", "SimplifiedLayerNormalization", [x, g], epsilon=1e-5, axis=-1)
    case("SkipLayerNormalization", MS, "SkipLayerNormalization", [x, real(2, 3, 8), g, b, bias], outputs=4,
         epsilon=1e-5)
    case("SkipLayerNormalization_plain", MS, "SkipLayerNormalization", [x, real(2, 3, 8), g])
    case("SkipSimplified", MS, "SkipSimplifiedLayerNormalization", [x, real(2, 3, 8), g], outputs=(1, 0, 0, 1),
         epsilon=1e-6)
    ids, seg = whole(0, 11, 2, 5, dtype=np.int32), whole(0, 2, 2, 5, dtype=np.int32)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    case("EmbedLayerNormalization", MS, "EmbedLayerNormalization",
         [ids, seg, real(11, 8), real(7, 8), real(2, 8), g, b, mask], outputs=2)
    case("EmbedLayerNormalization_bare", MS, "EmbedLayerNormalization",
         [ids, None, real(11, 8), real(7, 8), None, g, b], outputs=2)
    for op in "BiasGelu", "FastGelu":
        case(op, MS, op, [x, bias])
    case("FastGelu_bare", MS, "FastGelu", [x])
    case("Gelu", MS, "Gelu", [x])
    case("QuickGelu", MS, "QuickGelu", [x], alpha=1.5)
    for ta in 0, 1:
        for tb in 0, 1:
            case(f"FusedMatMul_{ta}{tb}", MS, "FusedMatMul",
                 [real(2, *((5, 3) if ta else (3, 5))), real(2, *((4, 5) if tb else (5, 4)))], transA=ta,
                 transB=tb, alpha=0.5)
    for act, extra in ("Relu", {}), ("LeakyRelu", dict(activation_params=[0.3])), ("Clip", dict(activation_params=[-0.5, 0.5])):
        case(f"FusedConv_{act}", MS, "FusedConv", [real(1, 4, 6, 6), real(3, 4, 3, 3), real(3)], fixed=(1, 2),
             activation=act, pads=[1, 1, 1, 1], kernel_shape=[3, 3], **extra)
    case("FusedConv_sum", MS, "FusedConv", [real(1, 4, 6, 6), real(3, 4, 3, 3), real(3), real(1, 3, 4, 4)],
         fixed=(1, 2), activation="Relu", kernel_shape=[3, 3])
    case("FusedGemm", MS, "FusedGemm", [real(3, 5), real(5, 4), real(4)], activation="Relu", alpha=0.5)


def quantised_transformer():
    """What the quantiser makes of the optimiser's fused operators."""
    b, s, n, h = 2, 4, 2, 16
    d = n * h
    past, mask = real(2, b, n, 3, h), np.array([[1, 1, 1, 0], [1, 1, 1, 1]], np.int32)
    forms = {"": ([], {}), "_mask": ([mask], {}), "_ends": ([np.array([3, 4], np.int32)], {}),
             "_causal": ([], dict(unidirectional=1)), "_scale": ([mask], dict(scale=0.2, mask_filter_value=-3.0)),
             "_past": ([None, u8(120), None, past], dict(unidirectional=1, outputs=2)), "_present": ([], dict(outputs=2))}
    for kind, low, high in (np.int8, -64, 65), (np.uint8, 0, 128):
        w, per = whole(low, high, d, 3 * d, dtype=kind), (rng.random(3 * d) * 0.01 + 0.005).astype(np.float32)
        zero = np.array(3, kind)
        for name, (more, how) in forms.items():
            ins = [whole(0, 256, b, s, d, dtype=np.uint8), w, real(3 * d), f32(0.02), f32(0.01), *more]
            if len(ins) < 9:
                ins = [*ins, *[None] * (6 - len(ins)), u8(120), zero]
            case(f"QAttention_{kind.__name__}{name}", MS, "QAttention", ins, fixed=(1, 2, 3, 4, 6, 7), num_heads=n, **how)
        case(f"QAttention_{kind.__name__}_columns", MS, "QAttention", [whole(0, 256, b, s, d, dtype=np.uint8), w, real(3 * d),
             f32(0.02), per, None, u8(120), np.zeros(3 * d, kind)], fixed=(1, 2, 3, 4, 6, 7), num_heads=n)
    ids, seg = whole(0, 11, 2, 5, dtype=np.int32), whole(0, 2, 2, 5, dtype=np.int32)
    tables = [whole(0, 256, *shape, dtype=np.uint8) for shape in ((11, 8), (7, 8), (2, 8), (8,), (8,))]
    ends = [f32(v) for v in (.02, .03, .01, .02, .04)] + [u8(v) for v in (120, 3, 130, 128, 100)]
    for name, m in ("", np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)), ("_bare", None):
        case(f"QEmbedLayerNormalization{name}", MS, "QEmbedLayerNormalization", [ids, seg, *tables, m, *ends],
             outputs=2, fixed=(2, 3, 4, 5, 6, *range(8, 18)))
    plain = [ids, None, *tables[:2], None, *tables[3:], None, *ends[:2], None, *ends[3:7], None, *ends[8:]]
    case("QEmbedLayerNormalization_no_segments", MS, "QEmbedLayerNormalization", plain, outputs=2,
         fixed=(2, 3, 5, 6, *range(8, 18)))
    case("TransposeMatMul", MS, "TransposeMatMul", [real(2, 5, 3), real(2, 4, 5)], transA=1, transB=1, alpha=0.5)


def attention():
    b, s, n, h = 2, 4, 2, 16
    d = n * h
    x, w, bias = real(b, s, d), real(d, 3 * d, scale=0.3), real(3 * d)
    mask = np.array([[1, 1, 1, 0], [1, 1, 1, 1]], np.int32)
    past = real(2, b, n, 3, h)
    case("Attention", MS, "Attention", [x, w, bias], num_heads=n)
    case("Attention_mask", MS, "Attention", [x, w, bias, mask], num_heads=n)
    case("Attention_causal", MS, "Attention", [x, w, bias], num_heads=n, unidirectional=1)
    case("Attention_past", MS, "Attention", [x, w, bias, None, past], outputs=2, num_heads=n, unidirectional=1)
    q, k, v = real(b, s, d), real(b, 6, d), real(b, 6, d)
    case("MultiHeadAttention", MS, "MultiHeadAttention", [q, k, v], num_heads=n)
    case("MultiHeadAttention_bias", MS, "MultiHeadAttention", [q, k, v, bias], num_heads=n)
    case("MultiHeadAttention_mask", MS, "MultiHeadAttention",
         [q, k, v, None, np.array([[1] * 6, [1, 1, 1, 1, 0, 0]], np.int32)], num_heads=n)
    case("MultiHeadAttention_heads", MS, "MultiHeadAttention", [q, real(b, n, 6, h), real(b, n, 6, h)], num_heads=n)
    case("MultiHeadAttention_past", MS, "MultiHeadAttention",
         [q, real(b, s, d), real(b, s, d), None, None, real(b, n, s, 7), real(b, n, 3, h), real(b, n, 3, h)][:5]
         + [None, real(b, n, 3, h), real(b, n, 3, h)], outputs=3, num_heads=n)
    kv = 1
    total = np.array([s], np.int32)
    case("GroupQueryAttention_prompt", MS, "GroupQueryAttention",
         [real(1, s, d), real(1, s, kv * h), real(1, s, kv * h), None, None, total - 1, np.array(s, np.int32)],
         outputs=3, num_heads=n, kv_num_heads=kv)
    cos, sin = real(32, h // 2), real(32, h // 2)
    for p in 0, 5:
        cache = [real(1, kv, p, h), real(1, kv, p, h)]
        length = 1 if p else s
        ends = [np.array([p + length - 1], np.int32), np.array(p + length, np.int32)]
        # what lies behind the tokens in the present is nobody's: not compared
        room = [np.concatenate([c, real(1, kv, 6, h)], axis=2) for c in cache]
        case(f"GroupQueryAttention_room_{p}", MS, "GroupQueryAttention",
             [real(1, length, d), real(1, length, kv * h), real(1, length, kv * h), *room, *ends, cos, sin], outputs=3,
             fixed=(6, 7, 8), num_heads=n, kv_num_heads=kv, do_rotary=1)
        case(f"GroupQueryAttention_rotary_{p}", MS, "GroupQueryAttention",
             [real(1, length, d), real(1, length, kv * h), real(1, length, kv * h), *cache, *ends, cos, sin], outputs=3,
             fixed=(6, 7, 8), num_heads=n, kv_num_heads=kv, do_rotary=1)
        case(f"GroupQueryAttention_packed_{p}", MS, "GroupQueryAttention",
             [real(1, length, d + 2 * kv * h), None, None, *cache, *ends, cos, sin], outputs=3, fixed=(6, 7, 8),
             num_heads=n, kv_num_heads=kv, do_rotary=1)
    for inter in 0, 1:
        case(f"RotaryEmbedding_{inter}", MS, "RotaryEmbedding",
             [real(b, s, d), whole(0, 20, b, s), cos, sin], fixed=(2, 3), interleaved=inter)
        case(f"RotaryEmbedding_heads_{inter}", MS, "RotaryEmbedding",
             [real(b, n, s, h), np.array([3]), cos, sin], fixed=(2, 3), interleaved=inter)


def learned():
    x = real(5, 3)
    case("Scaler", ML, "Scaler", [x], offset=[0.1, 0.2, 0.3], scale=[2.0, 3.0, 0.5])
    for norm in "MAX", "L1", "L2":
        case(f"Normalizer_{norm}", ML, "Normalizer", [np.vstack([np.abs(x), np.zeros((1, 3), np.float32)])], norm=norm)
    case("LinearRegressor", ML, "LinearRegressor", [x], coefficients=[float(c) for c in real(6)],
         intercepts=[0.1, 0.2], targets=2)
    for post in "NONE", "SOFTMAX", "LOGISTIC":
        case(f"LinearClassifier_{post}", ML, "LinearClassifier", [x], outputs=2,
             coefficients=[float(c) for c in real(9)], intercepts=[0.1, 0.2, 0.3], classlabels_ints=[4, 7, 9],
             post_transform=post)
    for post in "NONE", "LOGISTIC":
        case(f"LinearClassifier_binary_{post}", ML, "LinearClassifier", [x], outputs=2,
             coefficients=[float(c) for c in real(3)], intercepts=[0.1], classlabels_ints=[4, 7],
             post_transform=post)
    vectors = [float(c) for c in real(12)]
    for kind in "LINEAR", "POLY", "RBF", "SIGMOID":
        kernel = dict(kernel_type=kind, kernel_params=[0.3, 0.1, 2.0])
        case(f"SVMRegressor_{kind}", ML, "SVMRegressor", [x], coefficients=[0.5, -0.4, 0.3, 0.2], n_supports=4,
             rho=[0.25], support_vectors=vectors, **kernel)
        case(f"SVMClassifier_{kind}", ML, "SVMClassifier", [x], outputs=2,
             coefficients=[float(c) for c in real(8)], classlabels_ints=[1, 2, 3], vectors_per_class=[2, 1, 1],
             rho=[0.1, 0.2, 0.3], support_vectors=vectors, prob_a=[-1.0, -2.0, -1.5], prob_b=[0.1, 0.2, 0.0], **kernel)
        case(f"SVMClassifier_pairs_{kind}", ML, "SVMClassifier", [x], outputs=2,
             coefficients=[float(c) for c in real(8)], classlabels_ints=[1, 2, 3], vectors_per_class=[2, 1, 1],
             rho=[0.1, 0.2, 0.3], support_vectors=vectors, **kernel)
    for sign in 1, -1:
        for post in "NONE", "LOGISTIC", "SOFTMAX":
            case(f"SVMClassifier_two_{sign}_{post}", ML, "SVMClassifier", [x], outputs=2, kernel_type="RBF",
                 kernel_params=[0.5, 0.0, 3.0], coefficients=[0.5, sign * 0.4, 0.3, sign * 0.6], rho=[0.1],
                 support_vectors=vectors, vectors_per_class=[2, 2], classlabels_ints=[7, 9], post_transform=post)
    case("SVMClassifier_strings", ML, "SVMClassifier", [x], outputs=2, coefficients=[float(c) for c in real(8)],
         classlabels_strings=["a", "bb", ""], vectors_per_class=[2, 1, 1], rho=[0.1, 0.2, 0.3],
         support_vectors=vectors, kernel_type="LINEAR", kernel_params=[0.3, 0.1, 2.0])
    case("LinearClassifier_strings", ML, "LinearClassifier", [x], outputs=2, coefficients=[float(c) for c in real(9)],
         intercepts=[0.1, 0.2, 0.3], classlabels_strings=["no", "maybe", "yes"], post_transform="SOFTMAX")
    for metric in "euclidean", "sqeuclidean":
        case(f"CDist_{metric}", MS, "CDist", [x, real(4, 3)], metric=metric)
    encoders()
    i = whole(0, 5, 4, 2)
    case("LabelEncoder", ML, "LabelEncoder", [i], keys_int64s=[0, 2, 3], values_int64s=[10, 20, 30], default_int64=-7)
    case("LabelEncoder_float", ML, "LabelEncoder", [i], keys_int64s=[0, 2, 3], values_floats=[1.5, 2.5, 3.5])
    case("OneHotEncoder", ML, "OneHotEncoder", [i], cats_int64s=[0, 1, 4])
    case("OneHotEncoder_all_known", ML, "OneHotEncoder", [i], cats_int64s=[4, 3, 0, 1, 5, 2], zeros=0)
    case("Imputer", ML, "Imputer", [np.where(x > 0, np.float32("nan"), x)], imputed_value_floats=[1.0, 2.0, 3.0],
         replaced_value_float=float("nan"))
    case("Imputer_int", ML, "Imputer", [i], imputed_value_int64s=[9], replaced_value_int64=2)
    case("ArrayFeatureExtractor", ML, "ArrayFeatureExtractor", [x, np.array([2, 0])])
    case("FeatureVectorizer", ML, "FeatureVectorizer", [x, real(5, 2)], inputdimensions=[3, 2])
    case("Binarizer", ML, "Binarizer", [x], threshold=0.3)
    tree = dict(nodes_treeids=[0, 0, 0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 3, 4, 0, 1, 2],
                nodes_featureids=[0, 0, 1, 0, 0, 2, 0, 0], nodes_values=[0.1, 0.0, -0.2, 0.0, 0.0, 0.3, 0.0, 0.0],
                nodes_truenodeids=[1, 0, 3, 0, 0, 1, 0, 0], nodes_falsenodeids=[2, 0, 4, 0, 0, 2, 0, 0])
    for mode in "LEQ", "LT", "GTE", "GT":
        modes = [f"BRANCH_{mode}", "LEAF", f"BRANCH_{mode}", "LEAF", "LEAF", f"BRANCH_{mode}", "LEAF", "LEAF"]
        leaves = dict(treeids=[0, 0, 0, 1, 1], nodeids=[1, 3, 4, 1, 2])
        weights = [0.2, 0.3, 0.9, 0.4, -0.1]
        case(f"TreeEnsembleRegressor_{mode}", ML, "TreeEnsembleRegressor", [x], nodes_modes=modes, n_targets=1,
             target_ids=[0] * 5, target_weights=weights, base_values=[0.5],
             **{f"target_{k}": v for k, v in leaves.items()}, **tree)
        for how in "AVERAGE", "MIN", "MAX":
            case(f"TreeEnsembleRegressor_{mode}_{how}", ML, "TreeEnsembleRegressor", [x], nodes_modes=modes,
                 n_targets=1, target_ids=[0] * 5, target_weights=weights, aggregate_function=how,
                 **{f"target_{k}": v for k, v in leaves.items()}, **tree)
        for post in "NONE", "SOFTMAX", "LOGISTIC":
            case(f"TreeEnsembleClassifier_{mode}_{post}", ML, "TreeEnsembleClassifier", [x], outputs=2,
                 nodes_modes=modes, class_ids=[0, 1, 2, 1, 0], class_weights=weights, classlabels_int64s=[5, 6, 8],
                 post_transform=post, **{f"class_{k}": v for k, v in leaves.items()}, **tree)
        for sign in 1, -1:
            for post in "NONE", "LOGISTIC":
                case(f"TreeEnsembleClassifier_{mode}_binary_{sign}_{post}", ML, "TreeEnsembleClassifier", [x],
                     outputs=2, nodes_modes=modes, class_ids=[0] * 5,
                     class_weights=[abs(c) if sign > 0 else c for c in weights], classlabels_int64s=[5, 6],
                     post_transform=post, **{f"class_{k}": v for k, v in leaves.items()}, **tree)


def encoders():
    """LabelEncoder in every pair of types, as lists and as tensors."""
    lists = dict(strings=["a", "b", "cc"], int64s=[1, 2, 30], floats=[1.0, 2.5, -3.0])
    words = dict(strings="string", int64s="int64", floats="float")
    arrays = dict(strings=np.array(["a", "zz", "cc", "b"], object), int64s=i64([1, 7, 30, 2]),
                  floats=np.array([1.0, 7.0, -3.0, 2.5], np.float32))
    others = dict(strings="none", int64s=-9, floats=0.25)
    for k, keys in lists.items():
        for v, values in lists.items():
            case(f"LabelEncoder_{k}_{v}", ML, "LabelEncoder", [arrays[k]], **{f"keys_{k}": keys, f"values_{v}": values,
                 f"default_{words[v]}": others[v]})
            case(f"LabelEncoder_{k}_{v}_bare", ML, "LabelEncoder", [arrays[k]],
                 **{f"keys_{k}": keys, f"values_{v}": values})
    case("LabelEncoder_nan", ML, "LabelEncoder", [np.array([1, np.nan, 5], np.float32)], keys_floats=[1.0, float("nan")],
         values_int64s=[4, 6], default_int64=-1)
    case("LabelEncoder_nan_4", ML, "LabelEncoder", [np.array([1, np.nan, 5], np.float32)], ml=4,
         keys_floats=[1.0, float("nan")], values_floats=[4.0, 6.0], default_float=-1.0)
    tensor = lambda x: numpy_helper.from_array(np.asarray(x))
    for t in np.int64, np.float32, np.float64, np.int16:
        for to in np.int64, np.float32, np.float64, np.int16:
            if t in (np.float64, np.int16) and t != to:
                continue
            case(f"LabelEncoder_tensor_{t.__name__}_{to.__name__}", ML, "LabelEncoder", [np.array([1, 7, 3], t)], ml=4,
                 keys_tensor=tensor(np.array([1, 2, 3], t)), values_tensor=tensor(np.array([10, 20, 30], to)),
                 default_tensor=tensor(np.array([5], to)))
    cats = dict(cats_strings=["a", "b", "cc"])
    case("OneHotEncoder_strings", ML, "OneHotEncoder", [arrays["strings"]], **cats)
    known = np.array(["cc", "a", "b", "a"], object)
    case("OneHotEncoder_strings_all_known", ML, "OneHotEncoder", [known], zeros=0, **cats)


def forests():
    x = real(7, 3)
    for t in np.float32, np.float64:
        tensor = lambda v: numpy_helper.from_array(np.asarray(v, t))  # noqa: B023
        for mode in range(6):
            for how in range(4):  # post_transform: ONNX Runtime numbers it otherwise than the standard
                case(f"TreeEnsemble_{t.__name__}_{mode}_{how}", ML, "TreeEnsemble", [x.astype(t)], ml=5,
                     nodes_splits=tensor([0.1, -0.2, 0.3]), nodes_featureids=[0, 1, 2],
                     nodes_modes=numpy_helper.from_array(np.full(3, mode, np.uint8)), nodes_truenodeids=[0, 1, 3],
                     nodes_trueleafs=[1, 1, 1], nodes_falsenodeids=[1, 2, 4], nodes_falseleafs=[0, 1, 1],
                     tree_roots=[0, 2], n_targets=2, leaf_targetids=[0, 1, 1, 0, 1],
                     leaf_weights=tensor([0.5, 0.25, -0.75, 1.5, 0.125]), aggregate_function=how)
        nan = float("nan")
        case(f"TreeEnsemble_members_{t.__name__}", ML, "TreeEnsemble", [np.array([[1, 3], [2, 3], [5, 1], [9, 0]], t)], ml=5,
             nodes_splits=tensor([0, 0, 2.5]), nodes_featureids=[0, 1, 0],
             nodes_modes=numpy_helper.from_array(np.array([6, 6, 0], np.uint8)), nodes_truenodeids=[1, 0, 1],
             nodes_trueleafs=[0, 1, 1], nodes_falsenodeids=[2, 1, 2], nodes_falseleafs=[0, 1, 1], tree_roots=[0],
             n_targets=1, leaf_targetids=[0, 0, 0], leaf_weights=tensor([1, 10, 100]),
             membership_values=tensor([1, 2, nan, 3, nan]))


main(stray, elsewhere, texts, quantised, quantised_transformer, fused, attention, learned, forests)
