#!/usr/bin/env python3
"""contrib_forms.py MARQ [NAME-PART]: the forms of operators of com.microsoft and
ai.onnx.ml: attributes, types, optional inputs. Left out is what ONNX Runtime 1.32
takes otherwise than it says (PROBIT of one score for two classes, weights of both
of two classes, numbers of post_transform, positions of a prompt)."""
from contrib_case import *  # noqa: F403


def quantised():
    x, y = whole(0, 256, 2, 8, 5, 5, dtype=np.uint8), whole(0, 256, 8, 1, 5, dtype=np.uint8)
    sx, sy = whole(-128, 128, 2, 8, 5, dtype=np.int8), whole(-128, 128, 1, 8, 1, dtype=np.int8)
    z8 = np.array(-3, np.int8)
    for op in "QLinearAdd", "QLinearMul":
        case(op + "_broadcast", MS, op, [x, f32(.02), u8(120), y, f32(.01), u8(3), f32(.05), u8(100)], fixed=(1, 2,
             4, 5, 6, 7), steps=1)
        case(op + "_nozero", MS, op, [x, f32(.02), None, y, f32(.01), None, f32(.05), None], fixed=(1, 2, 4, 5, 6,
             7), steps=1)
        case(op + "_s8b", MS, op, [sx, f32(.02), z8, sy, f32(.01), None, f32(.05), z8], fixed=(1, 2, 4, 5, 6, 7),
             steps=1)
        case(op + "_s8const", MS, op, [sx, f32(.02), z8, sy, f32(.01), None, f32(.05), z8], fixed=(1, 2, 3, 4, 5, 6,
             7), steps=1)
    case("QLinearSigmoid_s8", MS, "QLinearSigmoid", [sx, f32(.05), z8, f32(1/256), np.array(-128, np.int8)],
         fixed=(1, 2, 3, 4), steps=1)
    case("QLinearSigmoid_nozero", MS, "QLinearSigmoid", [x, f32(.05), None, f32(1/256)], fixed=(1, 2, 3, 4), steps=1)
    case("QLinearLeakyRelu_s8", MS, "QLinearLeakyRelu", [sx, f32(.05), z8, f32(.04), None], fixed=(1, 2, 3, 4),
         steps=1)
    for ax in 0, 1, -1:
        case(f"QLinearSoftmax_s8_{ax}", MS, "QLinearSoftmax", [sx, f32(.05), z8, f32(1/256), np.array(-128,
             np.int8)], fixed=(1, 2, 3, 4), steps=1, axis=ax, opset=13)
    case("QLinearSoftmax_nozero", MS, "QLinearSoftmax", [x, f32(.05), None, f32(1/256), u8(0)], fixed=(1, 2, 3, 4),
         steps=1, axis=-1, opset=13)
    s4 = whole(-128, 128, 2, 8, 5, 5, dtype=np.int8)
    case("QLinearGAP_s8", MS, "QLinearGlobalAveragePool", [s4, f32(.05), z8, f32(.03), z8], fixed=(1, 2, 3, 4),
         steps=1)
    case("QLinearAvgPool_pads", MS, "QLinearAveragePool", [x, f32(.05), u8(7), f32(.03), u8(9)], fixed=(1, 2, 3, 4),
         steps=1, kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1])
    case("QLinearAvgPool_pads_in", MS, "QLinearAveragePool", [x, f32(.05), u8(7), f32(.03), u8(9)], fixed=(1, 2, 3,
         4), steps=1, kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1], count_include_pad=1)
    case("QLinearAvgPool_ceil", MS, "QLinearAveragePool", [x, f32(.05), u8(7), f32(.03), u8(9)], fixed=(1, 2, 3, 4),
         steps=1, kernel_shape=[2,2], strides=[2,2], ceil_mode=1)
    case("QLinearAvgPool_nhwc", MS, "QLinearAveragePool", [x, f32(.05), u8(7), f32(.03), u8(9)], fixed=(1, 2, 3, 4),
         steps=1, kernel_shape=[2,2], strides=[2,2], channels_last=1)
    case("QLinearConcat_s8", MS, "QLinearConcat", [f32(.05), z8, sx, f32(.03), z8, sx, f32(.07), np.array(9,
         np.int8), sx, f32(.05), z8], fixed=(0, 1, 3, 4, 6, 7, 9, 10), steps=1, axis=-1)
    a, b = whole(0, 256, 4, 8, dtype=np.uint8), whole(-64, 65, 8, 6, dtype=np.int8)
    ub = whole(0, 128, 8, 6, dtype=np.uint8)
    for ta in 0, 1:
        for al in 1.0, 0.5:
            case(f"QGemm_{ta}_{al}", MS, "QGemm", [a.T.copy() if ta else a, f32(.02), u8(120), b, f32(.02),
                 np.array(0, np.int8), whole(-500, 500, 6, dtype=np.int32), f32(.1), u8(128)],
                 fixed=(1, 2, 3, 4, 5, 6, 7, 8), steps=1, transA=ta, alpha=al)
    case("QGemm_row_bias", MS, "QGemm", [a, f32(.02), u8(120), b, f32(.02), np.array(0, np.int8), whole(-500, 500, 4,
         1, dtype=np.int32)], fixed=(1, 2, 3, 4, 5, 6))
    sa = whole(-64, 64, 4, 8, dtype=np.int8)
    case("QGemm_s8s8", MS, "QGemm", [sa, f32(.02), z8, b, f32(.02), np.array(2, np.int8), None, f32(.1), np.array(1,
         np.int8)], fixed=(1, 2, 3, 4, 5, 6, 7, 8), steps=1)
    case("QGemm_u8u8", MS, "QGemm", [a, f32(.02), u8(3), ub, f32(.02), u8(60), None, f32(.1), u8(1)], fixed=(1, 2, 3,
         4, 5, 6, 7, 8), steps=1)
    f3 = real(2, 4, 8)
    for w, z in (b, np.array(2, np.int8)), (ub, u8(64)):
        case(f"DynamicQuantizeMatMul_3d_{w.dtype}", MS, "DynamicQuantizeMatMul", [f3, w, f32(.02), z], fixed=(1, 2,
             3))
        case(f"DynamicQuantizeMatMul_bare_{w.dtype}", MS, "DynamicQuantizeMatMul", [f3, w, f32(.02)], fixed=(1, 2, 3))
        case(f"DynamicQuantizeMatMul_bias_{w.dtype}", MS, "DynamicQuantizeMatMul", [f3, w, f32(.02), None, real(6)],
             fixed=(1, 2, 3, 4))
        case(f"DynamicQuantizeMatMul_batch_{w.dtype}", MS, "DynamicQuantizeMatMul", [f3, np.stack([w, w]), f32(.02),
             z], fixed=(1, 2, 3))
        case(f"MatMulIntegerToFloat_{w.dtype}_s8", MS, "MatMulIntegerToFloat", [np.stack([sa, sa]), w, f32(.02),
             f32(.03), z8, z], fixed=(1, 2, 3, 4, 5))
        case(f"MatMulIntegerToFloat_{w.dtype}_bare", MS, "MatMulIntegerToFloat", [a, w, f32(.02), f32(.03)],
             fixed=(1, 2, 3))
        case(f"MatMulIntegerToFloat_{w.dtype}_bias", MS, "MatMulIntegerToFloat", [a, w, f32(.02), f32(.03), None,
             None, real(6)], fixed=(1, 2, 3, 6))
    lstm()
    for bits in 4, 8:
        for block in 16, 32, 64, 128, 256:
            for K in 64, 200:
                nb = (K + block - 1) // block
                packed = whole(0, 256, 6, nb, block * bits // 8, dtype=np.uint8)
                sc = (rng.random(6 * nb) * .1).astype(np.float32)
                for acc in 0, 1, 4:
                    case(f"MatMulNBits_{bits}_{block}_{K}_{acc}", MS, "MatMulNBits", [real(2, 3, K), packed, sc],
                         fixed=(1,
                         2), K=K, N=6, bits=bits, block_size=block, accuracy_level=acc, steps=.02 if acc == 4 else 0.)
        case(f"MatMulNBits_{bits}_vector", MS, "MatMulNBits", [real(K), packed, sc], fixed=(1, 2), K=K, N=6,
             bits=bits, block_size=block)
        case(f"MatMulNBits_{bits}_fed", MS, "MatMulNBits", [real(3, K), packed, sc], K=K, N=6, bits=bits,
             block_size=block)
    codes = whole(0, 256, 10, 64, dtype=np.uint8)
    for bits in 4, 8:
        w = 64 * 8 // bits
        for block in 16, 32, 64:
            sc = (rng.random((10, w // block)) * .1).astype(np.float32)
            for at in np.array(3), whole(0, 10, 2, 3, dtype=np.int32), whole(0, 10, 1, 1):
                case(f"GatherBlockQuantized_{bits}_{block}_{at.ndim}", MS, "GatherBlockQuantized", [codes, at, sc],
                     fixed=(0, 2), block_size=block, bits=bits)
            case(f"GatherBlockQuantized_half_{bits}_{block}", MS, "GatherBlockQuantized", [codes, whole(0, 10, 2),
                 sc.astype(np.float16)], fixed=(0, 2), block_size=block, bits=bits, steps=2e-3)


def lstm():
    h, e = 5, 4
    w, r = whole(0, 256, 2, e, 4 * h, dtype=np.uint8), whole(0, 256, 2, h, 4 * h, dtype=np.uint8)
    parts = [np.full(2, .01, np.float32), np.full(2, 128, np.uint8)]
    base = [real(6, 3, e), w, r, real(2, 8 * h), np.array([6, 3, 1], np.int32), real(2, 3, h), real(2, 3, h), None,
         *parts, *parts]
    how = dict(outputs=3, fixed=(1, 2, 3, 8, 9, 10, 11), steps=4e-3, hidden_size=h, direction="bidirectional")
    case("DynamicQuantizeLSTM_lengths", MS, "DynamicQuantizeLSTM", base, **how)
    base[4] = None
    case("DynamicQuantizeLSTM_clip", MS, "DynamicQuantizeLSTM", base, clip=.3, **how)
    case("DynamicQuantizeLSTM_forget", MS, "DynamicQuantizeLSTM", base, input_forget=1, **how)
    case("DynamicQuantizeLSTM_acts", MS, "DynamicQuantizeLSTM", base, activations=["HardSigmoid", "Relu",
         "Softsign"] * 2, **how)
    case("DynamicQuantizeLSTM_alpha", MS, "DynamicQuantizeLSTM", base, activations=["HardSigmoid", "LeakyRelu",
         "Tanh"] * 2, activation_alpha=[.3, .1, .3, .1], activation_beta=[.4, .4], **how)


def fused():
    x, g, b, bias = real(2, 3, 8), real(8), real(8), real(8)
    for skip in real(1, 3, 8), real(3, 8):
        case(f"SkipLN_skip{skip.ndim}", MS, "SkipLayerNormalization", [x, skip, g, b, bias], outputs=(1, 0, 0, 1),
             epsilon=1e-5)
        case(f"SkipSLN_skip{skip.ndim}", MS, "SkipSimplifiedLayerNormalization", [x, skip, g, bias], outputs=(1, 0,
             0, 1), epsilon=1e-5)
    case("SkipLN_2d", MS, "SkipLayerNormalization", [x[0], real(3, 8), g, None, bias])
    case("SkipSLN_2d", MS, "SkipSimplifiedLayerNormalization", [x[0], real(3, 8), g])
    case("SkipLN_mean", MS, "SkipLayerNormalization", [x, real(2, 3, 8), g, b], outputs=3)
    case("SkipLN_half", MS, "SkipLayerNormalization", [x.astype(np.float16), real(2, 3, 8).astype(np.float16),
         g.astype(np.float16)], steps=3e-3)
    for ax in 0, 1, 2, -1:
        sh = x.shape[ax:]
        case(f"SLN_{ax}", "", "SimplifiedLayerNormalization", [x, real(*sh)], axis=ax, epsilon=1e-3)
    ids, seg = whole(0, 11, 2, 5, dtype=np.int32), whole(0, 2, 2, 5, dtype=np.int32)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    pos = whole(0, 7, 2, 5, dtype=np.int32)
    emb = [real(11, 8), real(7, 8), real(2, 8), g, b]
    case("EmbedLN_sum", MS, "EmbedLayerNormalization", [ids, seg, *emb, mask], outputs=3)
    case("EmbedLN_pos", MS, "EmbedLayerNormalization", [ids, seg, *emb, mask, pos], outputs=(1, 1, 1), epsilon=1e-3)
    case("EmbedLN_pos1", MS, "EmbedLayerNormalization", [ids, seg, *emb, None, pos[:1]], outputs=(1, 0, 1))
    case("EmbedLN_mask1", MS, "EmbedLayerNormalization", [ids, seg, *emb, mask], outputs=2, mask_index_type=1)
    case("EmbedLN_mask0", MS, "EmbedLayerNormalization", [ids, seg, *emb, mask], outputs=2, mask_index_type=0)
    for ta in 0, 1:
        for tb in 0, 1:
            A, B = real(2, 4, 3, 5), real(2, 4, 5, 6)
            A = A.swapaxes(-1, -2).copy() if ta else A
            B = B.swapaxes(-1, -2).copy() if tb else B
            for ba in 0, 1:
                for bb in 0, 1:
                    # batch 'transposed': first of the matrix' rows moved
                    case(f"FusedMatMul_{ta}{tb}{ba}{bb}", MS, "FusedMatMul", [np.moveaxis(A, -2,
                         0).copy() if ba else A, np.moveaxis(B, -2, 0).copy() if bb else B],
                         transA=ta, transB=tb, transBatchA=ba, transBatchB=bb, alpha=.25)
    case("FusedMatMul_vec", MS, "FusedMatMul", [real(5), real(5, 3)], alpha=2.)
    case("FusedMatMul_vec2", MS, "FusedMatMul", [real(2, 3, 5), real(5)], alpha=2.)
    for act, p in ("Sigmoid", None), ("Tanh", None), ("HardSigmoid", [.3, .4]), ("Relu", None), ("LeakyRelu",
         None), ("Clip", [0., 6.]):
        more = dict(activation_params=p) if p else {}
        case(f"FusedConv_{act}_g", MS, "FusedConv", [real(1, 4, 9, 9), real(6, 2, 3, 3), real(6)], fixed=(1, 2),
             activation=act, group=2, dilations=[2, 2], strides=[2, 1], auto_pad="SAME_UPPER", kernel_shape=[3,
             3], **more)
        case(f"FusedConv_{act}_1d", MS, "FusedConv", [real(1, 4, 9), real(6, 4, 3)], fixed=(1,), activation=act,
             **more)
        case(f"FusedGemm_{act}", MS, "FusedGemm", [real(3, 5), real(4, 5), real(3, 1)], activation=act, transB=1,
             beta=.5, **(dict(activation_alpha=p[0], activation_beta=p[1]) if p else {}))
    case("BiasGelu_h", MS, "BiasGelu", [x.astype(np.float16), bias.astype(np.float16)], steps=3e-3)
    case("QuickGelu_plain", MS, "QuickGelu", [x])


def attention():
    b, s, n, h = 2, 4, 2, 16
    d = n * h
    x, w, bias = real(b, s, d), real(d, 3 * d, scale=.3), real(3 * d)
    past = real(2, b, n, 3, h)
    m1 = np.array([3, 4], np.int32)
    m2 = np.array([3, 4, 1, 0], np.int32)
    m3 = whole(0, 2, b, s, s, dtype=np.int32)
    m3[:, :, 0] = 1
    m7 = whole(0, 2, b, s, s + 3, dtype=np.int32)
    m7[:, :, 0] = 1
    case("Attn_m1", MS, "Attention", [x, w, bias, m1], num_heads=n)
    case("Attn_m2", MS, "Attention", [x, w, bias, m2], num_heads=n)
    case("Attn_m3", MS, "Attention", [x, w, bias, m3], num_heads=n)
    case("Attn_m3past", MS, "Attention", [x, w, bias, m7, past], outputs=2, num_heads=n)
    case("Attn_m1past", MS, "Attention", [x, w, bias, m1 + 3, past], outputs=2, num_heads=n)
    case("Attn_m3causal", MS, "Attention", [x, w, bias, m3], num_heads=n, unidirectional=1)
    case("Attn_m1causal", MS, "Attention", [x, w, bias, m1], num_heads=n, unidirectional=1)
    case("Attn_filter", MS, "Attention", [x, w, bias, m3], num_heads=n, mask_filter_value=-3.)
    case("Attn_bias", MS, "Attention", [x, w, bias, None, None, real(b, n, s, s)], num_heads=n)
    case("Attn_bias1", MS, "Attention", [x, w, bias, None, None, real(1, 1, s, s)], num_heads=n)
    case("Attn_bias_mask", MS, "Attention", [x, w, bias, m1, None, real(b, 1, s, s)], num_heads=n)
    case("Attn_scale", MS, "Attention", [x, w, bias], num_heads=n, scale=.5)
    case("Attn_present", MS, "Attention", [x, w, bias], outputs=2, num_heads=n)
    case("Attn_nobias", MS, "Attention", [x, w], num_heads=n)
    case("Attn_sizes", MS, "Attention", [x, real(d, 80, scale=.3), real(80)], num_heads=n, qkv_hidden_sizes=[32, 32,
         16])
    case("Attn_sizes_m", MS, "Attention", [x, real(d, 56, scale=.3), real(56), m1], num_heads=n,
         qkv_hidden_sizes=[16, 16, 24])
    q, k, v = real(b, s, d), real(b, 6, d), real(b, 6, d)
    case("MHA_scale", MS, "MultiHeadAttention", [q, k, v], num_heads=n, scale=.3)
    case("MHA_causal", MS, "MultiHeadAttention", [q, real(b, s, d), real(b, s, d)], num_heads=n, unidirectional=1)
    case("MHA_m1", MS, "MultiHeadAttention", [q, k, v, None, np.array([3, 6], np.int32)], num_heads=n)
    case("MHA_m3", MS, "MultiHeadAttention", [q, k, v, None, whole(0, 2, b, s, 6, dtype=np.int32) | np.eye(s, 6,
         dtype=np.int32)], num_heads=n)
    case("MHA_filter", MS, "MultiHeadAttention", [q, k, v, None, np.array([[1] * 6, [1, 1, 1, 1, 0, 0]], np.int32)],
         num_heads=n, mask_filter_value=-2.)
    for sh in (b, n, s, 6), (1, 1, s, 6), (1, n, s, 6), (b, 1, s, 6):
        case(f"MHA_bias_{sh}", MS, "MultiHeadAttention", [q, k, v, None, None, real(*sh)], num_heads=n)
    case("MHA_vsize", MS, "MultiHeadAttention", [q, k, real(b, 6, 20)], num_heads=n)
    case("MHA_vsize_bias", MS, "MultiHeadAttention", [q, k, real(b, 6, 20), real(32 + 32 + 20)], num_heads=n)
    case("MHA_heads_bias", MS, "MultiHeadAttention", [q, real(b, n, 6, h), real(b, n, 6, h), real(3 * d)],
         num_heads=n)
    case("MHA_present", MS, "MultiHeadAttention", [q, k, v], outputs=3, num_heads=n)
    case("MHA_past_bias", MS, "MultiHeadAttention", [q, real(b, s, d), real(b, s, d), real(3 * d), None, real(1, n,
         s, 7), real(b, n, 3, h), real(b, n, 3, h)], outputs=3, num_heads=n, unidirectional=1)
    group()
    cos, sin = real(32, h // 2), real(32, h // 2)
    c4, s4 = real(32, 4), real(32, 4)
    for inter in 0, 1:
        for p in np.array([3]), whole(0, 20, b, s):
            t = f"{inter}_{p.ndim}"
            case(f"Rot_3_{t}", MS, "RotaryEmbedding", [real(b, s, d), p, cos, sin], fixed=(2, 3), interleaved=inter)
            case(f"Rot_3n_{t}", MS, "RotaryEmbedding", [real(b, s, d), p, cos, sin], fixed=(2, 3), interleaved=inter,
                 num_heads=n)
            case(f"Rot_3part_{t}", MS, "RotaryEmbedding", [real(b, s, d), p, c4, s4], fixed=(2, 3),
                 interleaved=inter, num_heads=n, rotary_embedding_dim=8)
            case(f"Rot_4_{t}", MS, "RotaryEmbedding", [real(b, n, s, h), p, cos, sin], fixed=(2, 3),
                 interleaved=inter)
            case(f"Rot_4n_{t}", MS, "RotaryEmbedding", [real(b, n, s, h), p, cos, sin], fixed=(2, 3),
                 interleaved=inter, num_heads=n)
            case(f"Rot_4part_{t}", MS, "RotaryEmbedding", [real(b, n, s, h), p, c4, s4], fixed=(2, 3),
                 interleaved=inter, num_heads=n, rotary_embedding_dim=8)
            case(f"Rot_fed_{t}", MS, "RotaryEmbedding", [real(b, s, d), p, cos, sin], interleaved=inter)
            case(f"Rot_scale_{t}", MS, "RotaryEmbedding", [real(b, s, d), p, cos, sin], interleaved=inter, scale=2.)


def group():
    n, h, kv = 4, 16, 2
    d = n * h
    cos, sin = real(32, h // 2), real(32, h // 2)
    for b in 1, 2:
        for p, length in (0, 4), (5, 1), (5, 3):
            cache = [real(b, kv, p, h), real(b, kv, p, h)] if p else [None, None]
            ends = [np.full(b, p + length - 1, np.int32), np.array(p + length, np.int32)]
            qkv = [real(b, length, d), real(b, length, kv * h), real(b, length, kv * h)]
            base = [*qkv, *cache, *ends, cos, sin]
            how = dict(outputs=3, fixed=(6, 7, 8), num_heads=n, kv_num_heads=kv)
            t = f"{b}_{p}_{length}"

            def gq(name, ins, **kw):  # noqa: B023
                case(f"GQA_{name}_{t}", MS, "GroupQueryAttention", ins, **{**how, **kw})

            gq("plain", base[:7])
            for win in 1, 2, 3, 100:
                gq(f"window{win}", base, do_rotary=1, local_window_size=win)
            gq("cap", base, do_rotary=1, softcap=5.)
            gq("smooth", base, do_rotary=1, smooth_softmax=1)
            gq("sink", base + [None, None, real(n)], do_rotary=1)
            gq("scale", base, do_rotary=1, scale=.5)
            gq("inter", base, do_rotary=1, rotary_interleaved=1)
            for sh in (b, n, length, p + length), (1, 1, length, p + length), (1, n, length, p + length), (b, 1,
                 length, p + length):
                gq(f"bias{sh[0]}{sh[1]}", base + [None, real(*sh)], do_rotary=1)
            gq("half_rotary", base[:7] + [cos[:, :4].copy(), sin[:, :4].copy()], do_rotary=1)
            gq("noncausal", base, do_rotary=1, causal=0)
            gq("packed_window", [real(b, length, d + 2 * kv * h), None, None, *base[3:]], do_rotary=1,
                 local_window_size=2)
            gq("half", [v.astype(np.float16) if v is not None and v.dtype == np.float32 else v for v in base],
                 do_rotary=1, steps=4e-3)
            gq("window_sink", base + [None, None, real(n)], do_rotary=1, local_window_size=2)
            gq("fed", base, do_rotary=1, fixed=(7, 8))


def learned():
    x = real(5, 3)
    posts = "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"
    ints = whole(-3, 9, 5, 3)
    for t, v in ("i64", ints), ("i32", ints.astype(np.int32)), ("f64", x.astype(np.float64)), ("f32", x):
        case(f"Scaler_{t}", ML, "Scaler", [v], offset=[.1, .2, .3], scale=[2., 3., .5])
        case(f"Scaler1_{t}", ML, "Scaler", [v], offset=[.1], scale=[2.])
        for norm in "MAX", "L1", "L2":
            case(f"Normalizer_{norm}_{t}", ML, "Normalizer", [v], norm=norm)
        case(f"Normalizer_{t}", ML, "Normalizer", [v])
        case(f"Normalizer_1d_{t}", ML, "Normalizer", [v[0]], norm="L2")
        case(f"LinReg_{t}", ML, "LinearRegressor", [v], coefficients=[float(c) for c in real(6)], intercepts=[.1,
             .2], targets=2)
        case(f"LinCls_{t}", ML, "LinearClassifier", [v], outputs=2, coefficients=[float(c) for c in real(9)],
             intercepts=[.1, .2, .3], classlabels_ints=[4, 7, 9])
        case(f"Binarizer_{t}", ML, "Binarizer", [v], threshold=1.)
        case(f"AFE_{t}", ML, "ArrayFeatureExtractor", [v, np.array([[2, 0, 2]])])
        case(f"FeatVec_{t}", ML, "FeatureVectorizer", [v, v[:, :2].copy()], inputdimensions=[3, 2])
        case(f"FeatVec1_{t}", ML, "FeatureVectorizer", [v[:, 0].copy(), v[:, :2].copy()], inputdimensions=[1, 2])
        case(f"OneHot_{t}", ML, "OneHotEncoder", [np.abs(v).astype(v.dtype).round()], cats_int64s=[0, 1, 2, 5])
        case(f"SVR_{t}", ML, "SVMRegressor", [v], coefficients=[.5, -.4], n_supports=2, rho=[.25],
             support_vectors=[float(c) for c in real(6)], kernel_type="RBF", kernel_params=[.1, 0., 3.])
        case(f"SVC_{t}", ML, "SVMClassifier", [v], outputs=2, coefficients=[float(c) for c in real(8)],
             classlabels_ints=[1, 2, 3], vectors_per_class=[2, 1, 1], rho=[.1, .2,
             .3], support_vectors=[float(c) for c in real(12)], kernel_type="RBF", kernel_params=[.05, 0., 3.])
    for post in posts:
        big = real(9, 3) * 2
        case(f"LinReg1_{post}", ML, "LinearRegressor", [big], coefficients=[float(c) for c in real(3)],
             intercepts=[.1], post_transform=post)
        case(f"LinReg_{post}", ML, "LinearRegressor", [big], coefficients=[float(c) for c in real(6)],
             intercepts=[.1, .2], targets=2, post_transform=post)
        case(f"LinRegNo_{post}", ML, "LinearRegressor", [big], coefficients=[float(c) for c in real(6)], targets=2,
             post_transform=post)
        for multi in 0, 1:
            case(f"LinCls3_{post}_{multi}", ML, "LinearClassifier", [big], outputs=2,
                 coefficients=[float(c) for c in real(9)], intercepts=[.1, .2, .3], classlabels_ints=[4, 7,
                 9], post_transform=post, multi_class=multi)
            case(f"LinCls2_{post}_{multi}", ML, "LinearClassifier", [big], outputs=2,
                 coefficients=[float(c) for c in real(6)], intercepts=[.1, .2], classlabels_ints=[4,
                 7], post_transform=post, multi_class=multi)
            case(f"LinCls1_{post}_{multi}", ML, "LinearClassifier", [big], outputs=2,
                 coefficients=[float(c) for c in real(3)], intercepts=[.1], classlabels_ints=[4,
                 7], post_transform=post, multi_class=multi)
            case(f"LinCls1s_{post}_{multi}", ML, "LinearClassifier", [big], outputs=2,
                 coefficients=[float(c) for c in real(3)], intercepts=[.1], classlabels_strings=["a",
                 "b"], post_transform=post, multi_class=multi)
            case(f"LinClsNo_{post}_{multi}", ML, "LinearClassifier", [big], outputs=2,
                 coefficients=[float(c) for c in real(9)], classlabels_ints=[4, 7,
                 9], post_transform=post, multi_class=multi)
        vec = [float(c) for c in real(12)]
        for kind in "LINEAR", "POLY", "RBF", "SIGMOID":
            k = dict(kernel_type=kind, kernel_params=[.3, .1, 2.])
            case(f"SVR_{kind}_{post}", ML, "SVMRegressor", [big], coefficients=[.5, -.4, .3, .2], n_supports=4,
                 rho=[.25], support_vectors=vec, post_transform=post, **k)
            case(f"SVR_one_{kind}_{post}", ML, "SVMRegressor", [big], coefficients=[.5, -.4, .3, .2], n_supports=4,
                 rho=[-.25], support_vectors=vec, post_transform=post, one_class=1, **k)
            for prob in {}, dict(prob_a=[-1., -2., -1.5], prob_b=[.1, .2, 0.]):
                case(f"SVC_{kind}_{post}_{len(prob)}", ML, "SVMClassifier", [big], outputs=2,
                     coefficients=[float(c) for c in real(8)], classlabels_ints=[1, 2, 3], vectors_per_class=[2, 1,
                     1], rho=[.1, .2, .3], support_vectors=vec, post_transform=post, **prob, **k)
            for prob in {}, dict(prob_a=[-1.], prob_b=[.1]):
                for sign in 1, -1:
                    case(f"SVC2_{kind}_{post}_{len(prob)}_{sign}", ML, "SVMClassifier", [big], outputs=2,
                         coefficients=[sign * .5, .4, .3 * sign, .2], classlabels_ints=[1, 2], vectors_per_class=[2,
                         2], rho=[.1], support_vectors=vec, post_transform=post, **prob, **k)
            case(f"SVC2s_{kind}_{post}", ML, "SVMClassifier", [big], outputs=2, coefficients=[.5, .4, .3, .2],
                 classlabels_strings=["x", "yy"], vectors_per_class=[2,
                 2], rho=[.1], support_vectors=vec, post_transform=post, **k)
        case(f"SVR_lin_{post}", ML, "SVMRegressor", [big], coefficients=[.5, -.4, .3], n_supports=0, rho=[.25],
             kernel_type="LINEAR", post_transform=post)
        case(f"SVC_lin_{post}", ML, "SVMClassifier", [big], outputs=2, coefficients=[float(c) for c in real(9)],
             classlabels_ints=[1, 2, 3], rho=[.1], kernel_type="LINEAR", kernel_params=[.3, .1,
             2.], post_transform=post)
    trees(posts)
    i = whole(0, 5, 4, 2)
    case("Imputer1", ML, "Imputer", [x], imputed_value_floats=[7.], replaced_value_float=float(x[0, 0]))
    case("Imputer_i1", ML, "Imputer", [i], imputed_value_int64s=[9], replaced_value_int64=2)
    case("Imputer_icol", ML, "Imputer", [i], imputed_value_int64s=[9, 8], replaced_value_int64=2)
    case("AFE_1d", ML, "ArrayFeatureExtractor", [x[0], np.array([2, 0])])
    case("AFE_str", ML, "ArrayFeatureExtractor", [np.array([["a", "b", "c"], ["d", "e", "f"]], object),
         np.array([2])])
    case("CategoryMapper_s", ML, "CategoryMapper", [np.array(["a", "zz", "b"], object)], cats_int64s=[5, 6],
         cats_strings=["a", "b"], default_int64=-4)
    case("CategoryMapper_i", ML, "CategoryMapper", [np.array([5, 9, 6])], cats_int64s=[5, 6], cats_strings=["a",
         "b"], default_string="no")


def trees(posts):
    x = real(8, 3)
    tree = dict(nodes_treeids=[0, 0, 0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 3, 4, 0, 1, 2],
                nodes_featureids=[0, 0, 1, 0, 0, 2, 0, 0], nodes_values=[.1, 0., -.2, 0., 0., .3, 0., 0.],
                nodes_truenodeids=[1, 0, 3, 0, 0, 1, 0, 0], nodes_falsenodeids=[2, 0, 4, 0, 0, 2, 0, 0])
    leaves = dict(treeids=[0, 0, 0, 1, 1], nodeids=[1, 3, 4, 1, 2])
    wts = [.2, .3, .9, .4, -.1]
    modes = lambda m: [f"BRANCH_{m}", "LEAF", f"BRANCH_{m}", "LEAF", "LEAF", f"BRANCH_{m}", "LEAF", "LEAF"]
    hole = x.copy()
    hole[0, 0] = hole[1, 2] = np.nan
    for m in "LEQ", "LT", "GTE", "GT", "EQ", "NEQ":
        for track in None, [1, 0, 0, 0, 0, 1, 0, 0]:
            more = dict(nodes_missing_value_tracks_true=track) if track else {}
            for name, v in ("nan", hole), ("f64", x.astype(np.float64)), ("i64", np.round(x * 3).astype(np.int64)):
                case(f"TreeReg_{m}_{name}_{bool(track)}", ML, "TreeEnsembleRegressor", [v], nodes_modes=modes(m),
                     n_targets=1, target_ids=[0] * 5, target_weights=wts, **more,
                     **{f"target_{k}": q for k, q in leaves.items()}, **tree)
                case(f"TreeCls_{m}_{name}_{bool(track)}", ML, "TreeEnsembleClassifier", [v], outputs=2,
                     nodes_modes=modes(m), class_ids=[0, 1, 2, 1, 0], class_weights=wts, classlabels_int64s=[5, 6,
                     8], **more,
                     **{f"class_{k}": q for k, q in leaves.items()}, **tree)
    mixed = ["BRANCH_LT", "LEAF", "BRANCH_GT", "LEAF", "LEAF", "BRANCH_EQ", "LEAF", "LEAF"]
    for post in posts:
        for agg in "SUM", "AVERAGE", "MIN", "MAX":
            for base in {}, dict(base_values=[.5, -.25]):
                case(f"TreeReg2_{post}_{agg}_{len(base)}", ML, "TreeEnsembleRegressor", [x], nodes_modes=mixed,
                     n_targets=2, target_ids=[0, 1, 0, 1,
                     0], target_weights=wts, aggregate_function=agg, post_transform=post, **base,
                     **{f"target_{k}": q for k, q in leaves.items()}, **tree)
            case(f"TreeReg1_{post}_{agg}", ML, "TreeEnsembleRegressor", [x], nodes_modes=mixed, n_targets=1,
                 target_ids=[0] * 5, target_weights=wts, aggregate_function=agg, post_transform=post, base_values=[.3],
                 **{f"target_{k}": q for k, q in leaves.items()}, **tree)
        for base in {}, dict(base_values=[.5, -.25, .1]):
            case(f"TreeCls3_{post}_{len(base)}", ML, "TreeEnsembleClassifier", [x], outputs=2, nodes_modes=mixed,
                 class_ids=[0, 1, 2, 1, 0], class_weights=wts, classlabels_int64s=[5, 6,
                 8], post_transform=post, **base,
                 **{f"class_{k}": q for k, q in leaves.items()}, **tree)
        for base in {}, dict(base_values=[.5]), dict(base_values=[.5, -.25]):
            for sign in 1, -1:
                for lab in dict(classlabels_int64s=[5, 6]), dict(classlabels_strings=["n", "y"]):
                    case(f"TreeCls2_{post}_{len(base.get('base_values', []))}_{sign}_{list(lab)[0][12]}", ML,
                         "TreeEnsembleClassifier", [x], outputs=2, nodes_modes=mixed, class_ids=[0] * 5, class_weights=[abs(c) if sign > 0 else c for c in wts], post_transform=post, **lab, **base,
                         **{f"class_{k}": q for k, q in leaves.items()}, **tree)


main(quantised, fused, attention, learned)
