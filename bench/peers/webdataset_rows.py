"""webdataset_rows.py FIELD SOURCE...: webdataset and soundfile alone, each sample decoded to float32; prints JSON. Needs webdataset, soundfile.

FIELD is flac or wav for single samples, audio.npy for whole batches. A SOURCE is a tar, or pipe: and a command.
"""

import io
import json
import resource
import sys
import time

import numpy
import soundfile
import webdataset


def cpu_seconds():
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


field, sources = sys.argv[1], sys.argv[2:]
start, before = time.time(), cpu_seconds()
first = None
rows = samples = 0
for sample in webdataset.WebDataset(sources, shardshuffle=False):
    data = sample[field]
    if field == "audio.npy":
        audio = numpy.load(io.BytesIO(data))
        lengths = numpy.load(io.BytesIO(sample["lengths.npy"]))
        rows += len(lengths)
        samples += int(lengths.sum())
    else:
        audio, rate = soundfile.read(io.BytesIO(data), dtype="float32")
        rows += 1
        samples += len(audio)
    first = first or time.time()
end = time.time()
print(
    json.dumps(
        dict(
            rows=rows,
            hours=samples / 16000 / 3600,
            loopSeconds=end - start,
            loopCpuSeconds=cpu_seconds() - before,
            firstSeconds=first - start,
        )
    )
)
