/* Pairs of models that mean the same in other words, and pairs that look alike
 * and do not: the first share every key, the others do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/arena.h"
#include "ir/base/buf.h"
#include "tests/support/keyed.h"

#define X "float32[1,8,16,16]"
#define W "float32[8,8,3,3] fill cdcccc3d"

struct pair {
	const char *what;
	bool same;
	const char *x; /* type of value 0 (and of value 1) */
	const char *constants; /* values 2, 3, ... separated by ';' */
	const char *outputs; /* their types separated by ';' */
	const char *one, *other; /* nodes behind "=" */
};

#define OPSET(op, x, a, b, out) \
	{ \
		op ": opset " #a " or " #b, true, x, "", out, \
		    "\"" op "\" " #a " \"\" \"\" (%0; )", \
		    "\"" op "\" " #b " \"\" \"\" (%0; )" \
	}
#define OPSET2(op, a, b, out) \
	{ \
		op ": opset " #a " or " #b, true, X, "", out, \
		    "\"" op "\" " #a " \"\" \"\" (%0, %1; )", \
		    "\"" op "\" " #b " \"\" \"\" (%0, %1; )" \
	}
#define SPELLED(op, v, x, out, attrs) \
	{ \
		op ": defaults written out", true, x, "", out, \
		    "\"" op "\" " #v " \"\" \"\" (%0; )", \
		    "\"" op "\" " #v " \"\" \"\" (%0; ) " attrs \
	}
#define CONV(attrs) "\"Conv\" 17 \"\" \"\" (%0, %2; ) " attrs
#define REDUCE(v, rest) "\"ReduceMean\" " #v " \"\" \"\" (%0" rest
#define RESIZE(in, rest) "\"Resize\" 17 \"\" \"\" (%0, " in "; ) " rest
#define AXES23 "02000000000000000300000000000000"

static const struct pair pairs[] = {
    {"conv: defaults", true, X, W, X, CONV("\"pads\":ints=[1,1,1,1]"),
        CONV("\"auto_pad\":string=\"NOTSET\" \"dilations\":ints=[1,1] "
             "\"group\":int=1 \"kernel_shape\":ints=[3,3] "
             "\"pads\":ints=[1,1,1,1] \"strides\":ints=[1,1]")},
    {"conv: SAME_UPPER or its pads", true, X, W, X,
        CONV("\"pads\":ints=[1,1,1,1]"),
        CONV("\"auto_pad\":string=\"SAME_UPPER\"")},
    {"conv: SAME_LOWER, even input, stride 2", true, X, W, "float32[1,8,8,8]",
        CONV("\"pads\":ints=[1,1,0,0] \"strides\":ints=[2,2]"),
        CONV("\"auto_pad\":string=\"SAME_LOWER\" \"strides\":ints=[2,2]")},
    {"conv: SAME_UPPER and SAME_LOWER differ", false, X, W, "float32[1,8,8,8]",
        CONV("\"auto_pad\":string=\"SAME_UPPER\" \"strides\":ints=[2,2]"),
        CONV("\"auto_pad\":string=\"SAME_LOWER\" \"strides\":ints=[2,2]")},
    {"conv: VALID or no pads", true, X, W, "float32[1,8,14,14]", CONV(""),
        CONV("\"auto_pad\":string=\"VALID\"")},
    {"conv: opset", true, X, W, X,
        "\"Conv\" 11 \"\" \"\" (%0, %2; ) \"pads\":ints=[1,1,1,1]",
        "\"Conv\" 22 \"\" \"\" (%0, %2; ) \"pads\":ints=[1,1,1,1]"},
    {"max pool: SAME_UPPER", true, X, "", "float32[1,8,8,8]",
        "\"MaxPool\" 12 \"\" \"\" (%0; ) \"kernel_shape\":ints=[2,2] "
        "\"strides\":ints=[2,2]",
        "\"MaxPool\" 12 \"\" \"\" (%0; ) \"auto_pad\":string=\"SAME_UPPER\" "
        "\"kernel_shape\":ints=[2,2] \"strides\":ints=[2,2]"},
    {"average pool: ceil_mode counts", false, X, "", "float32[1,8,8,8]",
        "\"AveragePool\" 17 \"\" \"\" (%0; ) \"kernel_shape\":ints=[2,2] "
        "\"strides\":ints=[2,2]",
        "\"AveragePool\" 17 \"\" \"\" (%0; ) \"ceil_mode\":int=1 "
        "\"kernel_shape\":ints=[2,2] \"strides\":ints=[2,2]"},
    OPSET("Sin", X, 13, 22, X),
    OPSET("Round", X, 11, 22, X),
    OPSET("Selu", X, 6, 22, X),
    OPSET("ThresholdedRelu", X, 10, 22, X),
    OPSET("HardSwish", X, 14, 22, X),
    OPSET("Softsign", X, 1, 22, X),
    OPSET("Sign", X, 9, 13, X),
    OPSET("IsNaN", X, 13, 20, "bool[1,8,16,16]"),
    OPSET("LpNormalization", X, 1, 22, X),
    OPSET("MeanVarianceNormalization", X, 9, 13, X),
    OPSET("Transpose", X, 13, 21, "float32[16,16,8,1]"),
    OPSET("Mish", X, 18, 22, X),
    OPSET("Atan", X, 7, 22, X),
    OPSET("ReduceL2", X, 13, 17, "float32[1,1,1,1]"),
    OPSET("ReduceProd", X, 13, 17, "float32[1,1,1,1]"),
    OPSET("GlobalLpPool", X, 2, 22, "float32[1,8,1,1]"),
    OPSET("LogSoftmax", X, 13, 21, X),
    OPSET("LeakyRelu", X, 6, 16, X),
    OPSET("Elu", X, 6, 22, X),
    OPSET("Softplus", X, 1, 22, X),
    OPSET2("Equal", 13, 19, "bool[1,8,16,16]"),
    OPSET2("Greater", 9, 13, "bool[1,8,16,16]"),
    OPSET2("Less", 9, 13, "bool[1,8,16,16]"),
    OPSET2("GreaterOrEqual", 12, 16, "bool[1,8,16,16]"),
    OPSET2("LessOrEqual", 12, 16, "bool[1,8,16,16]"),
    OPSET2("Add", 7, 14, X),
    SPELLED(
        "Transpose", 17, X, "float32[16,16,8,1]", "\"perm\":ints=[3,2,1,0]"),
    SPELLED("Celu", 12, X, X, "\"alpha\":float=1"),
    SPELLED("ThresholdedRelu", 10, X, X, "\"alpha\":float=1"),
    SPELLED("LpNormalization", 1, X, X, "\"axis\":int=-1 \"p\":int=2"),
    SPELLED("Softmax", 17, X, X, "\"axis\":int=-1"),
    SPELLED("Softmax", 17, X, X, "\"axis\":int=3"),
    SPELLED("LogSoftmax", 17, X, X, "\"axis\":int=3"),
    SPELLED("Softmax", 11, X, X, "\"axis\":int=-3"),
    SPELLED("IsInf", 20, X, "bool[1,8,16,16]",
        "\"detect_negative\":int=1 \"detect_positive\":int=1"),
    SPELLED("Shrink", 9, X, X, "\"bias\":float=0 \"lambd\":float=0.5"),
    SPELLED("Flatten", 13, X, "float32[1,2048]", "\"axis\":int=-3"),
    SPELLED("ReduceSum", 17, X, "float32[1,1,1,1]",
        "\"keepdims\":int=1 \"noop_with_empty_axes\":int=0"),
    {"softmax: another axis", false, X, "", X,
        "\"Softmax\" 17 \"\" \"\" (%0; ) \"axis\":int=2",
        "\"Softmax\" 17 \"\" \"\" (%0; ) \"axis\":int=3"},
    {"mean: axes as attribute or input", true, X, "int64[2] hex " AXES23,
        "float32[1,8,1,1]", REDUCE(17, "; ) \"axes\":ints=[2,3]"),
        REDUCE(18, ", %2; )")},
    {"mean: negative axes in another order", true, X, "int64[2] hex " AXES23,
        "float32[1,8,1,1]", REDUCE(17, "; ) \"axes\":ints=[2,3]"),
        REDUCE(17, "; ) \"axes\":ints=[-1,-2]")},
    {"mean: all axes, by name or by none", true, X, "", "float32[1,1,1,1]",
        REDUCE(17, "; ) \"axes\":ints=[0,1,2,3]"), REDUCE(17, "; )")},
    {"mean: other axes", false, "float32[1,8,8,8]", "", "unknown",
        REDUCE(17, "; ) \"axes\":ints=[3]"),
        REDUCE(17, "; ) \"axes\":ints=[2] \"keepdims\":int=1")},
    {"mean: no axes is all, or none", false, X, "", "unknown",
        REDUCE(18, "; )"), REDUCE(18, "; ) \"noop_with_empty_axes\":int=1")},
    {"resize: a region counts where it is cropped to", false, X,
        "float32[8] fill 00000000;float32[4] hex "
        "0000803f0000803f0000004000000040"
        ";float32[8] hex "
        "00000000000000000000000000000000000000000000003f0000003f0000003f",
        "float32[1,8,32,32]",
        RESIZE("%2, %3",
            "\"coordinate_transformation_mode\":string="
            "\"tf_crop_and_resize\""),
        RESIZE("%4, %3",
            "\"coordinate_transformation_mode\":string="
            "\"tf_crop_and_resize\"")},
    {"resize: and nowhere else", true, X,
        "float32[8] fill 00000000;float32[4] hex "
        "0000803f0000803f0000004000000040"
        ";float32[8] hex "
        "00000000000000000000000000000000000000000000003f0000003f0000003f",
        "float32[1,8,32,32]", RESIZE("%2, %3", ""), RESIZE("%4, %3", "")},
    {"resize: defaults", true, X,
        "float32[0] hex ;float32[4] hex 0000803f0000803f0000004000000040",
        "float32[1,8,32,32]", RESIZE("%2, %3", ""),
        RESIZE("%2, %3",
            "\"coordinate_transformation_mode\":string=\"half_pixel\" "
            "\"cubic_coeff_a\":float=-0.75 \"mode\":string=\"nearest\" "
            "\"nearest_mode\":string=\"round_prefer_floor\"")},
    {"resize: roi empty or left out", true, X,
        "float32[0] hex ;float32[4] hex 0000803f0000803f0000004000000040",
        "float32[1,8,32,32]", RESIZE("%2, %3", ""), RESIZE("_, %3", "")},
    {"resize: mode counts", false, X,
        "float32[0] hex ;float32[4] hex 0000803f0000803f0000004000000040",
        "float32[1,8,32,32]", RESIZE("%2, %3", ""),
        RESIZE("%2, %3", "\"mode\":string=\"linear\"")},
    {"top k: defaults", true, "float32[4,64]", "int64[1] hex 0500000000000000",
        "float32[4,5];int64[4,5]", "\"TopK\" 17 \"\" \"\" (%0, %2; )",
        "\"TopK\" 17 \"\" \"\" (%0, %2; ) \"axis\":int=1 \"largest\":int=1 "
        "\"sorted\":int=1"},
    {"cumulative sum: defaults, negative axis", true, "float32[4,64]",
        "int64[] hex 0100000000000000;int64[] hex ffffffffffffffff",
        "float32[4,64]", "\"CumSum\" 17 \"\" \"\" (%0, %2; )",
        "\"CumSum\" 17 \"\" \"\" (%0, %3; ) \"exclusive\":int=0 "
        "\"reverse\":int=0"},
    {"split: sizes given, counted or implied", true, X,
        "int64[2] hex 04000000000000000400000000000000",
        "float32[1,4,16,16];float32[1,4,16,16]",
        "\"Split\" 13 \"\" \"\" (%0; ) \"axis\":int=1",
        "\"Split\" 13 \"\" \"\" (%0, %2; ) \"axis\":int=-3"},
    {"split: number of outputs", true, X, "",
        "float32[1,4,16,16];float32[1,4,16,16]",
        "\"Split\" 11 \"\" \"\" (%0; ) \"axis\":int=1 \"split\":ints=[4,4]",
        "\"Split\" 18 \"\" \"\" (%0; ) \"axis\":int=1 \"num_outputs\":int=2"},
    {"pad: value left out or zero", true, X,
        "int64[8] hex "
        "0000000000000000000000000000000001000000000000000100000000000000"
        "0000000000000000000000000000000001000000000000000100000000000000"
        ";float32[] hex 00000000",
        "float32[1,8,18,18]", "\"Pad\" 17 \"\" \"\" (%0, %2; )",
        "\"Pad\" 17 \"\" \"\" (%0, %2, %3; )"},
    {"pad: attribute or input", true, X,
        "int64[8] hex "
        "0000000000000000000000000000000001000000000000000100000000000000"
        "0000000000000000000000000000000001000000000000000100000000000000",
        "float32[1,8,18,18]",
        "\"Pad\" 2 \"\" \"\" (%0; ) \"pads\":ints=[0,0,1,1,0,0,1,1]",
        "\"Pad\" 17 \"\" \"\" (%0, %2; ) \"mode\":string=\"constant\""},
    {"clip: attributes or inputs", true, X,
        "float32[] hex 00000000;float32[] hex 0000c040", X,
        "\"Clip\" 6 \"\" \"\" (%0; ) \"max\":float=6 \"min\":float=0",
        "\"Clip\" 13 \"\" \"\" (%0, %2, %3; )"},
    {"clip: another limit", false, X,
        "float32[] hex 00000000;float32[] hex 0000c040;float32[] hex 0000a040",
        X, "\"Clip\" 13 \"\" \"\" (%0, %2, %3; )",
        "\"Clip\" 13 \"\" \"\" (%0, %2, %4; )"},
    {"squeeze: attribute, input or none", true, "float32[1,8,1,16]",
        "int64[2] hex 00000000000000000200000000000000", "float32[8,16]",
        "\"Squeeze\" 11 \"\" \"\" (%0; ) \"axes\":ints=[0,2]",
        "\"Squeeze\" 13 \"\" \"\" (%0, %2; )"},
    {"unsqueeze: attribute or input", true, "float32[8,16]",
        "int64[1] hex 0000000000000000", "float32[1,8,16]",
        "\"Unsqueeze\" 11 \"\" \"\" (%0; ) \"axes\":ints=[0]",
        "\"Unsqueeze\" 13 \"\" \"\" (%0, %2; )"},
    {"reshape: -1 or the size", true, X,
        "int64[2] hex 0100000000000000ffffffffffffffff"
        ";int64[2] hex 01000000000000000008000000000000",
        "float32[1,2048]", "\"Reshape\" 13 \"\" \"\" (%0, %2; )",
        "\"Reshape\" 13 \"\" \"\" (%0, %3; )"},
    {"batch normalisation: opset 9 or 15", true, X,
        "float32[8] fill cdcccc3d;float32[8] fill cdcccc3d;float32[8] fill cdcccc3d;float32[8] fill cdcccc3d",
        X, "\"BatchNormalization\" 9 \"\" \"\" (%0, %2, %3, %4, %5; )",
        "\"BatchNormalization\" 15 \"\" \"\" (%0, %2, %3, %4, %5; ) \"epsilon\":float=1e-05 \"training_mode\":int=0"},
    {"batch normalisation: opset 7, a statistic for each channel", true, X,
        "float32[8] fill cdcccc3d;float32[8] fill cdcccc3d;float32[8] fill cdcccc3d;float32[8] fill cdcccc3d",
        X,
        "\"BatchNormalization\" 7 \"\" \"\" (%0, %2, %3, %4, %5; ) \"spatial\":int=1",
        "\"BatchNormalization\" 14 \"\" \"\" (%0, %2, %3, %4, %5; )"},
    {"softmax: one axis, before and after opset 13", true, "float32[4,64]", "",
        "float32[4,64]", "\"Softmax\" 11 \"\" \"\" (%0; ) \"axis\":int=1",
        "\"Softmax\" 13 \"\" \"\" (%0; )"},
    {"softmax: one axis of many, the rest 1", true, "float32[2,64,1,1]", "",
        "float32[2,64,1,1]", "\"Softmax\" 11 \"\" \"\" (%0; )",
        "\"Softmax\" 13 \"\" \"\" (%0; ) \"axis\":int=1"},
    {"softmax: all from an axis on is another than one axis", false, X, "", X,
        "\"Softmax\" 11 \"\" \"\" (%0; ) \"axis\":int=2",
        "\"Softmax\" 13 \"\" \"\" (%0; ) \"axis\":int=2"},
    {"slice: steps left out, no name, or 1", true, X,
        "int64[1] hex 0200000000000000;int64[1] hex 0a00000000000000;int64[1] hex 0300000000000000;int64[1] hex 0100000000000000",
        "float32[1,8,16,8]", "\"Slice\" 13 \"\" \"\" (%0, %2, %3, %4; )",
        "\"Slice\" 13 \"\" \"\" (%0, %2, %3, %4, %5; )"},
    {"slice: axes left out or written out", true, X,
        "int64[4] hex 0000000000000000000000000000000000000000000000000200000000000000;int64[4] hex 0100000000000000080000000000000010000000000000000a00000000000000;int64[4] hex 0000000000000000010000000000000002000000000000000300000000000000;int64[4] hex 0100000000000000010000000000000001000000000000000100000000000000",
        "float32[1,8,16,8]", "\"Slice\" 13 \"\" \"\" (%0, %2, %3; )",
        "\"Slice\" 13 \"\" \"\" (%0, %2, %3, %4, %5; )"},
    {"slice: axes have no name, steps have", true, X,
        "int64[4] hex 0000000000000000000000000000000000000000000000000200000000000000;int64[4] hex 0100000000000000080000000000000010000000000000000a00000000000000;int64[4] hex 0100000000000000010000000000000001000000000000000100000000000000",
        "float32[1,8,16,8]", "\"Slice\" 13 \"\" \"\" (%0, %2, %3; )",
        "\"Slice\" 13 \"\" \"\" (%0, %2, %3, _, %4; )"},
    {"slice: the axes that lose something", true, X,
        "int64[4] hex 0000000000000000000000000000000000000000000000000200000000000000;int64[4] hex 0100000000000000080000000000000010000000000000000a00000000000000;int64[1] hex 0200000000000000;int64[1] hex 0a00000000000000;int64[1] hex ffffffffffffffff",
        "float32[1,8,16,8]", "\"Slice\" 13 \"\" \"\" (%0, %2, %3; )",
        "\"Slice\" 13 \"\" \"\" (%0, %4, %5, %6; )"},
    {"slice: attributes or inputs, ends beyond the end", true, X,
        "int64[1] hex faffffffffffffff;int64[1] hex ffffffffffffff7f;int64[1] hex ffffffffffffffff",
        "float32[1,8,16,6]",
        "\"Slice\" 9 \"\" \"\" (%0; ) \"axes\":ints=[3] \"ends\":ints=[16] \"starts\":ints=[10]",
        "\"Slice\" 13 \"\" \"\" (%0, %2, %3, %4; )"},
    {"slice: another beginning", false, X,
        "int64[1] hex 0200000000000000;int64[1] hex 0a00000000000000;int64[1] hex 0300000000000000;int64[1] hex 0400000000000000;int64[1] hex 0c00000000000000",
        "float32[1,8,16,8]", "\"Slice\" 13 \"\" \"\" (%0, %2, %3, %4; )",
        "\"Slice\" 13 \"\" \"\" (%0, %5, %6, %4; )"},
    {"slice: another step", false, X,
        "int64[1] hex 0000000000000000;int64[1] hex 0800000000000000;int64[1] hex 0300000000000000;int64[1] hex 1000000000000000;int64[1] hex 0200000000000000",
        "float32[1,8,16,8]", "\"Slice\" 13 \"\" \"\" (%0, %2, %3, %4; )",
        "\"Slice\" 13 \"\" \"\" (%0, %2, %5, %4, %6; )"},
    {"slice: another axis", false, X,
        "int64[1] hex 0200000000000000;int64[1] hex 0a00000000000000;int64[1] hex 0300000000000000;int64[1] hex 0200000000000000",
        "unknown", "\"Slice\" 13 \"\" \"\" (%0, %2, %3, %4; )",
        "\"Slice\" 13 \"\" \"\" (%0, %2, %3, %5; )"},
    {"pad: all axes or those with a border", true, X,
        "int64[8] hex 00000000000000000000000000000000010000000000000001000000000000000000000000000000000000000000000001000000000000000100000000000000;int64[4] hex 0100000000000000010000000000000001000000000000000100000000000000;int64[2] hex 0200000000000000ffffffffffffffff",
        "float32[1,8,18,18]", "\"Pad\" 17 \"\" \"\" (%0, %2; )",
        "\"Pad\" 18 \"\" \"\" (%0, %3, _, %4; )"},
    {"pad: a border on another side", false, X,
        "int64[4] hex 0200000000000000000000000000000000000000000000000200000000000000;int64[4] hex 0000000000000000020000000000000002000000000000000000000000000000;int64[2] hex 02000000000000000300000000000000",
        "float32[1,8,18,18]", "\"Pad\" 18 \"\" \"\" (%0, %2, _, %4; )",
        "\"Pad\" 18 \"\" \"\" (%0, %3, _, %4; )"},
    {"pad of integers: value left out or zero", true, "int8[1,8,16,16]",
        "int64[8] hex 00000000000000000000000000000000010000000000000001000000000000000000000000000000000000000000000001000000000000000100000000000000;int8[] hex 00",
        "int8[1,8,18,18]", "\"Pad\" 17 \"\" \"\" (%0, %2; )",
        "\"Pad\" 17 \"\" \"\" (%0, %2, %3; )"},
    {"resize: by sizes or by scales", true, X,
        "float32[4] hex 0000803f0000803f0000004000000040;int64[4] hex 0100000000000000080000000000000020000000000000002000000000000000",
        "float32[1,8,32,32]", "\"Resize\" 17 \"\" \"\" (%0, _, %2; )",
        "\"Resize\" 17 \"\" \"\" (%0, _, _, %3; )"},
    {"resize: all axes or two", true, X,
        "float32[4] hex 0000803f0000803f0000004000000040;float32[2] hex 0000004000000040",
        "float32[1,8,32,32]", "\"Resize\" 17 \"\" \"\" (%0, _, %2; )",
        "\"Resize\" 18 \"\" \"\" (%0, _, %3; ) \"axes\":ints=[2,3]"},
    {"resize: scales that do not lead there by themselves", false, X,
        "float32[4] hex 0000803f0000803f85eb014085eb0140;int64[4] hex 0100000000000000080000000000000020000000000000002000000000000000",
        "float32[1,8,32,32]", "\"Resize\" 17 \"\" \"\" (%0, _, %2; )",
        "\"Resize\" 17 \"\" \"\" (%0, _, _, %3; )"},
    {"upsample: attribute or input", true, X,
        "float32[4] hex 0000803f0000803f0000004000000040", "float32[1,8,32,32]",
        "\"Upsample\" 7 \"\" \"\" (%0; ) \"scales\":floats=[1, 1, 2, 2]",
        "\"Upsample\" 9 \"\" \"\" (%0, %2; ) \"mode\":string=\"nearest\""},
    {"quantise: zero point left out or zero", true, X,
        "float32[] hex cdcccc3d;uint8[] hex 00", "uint8[1,8,16,16]",
        "\"QuantizeLinear\" 13 \"\" \"\" (%0, %2; )",
        "\"QuantizeLinear\" 13 \"\" \"\" (%0, %2, %3; )"},
    {"quantise: another zero point", false, X,
        "float32[] hex cdcccc3d;uint8[] hex 07", "uint8[1,8,16,16]",
        "\"QuantizeLinear\" 13 \"\" \"\" (%0, %2; )",
        "\"QuantizeLinear\" 13 \"\" \"\" (%0, %2, %3; )"},
    {"dequantise: zero point left out or zero", true, "uint8[1,8,16,16]",
        "float32[] hex cdcccc3d;uint8[] hex 00", X,
        "\"DequantizeLinear\" 13 \"\" \"\" (%0, %2; )",
        "\"DequantizeLinear\" 13 \"\" \"\" (%0, %2, %3; )"},
    {"integer product: zero points left out, without a name or zero", true,
        "uint8[4,8]", "int8[8,4] fill 01;uint8[] hex 00;int8[] hex 00",
        "int32[4,4]", "\"MatMulInteger\" 10 \"\" \"\" (%0, %2; )",
        "\"MatMulInteger\" 10 \"\" \"\" (%0, %2, %3, %4; )"},
    {"integer convolution: zero points left out, without a name or zero", true,
        "uint8[1,8,16,16]", "int8[8,8,3,3] fill 01;int8[] hex 00",
        "int32[1,8,14,14]", "\"ConvInteger\" 10 \"\" \"\" (%0, %2; )",
        "\"ConvInteger\" 10 \"\" \"\" (%0, %2, _, %3; )"},
    {"LSTM: lengths left out or whole", true, "float32[5,1,8]",
        "float32[1,32,8] fill cdcccc3d;float32[1,32,8] fill cdcccc3d;int32[1] hex 05000000",
        "float32[5,1,1,8]",
        "\"LSTM\" 14 \"\" \"\" (%0, %2, %3; ) \"hidden_size\":int=8",
        "\"LSTM\" 14 \"\" \"\" (%0, %2, %3, _, %4; ) \"hidden_size\":int=8"},
    {"LSTM: shorter lengths", false, "float32[5,1,8]",
        "float32[1,32,8] fill cdcccc3d;float32[1,32,8] fill cdcccc3d;int32[1] hex 03000000",
        "float32[5,1,1,8]",
        "\"LSTM\" 14 \"\" \"\" (%0, %2, %3; ) \"hidden_size\":int=8",
        "\"LSTM\" 14 \"\" \"\" (%0, %2, %3, _, %4; ) \"hidden_size\":int=8"},
    {"triangle: diagonal left out or 0", true, "float32[8,8]",
        "int64[] hex 0000000000000000", "float32[8,8]",
        "\"Trilu\" 14 \"\" \"\" (%0; )",
        "\"Trilu\" 14 \"\" \"\" (%0, %2; ) \"upper\":int=1"},
    {"clip: a limit left out or the largest number", true, X,
        "float32[] hex 00000000;float32[] hex ffff7f7f", X,
        "\"Clip\" 13 \"\" \"\" (%0, %2; )",
        "\"Clip\" 13 \"\" \"\" (%0, %2, %3; )"},
    {"clip: a limit of one element", true, X,
        "float32[] hex 00000000;float32[1] hex 00000000", X,
        "\"Clip\" 13 \"\" \"\" (%0, %2; )", "\"Clip\" 13 \"\" \"\" (%0, %3; )"},
    {"grid sample: modes by their older names", true, X,
        "float32[1,4,4,2] fill 00000000", "float32[1,8,4,4]",
        "\"GridSample\" 16 \"\" \"\" (%0, %2; ) \"mode\":string=\"bilinear\"",
        "\"GridSample\" 20 \"\" \"\" (%0, %2; )"},
    {"instance statistics: axes from the back", true, X, "", X,
        "\"MeanVarianceNormalization\" 13 \"\" \"\" (%0; )",
        "\"MeanVarianceNormalization\" 13 \"\" \"\" (%0; ) \"axes\":ints=[0,-2,-1]"},
    {"selu: numbers of opset 1", false, X, "", X, "\"Selu\" 1 \"\" \"\" (%0; )",
        "\"Selu\" 6 \"\" \"\" (%0; )"},
    {"fourier: the axis as attribute or input", true, "float32[1,16,16,1]",
        "int64[] hex 0100000000000000", "float32[1,16,16,2]",
        "\"DFT\" 17 \"\" \"\" (%0; )", "\"DFT\" 20 \"\" \"\" (%0, _, %2; )"},
    {"LSTM: defaults", true, "float32[5,1,8]",
        "float32[1,32,8] fill cdcccc3d;float32[1,32,8] fill cdcccc3d",
        "float32[5,1,1,8]",
        "\"LSTM\" 14 \"\" \"\" (%0, %2, %3; ) \"hidden_size\":int=8",
        "\"LSTM\" 22 \"\" \"\" (%0, %2, %3; ) "
        "\"activations\":strings=[\"Sigmoid\", \"Tanh\", \"Tanh\"] "
        "\"direction\":string=\"forward\" \"hidden_size\":int=8 "
        "\"input_forget\":int=0 \"layout\":int=0"},
    {"GRU: defaults", true, "float32[5,1,8]",
        "float32[1,24,8] fill cdcccc3d;float32[1,24,8] fill cdcccc3d",
        "float32[5,1,1,8]",
        "\"GRU\" 14 \"\" \"\" (%0, %2, %3; ) \"hidden_size\":int=8",
        "\"GRU\" 22 \"\" \"\" (%0, %2, %3; ) "
        "\"activations\":strings=[\"Sigmoid\", \"Tanh\"] "
        "\"direction\":string=\"forward\" \"hidden_size\":int=8 "
        "\"linear_before_reset\":int=0"},
    {"LSTM: backwards is another", false, "float32[5,1,8]",
        "float32[1,32,8] fill cdcccc3d;float32[1,32,8] fill cdcccc3d",
        "float32[5,1,1,8]",
        "\"LSTM\" 14 \"\" \"\" (%0, %2, %3; ) \"hidden_size\":int=8",
        "\"LSTM\" 14 \"\" \"\" (%0, %2, %3; ) \"direction\":string="
        "\"reverse\" \"hidden_size\":int=8"},
    {"quantised conv: opset, defaults", true, "uint8[1,8,16,16]",
        "float32[] hex cdcccc3d;uint8[] hex 00;int8[8,8,3,3] fill 01"
        ";float32[] hex 0ad7a33c;int8[] hex 00;float32[] hex 9a99993e",
        "uint8[1,8,16,16]",
        "\"QLinearConv\" 10 \"\" \"\" (%0, %2, %3, %4, %5, %6, %7, %3; ) "
        "\"pads\":ints=[1,1,1,1]",
        "\"QLinearConv\" 21 \"\" \"\" (%0, %2, %3, %4, %5, %6, %7, %3; ) "
        "\"dilations\":ints=[1,1] \"group\":int=1 \"kernel_shape\":ints=[3,3] "
        "\"pads\":ints=[1,1,1,1] \"strides\":ints=[1,1]"},
    {"quantised conv: a zero point counts by being zero", false,
        "uint8[1,8,16,16]",
        "float32[] hex cdcccc3d;uint8[] hex 00;int8[8,8,3,3] fill 01"
        ";float32[] hex 0ad7a33c;int8[] hex 00;float32[] hex 9a99993e"
        ";uint8[] hex 07",
        "uint8[1,8,16,16]",
        "\"QLinearConv\" 10 \"\" \"\" (%0, %2, %3, %4, %5, %6, %7, %3; ) "
        "\"pads\":ints=[1,1,1,1]",
        "\"QLinearConv\" 10 \"\" \"\" (%0, %2, %8, %4, %5, %6, %7, %3; ) "
        "\"pads\":ints=[1,1,1,1]"},
    {"add: one value twice is another", false, X, "", X,
        "\"Add\" 14 \"\" \"\" (%0, %0; )", "\"Add\" 14 \"\" \"\" (%0, %1; )"},
    {"power: another exponent", false, X,
        "float32[1] hex 00000040;float32[1] hex cdcc2c40", X,
        "\"Pow\" 13 \"\" \"\" (%0, %2; )", "\"Pow\" 13 \"\" \"\" (%0, %3; )"},
    {"leaky relu: another slope", false, X, "", X,
        "\"LeakyRelu\" 16 \"\" \"\" (%0; ) \"alpha\":float=0.125",
        "\"LeakyRelu\" 16 \"\" \"\" (%0; ) \"alpha\":float=0.25"},
};

/* Items of a list separated by ';', each given to `put`. */
static void
put_list(struct buf *b, const char *list, const char *before, uint32_t *id,
    const char *between)
{
	for (const char *s = list; *s != '\0';) {
		size_t n = strcspn(s, ";");
		/* A constant's type ends where its content begins. */
		size_t type = strcspn(s, " ");

		if (type > n || strcmp(before, "node") == 0)
			type = n;
		buf_printf(
		    b, "%s%%%u \"v%u\" %.*s", between, *id, *id, (int)type, s);
		if (strcmp(before, "value") == 0)
			buf_printf(b, " = %.*s\n", (int)n, s);
		++*id;
		s += n + (s[n] == ';');
		if (strcmp(before, "node") == 0)
			between = ", ";
	}
}

static const char *
text_of(const struct pair *p, const char *node, struct arena *a)
{
	const char *text;
	uint32_t id = 2, first;
	struct buf b;

	buf_init(&b);
	buf_printf(&b,
	    "graph \"g\" {\nvalue %%0 \"x\" %s\nvalue %%1 \"z\" %s\n", p->x,
	    p->x);
	put_list(&b, p->constants, "value", &id, "value ");
	buf_str(&b, "in %0, %1\nnode ");
	first = id;
	put_list(&b, p->outputs, "node", &id, "");
	buf_printf(&b, " = %s\nout ", node);
	for (uint32_t i = first; i < id; i++)
		buf_printf(&b, "%s%%%u", i > first ? ", " : "", i);
	buf_str(&b, "\n}\n");
	text = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return text;
}

static void
words_do_not_matter_and_meaning_does(void **state)
{
	uint32_t nsame = 0, bad = 0;
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		const struct pair *p = &pairs[i];
		const char *node[2] = {p->one, p->other};
		struct err err = {.kind = ERR_NONE};
		struct hash128 h[2];
		bool same, ok = true;

		for (int k = 0; k < 2 && ok; k++) {
			const char *text = text_of(p, node[k], &a);

			ok = keyed_text(text, &h[k], &err);
			if (!ok)
				print_error(
				    "%s: %s\n%s", p->what, err.text, text);
		}
		if (!ok) {
			bad++;
			continue;
		}
		same = memcmp(&h[0], &h[1], sizeof h[0]) == 0;
		if (same != p->same)
			print_error("%s: %s\n", p->what,
			    same ? "one key for two" : "two keys for one");
		bad += same != p->same;
		nsame += p->same;
	}
	print_message("%u pairs the same, %zu different\n", nsame,
	    sizeof pairs / sizeof *pairs - nsame);
	arena_release(&a);
	assert_int_equal(bad, 0);
}

static struct hash128
key_of(const char *text)
{
	struct err err = {.kind = ERR_NONE};
	struct hash128 h = {{0}};

	if (!keyed_text(text, &h, &err))
		fail_msg("%s\n%s", err.text, text);
	return h;
}

static void
assert_same(const char *one, const char *other)
{
	struct hash128 a = key_of(one), b = key_of(other);

	assert_memory_equal(&a, &b, sizeof a);
}

/* An initialiser, a Constant node, the Identity of either. */
static void
constants_are_constants(void **state)
{
#define HEAD "graph \"g\" {\nvalue %0 \"x\" float32[1,8,16,16]\n"
#define TAIL(w, y) \
	"node " y " \"y\" unknown = \"Conv\" 17 \"\" \"\" (%0, " w "; ) " \
	"\"pads\":ints=[1,1,1,1]\nout " y "\n}\n"
	static const char initialiser[] =
	    HEAD "value %1 \"w\" float32[8,8,3,3] = float32[8,8,3,3] fill "
	         "cdcccc3d\nin %0\n" TAIL("%1", "%2");
	static const char node[] = HEAD
	    "in %0\nnode %1 \"w\" unknown = \"Constant\" 17 \"\" \"\" (; ) "
	    "\"value\":tensor=float32[8,8,3,3] fill cdcccc3d\n" TAIL(
	        "%1", "%2");
	static const char identity[] =
	    HEAD "value %1 \"w\" float32[8,8,3,3] = float32[8,8,3,3] fill "
	         "cdcccc3d\nin %0\nnode %2 \"v\" unknown = \"Identity\" 17 "
	         "\"\" \"\" (%1; )\n" TAIL("%2", "%3");

	(void)state;
	assert_same(initialiser, node);
	assert_same(initialiser, identity);
}

/* Nodes of a body in another order, behind an If nobody can decide. */
static void
order_in_bodies_does_not_matter(void **state)
{
#define IF(nodes) \
	"graph \"g\" {\nvalue %0 \"x\" float32[4,4]\nvalue %1 \"c\" bool[]\n" \
	"in %0, %1\nnode %2 \"y\" unknown, %3 \"z\" unknown = \"If\" 17 \"\" " \
	"\"\" (%1; %0) \"then_branch\":graph=graph \"t\" {\n" \
	"capture 0 %0 \"x\" unknown\nin \n" nodes "out %3, %4\n} " \
	"\"else_branch\":graph=graph \"e\" {\ncapture 0 %0 \"x\" unknown\n" \
	"in \nnode %1 \"p\" unknown = \"Neg\" 17 \"\" \"\" (%0; )\n" \
	"node %2 \"q\" unknown = \"Neg\" 17 \"\" \"\" (%0; )\nout %1, %2\n}\n" \
	"out %2, %3\n}\n"
#define RELU "node %1 \"a\" unknown = \"Relu\" 17 \"\" \"\" (%0; )\n"
#define SIGMOID "node %2 \"b\" unknown = \"Sigmoid\" 17 \"\" \"\" (%0; )\n"
#define ADD "node %3 \"o\" unknown = \"Add\" 17 \"\" \"\" (%1, %2; )\n"
#define ABS "node %4 \"q\" unknown = \"Abs\" 17 \"\" \"\" (%0; )\n"
	(void)state;
	assert_same(IF(RELU SIGMOID ADD ABS), IF(ABS SIGMOID RELU ADD));
	assert_same(IF(RELU SIGMOID ADD ABS), IF(SIGMOID RELU ADD ABS));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(words_do_not_matter_and_meaning_does),
	    cmocka_unit_test(constants_are_constants),
	    cmocka_unit_test(order_in_bodies_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
