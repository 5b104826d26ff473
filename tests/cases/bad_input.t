Bad input
=========

Each is one sentence with the file, what is wrong, and what to do; exit code 2, or 3 where a run fails. Nothing is written.

  $ "$PYTHON" "$CASES/data/bad_files.py"
  $ "$PYTHON" "$CASES/data/small_models.py"
  $ ls > before

Files that are not there, or not what they say
----------------------------------------------

  $ paritas compare nothing.npy x.npy
  paritas: nothing.npy: no such file or folder; check the path
  [2]
  $ paritas compare x.npy before
  paritas: before: is neither a recording nor in a format that is read; if you know its format, name it with paritas import --format: recording, npy, npz, safetensors, folder, tensor-proto, test-data-set, polygraphy, net-run, trtexec-json, trtexec-raw, tflite-outputs, raw
  [2]
  $ for f in *.npy; do case $f in x*) ;; *) paritas compare x.npy $f; echo "[$?]";; esac; done
  paritas: empty.npy: is not a .npy file (it does not start with \x93NUMPY); save it with numpy.save
  [2]
  paritas: header_past_end.npy: claims a header of 65535 bytes, the file has 132 bytes; the file is truncated or damaged: copy it again
  [2]
  paritas: negative.npy: the .npy header has the negative dimension -1; the file is damaged: save it again with numpy.save
  [2]
  paritas: nested.npy: the .npy header has something in its shape that is not a whole number; the file is damaged: save it again with numpy.save
  [2]
  paritas: object.npy: holds Python objects (type '|O'), not plain numbers; save a plain array: np.save(..., allow_pickle=False)
  [2]
  paritas: overflow.npy: shape [4294967296,4294967296,4294967296] has more elements than any file can hold; the file is damaged: save it again with numpy.save
  [2]
  paritas: strings.npy: holds text (type '<U8'), not plain numbers; save numbers
  [2]
  paritas: text.npy: is not a .npy file (it does not start with \x93NUMPY); save it with numpy.save
  [2]
  paritas: truncated.npy: float32 [1000] takes 4000 bytes, the file has only 100 after its header; the file is truncated: copy it again
  [2]
  $ for f in *.safetensors; do paritas compare $f x.npy; echo "[$?]"; done
  paritas: backwards.safetensors: tensor "a" claims bytes 4 to 0, the file holds 4 bytes of data; the file is truncated or damaged: copy it again
  [2]
  paritas: data_past_end.safetensors: tensor "a" claims bytes 0 to 100, the file holds 10 bytes of data; the file is truncated or damaged: copy it again
  [2]
  paritas: dtype.safetensors: tensor "a" has the type "F5", which is not supported; the file is damaged: write it again
  [2]
  paritas: empty.safetensors: is too short for a safetensors file; the file is truncated: copy it again
  [2]
  paritas: header_overflow.safetensors: claims a header of 18446744073709551615 bytes, the file has 10 bytes; the file is truncated, or not a safetensors file
  [2]
  paritas: header_past_end.safetensors: claims a header of 1099511627776 bytes, the file has 10 bytes; the file is truncated, or not a safetensors file
  [2]
  paritas: hole.safetensors: bytes 2 to 4 of the data belong to no tensor; the file is damaged: write it again
  [2]
  paritas: nested.safetensors: the header holds an array where an object was expected; the file is damaged: write it again
  [2]
  paritas: overflow.safetensors: tensor "a": shape [8589934592,8589934592] has more elements than any file can hold; the file is damaged: write it again
  [2]
  paritas: overlap.safetensors: tensor "b" overlaps the one before it; the file is damaged: write it again
  [2]
  paritas: size.safetensors: tensor "a" float32 [2] takes 8 bytes, its range has 4; the file is damaged: write it again
  [2]
  paritas: twice.safetensors: the name "a" stands twice in the header; the file is damaged: write it again
  [2]
  $ paritas inspect text.onnx
  paritas: text.onnx: is not an ONNX model, or is damaged at byte 2; export or copy the model again
  [2]
  $ paritas inspect empty.onnx
  paritas: empty.onnx: is not an ONNX model: it holds no graph with nodes and outputs; check the path
  [2]
  $ paritas run text.onnx --input x=x.npy -o out
  paritas: text.onnx: is not an ONNX model, or is damaged at byte 2; export or copy the model again
  [2]
  $ paritas run nothing.onnx --input x=x.npy -o out
  paritas: nothing.onnx: no such file; check the path
  [2]

Inputs that do not fit the model
--------------------------------

  $ paritas run square.onnx --input images=x.npy -o out
  paritas: input "images" is not in square.onnx; it has "x" float32 [batch,10]
  [2]
  $ paritas run square.onnx -o out
  paritas: square.onnx: input "x" float32 [batch,10] was not given; add --input x=FILE
  [2]
  $ paritas run square.onnx --input x -o out
  paritas: --input x: is not NAME=FILE; for example: --input images=images.npy
  [2]
  $ paritas run square.onnx --input x=nothing.npy -o out
  paritas: nothing.npy: no such file; check the path
  [2]
  $ paritas run square.onnx --input x=before -o out
  paritas: before: inputs are read from .npy and .safetensors files; convert it first
  [2]
  $ "$PYTHON" -c 'import numpy as np; np.save("x_shape.npy", np.ones((1, 3), np.float32)); np.save("x_type.npy", np.ones((1, 10)))'
  $ paritas run square.onnx --input x=x_shape.npy -o out
  paritas: square.onnx: input "x" float32 [batch,10] cannot take a tensor of shape [1,3]
  [2]
  $ paritas run square.onnx --input x=x_type.npy -o out
  paritas: square.onnx: input "x" must be float32, the given tensor is float64; convert the tensor first
  [2]
  $ paritas run square.onnx --input x=x.npy --dim batch=2 -o out
  paritas: dimension batch = 2: the tensor given for "x" has 1 there; give an input of that size, or leave the dimension out: it follows from the inputs
  [2]
  $ paritas run square.onnx --input x=x.npy --dim height=2 -o out
  paritas: dimension height = 2: square.onnx has no free dimension of that name; free dimensions: batch
  [2]
  $ paritas locate square.onnx --input x=x.npy --device sim:fp16 --gate 'z: cosine>=0.99'
  paritas: --gate: no tensor is called "z"; there is: y
  [2]
  $ rm x_shape.npy x_type.npy

Providers
---------

A library that is absent, is no library, is no provider, or crashes.

  $ paritas run square.onnx --input x=x.npy -t ort:Some,library=nothing.so -o out
  paritas: ort:Some,library=nothing.so: the provider library nothing.so is absent; check library=PATH
  [2]
  $ paritas run square.onnx --input x=x.npy -t ort:Some,library=text.npy -o out 2>&1 | grep -c 'text.npy'
  1
  $ paritas run square.onnx --input x=x.npy -t ort:Some,library=text.npy -o out 2> /dev/null
  [3]
  $ paritas run square.onnx --input x=x.npy -t ort:Some,library=$BUILD/lib/runtime/libparitas_test_provider_crash.so -o out 2>&1 | grep -oE 'the worker crashed [^:]*: Aborted|vendor assertion.*'
  the worker crashed (signal 6: Aborted
  vendor assertion failed: firmware not found
  $ paritas run square.onnx --input x=x.npy -t ort:Some,library=$BUILD/lib/runtime/libparitas_test_provider_hang.so --timeout 1 -o out
  paritas: worker: no answer within 1 s while opening a session on ort:Some,library=*/lib/runtime/libparitas_test_provider_hang.so; the worker was killed; allow it more time, or leave out what takes so long (glob)
  [3]
  $ paritas run square.onnx --input x=x.npy --ort "$PWD/text.npy" -o out
  paritas: */text.npy: cannot be loaded as ONNX Runtime: */text.npy: file too short; install it: pip install onnxruntime==1.32.0, or pass --ort PATH (glob)
  [3]

A provider that loads and takes nothing would let the CPU be compared with itself. That is an error, never a pass.

  $ paritas run square.onnx --input x=x.npy -t ort:IdleExecutionProvider,library=$BUILD/tests/libparitas_test_provider_idle.so -o out
  paritas: ort:IdleExecutionProvider,library=*/tests/libparitas_test_provider_idle.so: 0 of 3 nodes ran on IdleExecutionProvider: this compares the CPU with itself; check the provider's options and whether it supports this model (glob)
  [3]
  $ paritas locate square.onnx --input x=x.npy -d ort:IdleExecutionProvider,library=$BUILD/tests/libparitas_test_provider_idle.so
  paritas: ort:IdleExecutionProvider,library=*/tests/libparitas_test_provider_idle.so: 0 of 3 nodes ran on IdleExecutionProvider: this compares the CPU with itself; check the provider's options and whether it supports this model (glob)
  [3]

Output that cannot be written
-----------------------------

  $ mkdir out
  $ paritas run square.onnx --input x=x.npy -o out
  paritas: out: exists already; choose another name or pass --force
  [2]
  $ rmdir out
  $ paritas run square.onnx --input x=x.npy -o no/such/folder
  paritas: no/such/folder: the folder no/such does not exist; create it first
  [2]
  $ paritas compare x.npy x.npy --json no/such/folder.json --quiet
  paritas: no/such/folder.json: the folder no/such does not exist; create it first
  [2]
  $ paritas compare x.npy x.npy > /dev/full
  paritas: standard output: cannot be written: No space left on device
  [2]

A full disk, for the recording and for the scratch folder (where the test may mount one).

  $ mkdir small
  $ full_disk() {
  >   unshare --mount bash -c 'mount -t tmpfs -o size=64k tmpfs small && "$@"; code=$?; ls small; exit $code' - "$@"
  > }
  $ detector="$EXAMPLES/detr-mini/detr_mini.onnx --input images=$EXAMPLES/detr-mini/images.npy"
  $ detector="$detector --input orig_target_sizes=$EXAMPLES/detr-mini/orig_target_sizes.npy"
  $ if full_disk true 2> /dev/null; then
  >   full_disk paritas run $detector -o small/out; echo "[$?]"
  >   TMPDIR=$PWD/small full_disk paritas run $detector -o out 2>&1 | cut -d ' ' -f 3-; echo "[${PIPESTATUS[0]}]"
  > else
  >   echo 'paritas: small/*/sample-000000.safetensors: cannot be written: No space left on device; free some space or choose another folder'
  >   echo '[2]'
  >   echo 'cannot be written: No space left on device; free some space or choose another folder'
  >   echo '[2]'
  > fi
  paritas: small/*/sample-000000.safetensors: cannot be written: No space left on device; free some space or choose another folder (glob)
  [2]
  cannot be written: No space left on device; free some space or choose another folder
  [2]
  $ rmdir small

Nothing of all this left anything behind, neither here nor in the scratch folder.

  $ ls -A | grep -v '^before$' | diff - <(grep -v '^before$' before)
  $ ls "$TMPDIR" | grep paritas
  [1]

Ctrl-C and kill -9
==================

The provider that hangs keeps a run busy. When the main process ends, however it ends, the worker goes too, and there is no
recording.

  $ for signal in SIGINT SIGTERM SIGKILL; do
  >   "$PYTHON" "$CASES/data/interrupt.py" $signal paritas run square.onnx --input x=x.npy -o out \
  >     -t ort:Some,library=$BUILD/lib/runtime/libparitas_test_provider_hang.so
  >   ls -d out
  > done
  ended by SIGINT
  no worker is left
  ls: cannot access 'out': No such file or directory
  ended by SIGTERM
  no worker is left
  ls: cannot access 'out': No such file or directory
  ended by SIGKILL
  no worker is left
  ls: cannot access 'out': No such file or directory
  [2]

The same for `locate`; and the next run removes scratch folders whose owner is gone.

  $ "$PYTHON" "$CASES/data/interrupt.py" SIGKILL paritas locate square.onnx --input x=x.npy \
  >   -d ort:Some,library=$BUILD/lib/runtime/libparitas_test_provider_hang.so
  ended by SIGKILL
  no worker is left
  $ ls "$TMPDIR" | grep -c paritas-scratch
  1
  $ paritas run square.onnx --input x=x.npy -o out --quiet
  $ ls "$TMPDIR" | grep -c paritas-scratch
  0
  [1]
  $ paritas inspect out | head -1
  out: recording, 1 sample, 2 tensors

A worker that is killed from outside is an error too, with exit code 3.

  $ "$PYTHON" "$CASES/data/interrupt.py" --worker SIGKILL paritas run square.onnx --input x=x.npy -o killed \
  >   -t ort:Some,library=$BUILD/lib/runtime/libparitas_test_provider_hang.so
  paritas: worker: the worker crashed (signal 9: Killed) while opening a session on ort:Some,library=*/lib/runtime/libparitas_test_provider_hang.so (glob)
  exit code 3
  no worker is left
  $ ls -d killed
  ls: cannot access 'killed': No such file or directory
  [2]
