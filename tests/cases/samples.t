Many samples, parts, and results that are judged again
======================================================

  $ "$PYTHON" - << 'PY'
  > import numpy as np, os
  > rng = np.random.default_rng(7)
  > os.mkdir("ref"); os.mkdir("dev")
  > for i in range(21):
  >     a = rng.normal(size=200).astype(np.float32)
  >     noise = 0.5 if i == 13 else 0.001
  >     np.savez(f"ref/sample_{i:03}.npz", y=a)
  >     np.savez(f"dev/sample_{i:03}.npz", y=a + np.float32(noise) * rng.normal(size=200).astype(np.float32))
  > PY
  $ paritas import ref -o reference --quiet && paritas import dev -o device --quiet
  $ paritas compare reference device --inputs-unverified --gate 'y: cosine>=0.99' --json whole.json | head -8
  DEVIATES   y: cosine 0.8896 < 0.99 (sample-000013)
  
  tensor  metric       mean    median       p99     worst  in sample
  y       cosine   0.994742  0.999999  0.889589  0.889589  sample-000013
  y       max_abs  0.076293  0.003048   1.54171   1.54171  sample-000013
  
  tensor  sample         type             cosine  SQNR dB  max abs   differing  note
  y       sample-000013  float32 [200]  0.889589     5.42    1.542  200 of 200

Parts can be compared anywhere. Merged, they are the same to the bit as one run.

  $ for part in 0:8 8:9 9:; do
  >   paritas compare reference device --inputs-unverified --gate 'y: cosine>=0.99' --samples $part --json part-$part.json --quiet
  > done
  [1]
  $ paritas merge part-9:.json part-0:8.json part-8:9.json --json merged.json --quiet
  [1]
  $ cmp whole.json merged.json
  $ paritas merge part-0:8.json part-9:.json
  paritas: part-9:.json: begins with sample 9: samples 8 to 8 are missing; give all parts
  [2]

Stored figures can be judged by other gates. The result says that it was decided afterwards, and gates that need a figure
that was not stored are named.

  $ paritas compare --judge whole.json --gate 'y: cosine>=0.5' | head -1
  PASS   y: cosine 1 >= 0.5 (sample-000000)
  $ echo '[[gate]]
  > tensor = "y"
  > metric = "outside"
  > op = "<="
  > value = 0
  > atol = 0.1' > gates.toml
  $ paritas compare --judge whole.json gates.toml | grep -E "^NOT|cannot serve|decided" | cut -c 1-110
  NOT JUDGED   y: the stored result cannot serve y: outside <= 0, atol=0.1 (outside was not taken) (sample-00000
               y: the stored result cannot serve y: outside <= 0, atol=0.1 (outside was not taken) (sample-00000
               y: the stored result cannot serve y: outside <= 0, atol=0.1 (outside was not taken) (sample-00000
  note: a gate that the stored result cannot serve: y: outside <= 0, atol=0.1 (outside was not taken): compare a
  note: decided afterwards: the gates were declared when the figures were known

What became worse since an earlier result (another SDK, another driver) is shown beside the verdict.

  $ paritas compare reference reference --inputs-unverified --json before.json --quiet
  $ paritas compare reference device --inputs-unverified --baseline before.json --samples 12:14 | grep -A 4 '^Since'
  Since before.json
    14 figures became worse, 0 better
    tensor  sample         metric      before        now
    y       sample-000012  sqnr_db        inf    60.1091  worse
    y       sample-000013  sqnr_db        inf    5.41899  worse

The example that runs shards (under Ray where it is installed) gives the same file.

  $ PARITAS="$(command -v paritas)" "$PYTHON" "$EXAMPLES/shards/run_shards.py" reference device --inputs-unverified --gate 'y: cosine>=0.99' --samples 21 --shards 7 -o shards.json | head -1
  DEVIATES   y: cosine 0.8896 < 0.99 (sample-000013)
  $ cmp whole.json shards.json
