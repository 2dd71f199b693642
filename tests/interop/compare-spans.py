"""compare-spans.py RECORDING FOLDER SPANS: FOLDER/snippets.tar against spans of RECORDING read by libsndfile.

SPANS is JSON {member: [first frame, end frame]}. Prints JSON {member: {frames, wanted, differing}}.
"""

import io, json, sys, tarfile

import numpy, soundfile

recording, folder, spans = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
report = {}
with tarfile.open(f"{folder}/snippets.tar") as tar:
    for member in tar:
        made, rate = soundfile.read(io.BytesIO(tar.extractfile(member).read()), dtype="int16")
        first, end = spans[member.name]
        source, source_rate = soundfile.read(recording, start=first, stop=end, dtype="int16", always_2d=True)
        assert rate == source_rate, (rate, source_rate)
        wanted = numpy.clip(numpy.rint(source.astype("float64").mean(axis=1)), -32768, 32767).astype("int16")
        same = min(len(made), len(wanted))
        report[member.name] = dict(
            frames=len(made), wanted=len(wanted), differing=int((made[:same] != wanted[:same]).sum()), loud=int(abs(wanted).max())
        )
print(json.dumps(report))
