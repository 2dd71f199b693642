"""atdataset_batches.py LIST WORKERS: ATDataloader over each row once, decoded and batched up to 600 s; prints JSON. Needs atdataset, torchaudio 2.8."""

import json
import sys
import time

begun = time.time()
import torch  # noqa: E402

torch.set_num_threads(1)
from atdataset import ATDataloader  # noqa: E402

workers = int(sys.argv[2])
options = {"prefetch_factor": None} if workers == 0 else {}
start = time.time()
loader = ATDataloader(
    datasets=sys.argv[1],
    sample_rate=16000,
    max_duration=600.0,
    num_workers=workers,
    feature_type=None,
    is_test=True,
    **options,
)
first = None
rows = batches = samples = padded = 0
for batch in loader:
    first = first or time.time()
    batches += 1
    rows += len(batch["text"])
    samples += int(batch["audio_lens"].sum())
    padded += batch["audio"].numel()
end = time.time()
print(
    json.dumps(
        dict(
            rows=rows,
            batches=batches,
            hours=samples / 16000 / 3600,
            paddingShare=1 - samples / padded,
            loopSeconds=end - start,
            startSeconds=start - begun,
            firstSeconds=first - begun,
        )
    )
)
