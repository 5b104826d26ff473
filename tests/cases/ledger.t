What was tried
==============

Every experiment adds a line to a small file beside its result. `paritas ledger` shows them by model and change.

  $ "$PYTHON" - << 'PY'
  > import numpy as np, onnx
  > from onnx import TensorProto, helper, numpy_helper
  > nodes = [helper.make_node("Mul", ["x", "x"], ["square"], "square"),
  >          helper.make_node("ReduceMean", ["square"], ["mean"], "mean", axes=[-1], keepdims=1),
  >          helper.make_node("Sqrt", ["mean"], ["root"], "root"), helper.make_node("Div", ["x", "root"], ["y"], "y")]
  > port = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 16])
  > model = lambda: helper.make_model(helper.make_graph(nodes, "g", [port("x")], [port("y")]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
  > onnx.save(model(), "m.onnx")
  > nodes[2].name = "other"
  > onnx.save(model(), "n.onnx")
  > np.save("x.npy", (600 * np.random.default_rng(11).normal(size=(4, 16))).astype(np.float32))
  > PY
  $ mkdir results
  $ gate='y: cosine>=0.99'
  $ paritas locate m.onnx --device sim:fp16 --gate "$gate" -i x=x.npy --search --json results/a.json --quiet
  [1]
  $ paritas locate m.onnx --device sim:fp16 --gate "$gate" -i x=x.npy --json results/b.json --quiet
  [1]
  $ paritas locate m.onnx --device sim:bf16 --gate "$gate" -i x=x.npy -i x=x.npy --json results/c.json --quiet
  $ paritas inject m.onnx -i x=x.npy --at 'square: noise(1e-4)' --json results/d.json --quiet
  $ paritas placement m.onnx -i x=x.npy --target cpu --json results/e.json --quiet
  $ paritas locate n.onnx --device sim:fp16 --gate "$gate" -i x=x.npy --cut square,x --json results/f.json --quiet
  [1]
  $ paritas locate m.onnx --device sim:fp16 -i x=x.npy --json results/none.json --no-ledger --quiet
  $ paritas ledger results/paritas-ledger.jsonl
  m.onnx   sha256 *, 6 experiments (glob)
    on the reference: square, mean, root: tried, not delivered
      *  search  sim:fp16 (glob)
          the gates hold with it; nothing of it can be dropped
          islands 3, samples 1
    square: noise(1e-4)
      *  inject  not judged (glob)
          outputs move
          y cosine 1.000
    as given
      *  locate  sim:fp16  deviates (glob)
          range-overflow at square; first divergence square
          y cosine 0
      *  locate  sim:fp16  deviates  (repeat) (glob)
          range-overflow at square; first divergence square
          y cosine 0
      *  samples  sim:bf16  pass (glob)
          0 of 2 samples deviate; no fault found
          deviating 0, diagnosed 2, samples 2, y median cosine 1.000, ...
      *  placement  cpu  not judged (glob)
          nothing is required of the placement (--require)
          device share 0, partitions 0
  
  n.onnx   sha256 *, 2 experiments (glob)
    as given
      *  locate  sim:fp16  deviates (glob)
          range-overflow at square; cut-each; first divergence square
          y cosine 0
    cut at x, square: tried, not delivered
      *  cut  sim:fp16  deviates (glob)
          split: exact
          device/device y cosine 0, device/reference y cosine 0, reference/device y cosine 0,
          reference/reference y cosine 1
  
  Tried, not delivered: no package in these ledgers holds the change. What came of it was so with
  these inputs, options and versions; a ledger does not show what is possible.
  $ paritas ledger results/paritas-ledger.jsonl --model n.onnx | head -2
  n.onnx   sha256 *, 2 experiments (glob)
    as given
  $ paritas ledger results/paritas-ledger.jsonl --model n.onnx | tail -4
  
  6 experiments of other models
  Tried, not delivered: no package in these ledgers holds the change. What came of it was so with
  these inputs, options and versions; a ledger does not show what is possible.

Nothing is overwritten. A run that contradicts an earlier one is shown beside it; a line that cannot be read is told.

  $ head -1 results/paritas-ledger.jsonl | sed 's/"verdict":"deviates"/"verdict":"pass"/; s/"date":"..../"date":"2999/' >> results/paritas-ledger.jsonl
  $ printf '{"half a line' >> results/paritas-ledger.jsonl
  $ paritas inject m.onnx -i x=x.npy --at 'square: noise(1e-4)' --ledger results/paritas-ledger.jsonl --quiet
  $ paritas ledger results/paritas-ledger.jsonl --model m.onnx | grep -A2 -E 'contradiction|skipped|repeat'
      *  inject  not judged  (repeat) (glob)
          outputs move
          y cosine 1.000
  --
      *  locate  sim:fp16  deviates  (repeat) (glob)
          range-overflow at square; first divergence square
          y cosine 0
      *  locate  sim:fp16  pass  (repeat) (glob)
          range-overflow at square; first divergence square
          y cosine 0
        ! contradiction: the verdicts contradict each other: deviates and pass (* (glob)
          and *) (glob)
  
  --
  skipped: results/paritas-ledger.jsonl: line 10: not valid JSON* (glob)
  $ paritas ledger results/paritas-ledger.jsonl --json - | "$PYTHON" -c '
  > import json, sys; v = json.load(sys.stdin); print(v["schema"], v["entries"], len(v["damaged"]))'
  paritas.ledger-view/1 10 1
  $ wc -l < results/paritas-ledger.jsonl
  11
  $ paritas ledger nowhere.jsonl
  paritas: nowhere.jsonl: no such file; check the path
  [2]
  $ paritas locate m.onnx --device sim:fp16 -i x=x.npy --ledger nowhere/l.jsonl
  paritas: nowhere/l.jsonl: the folder nowhere does not exist; create it first
  [2]
  $ mkdir -p taken/paritas-ledger.jsonl
  $ paritas locate m.onnx --device sim:fp16 -i x=x.npy --json taken/r.json
  paritas: taken/paritas-ledger.jsonl: the ledger cannot be added to: Is a directory; name another with --ledger, or leave it away with --no-ledger
  [2]
  $ ls taken
  paritas-ledger.jsonl
  $ paritas locate m.onnx --device sim:fp16 -i x=x.npy --ledger m.onnx
  paritas: m.onnx: the ledger cannot be added to: it is something else than a ledger; name another with --ledger, or leave it away with --no-ledger
  [2]
  $ paritas locate m.onnx --device sim:fp16 -i x=x.npy --ledger l.jsonl --no-ledger
  paritas: --no-ledger: contradicts --ledger; leave one of them away
  [2]
