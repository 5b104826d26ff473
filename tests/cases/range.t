Would the values of this network fit a smaller format?
======================================================

No device is needed: the reference runs with every tensor recorded. In the fragile detector one square is far beyond
float16, and two nodes pass it on; values inside operators (here exponentials of Sigmoid) are held against the format too.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ range() { paritas inspect "$@" --range --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ range detr_mini_fragile.onnx
  Range of detr_mini_fragile.onnx in float16 (cpu, 1 sample; no device ran)
  largest value 65504, smallest normal value 6.1e-05
  
  node                                               largest  headroom, bits  do not fit  energy lost
  /dec/layers.0/n3/Pow                               5.9e+07            -9.8       2,319      0.0e+00
  /dec/layers.0/n3/ReduceMean                        4.8e+06            -6.2          40      0.0e+00
  /dec/layers.0/n3/Add                               4.8e+06            -6.2          40      0.0e+00
  /dec/layers.0/Add_3                                   7707             3.1           0      0.0e+00
  /dec/layers.0/Clip                                    7707             3.1           0      0.0e+00
  /dec/layers.0/n3/Cast                                 7707             3.1           0      0.0e+00
  /dec/layers.0/gw/norm/Mul_1                           7082             3.2           0      0.0e+00
  /dec/layers.0/ffn/w3/MatMul                           3647             4.2           0      0.0e+00
  /dec/layers.0/ffn/w3/Add                              3569             4.2           0      0.0e+00
  /enc/stem/stem.0/stem.0.2/Sigmoid: exp(-x) inside     2513             4.7           0      9.9e-09
  /enc/stem/stem.1/stem.1.2/Sigmoid: exp(-x) inside     2422             4.8           0      1.0e-08
  /dec/layers.0/n3/Sqrt                                 2191             4.9           0      0.0e+00
  ... 851 more, with more headroom (--verbose)
  
  Finding   /dec/layers.0/n3/Pow (Pow) reaches 5.94e+07, 906.8 times the largest float16 value
            (65504): 2319 of 2560 elements do not fit. 2 further nodes behind it:
            /dec/layers.0/n3/ReduceMean, /dec/layers.0/n3/Add.
            shows           a device that keeps this tensor in float16 cannot represent these values
                            on this input
            does not show   that a device keeps it in this format (it may be fused, or held in a wider
                            one), or that the answer breaks: values that nothing selects may be lost
                            without harm
            next            run it: paritas locate with the device or a simulator of the format; else
                            scale the operand down before this node
  Note      1 constant holds values beyond float16 (1 of them NaN or infinities in the model itself):
            /dec/Expand_1_output_0.
  Note      88 constants hold values below what float16 holds in full precision, at a cost of 0.00018
            of the energy at most: enc.sin, enc.pe.weight, enc.blocks.2.n1.bias, enc.an2.bias and 84
            more.
  Note      251 tensors hold values below what float16 holds in full precision, at a cost of 9.1e-14
            of the energy at most: images, /enc/pe/Conv, /enc/Reshape, /enc/Transpose and 247 more.

The healthy one has no finding: infinite anchors and tiny values are notes.

  $ range detr_mini.onnx | sed -n '/^No finding/,$p'
  No finding: on these inputs nothing overflows float16 and no tensor loses more than 0.1 % of its
  energy. Other inputs may; how a device rounds and sums is not shown.
  Note      1 constant holds values beyond float16 (1 of them NaN or infinities in the model itself):
            /dec/Expand_1_output_0.
  Note      89 constants hold values below what float16 holds in full precision, at a cost of 0.00018
            of the energy at most: enc.sin, enc.pe.weight, enc.blocks.2.n1.bias, enc.an2.bias and 85
            more.
  Note      252 tensors hold values below what float16 holds in full precision, at a cost of 9.1e-14
            of the energy at most: images, /enc/pe/Conv, /enc/Reshape, /enc/Transpose and 248 more.
  $ range detr_mini.onnx --format bf16 | grep -c Finding
  0
  [1]

int8 has no limit, as its scale follows the tensor; small values become zero. Each figure is of the worst sample, and
findings say which one that is.

  $ range detr_mini.onnx --format int8 --json int8.json --quiet
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("int8.json"))
  > print(r["limit"], r["hidden"], r["constants"])
  > print(sorted({f["id"] for f in r["findings"]}))
  > PY
  None [] []
  ['preflight-lost-energy', 'preflight-tiny']
  $ "$PYTHON" -c "import numpy; x = numpy.load('images.npy'); numpy.save('dark.npy', x * 0)"
  $ range detr_mini_fragile.onnx --input images=dark.npy --input orig_target_sizes=orig_target_sizes.npy | grep sample
  Range of detr_mini_fragile.onnx in float16 (cpu, 2 samples; no device ran)
  Finding   /dec/layers.0/n3/Pow (Pow) reaches 5.94e+07 (sample 2 of 2), 906.8 times the largest

A mask constant is a note as long as nothing multiplies zeros by it; a lost epsilon is one until something divides by it.

  $ "$PYTHON" - << 'PY'
  > import numpy, onnx
  > from onnx import TensorProto, helper, numpy_helper
  > f = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4])
  > nodes = [helper.make_node("Mul", ["x", "mask"], ["masked"], name="apply"),
  >          helper.make_node("Add", ["x", "epsilon"], ["safe"], name="guard"),
  >          helper.make_node("Log", ["safe"], ["logs"], name="log")]
  > constants = [numpy_helper.from_array(numpy.float32(v), n) for n, v in (("mask", -3.4e38), ("epsilon", 1e-12))]
  > graph = helper.make_graph(nodes, "g", [f("x")], [f("masked"), f("logs")], constants)
  > onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "mask.onnx")
  > numpy.save("zeros.npy", numpy.array([0, 0, 0, 0.5], "float32") * 0)
  > numpy.save("ones.npy", numpy.ones(4, "float32"))
  > PY
  $ paritas inspect mask.onnx --range --input x=zeros.npy | grep -A2 Finding
  Finding   apply (Mul) multiplies 4 zeros by the constant "mask", which is infinite in float16: the
            products are NaN.
            shows           arithmetic in float16 makes NaN of finite values here, on this input
  --
  Finding   guard (Add) loses 1 of its energy to values too small for float16: 4 of 4 elements become
            zero.
            shows           storing this tensor in float16 alone costs that much on this input
  --
  Finding   4 nonzero values of "safe" become zero in float16, and log (Log) takes their logarithm:
            the results are infinite or NaN.
            shows           a device that keeps that tensor in float16 makes NaN or infinities of
  $ paritas inspect mask.onnx --range --input x=ones.npy | grep -A2 Finding
  Finding   apply (Mul) reaches 3.4e+38, 5.191e+33 times the largest float16 value (65504): 4 of 4
            elements do not fit.
            shows           a device that keeps this tensor in float16 cannot represent these values

Bad requests.

  $ range detr_mini.onnx --format fp7; echo "[$?]"
  paritas: --format: "fp7" is no format whose range is known here; use fp16, bf16 or int8
  [2]
  $ paritas inspect detr_mini.onnx --range; echo "[$?]"
  paritas: detr_mini.onnx: input "images" float32 [1,3,160,160] was not given; add --input images=FILE
  [2]
  $ paritas inspect detr_mini.onnx --input images=images.npy; echo "[$?]"
  paritas: --input: inspect alone runs nothing; add --range
  [2]
  $ paritas inspect detr_mini.onnx --format bf16; echo "[$?]"
  paritas: --format requires --range
  [2]

A mask
------

Masked scores are far beyond float16, but a Softmax gives them no weight, as it gives -infinity none: a note. A row that is
masked wholly becomes NaN.

  $ "$PYTHON" "$CASES/data/masked_models.py" -3.4e38
  $ paritas inspect masked.onnx --range --input x=x.npy | sed -n '/^No finding/,$p'
  No finding: on these inputs nothing but harmless masks overflows float16 and no tensor loses more
  than 0.1 % of its energy. Other inputs may; how a device rounds and sums is not shown.
  Note      1 tensor holds values below the lowest of float16, to which the Softmax behind gives no
            weight: as -infinity they move its result by 0 of its energy at most: /mask.
  Note      1 constant holds values beyond float16: mask.
  $ paritas inspect masked.onnx --range --input x=whole.npy | sed -n '/^Finding/,/shows/p'
  Finding   /mask (Where) reaches 3.4e+38, 5.191e+33 times the largest float16 value (65504): 38 of 64
            elements do not fit. As infinities they make 16 results of /softmax NaN or infinite.
            shows           a device that keeps this tensor in float16 cannot represent these values

In int8 the one scale follows the mask. The energy lost is none beside it, but of the scores nothing is left.

  $ "$PYTHON" "$CASES/data/masked_models.py"
  $ paritas inspect masked.onnx --range --input x=x.npy --format int8 | sed -n '/^Finding/,$p'
  Finding   /mask (Where) reaches 1e+09 in values to which /softmax gives no weight; those with weight
            reach 4.75. One int8 scale for all has steps of 7.87e+06, and the result of /softmax moves
            by 0.72 of its energy.
            shows           storing this tensor in int8 with a symmetric scale from its largest value
                            alone costs that much on this input
            does not show   that a device quantises this tensor so: calibration may clip the range,
                            and a mask may be fused into the operator
            next            mask with a value just below the scores instead, or clip the range of this
                            tensor when calibrating
  note: int8 is taken as symmetric with one scale a tensor, from the largest magnitude of all samples: nothing overflows, small values are lost. Constants and what operators hold inside are not looked into: their scales are not known
  $ "$PYTHON" "$CASES/data/masked_models.py" -10
  $ paritas inspect masked.onnx --range --input x=x.npy --format int8 | grep -c '^Finding'
  0
  [1]

What the documentation shows is what is printed.

  $ range detr_mini_fragile.onnx > text && "$PYTHON" "$CASES"/data/shown_output.py "$CASES"/../../docs/range.md "paritas inspect detr_mini_fragile.onnx" text
  as shown
