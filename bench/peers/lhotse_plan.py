"""lhotse_plan.py CUTS: DynamicBucketingSampler over all cuts of a JSONL file, nothing decoded; prints JSON. Needs lhotse, torch."""

import json
import sys
import time

from lhotse import CutSet
from lhotse.dataset import DynamicBucketingSampler

start = time.time()
cuts = CutSet.from_jsonl_lazy(sys.argv[1])
first = None
rows = batches = 0
seconds = padded = 0.0
for batch in DynamicBucketingSampler(cuts, max_duration=600.0, num_buckets=30, shuffle=True, seed=0, drop_last=False):
    first = first or time.time()
    durations = [cut.duration for cut in batch]
    rows += len(durations)
    batches += 1
    seconds += sum(durations)
    padded += max(durations) * len(durations)
end = time.time()
print(
    json.dumps(
        dict(
            rows=rows,
            batches=batches,
            paddingShare=1 - seconds / padded,
            loopSeconds=end - start,
            firstSeconds=first - start,
        )
    )
)
