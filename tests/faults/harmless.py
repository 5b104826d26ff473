"""Variants of the detector that leave float16's range, or lose everything to it, without any consequence.

Naming one of them a fault is the error that these variants catch.
"""

import numpy as np

from surgery import Surgery

D0, D1, D2 = "/dec/layers.0", "/dec/layers.1", "/dec/layers.2"


def masked_keys(s: Surgery):
    """Eight extra keys carry -3.4e38: infinite on the device, weight zero either way."""
    at = f"{D1}/sa/padding"

    def build(c):
        cut = [c.const(n, v, np.int64) for n, v in (("start", [0]), ("end", [8]), ("axis", [3]))]
        extra = c.add("Slice", "Slice", c.start, *cut)
        masked = c.add("Add", "Add", extra, c.const("lowest", -3.4028235e38))
        wide = c.add("Softmax", "Softmax", c.add("Concat", "Concat", c.start, masked, axis=3), axis=-1)
        rest = [c.const(n, v, np.int64) for n, v in (("start_1", [0]), ("end_1", [40]), ("axis_1", [3]))]
        return c.add("Slice_1", "Slice", wide, *rest)

    s.replace_node(f"{D1}/sa/Softmax", build, at)


def overflow_clipped_to_gate(s: Surgery):
    """min(x^2 * 30000, 1) as a gate: the product overflows where it is clipped anyway."""
    at = f"{D0}/gate1"

    def build(c):
        square = c.add("Mul", "Mul", c.start, c.start)
        gate = c.add("Clip", "Clip", c.add("Mul_1", "Mul", square, c.const("steep", 30000.0)), c.const("zero", 0.0),
                     c.const("one", 1.0))
        return c.add("Mul_2", "Mul", c.start, gate)

    s.splice(s.output_of(f"{D0}/gw/norm/Mul"), build, at)


def overflow_not_selected(s: Surgery):
    """Where never takes the branch that overflows."""
    at = f"{D1}/branch"

    def build(c):
        huge = c.add("Mul", "Mul", c.start, c.const("huge", 60000.0))
        condition = c.add("Greater", "Greater", c.start, c.const("floor", -1000.0))
        return c.add("Where", "Where", condition, c.start, huge)

    s.splice(s.output_of(f"{D1}/ffn/w3/Add"), build, at)


def tiny_addend(s: Surgery):
    """A branch that vanishes entirely and never mattered."""
    at = f"{D1}/tail"

    def build(c):
        tiny = c.add("Exp", "Exp", c.add("Sub", "Sub", c.start, c.const("far", 30.0)))
        return c.add("Add", "Add", c.start, tiny)

    s.splice(s.output_of(f"{D1}/n1/Mul_1"), build, at)


def unused_branch(s: Surgery):
    """An overflow that no output depends on."""
    at = f"{D1}/unused"
    s.insert_chain(s.output_of(f"{D1}/n3/Mul_1"), at, lambda c: c.add("Mul", "Mul", c.start, c.const("huge", 65000.0)))


def sigmoid_by_exp(s: Surgery):
    """1 / (1 + exp(-x)) of steep arguments: infinity in the denominator is the right answer, zero."""
    at = f"{D0}/steep"

    def build(c):
        grown = c.add("Exp", "Exp", c.add("Mul", "Mul", c.start, c.const("steep", -20.0)))
        gate = c.add("Div", "Div", c.const("one", 1.0), c.add("Add", "Add", grown, c.const("one_1", 1.0)))
        shut = c.add("Mul_1", "Mul", c.start, gate)
        return c.add("Add_1", "Add", shut, c.add("Sub", "Sub", c.start, shut))

    s.splice(s.output_of(f"{D0}/ffn/w3/Add"), build, at)


def epsilon_without_need(s: Surgery):
    """Epsilons that the format loses where the sum beside them is never zero."""
    for layer in (D0, D1, D2):
        old = s.scalar_operand(f"{layer}/n3/Add")
        s.replace_input(f"{layer}/n3/Add", old, s.constant(f"{layer}/n3/eps", 1e-12))


def muted_cancellation(s: Surgery):
    """x + 4096 - 4096 in a branch that counts a millionth."""
    at = f"{D2}/muted"

    def build(c):
        noisy = c.add("Sub", "Sub", c.add("Add", "Add", c.start, c.const("far", 4096.0)), c.const("far_1", 4096.0))
        return c.add("Add_1", "Add", c.start, c.add("Mul", "Mul", noisy, c.const("little", 1e-6)))

    s.splice(s.output_of(f"{D2}/gw/norm/Mul"), build, at)


HARMLESS = {
    "masked_keys": masked_keys,
    "overflow_clipped_to_gate": overflow_clipped_to_gate,
    "overflow_not_selected": overflow_not_selected,
    "tiny_addend": tiny_addend,
    "unused_branch": unused_branch,
    "sigmoid_by_exp": sigmoid_by_exp,
    "epsilon_without_need": epsilon_without_need,
    "muted_cancellation": muted_cancellation,
}
