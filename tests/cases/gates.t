Gates: what is good enough, declared before the run
===================================================

A gate names a tensor (or a pattern), a metric, an operator and a value: on the command line or in a file.

  $ "$PYTHON" - << 'PY'
  > import numpy as np
  > x = np.arange(1, 11, dtype=np.float32)
  > np.save("x.npy", x)
  > y = x.copy(); y[9] += 0.5
  > np.save("y.npy", y)
  > PY
  $ cat > gates.toml << 'TOML'
  > [[gate]]
  > tensor = "data"
  > metric = "cosine"
  > op = ">="
  > value = 0.999
  > 
  > [[gate]]
  > tensor = "data"
  > metric = "max_abs"
  > op = "<"
  > value = 0.25
  > TOML
  $ paritas compare --inputs-unverified x.npy y.npy --gates gates.toml | head -1
  DEVIATES   data: max_abs 0.5 >= 0.25
  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: cosine>=0.999' | head -1
  PASS   data: cosine 0.9998 >= 0.999
  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: outside<=0, atol=0.1, rtol=0.01' | head -1
  DEVIATES   data: outside 1 > 0
  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: outside<=0, atol=0.1, rtol=0.05' | head -1
  PASS   data: outside 0 <= 0
  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: abs_p90<=0' | head -1
  PASS   data: abs_p90 0 <= 0
  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: differing==1' | head -1
  PASS   data: differing 1 == 1

Both may be given; all must hold.

  $ paritas compare --inputs-unverified x.npy y.npy --gates gates.toml --gate 'data: max_rel<=0.1' --json - |
  > "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["gates"])'
  ['data: cosine >= 0.999', 'data: max_abs < 0.25', 'data: max_rel <= 0.1']

A value on the wrong side of the threshold never looks equal to it.

  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: max_abs<=0.49999999' | head -1
  DEVIATES   data: max_abs 0.5 > 0.49999999

A gate that cannot fail proves nothing: here the sign points the wrong way.

  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: cosine<=1'
  NOT JUDGED   data: cosine 0.9998 <= 1 (this gate cannot fail)
  
  tensor  type            cosine  SQNR dB  max abs  differing  note
  data    float32 [10]  0.999766     31.9   0.5000    1 of 10
  
  Coverage   1 of 1 outputs compared, 1 gated; 1 sample
  note: the gate "data: cosine <= 1" (--gate) cannot fail: cosine lies between -1 and 1
  note: inputs are not recorded on both sides: equal inputs are assumed, as asked
  note: reference: imported from x.npy (npy)
  note: device: imported from y.npy (npy)
  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: cosine<=1' --gate 'data: max_abs<=1' | head -1
  PASS   data: cosine 0.9998 <= 1 (this gate cannot fail); max_abs 0.5 <= 1

What is misspelt is an error, never silence
===========================================

  $ paritas compare --inputs-unverified x.npy y.npy --gate 'dat: cosine>=0.99'
  paritas: --gate: no tensor is called "dat"; there is: data
  [2]
  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: cosin>=0.99' 2>&1 | cut -c 1-60
  paritas: --gate 'data: cosin>=0.99': "cosin" is not a metric
  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data cosine>=0.99'
  paritas: --gate 'data cosine>=0.99': no colon between tensor and condition; write it like 'scores: cosine>=0.99'
  [2]
  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: cosine=>0.99'
  paritas: --gate 'data: cosine=>0.99': "cosine=" is not a metric; use one of: max_abs, mean_abs, mse, rmse, nmse, sqnr_db, cosine, cosine_distance, scale_ratio, max_rel, max_ulp, differing, max_integer_difference, max_step, mean_step, outside, abs_p50, abs_p90, abs_p99, abs_p999
  [2]
  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: cosine>=nan'
  paritas: --gate 'data: cosine>=nan': the threshold is not a number; write it like 'scores: cosine>=0.99'
  [2]
  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: outside<=0'
  paritas: --gate 'data: outside<=0': a gate on "outside" needs atol, rtol or both; for example: 'scores: outside<=0, atol=1e-5, rtol=1e-5'
  [2]
  $ sed -i 's/value = 0.25/treshold = 0.25/' gates.toml
  $ paritas compare --inputs-unverified x.npy y.npy --gates gates.toml
  paritas: gates.toml: gate 2: unknown key "treshold"; keys are tensor, role, type, task, metric, op, value, unit, atol, rtol, any, all, optional
  [2]
  $ echo 'nothing = "here' > broken.toml
  $ paritas compare --inputs-unverified x.npy y.npy --gates broken.toml
  paritas: broken.toml: not valid TOML at line 1: Error while parsing string: unescaped control characters other than TAB (U+0009) are explicitly prohibited
  [2]
  $ : > empty.toml
  $ paritas compare --inputs-unverified x.npy y.npy --gates empty.toml
  paritas: empty.toml: declares no gate; add a [[gate]] table, or leave the file out
  [2]
  $ paritas compare --inputs-unverified x.npy y.npy --gates absent.toml
  paritas: absent.toml: no such file; check the path
  [2]
  $ paritas compare --inputs-unverified x.npy y.npy --gate 'data: outside<=0, atol=1' --gate 'd*: outside<=0, atol=2'
  paritas: --gate: "data" has two gates on "outside" with different tolerances; keep one of them
  [2]
