"""Reads loudness caches with audiotree, and makes one of the files of the first; prints what came of it as JSON.

python lufs-caches.py NEW CACHE..., where NEW is the folder of the cache that is made: windows of 1 s, 16 kHz, mono.
"""

import json
import sys

from audiotree.sources import build_window_lufs_cache, create_windowed_audio_dataset, load_window_lufs


def describe(folder):
    cache = load_window_lufs(folder)
    return {
        "window": cache.lufs_window_sec,
        "rate": cache.sample_rate,
        "mono": cache.mono,
        "durations": cache.durations,
        "sizes": cache.file_sizes,
        "lufs": {name: values.tolist() for name, values in cache.lufs.items()},
    }


def draw(folder, **options):
    """One epoch of the files of a cache that its loudness lets through: where each window begins, by file."""
    paths = list(load_window_lufs(folder).lufs)
    dataset = create_windowed_audio_dataset(
        filepaths=paths, duration=1.0, sample_rate=16000, mono=True, lufs_cache=folder, num_epochs=1, jitter=False, **options
    )
    drawn = {}
    for item in dataset:
        assert item.waveform.shape == (1, 1, 16000)
        drawn.setdefault(item.filepath[0], []).append(float(item.offset[0]))
    return {name: sorted(offsets) for name, offsets in drawn.items()}


new, *caches = sys.argv[1:]
paths = list(load_window_lufs(caches[0]).lufs)
build_window_lufs_cache(paths, lufs_window_sec=1.0, out_dir=new, sample_rate=16000, mono=True)
print(json.dumps({"caches": [describe(folder) for folder in caches], "drawn": draw(caches[0], lufs_cutoff=-40.0)}))
