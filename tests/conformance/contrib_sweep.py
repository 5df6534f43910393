#!/usr/bin/env python3
"""contrib_sweep.py MARQ [NAME-PART]: forms that meet others: lengths of queries
and keys, batches of several lengths, ranks of features, types that differ."""
from contrib_case import *  # noqa: F403


def norms():
    x, g = real(2, 3, 8), real(8)
    half = np.float16
    for name, kinds in ("x", (half, np.float32)), ("scale", (np.float32, half)), ("both", (half, half)):
        case(f"Simplified_half_{name}", "", "SimplifiedLayerNormalization", [x.astype(kinds[0]), g.astype(kinds[1])],
             epsilon=1e-2, axis=-1, steps=2e-3)
    for axis in 0, 1, -2:
        case(f"Simplified_{axis}", "", "SimplifiedLayerNormalization", [x, real(*x.shape[axis:])], outputs=2, axis=axis)
    for kind, steps in (np.float32, 0.), (half, 2e-3):
        for op, more in ("SkipLayerNormalization", [real(8), real(8)]), ("SkipSimplifiedLayerNormalization", [real(8)]):
            ins = [v.astype(kind) for v in (x, real(2, 3, 8), g, *more)]
            case(f"{op}_all_{kind.__name__}", MS, op, ins, outputs=4, epsilon=1e-5, steps=steps)
            case(f"{op}_spread_{kind.__name__}", MS, op, [ins[0], ins[1][:1], ins[2]], steps=steps)


def one_way():
    """Queries that see the keys up to their place, and as many keys or not."""
    n, h, b = 4, 8, 2
    d = n * h
    for s, k in (3, 3), (3, 6), (6, 3), (1, 5), (4, 1):
        q, keys, v = real(b, s, d), real(b, k, d), real(b, k, d)
        most = np.array([[max(k - 1, 1)], [k]])
        forms = {
            "bare": [q, keys, v], "bias": [q, keys, v, real(3 * d)],
            "heads": [q, real(b, n, k, h), real(b, n, k, h)],
            "scores": [q, keys, v, None, None, real(1, n, s, k)],
            "ends": [q, keys, v, None, most[:, 0].astype(np.int32)],
            "mask": [q, keys, v, None, (np.arange(k) < most).astype(np.int32)],
            "mask3": [q, keys, v, None, whole(0, 2, b, s, k, dtype=np.int32)],
        }
        for name, ins in forms.items():
            case(f"MHA_{name}_{s}_{k}", MS, "MultiHeadAttention", ins, num_heads=n, unidirectional=1)
        for p in 1, 4:
            past = [real(b, n, p, h), real(b, n, p, h)]
            case(f"MHA_past{p}_{s}_{k}", MS, "MultiHeadAttention", [q, keys, v, None, None, None, *past], outputs=3,
                 num_heads=n, unidirectional=1)
    x = real(b, 4, 32)
    case("Attention_widths", MS, "Attention", [x, real(32, 56), real(56)], num_heads=2, qkv_hidden_sizes=[16, 16, 24])


def ragged():
    """Batches of several lengths behind a cache; ONNX Runtime leaves open what
    rows of a prompt behind its end are, so there are none."""
    n, h, kv = 4, 16, 2
    d = n * h
    cos, sin = real(32, h // 2), real(32, h // 2)
    for past, total, length, lens in (5, 6, 1, [6, 3]), (5, 6, 1, [2, 6, 4]), (8, 6, 1, [6, 3]), (8, 4, 4, [4, 4]), \
            (8, 6, 1, [6]):
        b = len(lens)
        base = [real(b, length, d), real(b, length, kv * h), real(b, length, kv * h), real(b, kv, past, h),
                real(b, kv, past, h), np.array(lens, np.int32) - 1, np.array(total, np.int32), cos, sin]
        forms = {"plain": (base[:7], {}), "turned": (base, {}), "window": (base, dict(local_window_size=2)),
                 "cap": (base, dict(softcap=5.)), "smooth": (base, dict(smooth_softmax=1)),
                 "sink": (base + [None, None, real(n)], dict(local_window_size=2)),
                 "bias": (base + [None, real(1, n, length, total)], dict(local_window_size=3)),
                 "noncausal": (base, dict(causal=0)),
                 "packed": ([real(b, length, d + 2 * kv * h), None, None, *base[3:]], dict(rotary_interleaved=1))}
        for name, (ins, more) in forms.items():
            case(f"GQA_{name}_{past}_{total}_{'_'.join(map(str, lens))}", MS, "GroupQueryAttention", ins, outputs=3,
                 fixed=(6, 7, 8), num_heads=n, kv_num_heads=kv, do_rotary=int(name != "plain"), **more)


def scores():
    """The scores of attention as an output of their own, before the softmax and
    behind it."""
    n, h, kv, b = 4, 16, 2, 2
    d = n * h
    for s, k in (3, 3), (2, 5), (4, 2), (1, 4):
        ins = [real(b, s, d), real(b, k, d), real(b, k, d)]
        mask = (np.arange(k) < np.array([[max(k - 1, 1)], [k]])).astype(np.int32)
        past = [real(b, n, 3, h), real(b, n, 3, h)]
        forms = {"plain": ins, "bias": ins + [real(3 * d)], "mask": ins + [None, mask],
                 "added": ins + [None, mask, real(1, n, s, k)], "past": ins + [None, None, real(b, 1, s, k + 3), *past],
                 "heads": [ins[0], real(b, n, k, h), real(b, n, k, h)]}
        for name, v in forms.items():
            for way in 0, 1:
                case(f"MHA_scores_{name}_{s}_{k}_{way}", MS, "MultiHeadAttention", v, outputs=4 if "past" in name else
                     (1, 0, 0, 1), num_heads=n, unidirectional=way)
    cos, sin = real(32, h // 2), real(32, h // 2)
    for past, total, length, lens in (0, 4, 4, [4]), (0, 4, 4, [4, 4]), (3, 4, 1, [4]), (5, 7, 2, [7]), \
            (8, 5, 2, [5]), (5, 6, 1, [6, 3]), (8, 6, 1, [6, 3]):
        b = len(lens)
        cache = [real(b, kv, past, h), real(b, kv, past, h)] if past else [None, None]
        base = [real(b, length, d), real(b, length, kv * h), real(b, length, kv * h), *cache,
                np.array(lens, np.int32) - 1, np.array(total, np.int32), cos, sin]
        half = [v.astype(np.float16) if v is not None and v.dtype == np.float32 else v for v in base]
        forms = {"plain": (base[:7], {}), "turned": (base, {}), "window": (base, dict(local_window_size=2)),
                 "cap": (base, dict(softcap=.5)), "smooth": (base, dict(smooth_softmax=1)),
                 "sink": (base + [None, None, real(n)], dict(local_window_size=2)),
                 "added": (base + [None, real(1, n, length, total)], dict(softcap=1.)),
                 "noncausal": (base, dict(causal=0)), "half": (half, dict(steps=4e-3))}
        for name, (ins, more) in forms.items():
            for told in 1, 2:
                case(f"GQA_scores_{name}_{past}_{total}_{length}_{b}_{told}", MS, "GroupQueryAttention", ins, outputs=4,
                     fixed=(6, 7, 8), num_heads=n, kv_num_heads=kv, do_rotary=int(name != "plain"), qk_output=told,
                     **more)


def softmaxes():
    x = whole(0, 256, 2, 8, 5, dtype=np.uint8)
    for opset in 11, 12, 13:
        for axis in None, 0, 1, -1:
            case(f"QLinearSoftmax_{opset}_{axis}", MS, "QLinearSoftmax", [x, f32(.05), u8(3), f32(1 / 256), u8(0)],
                 fixed=(1, 2, 3, 4), steps=1, opset=opset, **({} if axis is None else dict(axis=axis)))


def features():
    tree = dict(nodes_treeids=[0] * 3, nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0], nodes_values=[.1, 0., 0.],
                nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"])
    rbf = dict(kernel_type="RBF", kernel_params=[.1, 0., 3.])
    vectors = [float(c) for c in real(12)]
    eight = [float(c) for c in real(9)]
    for kind in np.float32, np.float64, np.int64, np.int32:
        x = (real(4, 3) * 3).astype(kind)
        for rank, v in (1, x[0]), (2, x), (3, x.reshape(2, 2, 3)):
            t = f"{kind.__name__}_{rank}"
            for dims in [3], [2], [6]:
                case(f"FeatureVectorizer_{dims[0]}_{t}", ML, "FeatureVectorizer", [v], inputdimensions=dims)
            case(f"FeatureVectorizer_two_{t}", ML, "FeatureVectorizer", [v, v], inputdimensions=[4, 2])
            case(f"SVMRegressor_{t}", ML, "SVMRegressor", [v], coefficients=[.5, -.4], n_supports=2, rho=[.25],
                 support_vectors=vectors[:6], **rbf)
            case(f"SVMRegressor_linear_{t}", ML, "SVMRegressor", [v], coefficients=[.5, -.4, .1], n_supports=0,
                 rho=[.25], kernel_type="LINEAR")
            case(f"SVMClassifier_{t}", ML, "SVMClassifier", [v], outputs=2, coefficients=eight[:8],
                 classlabels_ints=[1, 2, 3], vectors_per_class=[2, 1, 1], rho=[.1, .2, .3], support_vectors=vectors, **rbf)
            case(f"LinearRegressor_{t}", ML, "LinearRegressor", [v], coefficients=eight[:6], intercepts=[.1, .2],
                 targets=2)
            case(f"LinearClassifier_{t}", ML, "LinearClassifier", [v], outputs=2, coefficients=eight,
                 intercepts=[.1, .2, .3], classlabels_ints=[4, 7, 9])
            case(f"LinearClassifier_one_{t}", ML, "LinearClassifier", [v], outputs=2, coefficients=eight[:3],
                 intercepts=[.1], classlabels_ints=[4, 7])
            case(f"Normalizer_{t}", ML, "Normalizer", [v], norm="L2")
            case(f"Scaler_{t}", ML, "Scaler", [v], offset=[.1, .2, .3], scale=[2., 3., .5])
            case(f"ArrayFeatureExtractor_{t}", ML, "ArrayFeatureExtractor", [v, np.array([[2, 0]])])
            case(f"OneHotEncoder_{t}", ML, "OneHotEncoder", [np.abs(v).round()], cats_int64s=[0, 1, 2, 5])
            case(f"TreeRegressor_{t}", ML, "TreeEnsembleRegressor", [v], n_targets=1, target_ids=[0, 0],
                 target_nodeids=[1, 2], target_treeids=[0, 0], target_weights=[.3, .7], **tree)


def labels():
    x = real(8, 3)
    tree = dict(nodes_treeids=[0, 0, 0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 3, 4, 0, 1, 2],
                nodes_featureids=[0, 0, 1, 0, 0, 2, 0, 0], nodes_values=[.1, 0., -.2, 0., 0., .3, 0., 0.],
                nodes_truenodeids=[1, 0, 3, 0, 0, 1, 0, 0], nodes_falsenodeids=[2, 0, 4, 0, 0, 2, 0, 0],
                nodes_modes=["BRANCH_LT", "LEAF", "BRANCH_GT", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"],
                class_treeids=[0] * 6 + [1] * 4, class_nodeids=[1, 1, 3, 3, 4, 4, 1, 1, 2, 2], class_ids=[0, 1] * 5)
    weights = [.2, .8, .9, .1, .4, .6, .3, .7, 1., 0.]
    for post in "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO":
        for base in {}, dict(base_values=[.5]), dict(base_values=[.5, -.25]):
            for sign in 1, -1:
                for name, lab in ("i", [5, 6]), ("b", [0, 1]), ("s", ["n", "y"]):
                    case(f"TreeClassifier_{post}_{len(base.get('base_values', []))}_{sign}_{name}", ML,
                         "TreeEnsembleClassifier", [x], outputs=2, post_transform=post, **base, **tree,
                         class_weights=[c * sign ** (i // 3) for i, c in enumerate(weights)],
                         **{"classlabels_strings" if name == "s" else "classlabels_int64s": lab})
    texts = np.array([["a", "zz"], ["b", "a"]], object)
    for name, v in ("texts", texts), ("places", np.array([[0, 5], [1, -1]])):
        for told in {}, dict(default_int64=-7, default_string="none"):
            case(f"LabelEncoder_1_{name}_{len(told)}", ML, "LabelEncoder", [v], classes_strings=["a", "b", "c"], ml=1,
                 **told)


main(norms, one_way, ragged, scores, softmaxes, features, labels)
