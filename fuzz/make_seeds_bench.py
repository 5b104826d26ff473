"""Writes the seeds of the history of timings under corpus/bench_history. Needs nothing but Python."""

from pathlib import Path

CORPUS = Path(__file__).parent / "corpus" / "bench_history"

ONE = ("2026-11-30T10:00:00Z,detr.onnx,model," + "a" * 64 + ",cpu,no,1,1,sequential,-,all,1.32.0 abc,,Linux,Some CPU,0.1.0," + "b" * 64 +
       ",3,20,pass,quiet,4,0.250000,0.5,0.75,12.500000,12.000000,13.000000,13.500000,11.500000,20.000000,123456789")
SEEDS = {
    "one": ONE + "\n",
    "two": ONE + "\n" + ONE.replace("quiet", "noisy") + "\n",
    "quoted": ONE.replace("detr.onnx", '"a ""b"", c"') + "\n",
    "single_run": ONE.replace("12.500000,12.000000,13.000000,13.500000", ",,,") + "\n",
    "cut_short": ONE[:80],
    "open_quote": ONE.replace("detr.onnx", '"detr') + "\n" + ONE,
    "not_finite": ONE.replace("11.500000", "nan") + "\n" + ONE.replace("12.500000", "inf"),
}
CORPUS.mkdir(parents=True, exist_ok=True)
for name, text in SEEDS.items():
    (CORPUS / name).write_text(text)
