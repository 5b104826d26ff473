A command of the user as a target
=================================

A board is a command that runs the model somewhere else and leaves its outputs in a folder. Nothing runs without consent.

  $ "$PYTHON" "$CASES/data/small_models.py" && "$PYTHON" "$CASES/data/bad_boards.py"
  $ paritas run square.onnx --input x=x2.npy --target exec:good.toml -o board
  paritas: good.toml: it runs the command *python* "{folder}/board.py" good "{inputs}" "{output}", and nothing allows that; read it, then pass --allow-exec (glob)
  [2]
  $ ls board
  ls: cannot access 'board': No such file or directory
  [2]
  $ paritas run square.onnx --input x=x2.npy --target exec:good.toml --allow-exec -o board
  Recorded 1 sample of square.onnx on exec:good.toml in * s: board (glob)
  note: *python* "{folder}/board.py" good "{inputs}" "{output}" ended well once, after * s in all, the tool's own start included: a single timed call is a diagnostic, no benchmark (glob)
  note: where its operators ran is not known: only the command was watched
  $ paritas run square.onnx --input x=x2.npy -o cpu --quiet
  $ paritas compare cpu board --gate 'y: differing<=0' | head -1
  PASS   y: differing 0 <= 0

The recording tells what ran and how it ended.

  $ ls board/notes
  exec.json
  run-000000.log
  $ "$PYTHON" -c '
  > import json
  > e = json.load(open("board/notes/exec.json"))
  > print(e["schema"], e["inherited"], len(e["declaration_sha256"]))
  > for c in e["runs"][0]["commands"]: print(c["what"], c["words"][2], c["ended"], c["seconds"] > 0)
  > r = json.load(open("board/run.json"))
  > print(r["target"], [(t["name"], t["role"]) for t in r["tensors"]], "placement" in r)
  > print(len(r["runtime"]["sha256_before"]), r["runtime"]["sha256_before"] == r["runtime"]["sha256_after"])'
  paritas.exec/1 ['HOME', 'PATH'] 64
  command good exit code 0 True
  exec:good.toml [('x', 'input'), ('y', 'output')] False
  64 True

The environment is what was declared, and no more; the log says what was printed.

  $ SECRET=1 paritas run square.onnx --input x=x2.npy --target exec:environment.toml --allow-exec -o env --quiet
  $ grep -o "\['BOARD.*" env/notes/run-000000.log
  ['BOARD', 'PATH']

Every sample is a run of its own, and knows its number.

  $ paritas run square.onnx --input x=x2.npy --input x=x2.npy --target exec:each.toml --allow-exec -o each --quiet
  $ "$PYTHON" -c '
  > import json
  > print([r["first_sample"] for r in json.load(open("each/notes/exec.json"))["runs"]])'
  [0, 1]
  $ paritas run square.onnx --input x=x2.npy --input x=x2.npy -o two --quiet
  $ paritas compare two each --gate 'y: max_abs<=0' | head -2
  DEVIATES   y: max_abs 20 > 0 (sample-000001)
  

Or all samples are one run, as with Qualcomm's tools; hooks go before and after.

  $ paritas run square.onnx --input x=x.npy --input x=x2.npy --target exec:together.toml --allow-exec -o together --quiet
  $ ls pulled && paritas run square.onnx --input x=x.npy --input x=x2.npy -o two --force --quiet
  pulled
  $ paritas compare two together --gate 'y: max_abs<=0' | head -2
  PASS   y: max_abs 0 <= 0 (sample-000000)
         y: max_abs 0 <= 0 (sample-000001)
  $ "$PYTHON" -c '
  > import json
  > print([c["what"] for c in json.load(open("together/notes/exec.json"))["runs"][0]["commands"]])
  > print(json.load(open("together/run.json"))["runtime"]["version"])'
  ['version', 'before', 'command', 'after']
  board 7

The smallest template of the examples runs as it stands.

  $ paritas run square.onnx --input x=x2.npy --target exec:$EXAMPLES/boards/local.toml --allow-exec -o local --quiet
  $ paritas compare cpu local --gate 'y: differing<=0' | head -1
  PASS   y: differing 0 <= 0

A board that is slow, fails, stops half-way, never stops, talks without end, ran another model, crashed after writing all, or
wrote nothing, leaves no recording.

  $ for board in slow fails short endless talks other otherdims crash nothing; do
  >   paritas run square.onnx --input x=x2.npy --target exec:$board.toml --allow-exec -o out 2>&1 | grep -v "^ *ran: " | cut -c1-1000 | head -2
  >   [ -e out ] && echo "left a recording"
  >   echo "-- $board"
  > done
  paritas: exec:slow.toml: *python* "{folder}/board.py" slow "{inputs}" "{output}" (command): it did not end within 1 s and was killed; it printed nothing (glob)
  
  -- slow
  paritas: exec:fails.toml: *python* "{folder}/board.py" fails "{inputs}" "{output}" (command): it ended with exit code 3; what it printed follows (glob)
  no device found
  -- fails
  paritas: */output/y.raw: has 28 bytes, float32 [1,10] (the project file) takes 40; float32 [7] would fit: declare it with dtypes and shapes* (glob)
  -- short
  paritas: exec:endless.toml: *python* "{folder}/board.py" endless "{inputs}" "{output}" (command): it wrote * bytes to its output folder, 4194304 are allowed; it printed nothing (glob)
  
  -- endless
  paritas: exec:talks.toml: *python* "{folder}/board.py" talks "{inputs}" "{output}" (command): it printed more than 64 MiB and was killed; what it printed follows (glob)
  *waiting for device* (glob)
  -- talks
  paritas: exec:other.toml: sample 0: left no output "y"; it left z.raw (40 bytes); check that it ran this model, and that it names its files after the outputs
  -- other
  paritas: exec:otherdims.toml: sample 0: "y" has the shape [1,12], square.onnx declares [-1,10]; it left y.npy (176 bytes); check that it ran this model
  -- otherdims
  paritas: exec:crash.toml: *python* "{folder}/board.py" crash "{inputs}" "{output}" (command): it ended with signal 6: Aborted; it printed nothing (glob)
  
  -- crash
  paritas: exec:nothing.toml: the command ended well and left no file in its output folder; let it write to {output}, or pull the results there under "after"
  -- nothing

In a project file it is a side like others.

  $ cat > paritas.toml <<END
  > schema = "paritas.project/1"
  > [model]
  > reference = "square.onnx"
  > [inputs.x]
  > file = "x2.npy"
  > [targets]
  > reference = "cpu"
  > device = "exec:board"
  > [exec.board]
  > command = ["$PYTHON", "board.py", "good", "{inputs}", "{output}"]
  > [[gate]]
  > tensor = "y"
  > metric = "differing"
  > op = "<="
  > value = 0
  > END
  $ paritas check
  paritas: paritas.toml, [exec.board]: it runs the command *python* board.py good "{inputs}" "{output}", and nothing allows that; read it, then pass --allow-exec (glob)
  [2]
  $ paritas check --allow-exec
  PASS   y: differing 0 <= 0
  
  Checked    exec:board against cpu, 1 sample
  Input      x: float32 [1,10], x2.npy, sha256 2769c6798e10
  
  tensor  type              cosine  SQNR dB  max abs  differing  note
  y       float32 [1,10]  1.000000      inf        0    0 of 10  equal
  x       float32 [1,10]  1.000000      inf        0    0 of 10  equal
  
  Coverage   1 of 1 outputs compared, 1 gated; 1 sample
  note: device: *python* board.py good "{inputs}" "{output}" ended well once, after * s in all, the tool's own start included: a single timed call is a diagnostic, no benchmark (glob)
  note: device: where its operators ran is not known: only the command was watched
  project sha256 *, gates * (glob)
  $ sed -i 's/"good"/"fails"/' paritas.toml && paritas check --allow-exec
  paritas: exec:board: *python* board.py fails "{inputs}" "{output}" (command): it ended with exit code 3; what it printed follows (glob)
  ran: * (glob)
  no device found
  
  [3]

What is declared is checked before anything runs.

  $ printf 'command = ["touch", "{ouput}", "ran"]\n' > bad.toml
  $ paritas run square.onnx --input x=x2.npy --target exec:bad.toml --allow-exec -o out
  paritas: bad.toml: "{ouput}": {ouput} is no placeholder; known are {model}, {inputs}, {output}, {sample}, {folder}, {input:NAME}; write {{ for a brace
  [2]
  $ printf 'command = "touch ran"\n' > bad.toml
  $ paritas run square.onnx --input x=x2.npy --target exec:bad.toml --allow-exec -o out
  paritas: bad.toml: "command" must be a list of texts
  [2]
  $ printf 'command = ["touch", "ran"]\n' > bad.toml
  $ paritas run square.onnx --input x=x2.npy --target exec:bad.toml --allow-exec -o out
  paritas: bad.toml: no command names {output}: nothing could be found there; name the folder that the outputs go to
  [2]
  $ printf 'command = ["touch", "ran", "{output}"]\ntimeout = 3\n' > bad.toml
  $ paritas run square.onnx --input x=x2.npy --target exec:bad.toml --allow-exec -o out
  paritas: bad.toml: unknown key "timeout"; keys are command, before, after, version, folder, environment, inherit, samples, inputs, outputs, profile, timeout_s, max_output_mib
  [2]
  $ ls ran
  ls: cannot access 'ran': No such file or directory
  [2]
  $ paritas locate square.onnx --input x=x2.npy --device exec:good.toml
  paritas: exec:good.toml: a board runs whole models with a command: nothing can be fed into its middle; paritas run and paritas check take it; compare its recording
  [2]

Every template of the examples can be read: without consent it is refused for that alone.

  $ for file in $EXAMPLES/boards/*.toml; do
  >   paritas run square.onnx --input x=x2.npy --target exec:$file -o out 2>&1 | grep -c 'nothing allows that'
  > done | sort | uniq -c | sed 's/^ *//'
  7 1
