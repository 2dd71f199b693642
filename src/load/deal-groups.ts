import type { DecodeRequest } from './decode-request.js';

/** A message to a process costs as much as decoding a tenth of a second. */
const GROUP_ITEMS = 16;
/** Some seconds of audio, encoded. */
const GROUP_BYTES = 1 << 20;
/** A batch is dealt out so that no worker has much more to do than the others. */
const GROUPS_A_WORKER = 2;

/** Deals requests out to so many processes or threads. Neighbours stay together: they often lie in one tar. */
export function dealGroups(requests: readonly DecodeRequest[], workers: number): DecodeRequest[][] {
  const most = Math.min(GROUP_ITEMS, Math.ceil(requests.length / (GROUPS_A_WORKER * workers)));
  const groups: DecodeRequest[][] = [];
  let group: DecodeRequest[] = [];
  let bytes = 0;
  for (const request of requests) {
    if (group.length === 0) groups.push(group);
    group.push(request);
    bytes += request.inside?.sizeBytes ?? 0;
    if (group.length < most && bytes < GROUP_BYTES) continue;
    group = [];
    bytes = 0;
  }
  return groups;
}
