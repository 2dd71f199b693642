// The program of a decoder thread that ends or takes its time at items of certain names.
import { existsSync, writeFileSync } from 'node:fs';
import { ItemDecoder } from '#cutroom/load/item-decoder.js';

const SLOW_MS = 400;

const decode = Reflect.get(ItemDecoder.prototype, 'decode');
ItemDecoder.prototype.decode = function decodeOrEnd(request) {
  const name = request.path;
  if (name.includes('exit')) process.exit(3);
  if (name.includes('once') && !existsSync(`${name}.seen`)) {
    writeFileSync(`${name}.seen`, '');
    process.exit(4);
  }
  if (name.includes('late-error')) {
    setImmediate(() => {
      throw new Error('no memory left');
    });
  }
  if (name.includes('slow')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SLOW_MS);
  if (name.includes('endless')) writeFileSync(`${name}.seen`, '');
  for (; name.includes('endless');) name.at(0);
  if (name.includes('broken')) throw new Error('no such state');
  return decode.call(this, request);
};

await import('#cutroom/load/decode-thread.js');
