"""Writes the seed files under corpus/ledger. Needs nothing but Python."""

import json
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus/ledger"


def entry(**changes):
    line = {
        "schema": "paritas.ledger/1", "kind": "locate", "date": "2026-01-02T03:04:05Z", "tool_version": "1",
        "model": "m.onnx", "model_sha256": "ab" * 32, "reference": "cpu", "device": "sim:fp16", "options": {"a": "b"},
        "gates": ["y: cosine>=0.99"], "inputs_sha256": "cd" * 32, "change": "", "verdict": "deviates",
        "outcome": "no fault found", "figures": {"y cosine": 0.5, "n": "nan"}, "delivered": "", "result": "r.json",
        "result_sha256": "ef" * 32,
    }
    line.update(changes)
    return json.dumps(line)


SEEDS = {
    "one": entry() + "\n",
    "repeats": entry() + "\n" + entry(date="2026-01-03T00:00:00Z", verdict="pass") + "\n",
    "changes": entry(kind="pin", change="Softmax=CPU") + "\n" + entry(kind="package", change="Softmax=CPU", delivered="p") + "\n",
    "cut_short": entry() + "\n" + entry()[:100],
    "damaged": "[]\n\n" + entry(schema="paritas.ledger/2") + "\n" + entry(figures={"y": None}) + "\n" + entry(gates=[1]),
}

CORPUS.mkdir(parents=True, exist_ok=True)
for name, text in SEEDS.items():
    (CORPUS / name).write_text(text)
