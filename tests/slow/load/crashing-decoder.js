// The program of a decoder process that crashes or hangs at items of certain names.
import { existsSync, writeFileSync } from 'node:fs';
import { ItemDecoder } from '#cutroom/load/item-decoder.js';

const decode = Reflect.get(ItemDecoder.prototype, 'decode');
ItemDecoder.prototype.decode = function decodeOrCrash(request) {
  const name = request.path;
  if (name.includes('crash')) process.kill(process.pid, 'SIGSEGV');
  if (name.includes('once') && !existsSync(`${name}.seen`)) {
    writeFileSync(`${name}.seen`, '');
    process.kill(process.pid, 'SIGKILL');
  }
  for (; name.includes('hang');) name.at(0);
  return decode.call(this, request);
};

await import('#cutroom/load/decode-process.js');
