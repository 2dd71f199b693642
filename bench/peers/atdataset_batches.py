"""atdataset_batches.py LIST WORKERS ROWS: ATDataloader, decoded and batched up to 600 s, until so many rows came; prints JSON.

Without workers each row comes once. With them it is that of training, for the other has no workers. Needs atdataset and torchaudio 2.8.
"""

import json
import sys
import time

begun = time.time()
import torch  # noqa: E402

torch.set_num_threads(1)
from atdataset import ATDataloader  # noqa: E402

workers, wanted = int(sys.argv[2]), int(sys.argv[3])
options = {"is_test": True, "prefetch_factor": None} if workers == 0 else {}
start = time.time()
loader = ATDataloader(
    datasets=sys.argv[1],
    sample_rate=16000,
    max_duration=600.0,
    num_workers=workers,
    feature_type=None,
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
    if rows >= wanted:
        break
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
