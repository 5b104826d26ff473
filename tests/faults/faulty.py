"""Variants of the detector that compute the same in float32 and break in float16. One function each.

A function edits a Surgery and returns the nodes that count as the first cause: where the format fails first, in graph
order. Factors are powers of two wherever the scaling itself should cost nothing.
"""

import numpy as np

from surgery import Surgery

D0, D1, D2 = "/dec/layers.0", "/dec/layers.1", "/dec/layers.2"


def multiply(s: Surgery, tensor, factor, prefix, readers=None):
    """Puts prefix/Mul behind a tensor."""
    s.splice(tensor, lambda c: c.add("Mul", "Mul", c.start, c.const("factor", factor)), prefix, readers)


def twice(s: Surgery, tensor, factor, prefix):
    """Multiplies by factor^2 in two steps, for squares that the format cannot hold."""
    multiply(s, tensor, factor, prefix)
    multiply(s, f"{prefix}/Mul_output_0", factor, f"{prefix}_1")


def second_half(width, factor):
    """Column factors that scale only the second half of a fused projection."""
    return np.where(np.arange(width) < width // 2, 1.0, factor)


def attention_logits_overflow(s: Surgery):
    """Query weights scaled up, the scale behind the logits down: the product of queries and keys overflows."""
    at = "/enc/blocks.1/attn"
    query = np.where(np.arange(288) < 96, 4096.0, 1.0)
    s.scale_weight(f"{at}/qkv/MatMul", query)
    s.scale_weight(f"{at}/qkv/Add", query)
    old = s.scalar_operand(f"{at}/Mul_8")
    s.replace_input(f"{at}/Mul_8", old, s.constant(f"{at}/scale", 32.0**-0.5 / 4096))
    return [f"{at}/MatMul"]


def ffn_hidden_overflow(s: Surgery):
    """First weights of a feed-forward layer scaled up, second ones down: the hidden layer overflows."""
    factor = second_half(256, 32768.0)
    s.scale_weight(f"{D1}/ffn/w12/MatMul", factor)
    s.scale_weight(f"{D1}/ffn/w12/Add", factor)
    s.scale_weight(f"{D1}/ffn/w3/MatMul", 2.0**-7)
    multiply(s, s.output_of(f"{D1}/ffn/w3/MatMul"), 2.0**-8, f"{D1}/ffn/back")
    return [f"{D1}/ffn/w12/MatMul"]


def product_overflow(s: Surgery):
    """Both factors of the gated product fit, the product does not."""
    s.scale_weight(f"{D2}/ffn/w12/MatMul", second_half(256, 1024.0))
    s.scale_weight(f"{D2}/ffn/w12/Add", second_half(256, 1024.0))
    multiply(s, s.output_of(f"{D2}/ffn/Mul_2"), 256.0, f"{D2}/ffn/up")
    s.scale_weight(f"{D2}/ffn/w3/MatMul", 2.0**-9)
    multiply(s, s.output_of(f"{D2}/ffn/w3/MatMul"), 2.0**-9, f"{D2}/ffn/back")
    return [f"{D2}/ffn/Mul_3"]


def weight_underflow(s: Surgery):
    """Weights of the score head below the smallest subnormal, scaled back behind it."""
    at = "/dec/sh.2"
    s.scale_weight(f"{at}/MatMul", 2.0**-24)
    twice(s, s.output_of(f"{at}/MatMul"), 2.0**12, f"{at}/back")
    return [f"{at}/MatMul"]


def product_underflow(s: Surgery):
    """Both factors of the gated products fit, the products are below the smallest subnormal."""
    at = f"{D0}/gw"
    multiply(s, s.output_of(f"{at}/Sigmoid"), 2.0**-13, f"{at}/down")
    for source, reader in ((f"{D0}/n1/Mul_1", f"{at}/Mul_2"), (f"{D0}/ca/Transpose_2", f"{at}/Mul_3")):
        multiply(s, s.output_of(source), 2.0**-13, f"{reader}/down", readers=[reader])
    twice(s, s.output_of(f"{at}/Add_1"), 2.0**13, f"{at}/back")
    return [f"{at}/Mul_2", f"{at}/Mul_3"]


def scale_norm_input(s: Surgery, layer, factor):
    """The input of the layer's last RMSNorm times factor, its function kept."""
    s.scale_weight(f"{layer}/gw/norm/Mul_1", factor)
    s.scale_weight(f"{layer}/ffn/w12/MatMul", 1.0 / factor)
    s.scale_weight(f"{layer}/ffn/w3/MatMul", factor)
    s.scale_weight(f"{layer}/ffn/w3/Add", factor)
    old = s.scalar_operand(f"{layer}/n3/Add")
    s.replace_input(f"{layer}/n3/Add", old, s.constant(f"{layer}/n3/eps", 1e-6 * factor**2))


def rmsnorm_squares_underflow(s: Surgery):
    """The norm's input is around 1e-4: squares, their mean and the epsilon fall under the smallest subnormal."""
    scale_norm_input(s, D0, 2.0**-13)
    return [f"{D0}/n3/Pow"]


def rmsnorm_squares_overflow(s: Surgery):
    """The published fragile detector's fault in another layer, milder: only some squares leave the range."""
    scale_norm_input(s, D1, 128.0)
    return [f"{D1}/n3/Pow"]


def exp_without_max(s: Surgery):
    """Softmax written out without the subtraction of the maximum."""
    at = f"{D0}/sa/softmax"

    def build(c):
        e = c.add("Exp", "Exp", c.start)
        total = c.add("ReduceSum", "ReduceSum", e, c.const("axes", [-1], np.int64), keepdims=1)
        return c.add("Div", "Div", e, total)

    s.replace_node(f"{D0}/sa/Softmax", build, at)
    return [f"{at}/Exp"]


def mask_times_constant(s: Surgery):
    """(1 - mask) * -1e9 added to the logits; the mask comes from the image and keeps everything: 0 * -inf = NaN."""
    at = f"{D1}/sa/mask"

    def mask(c):
        top = c.add("ReduceMax", "ReduceMax", c.start, keepdims=0)
        keep = c.to_float("Cast", c.add("Greater", "Greater", top, c.const("floor", -1000.0)))
        return c.add("Mul", "Mul", c.add("Sub", "Sub", c.const("one", 1.0), keep), c.const("lowest", -1e9))

    bias = s.insert_chain("images", at, mask)
    s.splice(s.output_of(f"{D1}/sa/MatMul"), lambda c: c.add("Add", "Add", c.start, bias), f"{at}/apply")
    return [f"{at}/Mul"]


def epsilon_too_small(s: Surgery):
    """x * x / (x + 1e-9) of a rectified tensor: 0 / 0 where the format loses the epsilon."""
    at = f"{D1}/eps"

    def build(c):
        plus, minus = c.add("Relu", "Relu", c.start), c.add("Relu_1", "Relu", c.add("Neg", "Neg", c.start))
        guarded = c.add("Add", "Add", plus, c.const("eps", 1e-9))
        ratio = c.add("Div", "Div", plus, guarded)
        return c.add("Sub", "Sub", c.add("Mul", "Mul", ratio, plus), minus)

    s.splice(s.output_of(f"{D1}/ffn/w3/Add"), build, at)
    return [f"{at}/Add", f"{at}/Div"]


def cancel_constant(s: Surgery):
    """x + 4096 - 4096: everything in range, the local error is a millionth, what remains of x are multiples of four."""
    at = f"{D1}/shift"

    def build(c):
        return c.add("Sub", "Sub", c.add("Add", "Add", c.start, c.const("far", 4096.0)), c.const("far_1", 4096.0))

    s.splice(s.output_of(f"{D1}/gw/Add_1"), build, at)
    return [f"{at}/Add"]


def cancel_neighbours(s: Surgery):
    """(a + k b) - k b with a tensor b of the network: the sum is rounded, the difference shows it."""
    at = f"{D2}/neighbours"
    other = s.output_of(f"{D2}/n1/Mul_1")

    def build(c):
        large = c.add("Mul", "Mul", other, c.const("k", 4096.0))
        return c.add("Sub", "Sub", c.add("Add", "Add", c.start, large), large)

    s.splice(s.output_of(f"{D2}/gw/Add_1"), build, at)
    return [f"{at}/Add"]


def sum_of_squares_overflow(s: Surgery):
    """RMSNorm by ReduceSum of scaled squares: each square fits, the sum of 64 does not."""
    at = f"{D1}/n1"
    multiply(s, s.output_of(f"{at}/Cast"), 32.0, f"{at}/up", readers=[f"{at}/Pow"])
    s.replace_node(f"{at}/ReduceMean",
                   lambda c: c.add("ReduceSum", "ReduceSum", c.start, c.const("axes", [-1], np.int64), keepdims=1), at)
    multiply(s, s.output_of(f"{at}/ReduceSum"), 2.0**-16, f"{at}/down")
    return [f"{at}/ReduceSum"]


def weights_too_large(s: Surgery):
    """Weights of 1e5 and more in the score head, what they multiply scaled down."""
    at = "/dec/sh.2"
    multiply(s, s.output_of(f"{D2}/n3/Mul_1"), 2.0**-10, f"{at}/down", readers=[f"{at}/MatMul"])
    s.scale_weight(f"{at}/MatMul", 2.0**21)
    multiply(s, s.output_of(f"{at}/MatMul"), 2.0**-11, f"{at}/back")
    return [f"{at}/MatMul"]


def log_exp_of_tiny(s: Surgery):
    """The scores pass through the logarithm of a number around 1e-9."""
    at = "/post/log"

    def build(c):
        small = c.add("Mul_1", "Mul", c.start, c.const("small", 2.0**-14))
        tiny = c.add("Mul", "Mul", small, c.const("small_1", 2.0**-14))
        shifted = c.add("Add", "Add", c.add("Log", "Log", tiny), c.const("back", 28 * np.log(2.0)))
        return c.add("Exp", "Exp", shifted)

    s.splice(s.output_of("/post/Sigmoid"), build, at)
    return [f"{at}/Mul"]


def variance_by_difference(s: Surgery):
    """LayerNormalization with the variance as E[x^2] - E[x]^2 of a shifted input."""
    name, at = "/enc/blocks.0/n1/LayerNormalization", "/enc/blocks.0/n1/ln"
    scale, bias = s.node(name).input[1:3]

    def build(c):
        x = c.add("Shift", "Add", c.start, c.const("shift", 12.0))
        mean = c.add("Mean", "ReduceMean", x, axes=[-1], keepdims=1)
        square = c.add("MeanOfSquares", "ReduceMean", c.add("Square", "Mul", x, x), axes=[-1], keepdims=1)
        variance = c.add("Variance", "Sub", square, c.add("SquareOfMean", "Mul", mean, mean))
        root = c.add("Sqrt", "Sqrt", c.add("AddEps", "Add", variance, c.const("eps", 1e-5)))
        normed = c.add("Div", "Div", c.add("Centre", "Sub", x, mean), root)
        return c.add("Bias", "Add", c.add("Scale", "Mul", normed, scale), bias)

    s.replace_node(name, build, at)
    return [f"{at}/{label}" for label in ("Mean", "MeanOfSquares", "SquareOfMean", "Square")]


def index_in_float(s: Surgery):
    """The rows chosen by the query selection pass through a float of more than eleven bits."""
    at = "/dec/position"

    def build(c):
        position = c.add("Add", "Add", c.to_float("Cast", c.start), c.const("base", 16384.0))
        back = c.add("Sub", "Sub", position, c.const("base_1", 16384.0))
        return c.add("Cast_1", "Cast", back, to=7)

    s.splice(s.node("/dec/TopK").output[1], build, at)
    return [f"{at}/Add"]


def constant_too_large(s: Surgery):
    """x * 2e5 / 2e5: the scalar itself is beyond the range."""
    at = f"{D2}/unit"

    def build(c):
        return c.add("Div", "Div", c.add("Mul", "Mul", c.start, c.const("unit", 2e5)), c.const("unit_1", 2e5))

    s.splice(s.output_of(f"{D2}/ca/Transpose_2"), build, at)
    return [f"{at}/Mul"]


FAULTY = {
    "attention_logits_overflow": attention_logits_overflow,
    "ffn_hidden_overflow": ffn_hidden_overflow,
    "product_overflow": product_overflow,
    "weight_underflow": weight_underflow,
    "product_underflow": product_underflow,
    "rmsnorm_squares_underflow": rmsnorm_squares_underflow,
    "rmsnorm_squares_overflow": rmsnorm_squares_overflow,
    "exp_without_max": exp_without_max,
    "mask_times_constant": mask_times_constant,
    "epsilon_too_small": epsilon_too_small,
    "cancel_constant": cancel_constant,
    "cancel_neighbours": cancel_neighbours,
    "sum_of_squares_overflow": sum_of_squares_overflow,
    "weights_too_large": weights_too_large,
    "log_exp_of_tiny": log_exp_of_tiny,
    "variance_by_difference": variance_by_difference,
    "index_in_float": index_in_float,
    "constant_too_large": constant_too_large,
}
