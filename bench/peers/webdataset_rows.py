"""webdataset_rows.py FIELD SOURCE...: webdataset alone, each sample decoded to float32; prints JSON. Needs webdataset, soundfile.

FIELD is flac or wav for single samples, which soundfile decodes; wav/numpy for WAV of 16 bits, which Python's wave and numpy read; audio.npy for
whole batches. A SOURCE is a tar, or pipe: and a command.
"""

import io
import json
import resource
import sys
import time
import wave

import numpy
import soundfile
import webdataset

STEADY_FROM = 0.1


def cpu_seconds():
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def read_batch(sample):
    audio = numpy.load(io.BytesIO(sample["audio.npy"]))
    lengths = numpy.load(io.BytesIO(sample["lengths.npy"]))
    assert audio.dtype == numpy.float32 and len(audio) == len(lengths)
    return len(lengths), int(lengths.sum())


def read_plain_wav(sample):
    with wave.open(io.BytesIO(sample["wav"])) as file:
        audio = numpy.frombuffer(file.readframes(file.getnframes()), "<i2").astype("float32")
    audio /= 32768
    return 1, len(audio)


def read_audio(sample):
    audio, _ = soundfile.read(io.BytesIO(sample[field]), dtype="float32")
    return 1, len(audio)


field, sources = sys.argv[1], sys.argv[2:]
read = {"audio.npy": read_batch, "wav/numpy": read_plain_wav}.get(field, read_audio)
start, before = time.time(), cpu_seconds()
rows = samples = 0
marks = []
for sample in webdataset.WebDataset(sources, shardshuffle=False):
    read_rows, read_samples = read(sample)
    rows += read_rows
    samples += read_samples
    marks.append((rows, time.time()))
end = time.time()
# As in load-batches.js.
steady_rows, steady_start = next(mark for mark in marks if mark[0] >= STEADY_FROM * rows)
print(
    json.dumps(
        dict(
            rows=rows,
            hours=samples / 16000 / 3600,
            loopSeconds=end - start,
            loopCpuSeconds=cpu_seconds() - before,
            firstSeconds=marks[0][1] - start,
            steadyRows=rows - steady_rows,
            steadySeconds=end - steady_start,
        )
    )
)
