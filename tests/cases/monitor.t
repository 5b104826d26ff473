Every layer of two models over a set of samples
===============================================

The models: a float network and its quantised copy with planted faults (data/explain_models.py); the samples: eight
tensors in a folder.

  $ "$PYTHON" "$CASES/data/explain_models.py"
  $ mkdir samples && "$PYTHON" -c '
  > import numpy as np
  > rng = np.random.default_rng(3)
  > for i in range(8):
  >     np.save(f"samples/s{i}.npy", rng.uniform(0, 4, (1, 8, 16, 16)).astype(np.float32))'
  $ cat > paritas.toml << END
  > schema = "paritas.project/1"
  > [model]
  > reference = "float.onnx"
  > device = "quantised.onnx"
  > [inputs.x]
  > file = "x0.npy"
  > [targets]
  > reference = "cpu"
  > device = "cpu"
  > END

The copy's outputs carry other names: outputs are paired by name alone, and one that is missing deviates. Layers inside are
paired through the graph.

  $ paritas monitor paritas.toml --folder samples --csv layers.csv --json monitor.json
  DEVIATES   p_DequantizeLinear_Output: only the device has this output
             n_DequantizeLinear_Output: only the device has this output
             sum_DequantizeLinear_Output: only the device has this output
             cat_DequantizeLinear_Output: only the device has this output
  
  8 of 8 samples, cpu against cpu; 8 of 9 tensors paired, 0 flagged by the monitor profile
    paired by exact: 7
    paired by exact + dequantised: 1
  
  layer   op       flagged  cosine   worst  SQNR dB  worst  max abs  x baseline  worst in
  p       Conv      0 of 8  0.9999  0.9998    36.13  35.15   0.0669           -  sample-000005
  scores  Sigmoid   0 of 8  0.9999  0.9999    37.49  37.04   0.0531           -  sample-000006
  a       Clip      0 of 8   1.000   1.000    44.29  43.80   0.0413       3.509  sample-000005
  n       Conv      0 of 8   1.000   1.000    44.93  44.47   0.0621           -  sample-000005
  sum     Add       0 of 8   1.000   1.000    44.56  39.28    1.628           -  sample-000002
  m       Mul       0 of 8   1.000   1.000    46.00  38.80    1.612           -  sample-000002
  cat     Concat    0 of 8   1.000   1.000    54.13  54.00    1.254           -  sample-000003
  boxes   Mul       0 of 8   1.000   1.000    54.13  54.00    1.254           -  sample-000003
  
  What the samples cover
    classes: not known (no classification is declared)
  
    x: 1.5e-04 to 4.000, mean 1.987, std 1.157
  
    x: 0 constant, 0 saturated samples; normalisation not judged (no normalisation is declared)
  
  [1]
  $ head -1 layers.csv
  layer,metric,median,p99,worst,sample

The figures are those of numpy, from recordings of the same samples.

  $ for model in float quantised; do
  >   paritas run $model.onnx $(for i in 0 1 2 3 4 5 6 7; do echo --input x=samples/s$i.npy; done) --marks all -o $model --quiet
  > done
  $ "$PYTHON" "$CASES/../interop/monitor_numpy.py" monitor.json float quantised
  117 figures, 0 differ

A run of which the last samples are missing, as after a kill, goes on and comes to the same.

  $ paritas monitor paritas.toml --folder samples --resume state --quiet --json whole.json
  [1]
  $ ls state | wc -l
  9
  $ rm state/sample-000006.json state/sample-000007.json && paritas monitor paritas.toml --folder samples --resume state --quiet --csv again.csv --json again.json
  [1]
  $ cmp layers.csv again.csv && "$PYTHON" -c '
  > import json
  > a, b = (json.load(open(f)) for f in ("monitor.json", "again.json"))
  > a.pop("run"), b.pop("run")
  > print(a == b)'
  True

A gate on a layer that fails on some sample:

  $ cat >> paritas.toml << END
  > [[gate]]
  > tensor = "*"
  > metric = "cosine"
  > op = ">="
  > value = 0.999
  > END
  $ paritas monitor paritas.toml --folder samples | head -4
  DEVIATES   p_DequantizeLinear_Output: only the device has this output
             n_DequantizeLinear_Output: only the device has this output
             sum_DequantizeLinear_Output: only the device has this output
             cat_DequantizeLinear_Output: only the device has this output

What is refused:

  $ mkdir empty && paritas monitor paritas.toml --folder empty
  paritas: empty: holds no samples
  [2]
  $ paritas monitor paritas.toml --folder nowhere
  paritas: nowhere: cannot be listed: No such file or directory
  [2]
