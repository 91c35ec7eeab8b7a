#!/usr/bin/env python3
"""What a model file holds, read with the safetensors package alone: read_model.py model.safetensors

The layout is that of safetensors: a JSON header and raw arrays; nothing in it is ever executed. Every metadata value is a
string; some hold JSON.
"""
import json
import sys

from safetensors import safe_open


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: read_model.py MODEL")
    with safe_open(sys.argv[1], framework="numpy") as file:
        metadata = file.metadata()
        print("method:", metadata["method"])
        print("target:", json.loads(metadata["encoder"])["target"])
        for name, value in sorted(json.loads(metadata["options"]).items()):
            print(f"  {name} = {value}")
        summary = json.loads(metadata["summary"])
        print("fitted:", ", ".join(f"{key} {summary[key]}" for key in ("rows", "steps", "best_epoch", "stopped")))
        for name in sorted(file.keys()):
            array = file.get_tensor(name)
            print(f"{name:32} {array.dtype} {list(array.shape)}")


if __name__ == "__main__":
    main()
