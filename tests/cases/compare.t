Compare two tensor files
========================

`paritas compare REFERENCE DEVICE` takes recordings or loose `.npy` and `.safetensors` files. Gates say beforehand what is
good enough. Two files that agree within the gate pass, with exit code 0. Loose files hold no inputs, so nothing shows that
both sides ran on the same: `--inputs-unverified` says that the reader knows.

  $ "$PYTHON" - << 'PY'
  > import numpy as np
  > a = np.linspace(-1, 1, 1000, dtype=np.float32).reshape(10, 100)
  > np.save("a.npy", a)
  > np.save("close.npy", a + np.float32(1e-6))
  > b = a.copy(); b[3, 7] = 0.5
  > np.save("one_off.npy", b)
  > c = a.copy(); c[0, 0] = np.nan
  > np.save("nan.npy", c)
  > np.save("flat.npy", a.reshape(1000))
  > np.save("empty.npy", np.zeros((0, 4), np.float32))
  > PY
  $ paritas compare --inputs-unverified a.npy close.npy --gate 'data: max_abs<=1e-5'
  PASS   data: max_abs 1.013e-06 <= 1e-05
  
  tensor  type                cosine  SQNR dB  max abs       differing  note
  data    float32 [10,100]  1.000000      115  1.0e-06  1,000 of 1,000
  
  Coverage   1 of 1 outputs compared, 1 gated; 1 sample
  note: inputs are not recorded on both sides: equal inputs are assumed, as asked
  note: reference: imported from a.npy (npy)
  note: device: imported from close.npy (npy)
  $ paritas compare --inputs-unverified a.npy a.npy --gate 'data: differing<=0' | head -1
  PASS   data: differing 0 <= 0

Without that word nothing is judged.

  $ paritas compare a.npy a.npy --gate 'data: differing<=0' | head -2
  NOT JUDGED   the inputs are not recorded on both sides: nothing shows that both ran on the same (--inputs-unverified judges all the same)
  

A folder of arrays knows no roles: say which tensors both sides were fed with, and they are compared first.

  $ mkdir host board && cp a.npy host/image.npy && cp a.npy board/image.npy && cp a.npy host/y.npy && cp close.npy board/y.npy
  $ paritas compare host board --role image=input --gate 'y: max_abs<=1e-5'
  PASS   y: max_abs 1.013e-06 <= 1e-05
  
  tensor  type                cosine  SQNR dB  max abs       differing  note
  y       float32 [10,100]  1.000000      115  1.0e-06  1,000 of 1,000
  image   float32 [10,100]  1.000000      inf        0      0 of 1,000  equal
  
  Coverage   1 of 1 outputs compared, 1 gated; 1 sample
  note: reference: imported from host (folder)
  note: device: imported from board (folder)
  $ cp one_off.npy board/image.npy
  $ paritas compare host board --role image=input --gate 'y: max_abs<=1e-5' | head -2
  INVALID   image: the inputs differ: 1 of 1000 elements
  
  $ paritas compare host board --role image=wibble
  paritas: --role image=wibble: "wibble" is not a role; roles are input, logits, probabilities, scores, boxes, labels, feature, embedding, keypoints, mask
  [2]
  $ paritas compare host board --role imag=input
  paritas: role of "imag": neither side has a tensor of this name
  [2]

Without a gate nothing is judged either: the figures are shown, and the answer is not `pass`.

  $ paritas compare a.npy one_off.npy
  NOT JUDGED   data: no gate covers it
               the inputs are not recorded on both sides: nothing shows that both ran on the same (--inputs-unverified judges all the same)
  
  tensor  type                cosine  SQNR dB  max abs   differing  note
  data    float32 [10,100]  0.998827     26.3   0.8854  1 of 1,000  few large deviations (mse is 1000 mean_abs^2): see max_abs
  
  Coverage   1 of 1 outputs compared, 0 gated; 1 sample
  note: no gates were declared
  note: reference: imported from a.npy (npy)
  note: device: imported from one_off.npy (npy)

A gate that fails says by how much, and the exit code is 1.

  $ paritas compare --inputs-unverified a.npy one_off.npy --gate 'data: max_abs<=0.1' | head -1
  DEVIATES   data: max_abs 0.8854 > 0.1
  $ paritas compare --inputs-unverified a.npy one_off.npy --gate 'data: max_abs<=0.1' --quiet
  [1]
  $ paritas compare --inputs-unverified a.npy one_off.npy --gate 'data: cosine>=0.99' | head -1
  PASS   data: cosine 0.9988 >= 0.99

NaN on the device alone deviates, whatever the gates are, or without any.

  $ paritas compare a.npy nan.npy | head -1
  DEVIATES   data: 1 of 1000 elements are NaN or infinite on the device only
  $ paritas compare --inputs-unverified a.npy nan.npy --gate 'data: max_abs<=100' | head -1
  DEVIATES   data: 1 of 1000 elements are NaN or infinite on the device only

NaN in the reference makes the comparison invalid once something is to be judged; a gates file can allow it.

  $ paritas compare --inputs-unverified nan.npy nan.npy --gate 'data: max_abs<=0' | head -1
  INVALID   data: the reference holds values that are not finite, which the gates do not allow
  $ cat > equal.toml << 'TOML'
  > nonfinite = "equal"
  > [[gate]]
  > tensor = "data"
  > metric = "differing"
  > op = "<="
  > value = 0
  > TOML
  $ paritas compare --inputs-unverified nan.npy nan.npy --gates equal.toml | head -1
  PASS   data: differing 0 <= 0

Shapes must be equal, not only element counts; tensors without elements are no evidence.

  $ paritas compare --inputs-unverified a.npy flat.npy --gate 'data: max_abs<=0' | head -1
  DEVIATES   data: shapes differ: reference [10,100], device [1000]
  $ paritas compare --inputs-unverified empty.npy empty.npy --gate 'data: max_abs<=0' --quiet
  [1]
  $ paritas compare --inputs-unverified empty.npy empty.npy --gate 'data: max_abs<=0' | head -1
  INVALID   data: holds no element: nothing was compared

Several tensors
===============

Outputs are paired by their exact names. One that is missing on either side is never a pass.

  $ "$PYTHON" - << 'PY'
  > import json, struct
  > def save(path, **tensors):
  >     header, data = {}, b""
  >     for name, values in tensors.items():
  >         raw = struct.pack("<%df" % len(values), *values)
  >         header[name] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [len(data), len(data) + len(raw)]}
  >         data += raw
  >     text = json.dumps(header).encode()
  >     text += b" " * (-len(text) % 8)
  >     open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)
  > save("two.safetensors", boxes=[1, 2], scores=[3, 4])
  > save("one.safetensors", boxes=[1, 2])
  > PY
  $ paritas compare --inputs-unverified two.safetensors two.safetensors --gate '*: differing<=0' | head -1
  PASS   boxes: differing 0 <= 0
  $ paritas compare --inputs-unverified two.safetensors one.safetensors --gate '*: differing<=0'
  DEVIATES   scores: missing on the device
  
  tensor  type           cosine  SQNR dB  max abs  differing  note
  scores  float32 [2]         -        -        -          -  missing on device
  boxes   float32 [2]  1.000000      inf        0     0 of 2  equal; only 2 elements: proves little
  
  Coverage   1 of 2 outputs compared, 2 gated; 1 sample
  Only in reference   scores
  note: inputs are not recorded on both sides: equal inputs are assumed, as asked
  note: reference: imported from two.safetensors (safetensors)
  note: device: imported from one.safetensors (safetensors)
  [1]
  $ paritas compare --inputs-unverified one.safetensors two.safetensors --gate '*: differing<=0' | head -1
  INVALID   scores: missing in the reference

An output that no gate covers keeps the answer at `not judged`.

  $ paritas compare --inputs-unverified two.safetensors two.safetensors --gate 'boxes: differing<=0' | head -1
  NOT JUDGED   scores: no gate covers it

For scripts
===========

`--json -` writes the result to standard output and nothing else; `--json FILE` writes it beside the text, and never over a
file that is there.

  $ paritas compare --inputs-unverified a.npy one_off.npy --gate 'data: max_abs<=0.1' --json - | "$PYTHON" -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > t = r["tensors"][0]
  > print(r["schema"], r["verdict"], t["status"], t["rule"])
  > print(t["metrics"]["differing"], t["metrics"]["max_abs_index"], t["reference"])'
  paritas.compare/1 deviates compared max_abs 0.8854 > 0.1
  1 307 {'dtype': 'float32', 'shape': [10, 100]}
  $ paritas compare a.npy close.npy --json result.json --quiet; echo $?
  0
  $ paritas compare a.npy close.npy --json result.json
  paritas: result.json: exists already; choose another name or pass --force
  [2]
  $ paritas compare a.npy close.npy --json result.json --force --quiet

The same figures come out on any number of threads.

  $ for jobs in 1 2 5; do paritas compare a.npy one_off.npy --jobs $jobs --json - | sha256sum; done | sort -u | wc -l
  1
