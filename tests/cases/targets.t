What can run here
=================

`paritas targets` lists every target; for one that is missing it says why, and what to install.

  $ paritas targets | sed -n '/^target/,$p' | grep -E '^(target|cpu|sim|ort)'
  target                               what it is
  cpu                           ready  ONNX Runtime on the CPU; threads=1, opt=none|basic|extended|all, mode=sequential|parallel, inter=1
  sim:fp16                      ready  every float tensor rounded to float16; overflow=inf|saturate
  sim:bf16                      ready  every float tensor rounded to bfloat16; overflow=inf|saturate
  sim:int8,ranges=RECORDING     ready  float tensors in 8 bits, weights too; weights=per-channel|per-tensor, activations=asymmetric|symmetric, type=int8|uint8, float=TENSORS
  sim:w8a16,ranges=RECORDING    ready  float tensors in 16 bits, weights in 8; the same options, type=int16|uint16
  ort:PROVIDER,library=PATH     ready  any ONNX Runtime provider plug-in; its options as key=value
  $ paritas targets --json - | "$PYTHON" -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > print(r["schema"], sorted(r["onnxruntime"]))
  > for t in r["targets"]: print(t["target"], t["available"] or (t["reason"] != "" and t["remedy"] != ""))'
  paritas.targets/1 ['found_by', 'path']
  cpu True
  sim:fp16 True
  sim:bf16 True
  sim:int8,ranges=RECORDING True
  sim:w8a16,ranges=RECORDING True
  qnn:htp True
  ort:PROVIDER,library=PATH True
  tflite:ref True
  tflite:builtin True
  tflite:xnnpack True
  tflite:delegate,path=LIBRARY True
  tflite:default True
  litert:cpu True
  litert:npu True
  litert:gpu True
  exec:BOARD.toml True

Without ONNX Runtime nothing can run, and the list still says so in full.

  $ paritas targets --ort /nowhere/libonnxruntime.so | grep -c missing
  7
  $ paritas targets --ort /nowhere/libonnxruntime.so | head -1
  ONNX Runtime   /nowhere/libonnxruntime.so: no such file or folder; check --ort

Comparing recordings and files needs no runtime at all.

  $ "$PYTHON" -c 'import numpy as np; np.save("a.npy", np.ones(3, np.float32))'
  $ PARITAS_ORT=/nowhere/libonnxruntime.so paritas compare --inputs-unverified a.npy a.npy --gate 'data: differing<=0' | head -1
  PASS   data: differing 0 <= 0

Targets are written `name[:variant][,key=value...]`. What is not known is refused with what is.

  $ "$PYTHON" "$CASES/data/small_models.py"
  $ paritas run square.onnx --input x=x.npy --target gpu -o out
  paritas: gpu: there is no target "gpu"; choose cpu, sim:fp16, sim:bf16, qnn:htp, ort:PROVIDER,library=PATH, tflite:ref, builtin, xnnpack, delegate, or litert:cpu, npu, gpu
  [2]
  $ paritas run square.onnx --input x=x.npy --target sim:fp8 -o out
  paritas: sim:fp8: the simulator has no format "fp8"; choose sim:fp16, sim:bf16, sim:int8 or sim:w8a16
  [2]
  $ paritas run square.onnx --input x=x.npy --target sim:fp16,overflow=wrap -o out
  paritas: sim:fp16,overflow=wrap: overflow=wrap is not known; choose inf, saturate
  [2]
  $ paritas run square.onnx --input x=x.npy --target cpu,thread=2 -o out
  paritas: cpu,thread=2: unknown option "thread"; known are inter, mode, opt, threads, and keys that start with session. or ep.
  [2]
  $ paritas run square.onnx --input x=x.npy --target cpu,threads=none -o out
  paritas: cpu,threads=none: threads=none is not a number from 1 to 1024
  [2]
  $ paritas run square.onnx --input x=x.npy --target ort:Some,library=/nowhere.so -o out
  paritas: ort:Some,library=/nowhere.so: the provider library /nowhere.so is absent; check library=PATH
  [2]
  $ ls
  a.npy
  square.onnx
  x.npy
  x2.npy
