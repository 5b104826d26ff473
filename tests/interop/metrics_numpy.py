"""Checks every figure of compare_tensors against numpy, on random data of all dtypes and many mixtures.

usage: metrics_numpy.py PARITAS-METRICS-DUMP

Nothing here knows how the library computes: the definitions of docs and headers are written down once more, in numpy,
with exact sums (math.fsum). Exit code 77 means skipped.
"""

import fractions
import json
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

TOLERANCE = 1e-12
SMALL_FLOATS = {} if ml_dtypes is None else {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}
FLOATS = {"float16": np.float16, "float32": np.float32, "float64": np.float64, **SMALL_FLOATS}
INTEGERS = {f"{u}int{b}": np.dtype(f"{u}int{b}") for u in ("", "u") for b in (8, 16, 32, 64)}
# Stored mantissa bits and exponent of the smallest normal value.
FORMAT = {"float16": (10, -14), "bfloat16": (7, -126), "float32": (23, -126), "float64": (52, -1022),
          "float8_e4m3fn": (3, -6), "float8_e5m2": (2, -14)}
LARGEST = {"float16": 65504.0, "bfloat16": float.fromhex("0x1.fep127"), "float32": float(np.finfo(np.float32).max),
           "float64": float(np.finfo(np.float64).max), "float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}


def quantile_slack(case):
    """What rounding 64-bit integers to doubles may add to a difference, in the histogram only."""
    if not {"int64", "uint64"} & {case["x_type"], case["y_type"]}:
        return 1e-300
    sides = [np.abs(v[np.isfinite(v)]).max(initial=0) for v in (case["x"].astype(float), case["y"].astype(float))]
    return float(np.spacing(max(sides)))


def position(value, dtype):
    """Index of the value among the dtype's values after rounding to nearest even; exact rational arithmetic."""
    mantissa, emin = FORMAT[dtype]
    magnitude = abs(value)
    if magnitude == 0:
        return 0
    exponent = max(math.frexp(magnitude)[1] - 1, emin)
    numerator, denominator = magnitude.as_integer_ratio()
    shift = mantissa - exponent  # units of the last place: magnitude * 2^shift
    if shift >= 0:
        numerator <<= shift
    else:
        denominator <<= -shift
    quotient, rest = divmod(numerator, denominator)
    if 2 * rest > denominator or (2 * rest == denominator and quotient % 2):
        quotient += 1
    index = quotient + ((exponent - emin) << mantissa)
    largest = position(LARGEST[dtype], dtype) if magnitude != LARGEST[dtype] else index
    return min(index, largest + 1) * (1 if value > 0 else -1)


def max_ulp(x, y, coarser):
    a = np.array([position(v, coarser) for v in np.unique(x)], dtype=object)
    b = np.array([position(v, coarser) for v in np.unique(y)], dtype=object)
    ax = a[np.searchsorted(np.unique(x), x)]
    by = b[np.searchsorted(np.unique(y), y)]
    return int(max(abs(ax - by))) if len(x) else None


def quantile(sorted_values, per_mille):
    rank = max(1, -(-len(sorted_values) * per_mille // 1000))
    return sorted_values[rank - 1]


def storage_baseline(x, dtype):
    finite = x[np.isfinite(x)]
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = finite.astype(FLOATS[dtype]).astype(np.float64)
    held = np.isfinite(rounded)
    error = np.abs(rounded[held] - finite[held])
    tiny = (finite != 0) & (np.abs(finite) < 2.0 ** FORMAT[dtype][1])
    energy = math.fsum(finite * finite)
    return {
        "max_abs": float(error.max(initial=0)),
        "rms": math.sqrt(math.fsum(error * error) / len(error)) if len(error) else 0.0,
        "overflowed": int((~held).sum()),
        "max_over_limit": float(np.abs(finite).max(initial=0)) / LARGEST[dtype],
        "subnormal": int(tiny.sum()),
        "flushed": int((tiny & (rounded == 0)).sum()),
        "lost_energy": math.fsum((rounded[tiny] - finite[tiny]) ** 2) / energy if energy else 0.0,
    }


def expected(case):
    x_values, y_values, atol, rtol, floor = (case[k] for k in ("x", "y", "atol", "rtol", "floor"))
    x, y = x_values.astype(np.float64), y_values.astype(np.float64)
    fx, fy = np.isfinite(x), np.isfinite(y)
    both = fx & fy
    nan_x, nan_y, inf_x, inf_y = np.isnan(x), np.isnan(y), np.isinf(x), np.isinf(y)
    want = {"count": len(x), "finite": int(both.sum())}
    want["nonfinite"] = [int(v.sum()) for v in (
        nan_x & nan_y, nan_x ^ nan_y, inf_x & inf_y & (x == y), inf_x & inf_y & (x != y),
        (inf_x & fy) | (fx & inf_y), fx & ~fy, nan_x & ~nan_y)]
    exact_x, exact_y = x_values.tolist(), y_values.tolist()  # Python compares int with int and with float exactly
    want["differing"] = sum(1 for a, b in zip(exact_x, exact_y) if a != b and not (a != a and b != b))
    is_float = [case["x_type"] in FLOATS, case["y_type"] in FLOATS]
    if not any(is_float):
        want["max_integer_difference"] = max(min(abs(int(a) - int(b)), 2**64 - 1) for a, b in zip(exact_x, exact_y))
    for side, values, finite in (("reference", x, fx), ("device", y, fy)):
        some = values[finite] if finite.any() else np.zeros(1)
        want[f"{side}_min"], want[f"{side}_max"] = float(some.min()), float(some.max())
        want[f"{side}_max_abs"] = float(np.abs(some).max())
    with np.errstate(invalid="ignore"):
        inside = np.where(both, np.abs(y - x) <= atol + rtol * np.abs(x), inf_x & inf_y & (x == y))
    want["outside"] = int((~inside).sum())
    if all(is_float) and case["storage"] != "-":
        want["storage"] = storage_baseline(x, case["storage"])

    x, y = x[both], y[both]
    if len(x) == 0:
        return want
    d = np.abs(y - x)
    want["max_abs"] = float(d.max())
    where = int(np.argmax(d))
    want["max_abs_index"] = int(np.flatnonzero(both)[where])
    want["max_abs_reference"], want["max_abs_device"] = float(x[where]), float(y[where])
    n = len(d)
    xx, yy, dd = (math.fsum(v * v) for v in (x, y, d))
    want["mean_abs"], want["mse"], want["rmse"] = math.fsum(d) / n, dd / n, math.sqrt(dd / n)
    want["nmse"] = dd / xx if xx else (math.inf if dd else 0.0)
    want["sqnr_db"] = -10 * math.log10(want["nmse"]) if 0 < want["nmse"] < math.inf else (
        math.inf if want["nmse"] == 0 else -math.inf)
    nx, ny = math.sqrt(xx), math.sqrt(yy)
    want["reference_norm"], want["error_norm"] = nx, math.sqrt(dd)
    want["scale_ratio"] = ny / nx if nx else (math.inf if ny else 1.0)
    want["cosine"] = math.fsum(x * y) / (nx * ny) if nx and ny else (1.0 if nx == ny else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        want["max_rel"] = float(np.where(d > 0, d / np.maximum(np.abs(x), floor), 0).max())
        worst = float(np.where(d > 0, d / (atol + rtol * np.abs(x)), 0).max())
    want["worst_outside"] = worst if ((~both) <= ((inf_x & inf_y) & inside)).all() else math.inf
    ordered = np.sort(d)
    want["abs_quantiles"] = [float(quantile(ordered, p)) for p in (500, 900, 990, 999)]
    want["quantile_slack"] = quantile_slack(case)
    if all(is_float):
        coarser = min((case["x_type"], case["y_type"]), key=lambda t: FORMAT[t][0])
        want["max_ulp"] = max_ulp(x, y, coarser)
    return want


LARGEST_DOUBLE = fractions.Fraction(LARGEST["float64"])


def rounded(value):
    """A Fraction as double; infinite beyond the range, but what is not zero never becomes zero."""
    if value > LARGEST_DOUBLE:
        return math.inf
    return float(value) or (5e-324 if value else 0.0)


def root(value):
    """The square root of a Fraction, to 2^-200."""
    shift = 200 + max(0, value.denominator.bit_length() - value.numerator.bit_length())
    return fractions.Fraction(math.isqrt((value.numerator << (2 * shift)) // value.denominator), 1 << shift)


def exact_figures(case):
    """The same definitions in rational arithmetic, for values whose squares or differences are no doubles."""
    pairs = [(a, b) for a, b in zip(case["x"].tolist(), case["y"].tolist()) if math.isfinite(a) and math.isfinite(b)]
    x = [fractions.Fraction(a) for a, _ in pairs]
    y = [fractions.Fraction(b) for _, b in pairs]
    d = [abs(b - a) for a, b in zip(x, y)]
    n = len(d)
    atol, rtol, floor = (fractions.Fraction(case[k]) for k in ("atol", "rtol", "floor"))
    xx, yy, dd = (sum(v * v for v in values) for values in (x, y, d))
    nx, ny = root(xx), root(yy)
    want = {"finite": n, "max_abs": rounded(max(d)), "max_abs_index": d.index(max(d)) if n == len(case["x"]) else None}
    want["mean_abs"], want["mse"], want["rmse"] = rounded(sum(d) / n), rounded(dd / n), rounded(root(dd / n))
    want["reference_norm"], want["error_norm"] = rounded(nx), rounded(root(dd))
    want["nmse"] = rounded(dd / xx) if xx else (math.inf if dd else 0.0)
    if xx and dd:
        nmse = dd / xx
        want["sqnr_db"] = -10 * (math.log10(nmse.numerator) - math.log10(nmse.denominator))
    want["scale_ratio"] = rounded(ny / nx) if xx else (math.inf if yy else 1.0)
    want["cosine"] = float(sum(a * b for a, b in zip(x, y)) / (nx * ny)) if xx and yy else (1.0 if xx == yy else 0.0)
    want["max_rel"] = rounded(max(e / max(abs(a), floor) if e else fractions.Fraction(0) for a, e in zip(x, d)))
    allowed = [atol + rtol * abs(a) for a in x]
    ratios = [(e / t if t else None) if e else fractions.Fraction(0) for e, t in zip(d, allowed)]
    want["worst_outside"] = math.inf if None in ratios else rounded(max(ratios))
    want["outside"] = sum(e > t for e, t in zip(d, allowed))
    if n != len(case["x"]):  # no pair of the cases has equal infinities
        want["outside"] += len(case["x"]) - n
        want["worst_outside"] = math.inf
    ordered = sorted(d)
    want["abs_quantiles"] = [rounded(quantile(ordered, p)) for p in (500, 900, 990, 999)]
    want["quantile_slack"] = quantile_slack(case)
    return {k: v for k, v in want.items() if v is not None}


def extreme_cases():
    rng = np.random.default_rng(21)
    big, tiny = LARGEST["float64"], 5e-324
    largest32, tiny32 = LARGEST["float32"], float.fromhex("0x1p-149")
    fixed = [
        ("opposite", [1.7e308, -1.7e308], [-1.7e308, 1.7e308]),
        ("one opposite", [1.7e308, 1, 2, 3], [-1.7e308, 1, 2, 3]),
        ("largest", [big, big, 1], [big, -big, 1]),
        ("small difference beside large values", [1.7e308, 1, -1.7e308], [1.7e308, 2, -1.7e308]),
        ("tiny difference beside large values", [1.7e308, 1e-200], [1.7e308, 3e-200]),
        ("last place of large values", [1.7e308, 1e308], [float(np.nextafter(1.7e308, 0)), 1e308]),
        ("tiny against ordinary", [1e-200, 2e-200], [1, 2]),
        ("ordinary against tiny", [1, 2], [1e-200, -2e-200]),
        ("tiny against large", [1e-200, 3e-200], [2e200, 1e200]),
        ("large against tiny", [1e200, 0, 1], [1e-200, 2e-200, 0]),
        ("all sizes", [1e-300, 1e-150, 1, 1e150, 1e300], [2e-300, 1e-150, 3, 1e150, -1e300]),
        ("equal, large", [1.7e308, 3], [1.7e308, 3]),
        ("equal, tiny", [1e-300, 3e-320], [1e-300, 3e-320]),
        ("subnormal", [tiny, 0, 3 * tiny], [0, tiny, 3 * tiny]),
        ("one subnormal", [0] * 999 + [tiny], [0] * 1000),
        ("large pair without partner", [1.7e308, 1e-200, 2e-200], [math.nan, 2e-200, 2e-200]),
        ("equal tiny beside large without partner", [1.7e308, 1e-200], [math.nan, 1e-200]),
        ("ratio that vanishes", [1e150, 1e-80], [1e150, 3e-80]),
        ("many zeros and tiny", [0] * 10 + [1e-310] * 30, [0] * 10 + [2e-310] * 30),
    ]
    for name, x, y in fixed:
        for tolerance in ((1e-3, 1e-3), (0.0, 1.5), (1e300, 1.9), (0.0, 1e10)):
            yield name, "float64", np.array(x, dtype=float), np.array(y, dtype=float), tolerance
    signs = rng.choice([-1.0, 1.0], 3000)
    wild = np.ldexp(rng.uniform(1, 2, 3000), rng.integers(-1070, 1023, 3000)) * signs
    yield "random sizes", "float64", wild, np.where(rng.random(3000) < 0.5, wild, wild * rng.uniform(-1, 1, 3000)), (
        1e-3, 1e-3)
    for name, x, y in (("float32 opposite", [largest32, -largest32, 1], [-largest32, largest32, 1]),
                       ("float32 subnormal", [tiny32, 0, 1e-40], [0, tiny32, 1e-40]),
                       ("float32 equal", [largest32, tiny32], [largest32, tiny32])):
        yield name, "float32", np.array(x, dtype=np.float32), np.array(y, dtype=np.float32), (1e-3, 1e-3)
    near = np.array([2**62 + 1, 2**53 + 1, 7, -(2**62)], dtype=np.int64)
    yield "int64 neighbours", "int64", near, near - np.array([1, 3, 0, 3]), (0.5, 0.0)


def make_extreme_cases():
    for name, dtype, x, y, (atol, rtol) in extreme_cases():
        yield {"name": f"{name}/{atol}/{rtol}".replace(" ", "-"), "x_type": dtype, "y_type": dtype, "x": x, "y": y, "atol": atol,
               "rtol": rtol, "floor": 1e-6, "storage": "-", "threads": 2, "exact": True}


def number(value):
    return float(value) if isinstance(value, str) else value


def close(got, want):
    got, want = number(got), number(want)
    if isinstance(want, int) or not math.isfinite(want):
        return got == want
    return got == want or abs(got - want) <= max(TOLERANCE * abs(want), 5e-324)


def mismatches(got, want):
    for key, value in want.items():
        if key == "quantile_slack":
            continue
        actual = got.get(key)
        if actual is None:
            yield f"{key}: missing, numpy {value}"
        elif key == "abs_quantiles":
            for p, (a, b) in enumerate(zip(map(number, actual), value)):
                if not (b <= a <= b * (1 + 1 / 64) + want["quantile_slack"]):
                    yield f"{key}[{p}]: {a}, numpy {b}"
        elif key == "cosine":  # the difference form is more exact than numpy's dot product near 1
            if abs(number(actual) - value) > 4e-15:
                yield f"{key}: {actual}, numpy {value}"
        elif key == "sqnr_db" and math.isfinite(value):  # a logarithm: relative errors of nmse become absolute ones
            if abs(number(actual) - value) > 10 * TOLERANCE:
                yield f"{key}: {actual}, numpy {value}"
        elif isinstance(value, dict):
            yield from (f"{key}.{m}" for m in mismatches(actual, value))
        elif isinstance(value, list):
            if actual != value:
                yield f"{key}: {actual}, numpy {value}"
        elif not close(actual, value):
            yield f"{key}: {actual}, numpy {value}"


def random_values(rng, dtype, n):
    if dtype == "bool":
        return rng.random(n) < 0.5
    if dtype in INTEGERS:
        info = np.iinfo(INTEGERS[dtype])
        values = rng.integers(info.min, info.max, n, dtype=INTEGERS[dtype], endpoint=True)
        small = rng.integers(0, 100, n, dtype=INTEGERS[dtype])
        return np.where(rng.random(n) < 0.5, values, small).astype(INTEGERS[dtype])
    spread = {"float16": 8, "float8_e4m3fn": 6, "float8_e5m2": 10}.get(dtype, 40)
    values = rng.standard_normal(n) * np.exp2(rng.uniform(-spread, spread / 2, n))
    with np.errstate(over="ignore"):
        return values.astype(FLOATS[dtype])


def sprinkle(rng, values, dtype, share):
    if share == 0 or dtype not in FLOATS:
        return values
    values = values.copy()
    specials = [np.nan] if dtype == "float8_e4m3fn" else [np.nan, np.inf, -np.inf]
    where = rng.random(len(values)) < share
    values[where] = rng.choice(specials, int(where.sum())).astype(FLOATS[dtype])
    return values


def make_cases():
    rng = np.random.default_rng(20)
    types = ["bool", *INTEGERS, *FLOATS]
    pairs = [(t, t) for t in types] + [
        ("float32", "float16"), ("float16", "float32"), ("float32", "bfloat16"), ("float16", "bfloat16"),
        ("float64", "float32"), ("float32", "float8_e4m3fn"), ("float8_e5m2", "float16"),
        ("int8", "uint8"), ("int64", "uint64"), ("uint64", "int64"), ("int32", "int64"), ("bool", "uint8"),
        ("int64", "float64"), ("float32", "int64"), ("int32", "float32"), ("uint64", "float32")]
    for x_type, y_type in pairs:
        if x_type not in types or y_type not in types:
            continue
        for n, share in ((1, 0), (13, 0.5), (2051, 0.01), (70001, 0), (70001, 0.0003)):
            if share and x_type not in FLOATS and y_type not in FLOATS:
                continue
            x = random_values(rng, x_type, n)
            y = random_values(rng, y_type, n)
            if x_type in FLOATS and y_type in FLOATS:  # a device: mostly near, sometimes equal
                near = x.astype(np.float64) * (1 + 1e-3 * rng.standard_normal(n) * (rng.random(n) < 0.8))
                with np.errstate(over="ignore"):
                    y = np.where(rng.random(n) < 0.98, near, y.astype(np.float64)).astype(FLOATS[y_type])
            elif x_type == y_type:
                y = np.where(rng.random(n) < 0.5, x, y)
            x, y = sprinkle(rng, x, x_type, share), sprinkle(rng, y, y_type, share)
            storage = "-"
            if x_type in FLOATS and y_type in FLOATS:
                storage = str(rng.choice([t for t in FLOATS if t != "float64"]))
            yield {"name": f"{x_type}/{y_type}/{n}/{share}", "x_type": x_type, "y_type": y_type, "x": x, "y": y,
                   "atol": 1e-3, "rtol": 1e-3, "floor": 1e-6, "storage": storage, "threads": int(rng.integers(1, 4))}


def main():
    cases = [*make_cases(), *make_extreme_cases()]
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for i, case in enumerate(cases):
            paths = [os.path.join(folder, f"{side}{i}") for side in "xy"]
            case["x"].tofile(paths[0])
            case["y"].tofile(paths[1])
            lines.append(" ".join(map(str, (
                case["name"], case["x_type"], paths[0], case["y_type"], paths[1], len(case["x"]), case["threads"],
                case["atol"], case["rtol"], case["floor"], case["storage"]))))
        manifest = os.path.join(folder, "manifest")
        with open(manifest, "w") as out:
            out.write("\n".join(lines) + "\n")
        run = subprocess.run([sys.argv[1], manifest], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"the dump program failed: {run.stderr}")
    results = [json.loads(line) for line in run.stdout.splitlines()]
    if len(results) != len(cases):
        sys.exit(f"{len(results)} results for {len(cases)} cases")
    bad = 0
    for case, got in zip(cases, results):
        for text in mismatches(got, exact_figures(case) if case.get("exact") else expected(case)):
            print(f"{case['name']}: {text}")
            bad += 1
    missing = "" if ml_dtypes else " (no ml_dtypes: bfloat16 and float8 were left out)"
    print(f"{len(cases)} cases, {bad} mismatches{missing}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
