Bad input for `paritas import`
==============================

Each is one sentence with the file, what is wrong, and what to do; exit code 2, and nothing is written.

  $ "$PYTHON" "$CASES/data/bad_imports.py"
  $ ls > before
  $ try() { for f in "$@"; do paritas import $f -o out; echo "[$?]"; done; }

Archives
--------

  $ paritas import good.npz -o good --quiet
  $ try bomb.npz claims.npz zeros.npz climbs.npz twice.npz not_utf8.npz cut.npz torch.npz object.npz
  paritas: bomb.npz: a.npy: 10000000 bytes follow the array; write one array to a file, with numpy.save
  [2]
  paritas: claims.npz: member "a.npy" claims to inflate from 74 bytes to 2147483648, which nothing can; the archive is damaged or truncated: copy it again, or save it again
  [2]
  paritas: zeros.npz: a.npy: 388870 bytes inflate to 400000128, as in an archive made to fill memory; if it is honest, save it uncompressed with numpy.savez
  [2]
  paritas: climbs.npz: the member name "../../a.npy" climbs out of its folder; the archive was made to do harm, or damaged: do not use it
  [2]
  paritas: twice.npz: two members are called "a.npy"; one of them would hide the other: save it again
  [2]
  paritas: not_utf8.npz: the name "\xff.npy" is not UTF-8; rename it
  [2]
  paritas: cut.npz: is not a zip archive, or its end is missing; the archive is damaged or truncated: copy it again, or save it again
  [2]
  paritas: torch.npz: is a PyTorch file: loading it means running the Python pickle inside; save the tensors with safetensors.torch.save_file or numpy.savez
  [2]
  paritas: object.npz: a.npy: holds Python objects (type '|O'), not plain numbers; save a plain array: np.save(..., allow_pickle=False)
  [2]

JSON
----

  $ try *.json
  paritas: counts.json: "y": has 2 values, its dimensions ask for 3; save it again with: trtexec --exportOutput=FILE
  [2]
  paritas: cut.json: not valid JSON (The JSON document has an improper structure: missing or superfluous commas, braces, missing keys, etc.); the file is damaged or cut off: save it again
  [2]
  paritas: levels.json: nested deeper than 200 levels; no tool writes such a file
  [2]
  paritas: lies.json: "x": float32 [2] takes 8 bytes, the file has only 7 after its header; the file is truncated: copy it again
  [2]
  paritas: names_twice.json: the key "x" stands twice in one object; one would hide the other: save it again
  [2]
  paritas: torch.json: "x" is a PyTorch tensor: loading it means running a Python pickle; save numpy arrays: call .numpy() on the outputs first
  [2]

Raw files and what a run left
-----------------------------

  $ paritas import short.raw --dtype short=float32 --shape short=1x3 -o out
  paritas: short.raw: has 11 bytes, float32 [1,3] (the command line) takes 12; check that the file is whole and the declaration right
  [2]
  $ paritas import short.raw --dtype float32 -o out
  paritas: short.raw: 11 bytes are no whole number of float32 values; check that the file is whole and the type right
  [2]
  $ try absent same outside absolute
  paritas: absent/input_list.txt: line 1: names gone.raw, which is not a file below absent; copy the inputs there, or leave them out with --outputs-only
  [2]
  paritas: same/input_list.txt: line 1: two inputs claim the file x.raw; give each input its own file
  [2]
  paritas: outside/input_list.txt: line 1: names ../short.raw, which is not a file below outside; copy the inputs there, or leave them out with --outputs-only
  [2]
  paritas: absolute/input_list.txt: line 1: names /etc/hostname, which is not a file below absolute; copy the inputs there, or leave them out with --outputs-only
  [2]

Folders
-------

  $ try link shared bytes mixed
  paritas: link: the path "a.npy" does not stay inside the folder
  [2]
  paritas: shared: "b.npy" is another name of a file that is there already; two tensors cannot share one file: remove the link
  [2]
  paritas: bytes: the name "\xff.npy" is not UTF-8; rename the file
  [2]
  paritas: mixed: fits several formats: folder and raw; choose one with --format
  [2]

Pickles and the unknown
-----------------------

  $ try weights.pkl before nothing
  paritas: weights.pkl: is a Python pickle: loading it runs whatever code it holds, so it is never read; save the tensors with numpy.savez(FILE, **arrays) or safetensors.torch.save_file
  [2]
  paritas: before: is neither a recording nor in a format that is read; if you know its format, name it with --format: recording, npy, npz, safetensors, folder, tensor-proto, test-data-set, polygraphy, net-run, trtexec-json, trtexec-raw, tflite-outputs, raw
  [2]
  paritas: nothing: no such file or folder; check the path
  [2]
  $ paritas import good.npz --format tflite -o out
  paritas: --format tflite: is not a format; there are: recording, npy, npz, safetensors, folder, tensor-proto, test-data-set, polygraphy, net-run, trtexec-json, trtexec-raw, tflite-outputs, raw
  [2]
  $ paritas import good.npz --shape z=1 -o out
  paritas: --shape z: good.npz holds no tensor of that name; it holds "a"
  [2]
  $ paritas import good.npz --shape a=2x-1 -o out
  paritas: --shape a=2x-1: is not a shape; for example: --shape scores=1x40
  [2]
  $ paritas import good.npz --dtype a=float33 -o out
  paritas: --dtype a=float33: "float33" is not a type; for example: --dtype scores=float32, or --dtype uint8 for all raw files
  [2]
  $ paritas import good.npz --dtype a=int32 -o out
  paritas: --dtype a=int32: good.npz holds it as float32; leave it out
  [2]
  $ paritas import good.npz -o good
  paritas: good: exists already; choose another name or pass --force
  [2]

Nothing of all this left anything behind, neither here nor in the scratch folder.

  $ ls -A | grep -v -e '^before$' -e '^good$' | diff - <(grep -v '^before$' before)
  $ ls "$TMPDIR" | grep paritas
  [1]
