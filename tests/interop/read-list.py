"""Prints what ATdataset makes of a list of shards, as JSON: its figures, and each sample as its loader gives it."""

import json
import sys

from atdataset import ATDataset

dataset = ATDataset(
    sys.argv[1], sample_rate=16000, feature_type=None, is_test=True, need_num_samples=True, max_length=60
)
samples = [
    {"id": sample["__key__"], "text": sample["text"], "frames": sample["audio"].size(1), "lang": sample.get("lang")}
    for sample in dataset
]
print(json.dumps({"hours": dataset.duration_hours, "count": dataset.num_samples, "samples": samples}))
