A command of the user as a target
=================================

A board is a command that runs the model somewhere else and leaves its outputs in a folder. Nothing runs without consent.

  $ "$PYTHON" "$CASES/data/small_models.py" && "$PYTHON" "$CASES/data/bad_boards.py"
  $ paritas run square.onnx --input x=x2.npy --target exec:good.toml -o board
  $ ls board
  $ paritas run square.onnx --input x=x2.npy --target exec:good.toml --allow-exec -o board
  $ paritas run square.onnx --input x=x2.npy -o cpu --quiet
  $ paritas compare cpu board --gate 'y: differing<=0' | head -1

The recording tells what ran and how it ended.

  $ ls board/notes
  $ "$PYTHON" -c '
  > import json
  > e = json.load(open("board/notes/exec.json"))
  > print(e["schema"], e["inherited"], len(e["declaration_sha256"]))
  > for c in e["runs"][0]["commands"]: print(c["what"], c["words"][2], c["ended"], c["seconds"] > 0)
  > r = json.load(open("board/run.json"))
  > print(r["target"], [(t["name"], t["role"]) for t in r["tensors"]], "placement" in r)
  > print(len(r["runtime"]["sha256_before"]), r["runtime"]["sha256_before"] == r["runtime"]["sha256_after"])'

The environment is what was declared, and no more; the log says what was printed.

  $ SECRET=1 paritas run square.onnx --input x=x2.npy --target exec:environment.toml --allow-exec -o env --quiet
  $ grep -o "\['BOARD.*" env/notes/run-000000.log

Every sample is a run of its own, and knows its number.

  $ paritas run square.onnx --input x=x2.npy --input x=x2.npy --target exec:each.toml --allow-exec -o each --quiet
  $ "$PYTHON" -c '
  > import json
  > print([r["first_sample"] for r in json.load(open("each/notes/exec.json"))["runs"]])'
  $ paritas run square.onnx --input x=x2.npy --input x=x2.npy -o two --quiet
  $ paritas compare two each --gate 'y: max_abs<=0' | head -2

A board that is slow, fails, stops half-way, never stops, talks without end, ran another model, crashed after writing all, or
wrote nothing, leaves no recording.

  $ for board in slow fails short endless talks other otherdims crash nothing; do
  >   paritas run square.onnx --input x=x2.npy --target exec:$board.toml --allow-exec -o out 2>&1 | cut -c1-600 | head -3
  >   [ -e out ] && echo "left a recording"
  >   echo "-- $board"
  > done

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
  > differing = { max = 0 }
  > END
  $ paritas check
  $ paritas check --allow-exec
  $ sed -i 's/"good"/"fails"/' paritas.toml && paritas check --allow-exec

What is declared is checked before anything runs.

  $ printf 'command = ["touch", "{ouput}", "ran"]\n' > bad.toml
  $ paritas run square.onnx --input x=x2.npy --target exec:bad.toml --allow-exec -o out
  $ printf 'command = "touch ran"\n' > bad.toml
  $ paritas run square.onnx --input x=x2.npy --target exec:bad.toml --allow-exec -o out
  $ printf 'command = ["touch", "ran"]\n' > bad.toml
  $ paritas run square.onnx --input x=x2.npy --target exec:bad.toml --allow-exec -o out
  $ printf 'command = ["touch", "ran", "{output}"]\ntimeout = 3\n' > bad.toml
  $ paritas run square.onnx --input x=x2.npy --target exec:bad.toml --allow-exec -o out
  $ ls ran
  $ paritas locate square.onnx --input x=x2.npy --device exec:good.toml

Every template of the examples can be read: without consent it is refused for that alone.

  $ for file in $EXAMPLES/boards/*.toml; do
  >   paritas run square.onnx --input x=x2.npy --target exec:$file -o out 2>&1 | grep -c 'nothing allows that'
  > done | sort | uniq -c | sed 's/^ *//'
