import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonFault } from '#cutroom/manifest/json-fault.js';
import { JsonObject, parseJsonObject } from '#cutroom/manifest/json-object.js';

function parse(text: string): JsonObject {
  const result = parseJsonObject(text);
  if (result instanceof JsonFault) throw new Error(`${result.message} at ${result.column}`);
  return result;
}

function fault(text: string): JsonFault {
  const result = parseJsonObject(text);
  if (!(result instanceof JsonFault)) throw new Error(`no fault: ${result.stringify()}`);
  return result;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('parseJsonObject()', () => {
  it('keeps the source text of values and the order of keys', () => {
    const object = parse(' {"b": 1.0, "10": 12345678901234567890, "2":[1e5 ,{ "x":-0}], "u":"\\u00e9"} ');
    expect(object.keys()).toEqual(['b', '10', '2', 'u']);
    expect(object.raw('10')).toBe('12345678901234567890');
    expect(object.value('u')).toBe('é');
    expect(object.stringify()).toBe('{"b":1.0,"10":12345678901234567890,"2":[1e5 ,{ "x":-0}],"u":"\\u00e9"}');
  });

  it('lets the last of equal keys win at the place of the first', () => {
    const object = parse('{"a":1,"b":2,"\\u0061":3}');
    expect(object.stringify()).toBe('{"a":3,"b":2}');
    expect(object.value('a')).toBe(3);
  });

  it('finds equal keys among many', () => {
    const entries = Array.from({ length: 100 }, (_, k) => `"key${k}":${k}`);
    const object = parse(`{${entries.join(',')},"key3":"last","key99":"also"}`);
    expect(object.keys()).toHaveLength(100);
    expect([object.value('key3'), object.value('key99'), object.value('key50')]).toEqual(['last', 'also', 50]);
  });

  it('reads NaN and infinities and writes them as null', () => {
    const object = parse('{"a":NaN,"b":[-Infinity,"NaN",{"c":Infinity}],"d":"-Infinity \\" NaN","e":-1}');
    expect(object.value('a')).toBeNaN();
    expect(object.value('b')).toEqual([null, 'NaN', { c: null }]);
    expect(object.stringify()).toBe('{"a":null,"b":[null,"NaN",{"c":null}],"d":"-Infinity \\" NaN","e":-1}');
    const [, , inner] = object.items('b') ?? [];
    expect((inner as JsonObject).stringify()).toBe('{"c":null}');
  });

  it('passes a lone surrogate through as its escape', () => {
    const object = parse('{"a":"x\\ud800"}');
    expect(object.value('a')).toBe('x\ud800');
    expect(object.stringify()).toBe('{"a":"x\\ud800"}');
  });

  it('writes one line, whatever line breaks stood between tokens', () => {
    const object = parse('{"a":[1,\r2],\r\n"b":{"c":\n3}}');
    expect(object.stringify()).toBe('{"a":[1, 2],"b":{"c": 3}}');
    expect(fault('{"a":"x\ry"}').message).toContain('U+000D');
  });

  it('takes a key named __proto__ for a key like any other', () => {
    const object = parse('{"__proto__":1,"constructor":2}');
    expect(object.keys()).toEqual(['__proto__', 'constructor']);
    expect(object.stringify()).toBe('{"__proto__":1,"constructor":2}');
  });

  it('takes 512 levels and refuses more, without overflowing the stack', () => {
    const nested = (levels: number): string => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(parse(nested(512)).kind('a')).toBe('array');
    expect(fault(nested(513)).message).toContain('512');
    expect(fault('['.repeat(1_000_000)).message).toContain('512');
  });

  it('reads a long value', () => {
    const text = '\\"abc'.repeat(400_000);
    expect(parse(`{"a":"${text}","n":NaN}`).stringify()).toBe(`{"a":"${text}","n":null}`);
  });

  it.each([
    ['{"id":1}{"id":2}', 9, 'a second object begins', 'write one object a line'],
    ['{"é😀":1} {"id":2}', 10, 'a second object begins', 'write one object a line'],
    ['{', 2, 'the line ends inside an object or array', 'pretty-printed'],
    ['{"id": "a",', 12, 'the line ends inside an object or array', 'pretty-printed'],
    ['{"segments": [', 15, 'the line ends inside an object or array', 'pretty-printed'],
    ['  "id": "a",', 7, 'follows a whole value', 'pretty-printed'],
    ['  "segments": [', 13, 'follows a whole value', 'pretty-printed'],
    ['},', 1, 'a value is expected', 'pretty-printed'],
    ['}', 1, 'a value is expected', 'pretty-printed'],
    ['[', 2, 'the line ends inside', 'JSON array'],
    ['[{"id":1},', 11, 'the line ends inside', 'JSON array'],
    ['{"id":1},', 9, '"," follows a whole value', 'JSON array'],
    ["{'id': 1}", 2, 'a key in double quotes is expected', 'json.dumps'],
    ['{"id": \'a\'}', 8, 'a value is expected', 'json.dumps'],
    ['{"id": None}', 8, 'a value is expected', 'json.dumps'],
    ['{"id":1,}', 8, 'a comma stands before', 'remove the comma'],
    ['{"a":[1, ],"b":2}', 8, 'a comma stands before', 'remove the comma'],
    ['{"a":{"b":1 , }}', 13, 'a comma stands before', 'remove the comma'],
    ['{"id":"abc', 7, 'the line ends inside a string', 'cut off'],
    ['{"id":1,"segments":[{"start":1', 31, 'the line ends inside an object or array', 'cut off'],
    ['{"id":"a\tb"}', 9, 'U+0009', '\\t'],
    ['{"id":"a\\xb"}', 9, 'no JSON escape', '\\\\'],
    ['{"id":"\\u12g4"}', 8, 'no JSON escape', '\\\\'],
    ['{"id":01}', 7, 'a number is not written', 'leading zeros'],
    ['{"id":1.}', 7, 'a number is not written', 'leading zeros'],
    ['{"id":-}', 7, 'a number is not written', 'leading zeros'],
    ['{id:1}', 2, 'a key in double quotes is expected, but "i"', undefined],
    ['{"id" 1}', 7, 'a colon is expected', undefined],
    ['{"id":1 "b":2}', 9, 'a comma or "}" is expected', undefined],
    ['{"id":[1 2]}', 10, 'a comma or "]" is expected', undefined],
    ['{"id":1} // x', 10, 'follows a whole value', undefined],
    ['# comment', 1, 'a value is expected', 'no comments'],
    ['a.wav\thello', 1, 'a value is expected', 'must be a JSON object'],
    ['', 1, 'the line ends', 'cut off'],
  ])('explains %s', (text, column, message, hint) => {
    const found = fault(text);
    expect(found.reason).toBe('invalid_json');
    expect(found.column).toBe(column);
    expect(found.message).toContain(message);
    if (hint === undefined) expect(found.hint).toBeUndefined();
    else expect(found.hint).toContain(hint);
  });

  it.each([
    ['[]', 'an array', "jq -c '.[]'"],
    ['[{"id":1}]', 'an array', "jq -c '.[]'"],
    ['3', 'a number', 'JSON object'],
    ['"x"', 'a string', 'JSON object'],
    [' null ', 'null', 'JSON object'],
    ['NaN', 'NaN', 'JSON object'],
  ])('says that %s is not an object', (text, kind, hint) => {
    const found = fault(text);
    expect(found.reason).toBe('not_an_object');
    expect(found.message).toBe(`the line is ${kind}, not an object`);
    expect(found.hint).toContain(hint);
  });

  it('writes what JSON.parse reads from any object', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
        fc.integer({ min: 0, max: 2 }),
        (value, indent) => {
          const text = JSON.stringify(value, null, indent);
          const object = parse(text);
          expect(object.keys().toSorted()).toEqual(Object.keys(value).toSorted());
          expect(JSON.parse(object.stringify())).toEqual(JSON.parse(text));
          for (const key of object.keys()) expect(object.value(key)).toEqual(JSON.parse(JSON.stringify(value[key])));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('takes and refuses the same texts as JSON.parse', () => {
    // prettier-ignore
    const token = fc.constantFrom(
      '{', '}', '[', ']', ',', ':', '"a"', '"b"', '1', '-', '0', '.5', 'e3', 'E+1', 'true', 'nul', 'null', ' ', '\n', '"', '\\u00', '\\n',
    );
    const tokens = fc.array(token, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(tokens, (text) => {
        const result = parseJsonObject(text);
        const accepted = !(result instanceof JsonFault) || result.reason === 'not_an_object';
        expect(accepted).toBe(isJson(text));
      }),
      { numRuns: 20_000 },
    );
  });

  it('takes and refuses the same damaged documents as JSON.parse', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', '"', ',', '}', ']', '\\', '0', ' ', '\u0001', 'e'),
        (text, seed, insert) => {
          const at = seed % (text.length + 1);
          const damaged = text.slice(0, at) + insert + text.slice(at + (seed % 3));
          const result = parseJsonObject(damaged);
          const accepted = !(result instanceof JsonFault) || result.reason === 'not_an_object';
          expect(accepted).toBe(isJson(damaged));
        },
      ),
      { numRuns: 3000 },
    );
  });
});

describe('JsonObject', () => {
  it('sets in place, appends what is new, and deletes', () => {
    const object = parse('{"a":1,"b":2,"c":3}');
    object.set('b', '"x"');
    object.delete('a');
    object.set('d', '[]');
    object.set('a', 'null');
    object.delete('missing');
    expect(object.stringify()).toBe('{"b":"x","c":3,"d":[],"a":null}');
    expect(object.has('c')).toBe(true);
    expect(object.kind('a')).toBe('null');
    expect(object.raw('nothing')).toBeUndefined();
    object.delete('c');
    expect(object.stringify()).toBe('{"b":"x","d":[],"a":null}');
  });

  it('writes the same however the source is spaced, and what was changed in it', () => {
    const spaces = fc.constantFrom('', ' ', '  ');
    const entries = fc.array(
      fc.record({
        key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
        value: fc.constantFrom('1', '"x"', '[1, 2]', 'null', '-0.50'),
        before: spaces,
        colon: fc.constantFrom(':', ' :', ': '),
        after: spaces,
      }),
    );
    const changes = fc.array(
      fc.record({ key: fc.constantFrom('a', 'c', 'f'), value: fc.option(fc.constant('"new"')) }),
    );
    fc.assert(
      fc.property(entries, changes, (source, changed) => {
        const parts = source.map(({ key, value, before, colon, after }) => `${before}"${key}"${colon}${value}${after}`);
        const object = parse(`{${parts.join(',')}}`);
        const expected = new Map<string, string>(source.map(({ key, value }) => [key, value]));
        for (const { key, value } of changed) {
          if (value === null) object.delete(key);
          else object.set(key, value);
          if (value === null) expected.delete(key);
          else expected.set(key, value);
        }
        const wanted = [...expected].map(([key, value]) => `"${key}":${value}`);
        expect(object.stringify()).toBe(`{${wanted.join(',')}}`);
      }),
    );
  });

  it('clones into an object of its own', () => {
    const object = parse('{"a":1,"b":NaN}');
    const copy = object.clone();
    copy.set('a', '2');
    copy.delete('b');
    expect(object.stringify()).toBe('{"a":1,"b":null}');
    expect(copy.stringify()).toBe('{"a":2}');
  });

  it('lists the elements of an array, objects as objects', () => {
    const object = parse('{"a":[ {"x":1.50} , 2.0,"s",[3 ]],"b":{},"e":[ ]}');
    const [first, ...others] = object.items('a') ?? [];
    expect((first as JsonObject).raw('x')).toBe('1.50');
    expect(others).toEqual(['2.0', '"s"', '[3 ]']);
    expect(object.items('e')).toEqual([]);
    expect(object.items('b')).toBeUndefined();
    expect(object.items('nothing')).toBeUndefined();
    object.set('b', '[{"y":7}]');
    const [inner] = object.items('b') ?? [];
    expect((inner as JsonObject).value('y')).toBe(7);
  });
});
