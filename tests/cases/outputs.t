Results for other programs
==========================

  $ "$PYTHON" - << 'PY'
  > import numpy as np
  > np.savez("ref.npz", a=np.arange(8, dtype=np.float32), b=np.arange(4, dtype=np.int32), c=np.ones(8, np.float32))
  > np.savez("dev.npz", a=np.arange(8, dtype=np.float32) + np.float32(0.25), b=np.arange(4, dtype=np.int32), c=np.ones(8, np.float32))
  > PY
  $ paritas compare ref.npz dev.npz --inputs-unverified --gate 'a: max_abs<=0.1' --gate 'b: differing<=0' --csv t.csv --junit t.xml --json t.json --quiet
  [1]
  $ cut -d, -f 1,3-7,9,13,19,21 t.csv | tr -d '\r'
  name,role,sample,status,verdict,dtype,MAE,MaxAbsErr,max_step,rule
  a,output,sample-000000,compared,deviates,float32,0.25,0.25,,max_abs 0.25 > 0.1
  b,output,sample-000000,compared,pass,int32,0,0,,differing 0 <= 0
  c,output,sample-000000,compared,not judged,float32,0,0,,no gate covers it
  $ cat t.xml
  <?xml version="1.0" encoding="UTF-8"?>
  <testsuites>
    <testsuite name="paritas compare ref.npz dev.npz" tests="4" failures="2" errors="0" skipped="1">
      <testcase classname="paritas.compare" name="verdict">
        <failure message="a: max_abs 0.25 > 0.1" />
      </testcase>
      <testcase classname="paritas.compare" name="a">
        <failure message="max_abs 0.25 > 0.1" />
      </testcase>
      <testcase classname="paritas.compare" name="b" />
      <testcase classname="paritas.compare" name="c">
        <skipped message="no gate covers it" />
      </testcase>
    </testsuite>
  </testsuites>

Nothing is overwritten unasked.

  $ paritas compare ref.npz dev.npz --csv t.csv
  paritas: t.csv: exists already; choose another name or pass --force
  [2]

For GitHub Actions:

  $ paritas compare ref.npz dev.npz --inputs-unverified --gate 'a: max_abs<=0.1' --gate 'b: differing<=0' --format github
  ::error title=paritas compare%3A deviates::a: max_abs 0.25 > 0.1
  [1]
