#!/usr/bin/env python3
"""read-dataset.py NEMO_FOLDER|LIST: what trainers' programs read of a dataset, as JSON: NeMo's tarred iterator, WebDataset, soundfile.

A folder holds audio_N.tar and sharded_manifests/; a list names tars and their manifests. Judges nothing, beyond what a reader refuses.
"""

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
    return importlib.import_module("nemo.collections.common.data.lhotse.nemo_adapters")


def number_of(path):
    return int(path.stem.rsplit("_", 1)[1])


def read_nemo(folder):
    adapters = load_nemo_adapters()
    tars = sorted(folder.glob("audio_*.tar"), key=number_of)
    manifests = sorted(folder.glob("sharded_manifests/manifest_*.json"), key=number_of)
    cuts = adapters.LazyNeMoTarredIterator(
        manifest_path=[str(path) for path in manifests], tar_paths=[str(path) for path in tars], shard_seed=0
    )
    return [
        {
            "id": cut.id,
            "text": cut.supervisions[0].text,
            "duration": cut.duration,
            "rate": cut.sampling_rate,
            "samples": int(cut.load_audio().shape[1]),
        }
        for cut in cuts
    ]


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
                samples, rate = soundfile.read(io.BytesIO(tar.extractfile(member).read()), dtype="int16", always_2d=True)
                seen.append(
                    {
                        "name": member.name,
                        "rate": rate,
                        "frames": len(samples),
                        "channels": samples.shape[1],
                        "peak": int(np.abs(samples.astype(np.int32)).max(initial=0)),
                    }
                )
    return seen


def main():
    given = Path(sys.argv[1])
    result = {}
    if given.is_dir():
        tars = sorted(given.glob("audio_*.tar"), key=number_of)
        result["nemo"] = read_nemo(given)
    else:
        tars = [Path(line.split()[0]) for line in given.read_text().splitlines()]
    result["webdataset"] = read_webdataset(tars)
    result["soundfile"] = read_soundfile(tars)
    print(json.dumps(result))


main()
