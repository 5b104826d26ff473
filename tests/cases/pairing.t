Names that a converter changed
==============================

Tensors are paired by exact name, never by position.

  $ "$PYTHON" - << 'PY'
  > import numpy as np
  > from safetensors.numpy import save_file
  > a, b = np.arange(12, dtype=np.float32), np.linspace(5, 6, 12, dtype=np.float32)
  > save_file({"/model/a/Add": a, "/model/b/Add": b}, "ref.safetensors")
  > save_file({"_model_b_Add": b, "_model_a_Add": a}, "dev.safetensors")
  > save_file({"_model_a_Add": a, "o1": b * np.float32(1.0001)}, "renamed.safetensors")
  > save_file({"x/y": a, "x_y": b}, "both.safetensors")
  > save_file({"x_y": b}, "one.safetensors")
  > PY
  $ paritas compare ref.safetensors dev.safetensors --inputs-unverified --gate '*: differing<=0' --quiet
  [1]
  $ paritas compare ref.safetensors dev.safetensors --inputs-unverified --gate '/model*: differing<=0'
  INVALID   _model_a_Add: missing in the reference
            _model_b_Add: missing in the reference
  
  tensor        type          cosine  SQNR dB  max abs  differing  note
  /model/a/Add  float32 [12]       -        -        -          -  missing on device
  /model/b/Add  float32 [12]       -        -        -          -  missing on device
  _model_a_Add  float32 [12]       -        -        -          -  missing in reference
  _model_b_Add  float32 [12]       -        -        -          -  missing in reference
  
  Coverage   0 of 4 outputs compared, 2 gated; 1 sample
  Only in reference   /model/a/Add, /model/b/Add
  Only in device   _model_a_Add, _model_b_Add
  Proposal   "/model/a/Add" looks like the device's "_model_a_Add" (NMSE 0, next best _model_b_Add with 0.23): not used; say so with an alias
  Proposal   "/model/b/Add" looks like the device's "_model_b_Add" (NMSE 0, next best _model_a_Add with 0.32): not used; say so with an alias
  note: inputs are not recorded on both sides: equal inputs are assumed, as asked
  note: reference: imported from ref.safetensors (safetensors)
  note: device: imported from dev.safetensors (safetensors)
  [1]

On request names are normalised by rules that the result names (docs/compare.md lists them).

  $ paritas compare ref.safetensors dev.safetensors --inputs-unverified --names normalised --gate '*: differing<=0' --json result.json
  PASS   /model/a/Add: differing 0 <= 0
         /model/b/Add: differing 0 <= 0
  
  tensor                       type            cosine  SQNR dB  max abs  differing  note
  /model/a/Add = _model_a_Add  float32 [12]  1.000000      inf        0    0 of 12  equal; paired by sanitised
  /model/b/Add = _model_b_Add  float32 [12]  1.000000      inf        0    0 of 12  equal; paired by sanitised
  
  Coverage   2 of 2 outputs compared, 2 gated; 1 sample
  note: inputs are not recorded on both sides: equal inputs are assumed, as asked
  note: reference: imported from ref.safetensors (safetensors)
  note: device: imported from dev.safetensors (safetensors)
  $ "$PYTHON" -c 'import json; print([(t["name"], t["device_name"], t["pairing"]) for t in json.load(open("result.json"))["tensors"]])'
  [('/model/a/Add', '_model_a_Add', 'sanitised'), ('/model/b/Add', '_model_b_Add', 'sanitised')]

What stays unpaired may be proposed by its content. A proposal is never used.

  $ paritas compare ref.safetensors renamed.safetensors --inputs-unverified --names normalised | grep Proposal
  Proposal   "/model/b/Add" looks like the device's "o1" (NMSE 1e-08, no other of this shape): not used; say so with an alias

The user decides, with an alias file.

  $ cat > aliases.toml << 'TOML'
  > [aliases]
  > "/model/b/Add" = "o1"
  > TOML
  $ paritas compare ref.safetensors renamed.safetensors --inputs-unverified --names normalised --aliases aliases.toml --gate '*: max_rel<=2e-4' | head -2
  PASS   /model/a/Add: max_rel 0 <= 0.0002
         /model/b/Add: max_rel 0.0001 <= 0.0002

Two names that become one leave open which is meant: an error, not a guess.

  $ paritas compare both.safetensors one.safetensors --inputs-unverified --names normalised --gate '*: differing<=0'
  paritas: names: the reference's "x/y" and "x_y" become one name by the rules "sanitised": both claim "x_y"; say which is meant with an alias file
  [2]
  $ echo '"/model/c/Add" = "o1"' >> aliases.toml
  $ paritas compare ref.safetensors renamed.safetensors --aliases aliases.toml
  paritas: alias: the reference has no tensor "/model/c/Add"; check the aliases
  [2]
