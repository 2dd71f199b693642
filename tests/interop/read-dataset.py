#!/usr/bin/env python3
"""read-dataset.py PATH...: what trainers' programs read of datasets, as JSON: one object for each path, in order.

A folder holds audio_N.tar and sharded_manifests/ of NeMo: its own tarred iterator reads it. A list names tars and their manifests: ATdataset's
loader reads it, where it knows the format. WebDataset and soundfile read the tars of both. Judges nothing, beyond what a reader refuses.
"""

import hashlib
import importlib
import io
import json
import logging
import sys
import tarfile
import types
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import soundfile
import webdataset
from atdataset import ATDataset

ATDATASET_FORMATS = ("flac", "wav", "mp3")


def load_nemo_adapters():
    """NeMo's module that feeds tarred datasets to lhotse, without the packages around it, which need all of NeMo."""
    root = Path(find_spec("nemo").submodule_search_locations[0])
    for name in (
        "nemo",
        "nemo.utils",
        "nemo.collections",
        "nemo.collections.common",
        "nemo.collections.common.data",
        "nemo.collections.common.data.lhotse",
        "nemo.collections.common.parts",
        "nemo.collections.common.parts.preprocessing",
    ):
        package = types.ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    sys.modules["nemo.utils"].logging = logging.getLogger("nemo")
    adapters = importlib.import_module("nemo.collections.common.data.lhotse.nemo_adapters")
    # The function that it imports from all of NeMo, late, hands a list on as it is where there is one process.
    adapters.expand_sharded_filepaths = list
    return adapters


def number_of(path):
    return int(path.stem.rsplit("_", 1)[1])


def read_nemo(folder, adapters):
    tars = sorted(folder.glob("audio_*.tar"), key=number_of)
    manifests = sorted(folder.glob("sharded_manifests/manifest_*.json"), key=number_of)
    cuts = adapters.LazyNeMoTarredIterator(
        manifest_path=[str(path) for path in manifests], tar_paths=[str(path) for path in tars], shard_seed=0
    )
    seen = []
    for cut in cuts:
        audio = cut.load_audio()
        seen.append(
            {
                "id": cut.id,
                "text": cut.supervisions[0].text,
                "lang": cut.supervisions[0].language,
                "duration": cut.duration,
                "rate": cut.sampling_rate,
                "samples": audio.shape[1],
                "sha256": digest((audio * 32768).astype(np.int16)),
            }
        )
    return seen


def read_atdataset(path):
    """At 16 kHz; `rest` is what the loader hands on beside id, text and audio."""
    dataset = ATDataset(
        str(path),
        sample_rate=16000,
        feature_type=None,
        is_test=True,
        need_num_samples=True,
        min_length=0,
        max_length=3600,
    )
    samples = [
        {
            "id": sample["__key__"],
            "text": sample["text"],
            "frames": sample["audio"].size(1),
            "rest": {
                key: value
                for key, value in sample.items()
                if not key.startswith("__") and key not in ("text", "audio", *ATDATASET_FORMATS)
            },
        }
        for sample in dataset
    ]
    return {"hours": dataset.duration_hours, "count": dataset.num_samples, "samples": samples}


def read_webdataset(tars):
    dataset = webdataset.WebDataset([str(path) for path in tars], shardshuffle=False)
    return [
        {"key": sample["__key__"], "fields": sorted(field for field in sample if not field.startswith("__"))}
        for sample in dataset
    ]


def read_soundfile(tars):
    seen = []
    for path in tars:
        with tarfile.open(path) as tar:
            for member in tar:
                data = io.BytesIO(tar.extractfile(member).read())
                samples, rate = soundfile.read(data, dtype="int16", always_2d=True)
                seen.append(
                    {
                        "name": member.name,
                        "rate": rate,
                        "frames": len(samples),
                        "channels": samples.shape[1],
                        "peak": int(np.abs(samples.astype(np.int32)).max(initial=0)),
                        "sha256": digest(samples),
                    }
                )
    return seen


def digest(samples):
    """Of the samples as little-endian 16-bit integers, as they stand in a WAV."""
    return hashlib.sha256(np.ascontiguousarray(samples, dtype="<i2").tobytes()).hexdigest()


def main(paths):
    adapters = load_nemo_adapters()
    results = []
    for path in paths:
        result = {}
        if path.is_dir():
            tars = sorted(path.glob("audio_*.tar"), key=number_of)
            result["nemo"] = read_nemo(path, adapters)
        else:
            tars = [Path(line.split()[0]) for line in path.read_text("utf-8").splitlines()]
        result["webdataset"] = read_webdataset(tars)
        result["soundfile"] = read_soundfile(tars)
        if not path.is_dir() and all(member["name"].endswith(ATDATASET_FORMATS) for member in result["soundfile"]):
            result["atdataset"] = read_atdataset(path)
        results.append(result)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
