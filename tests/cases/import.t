Importing what other tools wrote
================================

`paritas import` makes a recording of a dump, so that everything else can read it. The format is detected.

  $ "$PYTHON" "$CASES/data/import_files.py"
  $ cp "$CASES"/../data/polygraphy/*.json .
  $ paritas import results.npz -o npz
  Imported 1 sample: 0 inputs, 2 outputs: npz
  note: imported from results.npz (npz)

A model tells which tensors are inputs, outputs or intermediates, and the types and shapes that files do not tell.

  $ paritas import case --model model.onnx -o onnx_tests
  Imported 2 samples: 1 input, 1 output: onnx_tests
  note: imported from case (test-data-set)
  note: sample 0 is test_data_set_0
  note: sample 1 is test_data_set_1
  note: tensors without a name got that of model.onnx: input_N.pb and output_N.pb are its N-th input and output
  $ paritas inspect onnx_tests
  onnx_tests: recording, 2 samples, 2 tensors
  model.onnx, imported from case (test-data-set)
  
  tensor  type     shape  role    op
  x       float32  [1,3]  input
  /sq/y   float32  [1,3]  output

Qualcomm's net-run: one Result folder per line of the input list. A class id may have been converted to float32 or not;
that is never guessed.

  $ paritas import snpe --model model.onnx -o snpe_run
  paritas: snpe/output/Result_0/label.raw: may hold float32 or int32: the model says int64, and net-run converts some of these; say which: --dtype label=float32
  [2]
  $ paritas import snpe --model model.onnx --dtype label=float32 -o snpe_run
  Imported 2 samples: 1 input, 2 outputs: snpe_run
  note: imported from snpe (net-run)
  note: names that start with "/" were restored from the model
  $ paritas inspect snpe_run | sed 1,3d
  tensor  type     shape  role    op
  x       float32  [1,3]  input
  label   float32  [1]    output
  /sq/y   float32  [1,3]  output

Some tools write every name with "_". Where one tensor of the model alone comes to that name, its shape and role count.

  $ mkdir -p flat/output/Result_0 && cp snpe/output/Result_0/sq/y.raw flat/output/Result_0/sq_y.raw
  $ paritas import flat --model model.onnx -o flat_run
  Imported 1 sample: 0 inputs, 1 output: flat_run
  note: imported from flat (net-run)
  note: inputs are not recorded
  note: 1 tensor was found in the model by the rule that tools write / . : as _: "sq_y" is "/sq/y"; the names stay the dump's
  $ paritas inspect flat_run | sed 1,3d
  tensor  type     shape  role    op
  sq_y    float32  [1,3]  output

A file that gives names: type, shape and role are those of the new name, and options take either.

  $ mkdir -p ids/output/Result_0 && cp snpe/output/Result_0/sq/y.raw ids/output/Result_0/op_7.raw
  $ echo '{"op_7": "/sq/y"}' > ids.json
  $ paritas import ids --model model.onnx --names ids.json -o ids_run --quiet && paritas inspect ids_run | sed 1,3d
  tensor  type     shape  role    op
  /sq/y   float32  [1,3]  output
  $ paritas import ids --names ids.json --shape op_7=3x1 -o ids_run --force --quiet && paritas inspect ids_run | sed 1,4d
  /sq/y   float32  [3,1]  output
  $ paritas import ids --names ids.json --shape /sq/y=3x1 -o ids_run --force --quiet && paritas inspect ids_run | sed 1,4d
  /sq/y   float32  [3,1]  output

Of a part of the dump only that part is known: no inputs without the list, no shapes without the model.

  $ paritas import snpe/output -o snpe_flat
  Imported 2 samples: 0 inputs, 2 outputs: snpe_flat
  note: imported from snpe/output (net-run)
  note: inputs are not recorded
  note: shapes that nothing tells were read as one dimension

Polygraphy's results hold several runners; inputs have a file of their own.

  $ paritas import results.json -o polygraphy
  paritas: results.json: holds the results of several runners: "onnxrt-runner-N0-11/30/26-09:21:46", "onnxrt-runner-N1-11/30/26-09:21:46"; choose one with --runner NAME (a pattern such as '*N0*' will do)
  [2]
  $ paritas import results.json --runner '*N0*' -o polygraphy
  Imported 2 samples: 0 inputs, 2 outputs: polygraphy
  note: imported from results.json (polygraphy)
  note: runner onnxrt-runner-N0-11/30/26-09:21:46
  $ paritas import inputs.json -o polygraphy_inputs
  Imported 2 samples: 1 input, 0 outputs: polygraphy_inputs
  note: imported from inputs.json (polygraphy)

TensorRT's trtexec, as JSON and as raw bindings.

  $ paritas import trt.json --dtype label=int64 -o trt
  Imported 1 sample: 0 inputs, 2 outputs: trt
  note: imported from trt.json (trtexec-json)
  note: values are decimal text of six digits: relative differences up to 5e-6 may be the file's
  note: the file tells no types: values were read as float32 where nothing declared one
  $ paritas import trt_raw -o trt_raw_run
  Imported 1 sample: 1 input, 1 output: trt_raw_run
  note: imported from trt_raw (trtexec-raw)
  note: names are those of the files: trtexec replaces characters that no file name should hold

Raw files need a type and a shape, from the command line, from a sidecar or from the model.

  $ paritas import scores.raw -o raw
  paritas: scores.raw: the type of its 12 bytes is not known; uint8 [12], float16 [6] or float32 [3] would fit: declare it with --dtype and --shape
  [2]
  $ paritas import scores.raw --dtype scores=float32 --shape scores=1x3 -o raw
  Imported 1 sample: 0 inputs, 1 output: raw
  note: imported from scores.raw (raw)
  $ echo '{"dtype": "float32", "shape": [1, 3]}' > scores.raw.json
  $ paritas import scores.raw -o raw --force
  Imported 1 sample: 0 inputs, 1 output: raw
  note: imported from scores.raw (raw)

Names differ between tools: a mapping file renames.

  $ echo '{"_sq_y": "/sq/y"}' > names.json
  $ paritas import trt_raw --names names.json -o trt_raw_run --force
  Imported 1 sample: 1 input, 1 output: trt_raw_run
  note: imported from trt_raw (trtexec-raw)
  note: names are those of the files: trtexec replaces characters that no file name should hold

What was imported can be compared: NumPy's archive against trtexec's output.

  $ paritas compare --inputs-unverified npz trt --gate '/sq/y: max_abs<=0' --gate 'label: differing<=0' | head -1
  PASS   /sq/y: max_abs 0 <= 0

Dumps can be compared and looked into as they are. What they do not tell is declared in the same words; one set of options
serves all sources, and a declaration that is of no use to any of them is an error.

  $ mkdir -p one/output && cp -r snpe/output/Result_0 one/output/
  $ paritas compare results.npz one --model model.onnx --inputs-unverified --gate '*: max_abs<=0'
  paritas: one/output/Result_0/label.raw: may hold float32 or int32: the model says int64, and net-run converts some of these; say which: --dtype label=float32
  [2]
  $ paritas compare results.npz one --model model.onnx --inputs-unverified --gate '*: max_abs<=0' --dtype label=float32 | head -2
  PASS   /sq/y: max_abs 0 <= 0
         label: max_abs 0 <= 0
  $ paritas compare results.npz one --model model.onnx --dtype label=float32 --shape other=1x2
  paritas: --shape other: no source has a tensor of that name whose type and shape it leaves open; check the name, or leave it out
  [2]
  $ paritas compare results.npz results.npz --dtype label=float32
  paritas: --dtype label: no source has a tensor of that name whose type and shape it leaves open; check the name, or leave it out
  [2]
  $ paritas inspect one --model model.onnx --dtype label=float32
  one: net-run, 1 sample, 2 tensors
  model.onnx, imported from one (net-run)
  
  tensor  type     shape  role    op
  label   float32  [1]    output
  /sq/y   float32  [1,3]  output
  $ paritas inspect results.npz
  results.npz: npz, 1 sample, 2 tensors
  imported from results.npz (npz)
  
  tensor  type     shape  role    op
  /sq/y   float32  [1,3]  output
  label   int64    [1]    output

A project file has keys for it, and remedies name them there.

  $ paritas init model.onnx one
  paritas: one/output/Result_0/label.raw: may hold float32 or int32: the model says int64, and net-run converts some of these; say which: --dtype label=float32
  [2]
  $ paritas init model.onnx one --dtype label=float32
  Wrote paritas.toml: declare roles, gates and tasks in it, then run paritas check
  $ sed -n '/^\[recordings.device\]/,/^$/p' paritas.toml
  [recordings.device]
  path = "one"
  model = "model.onnx"
  # format = "net-run"   # paritas import --help lists the formats; else it is detected
  dtypes = { label = "float32" }
  # shapes = { scores = [1, 40] }
  # outputs_only = true   # leave recorded inputs out
  
  $ sed 's/^dtypes = .*//; s/^# inputs_unverified.*/[pairing]\ninputs_unverified = true/; s/^\[inputs.x\].*//; s/^file = .*//' paritas.toml > undeclared.toml
  $ paritas check undeclared.toml
  paritas: one/output/Result_0/label.raw: may hold float32 or int32: the model says int64, and net-run converts some of these; say which: dtypes = { label = "float32" } under [recordings.device]
  [2]

Formats without a fixture written by the real tool say so.

  $ paritas import --help | grep -A 14 '^Formats' | grep untested
    net-run        snpe-net-run, qnn-net-run: input_list.txt, output/Result_N/NAME.raw [untested with the real tool]
    trtexec-json   trtexec --exportOutput (JSON) [untested with the real tool]
    trtexec-raw    trtexec --dumpRawBindingsToFile: NAME.output.1.3.224.224.Float.raw [untested with the real tool]
    tflite-outputs benchmark_model --output_filepath: all outputs in one file, in the model's order (needs --model) [untested with the real tool]
