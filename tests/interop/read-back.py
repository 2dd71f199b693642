#!/usr/bin/env python3
"""read-back.py FOLDER: reads snippets.tar and snippets.jsonl of a cut with the programs that trainers use.

Prints one JSON object with what each of them saw; judges nothing, beyond what a reader itself refuses.
"""

import io
import json
import sys
import tarfile
from pathlib import Path

import numpy as np
import soundfile
import webdataset
from lhotse import CutSet, MonoCut, Recording, RecordingSet, SupervisionSegment, SupervisionSet
from lhotse.qa import validate, validate_recordings_and_supervisions
from lhotse.supervision import AlignmentItem


def read_tarfile(tar_path):
    with tarfile.open(tar_path) as tar:
        return [
            {
                "name": member.name,
                "size": member.size,
                "mtime": member.mtime,
                "mode": member.mode,
                "uid": member.uid,
                "gid": member.gid,
                "is_file": member.isfile(),
                "pax_headers": member.pax_headers,
            }
            for member in tar
        ]


def read_webdataset(tar_path):
    """Samples in order: the key and the fields beside those that WebDataset adds."""
    dataset = webdataset.WebDataset(str(tar_path), shardshuffle=False)
    return [
        {"key": sample["__key__"], "fields": sorted(field for field in sample if not field.startswith("__"))}
        for sample in dataset
    ]


def read_soundfile(members):
    seen = {}
    for name, data in members.items():
        with soundfile.SoundFile(io.BytesIO(data)) as audio:
            samples = audio.read(dtype="float64", always_2d=True)
            seen[name] = {
                "format": audio.format,
                "subtype": audio.subtype,
                "rate": audio.samplerate,
                "channels": audio.channels,
                "header_frames": audio.frames,
                "frames": len(samples),
                "peak": float(np.max(np.abs(samples))),
            }
    return seen


def read_lhotse_as_nemo(members, rows):
    """A cut a row, as NeMo's reader of tarred manifests makes it: audio in memory, found by the member's name, and
    one supervision that holds the text of the row and is as long as the row says."""
    cuts = []
    for row in rows:
        recording = Recording.from_bytes(members[row["audio_filepath"]], recording_id=row["snippet_id"])
        supervision = SupervisionSegment(
            id=row["snippet_id"],
            recording_id=recording.id,
            start=0,
            duration=row["duration"],
            text=row["text"],
            language=row.get("language"),
        )
        cuts.append(
            MonoCut(
                id=row["snippet_id"],
                start=0,
                duration=row["duration"],
                channel=0,
                recording=recording,
                supervisions=[supervision],
            )
        )
    cut_set = CutSet.from_cuts(cuts)
    validate(cut_set, read_data=True)
    return [
        {
            "id": cut.id,
            "rate": cut.sampling_rate,
            "cut_samples": cut.num_samples,
            "recording_samples": cut.recording.num_samples,
            "loaded_samples": cut.load_audio().shape[1],
            "channels": cut.recording.num_channels,
            "text": cut.supervisions[0].text,
        }
        for cut in cut_set
    ]


def read_lhotse_segments(members, rows):
    """The segments of the rows as supervisions with aligned words, checked by Lhotse against the recordings."""
    recordings = []
    supervisions = []
    for row in rows:
        recordings.append(Recording.from_bytes(members[row["audio_filepath"]], recording_id=row["snippet_id"]))
        for number, segment in enumerate(row["segments"]):
            words = [
                AlignmentItem(symbol=word["word"], start=word["start"], duration=round(word["end"] - word["start"], 6))
                for word in segment.get("words", [])
            ]
            supervisions.append(
                SupervisionSegment(
                    id=f"{row['snippet_id']}-{number}",
                    recording_id=row["snippet_id"],
                    start=segment["start"],
                    duration=round(segment["end"] - segment["start"], 6),
                    text=segment["text"],
                    speaker=segment.get("speaker"),
                    alignment={"word": words},
                )
            )
    recording_set = RecordingSet.from_recordings(recordings)
    supervision_set = SupervisionSet.from_segments(supervisions)
    validate_recordings_and_supervisions(recording_set, supervision_set, read_data=True)
    return {
        "recordings": len(recordings),
        "supervisions": len(supervisions),
        "words": sum(len(supervision.alignment["word"]) for supervision in supervisions),
    }


def main(folder):
    tar_path = folder / "snippets.tar"
    rows = [json.loads(line) for line in (folder / "snippets.jsonl").read_text("utf-8").splitlines()]
    with tarfile.open(tar_path) as tar:
        members = {member.name: tar.extractfile(member).read() for member in tar}
    report = {
        "tarfile": read_tarfile(tar_path),
        "webdataset": read_webdataset(tar_path),
        "soundfile": read_soundfile(members),
        "lhotse_nemo": read_lhotse_as_nemo(members, rows),
        "lhotse_segments": read_lhotse_segments(members, rows),
    }
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
