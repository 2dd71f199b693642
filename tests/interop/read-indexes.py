#!/usr/bin/env python3
"""Opens shards by the indexes beside them, with the programs that these are for.

read-indexes.py FOLDER CACHE NAMES   what each of them reads
read-indexes.py FOLDER               what Energon is given, and what it makes itself of the same tars

Prints one JSON object with what each of them saw; judges nothing, beyond what a reader itself refuses.
"""

import hashlib
import io
import json
import shutil
import sqlite3
import sys
from pathlib import Path

import wids
from lhotse import CutSet
from lhotse.qa import validate
from megatron.energon import (
    Cooker,
    DefaultTaskEncoder,
    Sample,
    WorkerConfig,
    basic_sample_keys,
    edataclass,
    get_loader,
    get_train_dataset,
    get_val_dataset,
    stateless,
)
from megatron.energon.cache.file_store import WebdatasetFileStore
from megatron.energon.epathlib import EPath
from megatron.energon.flavors.webdataset.prepare import WebdatasetPreparator


def digest(data):
    return hashlib.sha256(data).hexdigest()


def read_wids(folder, cache):
    dataset = wids.ShardListDataset(str(folder / "wids.json"), cache_dir=str(cache), transformations=[], keep=True)

    def describe(index):
        sample = dataset[index]
        parts = {name: digest(value.read()) for name, value in sample.items() if not name.startswith("__")}
        return {"key": sample["__key__"], "parts": parts}

    # From the last to the first: nothing may depend on the order of access.
    return [describe(index) for index in reversed(range(len(dataset)))][::-1]


@edataclass
class Utterance(Sample):
    parts: dict
    row: dict


PLAIN = {"__key__", "__restore_key__", "__subflavors__", "__sources__", "__shard__"}


@stateless
def cook_parts(sample):
    parts = {name: digest(value) for name, value in sample.items() if name not in PLAIN}
    return Utterance(**basic_sample_keys(sample), parts=parts, row={})


@stateless
def cook_row(sample, audio):
    row = sample["json"]
    data, source = audio[row["audio_filepath"]]
    return Utterance(**basic_sample_keys(sample, (source,)), parts={"audio": digest(data)}, row=row)


def cookers(cook):
    class Encoder(DefaultTaskEncoder):
        cookers = [Cooker(cook)]
        decoder = None

    return Encoder()


def read_energon(path, cook):
    dataset = get_val_dataset(
        path,
        split_part="train",
        worker_config=WorkerConfig(rank=0, world_size=1, num_workers=0),
        batch_size=1,
        task_encoder=cookers(cook),
    )
    seen = []
    for batch in get_loader(dataset):
        seen.append({"key": batch.__key__[0], "parts": flatten(batch.parts), **({"row": flatten(batch.row)} if batch.row else {})})
    return seen


def flatten(batched):
    """Energon makes lists of one value of what a batch holds."""
    if isinstance(batched, dict):
        return {name: flatten(value) for name, value in batched.items()}
    return flatten(batched[0]) if isinstance(batched, list) else batched


def train_energon(path, count):
    """Keys of one epoch, shuffled over two ranks."""
    keys = []
    for rank in range(2):
        dataset = get_train_dataset(
            path,
            worker_config=WorkerConfig(rank=rank, world_size=2, num_workers=0),
            batch_size=1,
            shuffle_buffer_size=None,
            max_samples_per_sequence=None,
            task_encoder=cookers(cook_parts),
        )
        for _, batch in zip(range(count // 2), get_loader(dataset)):
            keys.append(batch.__key__[0])
    return keys


def read_store(folder, names):
    store = WebdatasetFileStore(EPath(str(folder)))
    return {name: digest(store[name][0]) for name in reversed(names)}


def read_database(folder):
    place = folder / ".nv-meta" / "index.sqlite"
    with sqlite3.connect(f"file:{place}?mode=ro&immutable=1", uri=True) as database:
        tables = {
            name: database.execute(f"SELECT * FROM {name} ORDER BY rowid").fetchall()
            for name in ("samples", "sample_parts")
        }
        return {"integrity": database.execute("PRAGMA integrity_check").fetchall(), **tables}


def read_offsets(folder):
    return {place.name: place.read_bytes().hex() for place in sorted(folder.glob("*.tar.idx"))}


def read_info(folder):
    return json.loads((folder / ".nv-meta" / ".info.json").read_text())


def prepare(folder, other):
    """What Energon itself makes of the same tars."""
    other.mkdir()
    names = sorted(place.name for place in folder.glob("*.tar"))
    for name in names:
        shutil.copyfile(folder / name, other / name)
    WebdatasetPreparator.prepare_dataset(
        other, names, split_parts_ratio=[("train", 1)], progress_fn=lambda items, _: items, workers=1
    )


def read_lhotse(folder):
    cuts = CutSet.from_shar(in_dir=folder / "shar").with_recording_path_prefix(folder)
    seen = []
    for cut in cuts:
        validate(cut)
        audio = cut.load_audio()
        (supervision,) = cut.supervisions
        seen.append(
            {
                "id": cut.id,
                "type": type(cut).__name__,
                "start": cut.start,
                "duration": cut.duration,
                "rate": cut.sampling_rate,
                "channels": audio.shape[0],
                "frames": audio.shape[1],
                "text": supervision.text,
                "language": supervision.language,
                "custom": cut.custom and {name: cut.custom[name] for name in cut.custom if name not in SHAR_FIELDS},
            }
        )
    return seen


SHAR_FIELDS = {"shard_origin", "shar_epoch"}


def read_all(folder, cache, names):
    return {
        "wids": read_wids(folder, cache),
        "energon": read_energon(folder, cook_parts),
        "energon_rows": read_energon(folder / "energon.yaml", cook_row),
        "energon_train": train_energon(folder, len(names)),
        "energon_store": read_store(folder, names),
        "lhotse": read_lhotse(folder),
    }


def read_prepared(folder):
    return {"database": read_database(folder), "offsets": read_offsets(folder), "info": read_info(folder)}


def main():
    folder = Path(sys.argv[1])
    real_stdout, sys.stdout = sys.stdout, io.StringIO()
    if len(sys.argv) == 2:
        other = folder.parent / "prepared"
        prepare(folder, other)
        seen = {"ours": read_prepared(folder), "theirs": read_prepared(other)}
    else:
        seen = read_all(folder, Path(sys.argv[2]), json.loads(sys.argv[3]))
    sys.stdout = real_stdout
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
