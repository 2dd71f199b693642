#!/usr/bin/env python3
"""read-stream.py JSON...: what readers take of `cutroom stream`, as JSON: one object for each request, in order.

A request is {"reader": "samples" | "batches" | "torch" | "nemo", "commands": [...], "first": N, "manifest": path}: what stands behind `pipe:` in the
URLs that the reader is given; `first` closes it after so many samples. Judges nothing, beyond what a reader refuses.
"""

import hashlib
import importlib.util
import io
import json
import sys
from pathlib import Path

import numpy as np
import soundfile
import webdataset as wds

# The field that NeMo's TarredAudioToTextDataset renames, of any of these.
NEMO_FORMATS = "wav;mp3;flac;opus"


def digest(samples):
    return hashlib.sha256(samples.astype("<f4").tobytes()).hexdigest()


def decode(encoded):
    samples, rate = soundfile.read(io.BytesIO(encoded), dtype="float32")
    return {"rate": rate, "samples": len(samples), "sha256": digest(samples)}


def urls(commands):
    return [f"pipe:{command}" for command in commands]


def read_samples(commands, first=None, **_):
    seen = []
    for sample in wds.WebDataset(urls(commands), shardshuffle=False):
        (suffix,) = [name for name in sample if not name.startswith("__") and name != "json"]
        row = json.loads(sample["json"])
        seen.append({"key": sample["__key__"], "suffix": suffix, "row": row, **decode(sample[suffix])})
        if len(seen) == first:
            break
    return seen


def read_as_nemo(commands, **_):
    """The pipeline of NeMo's TarredAudioToTextDataset, up to where it looks keys up in its manifest."""
    pipeline = wds.DataPipeline(
        wds.SimpleShardList(urls=urls(commands)),
        wds.tarfile_to_samples(),
        wds.rename(audio=NEMO_FORMATS, key="__key__"),
        wds.to_tuple("audio", "key"),
    )
    return [{"key": key, **decode(audio)} for audio, key in pipeline]


def read_batches(commands, **_):
    seen = []
    for sample in wds.WebDataset(urls(commands), shardshuffle=False).decode():
        audio, lengths, facts = sample["audio.npy"], sample["lengths.npy"], sample["json"]
        kinds = [str(audio.dtype), str(lengths.dtype)]
        seen.append(
            {
                "key": sample["__key__"],
                "shape": list(audio.shape),
                "kinds": kinds,
                "lengths": lengths.tolist(),
                "sum": float(audio.astype(np.float64).sum()),
                "sha256": digest(audio),
                "facts": facts,
            }
        )
    return seen


def read_torch(commands, **_):
    """Each worker of a DataLoader gets URLs of its own."""
    from torch.utils.data import DataLoader

    dataset = wds.WebDataset(urls(commands), shardshuffle=False).to_tuple("__key__", "wav")
    loader = DataLoader(dataset, batch_size=None, num_workers=len(commands))
    return [{"key": key, **decode(audio)} for key, audio in loader]


def read_nemo(commands, manifest=None, **_):
    """Lhotse's cuts, as NeMo's iterator of tarred datasets makes them."""
    path = Path(__file__).with_name("read-dataset.py")
    spec = importlib.util.spec_from_file_location("read_dataset", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    adapters = module.load_nemo_adapters()
    cuts = adapters.LazyNeMoTarredIterator(
        manifest_path=[manifest], tar_paths=urls(commands), shard_seed=0, skip_missing_manifest_entries=True
    )
    seen = []
    for cut in cuts:
        audio = cut.load_audio()
        seen.append(
            {
                "key": cut.id,
                "text": cut.supervisions[0].text,
                "rate": cut.sampling_rate,
                "samples": audio.shape[1],
                "sha256": digest(audio[0]),
            }
        )
    return seen


READERS = {
    "samples": read_samples,
    "as-nemo": read_as_nemo,
    "batches": read_batches,
    "torch": read_torch,
    "nemo": read_nemo,
}

if __name__ == "__main__":
    print(json.dumps([READERS[request["reader"]](**request) for request in map(json.loads, sys.argv[1:])]))
