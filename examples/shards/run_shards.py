#!/usr/bin/env python3
"""Compares two recordings in shards, under Ray where it is installed, and merges the results. Arguments that are not
known here go to paritas compare."""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

PARITAS = os.environ.get("PARITAS", "paritas")


def compare(arguments: list, first: int, end: int, result: str) -> int:
    command = [PARITAS, "compare", *arguments, "--samples", f"{first}:{end}", "--json", result, "--quiet"]
    return subprocess.run(command).returncode  # 0 and 1 are verdicts; 2 and 3 are errors


def run_all(jobs: list) -> list:
    try:
        import ray
    except ImportError:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            return list(pool.map(lambda job: compare(*job), jobs))
    remote = ray.remote(compare)  # the recordings and the results lie on a file system that all machines see
    return ray.get([remote.remote(*job) for job in jobs])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, required=True, help="samples of the recordings")
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("-o", "--output", required=True)
    options, arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
        edges = [options.samples * k // options.shards for k in range(options.shards + 1)]
        jobs = [(arguments, a, b, f"{folder}/part-{a:06}.json") for a, b in zip(edges, edges[1:]) if a < b]
        if any(code > 1 for code in run_all(jobs)):
            return 3
        return subprocess.run([PARITAS, "merge", *(job[3] for job in jobs), "--json", options.output]).returncode


sys.exit(main())
