Record what a model does
========================

`paritas run` runs a model once for every sample and writes a recording: a folder with `run.json` and one safetensors file a
sample. Here is a small model with a free batch dimension, whose square leaves the range of float16.

  $ "$PYTHON" "$CASES/data/small_models.py"
  $ paritas run square.onnx --input x=x.npy --target cpu -o reference
  Recorded 1 sample of square.onnx on cpu in *: reference (glob)
  Where it ran   3 of 3 nodes on CPUExecutionProvider
  pinned: batch=1
  $ ls reference
  run.json
  sample-000000.safetensors
  $ paritas run square.onnx --input x=x.npy --target sim:fp16 -o simulated
  Recorded 1 sample of square.onnx on sim:fp16 in *: simulated (glob)
  Where it ran   7 of 7 nodes on CPUExecutionProvider (sim:fp16: simulated, each result rounded)
  pinned: batch=1

The recording holds inputs and outputs with where they come from. Nothing of the simulator is hidden: it says what was
simulated, and that the nodes ran on the CPU.

  $ "$PYTHON" -c '
  > import json
  > r = json.load(open("simulated/run.json"))
  > print(r["schema"], r["target"], r["provider"], r["marks"], r["pinned"])
  > print(r["model"]["path"], len(r["model"]["sha256"]), r["runtime"]["sha256_before"] == r["runtime"]["sha256_after"])
  > for t in r["tensors"]: print(t["name"], t["role"], t["dtype"], t.get("op"), t.get("storage_type"))
  > for s in r["samples"]: print(s["file"], s["bytes"], len(s["sha256"]), s["shapes"])'
  paritas.run/1 sim:fp16 CPUExecutionProvider none ['batch=1']
  square.onnx 64 True
  x input float32 None float16
  y output float32 Add float16
  sample-000000.safetensors 208 64 {'x': [1, 10], 'y': [1, 10]}

Nine squares fit, one is infinite in float16, and the comparison says so without any gate.

  $ paritas compare reference simulated
  DEVIATES   y: 1 of 10 elements are NaN or infinite on the device only
  
  tensor  type              cosine  SQNR dB  max abs  differing  note
  y       float32 [1,10]  1.000000      inf        0    1 of 10  1 NaN/Inf on the device only
  x       float32 [1,10]  1.000000      inf        0    0 of 10  equal
  
  Coverage   1 of 1 outputs compared, 0 gated; 1 sample
  note: no gates were declared
  note: contents not re-hashed (--verify-hashes does)
  [1]

With `overflow=saturate` it stays at the largest float16 value: finite, and as wrong as before.

  $ paritas run square.onnx --input x=x.npy --target sim:fp16,overflow=saturate -o saturated --quiet
  $ paritas compare reference saturated --gate 'y: max_rel<=0.01' | head -1
  DEVIATES   y: max_rel 0.372 > 0.01

Intermediates
=============

`--marks` records intermediates too: all of them, or those whose names match a pattern.

  $ paritas run square.onnx --input x=x.npy --marks all -o all --quiet
  $ paritas inspect all
  all: recording, 1 sample, 4 tensors
  square.onnx on cpu (CPUExecutionProvider 1.32.0)
  3 of 3 nodes on CPUExecutionProvider
  
  tensor  type     shape   role          op
  x       float32  [1,10]  input
  y       float32  [1,10]  output        Add
  square  float32  [1,10]  intermediate  Mul
  root    float32  [1,10]  intermediate  Sqrt
  $ paritas run square.onnx --input x=x.npy --marks 'sq*' -o some --quiet && paritas inspect some | grep -c intermediate
  1
  $ paritas run square.onnx --input x=x.npy --marks 'cube*' -o none
  paritas: --marks cube*: no intermediate tensor of square.onnx is called so; paritas inspect lists its tensors with --verbose
  [2]

Marks change nothing about the outputs of the simulator.

  $ paritas run square.onnx --input x=x.npy --marks all --target sim:fp16,overflow=saturate -o marked --quiet
  $ paritas compare saturated marked --gate 'y: differing<=0' | head -1
  PASS   y: differing 0 <= 0

Several samples
===============

An input that is given several times makes several samples; one that is given once goes into each.

  $ paritas run square.onnx --input x=x.npy --input x=x2.npy -o two --quiet && ls two
  run.json
  sample-000000.safetensors
  sample-000001.safetensors
  $ paritas run square.onnx --input x=x.npy --input x=x2.npy --target sim:fp16 -o two_simulated --quiet
  $ paritas compare two two_simulated --gate 'y: max_rel<=0.01' | head -2
  DEVIATES   y: 1 of 10 elements are NaN or infinite on the device only (sample-000000)
  
  $ paritas compare two simulated | head -1
  INVALID   the reference has 2 samples, the device 1: they cannot be paired

Fed with different values
=========================

Two runs on different inputs cannot be compared, however good the gates look.

  $ paritas run square.onnx --input x=x2.npy -o other --quiet
  $ paritas compare reference other --gate '*: max_abs<=5000'
  INVALID   x: the inputs differ: 1 of 10 elements
  
  tensor  type              cosine  SQNR dB  max abs  differing  note
  x       float32 [1,10]  0.524097    0.089    990.0    1 of 10
  y       float32 [1,10]  0.524097    0.089     1980    1 of 10  not judged: the inputs differ
  
  Coverage   1 of 1 outputs compared, 1 gated; 1 sample
  note: contents not re-hashed (--verify-hashes does)
  [1]

Damage is seen
==============

Sizes are always checked; contents only when it is asked for, since hashing takes longer than comparing.

  $ cp -r reference changed
  $ printf '\377' | dd of=changed/sample-000000.safetensors bs=1 seek=$(($(stat -c %s changed/sample-000000.safetensors) - 1)) conv=notrunc status=none
  $ paritas compare reference changed --verify-hashes
  paritas: */changed/sample-000000.safetensors: its SHA-256 is not the one in run.json; the recording was changed after it was made: record it again (glob)
  [2]
  $ echo more >> changed/sample-000000.safetensors
  $ paritas compare reference changed
  paritas: */changed/sample-000000.safetensors: has 213 bytes, run.json says 208; the recording is damaged: copy or record it again (glob)
  [2]
  $ rm changed/sample-000000.safetensors
  $ paritas compare reference changed
  paritas: */changed/sample-000000.safetensors: no such file; check the path (glob)
  [2]
  $ paritas compare reference "$TMPDIR"
  paritas: */tmp: is neither a recording nor in a format that is read; if you know its format, name it with paritas import --format: * (glob)
  [2]

A recording is not overwritten unless asked, and `--force` touches nothing but recordings.

  $ paritas run square.onnx --input x=x.npy -o reference
  paritas: reference: exists already; choose another name or pass --force
  [2]
  $ paritas run square.onnx --input x=x.npy -o reference --force --quiet
  $ mkdir thesis && touch thesis/chapter1
  $ paritas run square.onnx --input x=x.npy -o thesis --force
  paritas: thesis: exists and holds no run.json, so it is not ours to replace; choose another name
  [2]
  $ ls thesis
  chapter1
