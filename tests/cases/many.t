A diagnosis over many samples
=============================

A mean of squares overflows float16 where an input is large. Whether a sample shows it depends on the sample.

  $ "$PYTHON" - << 'PY'
  > import numpy as np, onnx
  > from onnx import TensorProto, helper, numpy_helper
  > nodes = [helper.make_node("Mul", ["x", "two"], ["scaled"], "scaled"),
  >          helper.make_node("Mul", ["scaled", "scaled"], ["square"], "square"),
  >          helper.make_node("ReduceMean", ["square"], ["mean"], "mean", axes=[-1], keepdims=1),
  >          helper.make_node("Sqrt", ["mean"], ["root"], "root"),
  >          helper.make_node("Div", ["scaled", "root"], ["y"], "y")]
  > port = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 16])
  > graph = helper.make_graph(nodes, "g", [port("x")], [port("y")], [numpy_helper.from_array(np.float32(2), "two")])
  > onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "m.onnx")
  > rng = np.random.default_rng(11)
  > for i, scale in enumerate([0.5, 300, 1]): np.save(f"x{i}.npy", (scale * rng.normal(size=(4, 16))).astype(np.float32))
  > PY
  $ locate() { paritas locate m.onnx --device sim:fp16 --gate 'y: cosine>=0.99' "$@"; }
  $ locate -i x=x0.npy -i x=x1.npy -i x=x2.npy --json whole.json; echo "[$?]"
  DEVIATES   y: cosine 0 < 0.99 (sample-000001)
  
  output  deviates  median cosine  worst cosine  in sample      worst max abs
  y         1 of 3          1.000             0  sample-000001           2.33
  
  sample         verdict   output NMSE  decisions  first divergence
  sample-000000  pass          *          0  - (glob)
  sample-000001  deviates      *          0  square (glob)
  sample-000002  pass          *          0  - (glob)
  worst: sample-000001, median: sample-000000 (by output NMSE)
  
  Where it ran   11 of 11 nodes on the requested provider in every sample
  Worst local errors (median and worst over the samples)
    #  node    op          matters on  local NMSE    worst  in sample      x storage
    1  square  Mul             1 of 3     *  nan/inf  sample-000001     2.27 x (glob)
    2  mean    ReduceMean      1 of 3     *  nan/inf  sample-000001     1.00 x (glob)
    3  root    Sqrt            1 of 3     *  nan/inf  sample-000001     1.69 x (glob)
    4  y       Div             0 of 3     *  *  sample-000001     1.99 x (glob)
    5  scaled  Mul             0 of 3     *  *  sample-000002     1.00 x (glob)
  
  Finding   On 1 of 3 samples (among them the worst, sample-000001; not the median, sample-000000). In
            sample-000001: square (Mul) makes values up to 2.38e+06; float16 ends at 65504, so they
            are 36.3 times too large. Further nodes leave the range behind it: mean, root. Local NMSE
            of square over the samples: median 1.8e-07, worst 3.6e-07 (sample-000002), where both
            sides are finite; on 1 the device alone makes NaN or infinities.
            shows           injecting this node's device result alone into the reference run moves the
                            outputs as the device does
            does not show   that nothing else is wrong on the device, or how other inputs behave; that
                            it holds on the other 2, where it was not found
            next            keep this node's values in range (rescale before it), or run it in a wider
                            type; then run locate again
  
  3 of 3 samples diagnosed (3 run now, 0 taken over), 3 device sessions; * s in all (glob)
  [1]
  $ locate -i x=x0.npy -i x=x2.npy | head -1
  PASS   y: cosine 1 >= 0.99 (sample-000000)

Inputs may come from a recording. What a sample came to is kept in a folder: a run that was ended goes on from there, and
only there.

  $ paritas run m.onnx -i x=x0.npy -i x=x1.npy -i x=x2.npy -o recording --quiet
  $ locate --inputs recording --samples 0:2 --resume state | tail -1
  2 of 2 samples diagnosed (2 run now, 0 taken over), 3 device sessions; * s in all (glob)
  $ locate --inputs recording --resume state --json resumed.json | tail -1
  3 of 3 samples diagnosed (1 run now, 2 taken over), 3 device sessions; * s in all (glob)
  $ "$PYTHON" -c '
  > import json; a, b = (json.load(open(f)) for f in ("whole.json", "resumed.json")); a.pop("run"); b.pop("run"); print(a == b)'
  True
  $ ls state
  sample-000000.json
  sample-000001.json
  sample-000002.json
  state.json
  $ paritas locate m.onnx --device sim:fp16 --gate 'y: cosine>=0.9' --inputs recording --resume state
  paritas: state: is the state of another diagnosis (different: gates, gates file): its samples cannot be taken over; choose another folder for --resume, or run what the state is of
  [2]
  $ locate -i x=x2.npy -i x=x1.npy --resume state
  paritas: state/sample-000000.json: was made from other inputs than sample-000000 has now; choose another folder for --resume, or give the inputs that the state is of
  [2]
  $ mkdir mine && touch mine/file && locate --inputs recording --resume mine
  paritas: mine: holds files, but no state of locate; choose another folder for --resume
  [2]
  $ sed -i s/square/sqare/ state/sample-000001.json
  $ locate --inputs recording --resume state
  paritas: state/sample-000001.json: is damaged: its content does not fit its hash; delete it to run it again
  [2]

A sample that cannot be diagnosed is named, and the whole is no pass.

  $ "$PYTHON" -c 'import numpy as np; np.save("odd.npy", np.zeros((3, 16), np.float32))'
  $ locate -i x=x0.npy -i x=odd.npy > text; echo "[$?]"
  [1]
  $ head -1 text; tail -1 text
  INVALID   sample-000001 could not be diagnosed: m.onnx: input "x" float32 [4,16] cannot take a tensor of shape [3,16]
  1 of 2 samples diagnosed (1 run now, 0 taken over), 3 device sessions; * s in all (glob)
  $ locate -i x=odd.npy -i x=odd.npy
  paritas: m.onnx: input "x" float32 [4,16] cannot take a tensor of shape [3,16]
  [2]

  $ odd() { printf -- '-i x=odd.npy %.0s' 1 2 3 4 5; }
  $ locate $(odd) -i x=x0.npy
  paritas: m.onnx: input "x" float32 [4,16] cannot take a tensor of shape [3,16]
  [2]
  $ paritas locate m.onnx --device sim:fp16 --gate 'nothing: cosine>=0.99' -i x=x0.npy -i x=x1.npy
  paritas: --gate: no tensor is called "nothing"; there is: y
  [2]

A cross matrix is made for each sample: what the cells come to is counted.

  $ locate -i x=x0.npy -i x=x1.npy -i x=x2.npy --cut half=mean,scaled --json cuts.json | sed -n '/^Cut/,/^$/p'
  Cut "half"   2 tensors; halves against the whole, on the reference: exact on 3 of 3
    front      rear       output  median cosine  worst cosine  in sample      outcome on samples
    reference  reference  y               1.000         1.000  sample-000000  holds 3
    device     reference  y               1.000             0  sample-000001  holds 2, deviates 1
    reference  device     y               1.000             0  sample-000001  holds 2, deviates 1
    device     device     y               1.000             0  sample-000001  holds 2, deviates 1
  
  $ "$PYTHON" -c '
  > import json; r = json.load(open("cuts.json")); c = r["cuts"][0]; print(r["verdict"], c["verdict"], c["samples"], c["split"])
  > for cell in c["cells"]: print(cell["front"], cell["rear"], cell["samples"], cell["worst_sample"], cell["outputs"][0]["metrics"]["cosine"]["worst_sample"])
  > print([(f["id"], f["samples"]) for f in r["findings"] if f["id"].startswith("cut")])'
  deviates deviates 3 {'exact': 3}
  reference reference {'holds': 3, 'deviates': 0, 'not_judged': 0, 'not_measured': 0, 'cannot_tell': 0} sample-000000 sample-000000
  device reference {'holds': 2, 'deviates': 1, 'not_judged': 0, 'not_measured': 0, 'cannot_tell': 0} sample-000001 sample-000001
  reference device {'holds': 2, 'deviates': 1, 'not_judged': 0, 'not_measured': 0, 'cannot_tell': 0} sample-000001 sample-000001
  device device {'holds': 2, 'deviates': 1, 'not_judged': 0, 'not_measured': 0, 'cannot_tell': 0} sample-000001 sample-000001
  [('cut-each', ['sample-000001']), ('cut-acquits', ['sample-000000', 'sample-000002'])]
  $ locate --inputs recording --cut half=mean,scaled --samples 0:1 --resume cut-state --quiet
  $ locate --inputs recording --cut half=mean,scaled --resume cut-state --json resumed-cuts.json | tail -1
  3 of 3 samples diagnosed (2 run now, 1 taken over), 11 device sessions; * s in all (glob)
  $ "$PYTHON" -c '
  > import json; a, b = (json.load(open(f)) for f in ("cuts.json", "resumed-cuts.json")); a.pop("run"); b.pop("run"); print(a == b)'
  True
  $ locate --inputs recording --cut other=root,scaled --resume cut-state
  paritas: cut-state: is the state of another diagnosis (different: cuts): its samples cannot be taken over; choose another folder for --resume, or run what the state is of
  [2]
  $ locate -i x=x0.npy -i x=x1.npy --cut half=mean,scaled --only-cuts | head -8
  DEVIATES   y: cosine 0 < 0.99 (sample-000001)
  
  output  deviates  median cosine  worst cosine  in sample      worst max abs
  y         1 of 2              0             0  sample-000001           2.33
  
  sample         verdict   output NMSE  decisions  first divergence
  sample-000000  pass          *          0  - (glob)
  sample-000001  deviates      *          0  - (glob)

A search asks for one set that does for every sample. Here each of two samples breaks another square, and no set that does for one
does for both.

  $ "$PYTHON" - << 'PY'
  > import numpy as np, onnx
  > from onnx import TensorProto, helper, numpy_helper
  > nodes, ports = [], []
  > for k in "ab":
  >     nodes += [helper.make_node("Mul", [k, k], [k + "2"], f"/{k}/square"), helper.make_node("Mul", [k + "2", "small"], [k + "y"], f"/{k}/scale")]
  >     ports += [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [16]) for name in (k, k + "y")]]
  > nodes.append(helper.make_node("Add", ["a", "b"], ["sum"], "/sum"))
  > outputs = [p[1] for p in ports] + [helper.make_tensor_value_info("sum", TensorProto.FLOAT, [16])]
  > graph = helper.make_graph(nodes, "two", [p[0] for p in ports], outputs, [numpy_helper.from_array(np.float32(2 ** -10), "small")])
  > onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "two.onnx")
  > for i, (a, b) in enumerate([(1, 1), (500, 1), (1, 500)]):
  >     for name, scale in (("a", a), ("b", b)): np.save(f"{name}{i}.npy", (scale * np.linspace(0.5, 1, 16)).astype(np.float32))
  > PY
  $ two() { paritas locate two.onnx --device sim:fp16 --gate '*: cosine>=0.99' --search "$@"; }
  $ two $(for i in 0 1 2; do echo -i a=a$i.npy -i b=b$i.npy; done) --json search.json > text; echo "[$?]"
  [1]
  $ head -1 text; sed -n '/^Search/,/^$/p;/^Note.*With/,/^$/p' text
  DEVIATES   ay: 15 of 16 elements are NaN or infinite on the device only (sample-000001)
  Search         minimal; 8 sets tried on 3 samples, 8 device sessions, * s (glob)
                 4 sets did not hold on sample-000001
                 3 sets did not hold on sample-000002
                 /a/square
                 /a/scale
                 /b/square
                 /b/scale
  
  Note      With 4 islands (/a/square, /a/scale, /b/square, /b/scale) computed by the reference and
            everything else by sim:fp16, the gates hold on all 3 samples. Without any one of them they
            do not.
  
  $ "$PYTHON" - << 'PY'
  > import json
  > s = json.load(open("search.json"))["search"]
  > print(s["status"], s["samples"], s["islands"], s["decided_by"])
  > for t in s["tests"]: print(t["islands"], t["outcome"], t["sample"], t["samples_run"], t["device_sessions"])
  > PY
  minimal 3 ['/a/square', '/a/scale', '/b/square', '/b/scale'] [{'sample': 'sample-000001', 'sets': 4}, {'sample': 'sample-000002', 'sets': 3}]
  [] does not hold sample-000001 1 1
  ['/a/square', '/a/scale'] does not hold sample-000002 3 1
  ['/a/square', '/a/scale', '/b/square'] does not hold sample-000002 1 1
  ['/a/square', '/a/scale', '/b/square', '/b/scale'] holds None 3 1
  ['/b/square', '/b/scale'] does not hold sample-000001 2 1
  ['/a/scale', '/b/square', '/b/scale'] does not hold sample-000001 1 1
  ['/a/square', '/b/square', '/b/scale'] does not hold sample-000001 1 1
  ['/a/square', '/a/scale', '/b/scale'] does not hold sample-000002 2 1
  $ two -i a=a1.npy -i b=b1.npy --json - | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["search"]["islands"])'
  ['/a/square', '/a/scale']

The verdict is over all samples; the first alone would pass.

  $ two -i a=a0.npy -i b=b0.npy -i a=a2.npy -i b=b2.npy | head -1
  DEVIATES   by: 15 of 16 elements are NaN or infinite on the device only (sample-000001)

Samples of different shapes are refused, and so is what no set can be shown to do for.

  $ locate -i x=x0.npy -i x=odd.npy --search
  paritas: --search: "x" is float32 [4,16] in sample-000000 and float32 [3,16] in sample-000001: one set of islands is run on all samples; search samples of one shape at a time (--samples)
  [2]
  $ two -i a=a0.npy -i b=b0.npy --search-sessions 1 -i a=a1.npy -i b=b1.npy --json - | "$PYTHON" -c '
  > import json, sys; s = json.load(sys.stdin)["search"]; print(s["status"], s["budget_spent"], s["minimal"], s["islands"])'
  budget spent True False None
  $ paritas locate m.onnx --device sim:fp16 -i x=x0.npy -i x=x1.npy --search
  paritas: --search: no gate says what must hold; declare it, e.g. --gate 'scores: cosine>=0.99'
  [2]

Some methods are for one sample.

  $ locate -i x=x0.npy -i x=x1.npy --probe-checks
  paritas: locate: groups, probe checks and self-consistency (--full) are made on one sample; leave them away here, and ask for them on the sample that is named as the worst (--samples N:N+1)
  [2]
  $ locate -i x=x0.npy -i x=x1.npy --auto-cuts 2
  paritas: --auto-cuts: cuts are proposed on one sample; write them with --save-cuts on one sample (--samples 0:1), and give that file with --cuts
  [2]
  $ locate -i x=x0.npy -i x=x1.npy --cut mean --save-cuts cuts.toml
  paritas: --save-cuts: cuts are written from one sample; choose it with --samples, e.g. 0:1
  [2]
  $ locate --inputs recording -i x=x0.npy
  paritas: --input x: recording holds this input, too; leave one of them away
  [2]
  $ locate --inputs recording --samples 7:9
  paritas: recording: has no sample in this range; check --samples
  [2]
  $ locate --inputs m.onnx
  paritas: m.onnx: is neither a recording nor in a format that is read; if you know its format, name it with paritas import --format: recording, npy, npz, safetensors, folder, tensor-proto, test-data-set, polygraphy, net-run, trtexec-json, trtexec-raw, tflite-outputs, raw
  [2]
