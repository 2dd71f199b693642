// Utterances for the bench's corpora: spoken by espeak-ng, or, where that is not installed, sounds that are like speech to
// a codec (voiced syllables with moving formants, hisses, pauses). The same ones each time.
import { canSpeak, speak, SPEECH_RATE } from '../scripts/speak.js';
import { Dice } from './dice.js';

const UTTERANCES = 96;
const VOICES = ['en-us', 'en-gb', 'en-us+f3', 'en-gb+m4'];
const WORDS = (
  'early on market days a grey boat carried baskets over to our island while gulls argued above slow water and nobody minded ' +
  'how long it took because bread was warm stories were short evenings stayed bright lanterns hung under each roof someone sang'
).split(' ');
/** Centres of the first three formants of some vowels, in Hz. */
const VOWELS = [
  [730, 1090, 2440],
  [270, 2290, 3010],
  [300, 870, 2240],
  [530, 1840, 2480],
  [570, 840, 2410],
  [490, 1350, 1690],
];
const FORMANT_WIDTHS_HZ = [80, 100, 140];

/** What speaks here: `espeak` where espeak-ng can be run, else `synthetic`. */
export function findSpeechSource() {
  return canSpeak() ? 'espeak' : 'synthetic';
}

/** Utterances of 4 to 40 words, mono, 48 kHz, 16 bits; each is made when it is first drawn, and kept. */
export class Utterances {
  #source;
  #made = new Map();

  /** @param {'espeak' | 'synthetic'} source */
  constructor(source) {
    this.#source = source;
  }

  /**
   * Draws one of them.
   *
   * @returns {{ text: string, samples: Int16Array }}
   */
  draw(dice) {
    const k = dice.between(0, UTTERANCES - 1);
    let utterance = this.#made.get(k);
    if (utterance === undefined) {
      utterance = makeUtterance(this.#source, new Dice(100 + k));
      this.#made.set(k, utterance);
    }
    return utterance;
  }
}

function makeUtterance(source, dice) {
  const words = Array.from({ length: dice.between(4, 40) }, () => dice.pick(WORDS));
  const voice = dice.pick(VOICES);
  const wordsPerMinute = dice.between(130, 190);
  const text = words.join(' ');
  const samples =
    source === 'espeak' ? speak(text, { voice, wordsPerMinute }) : synthesize(words, wordsPerMinute, dice);
  return { text, samples: Int16Array.from(samples, (x) => Math.round(x * 32_767)) };
}

/** One or two syllables a word: a hiss, then a pulse train through three resonators that glide from vowel to vowel. */
function synthesize(words, wordsPerMinute, dice) {
  const wordSeconds = 60 / wordsPerMinute;
  const samples = new Float32Array(Math.round(words.length * wordSeconds * SPEECH_RATE));
  const basePitchHz = dice.between(90, 210);
  const resonators = FORMANT_WIDTHS_HZ.map((widthHz) => new Resonator(widthHz));
  let vowel = VOWELS[0];
  let phase = 0;
  for (const [k, word] of words.entries()) {
    const syllables = word.length > 5 ? 2 : 1;
    for (let s = 0; s < syllables; s += 1) {
      const next = dice.pick(VOWELS);
      const length = Math.floor((wordSeconds / syllables) * SPEECH_RATE);
      const begin = Math.floor(k * wordSeconds * SPEECH_RATE) + s * length;
      const hissEnd = Math.floor(length * 0.2);
      for (let n = 0; n < length && begin + n < samples.length; n += 1) {
        const part = n / length;
        phase += (basePitchHz * (1.1 - 0.2 * part - 0.1 * (k / words.length))) / SPEECH_RATE;
        const isPulse = phase >= 1;
        if (isPulse) phase -= 1;
        const envelope = n < hissEnd ? 0 : Math.sin((Math.PI * (n - hissEnd)) / (length - hissEnd));
        let x = (isPulse ? envelope : 0) + 0.004 * envelope * dice.signed();
        for (const [f, resonator] of resonators.entries()) {
          if (n % 64 === 0) resonator.tune(vowel[f] + (next[f] - vowel[f]) * part);
          x = resonator.filter(x);
        }
        samples[begin + n] = x + (n < hissEnd ? 0.03 * Math.sin((Math.PI * n) / hissEnd) * dice.signed() : 0);
      }
      vowel = next;
    }
  }
  const peak = samples.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  return samples.map((x) => (x / peak) * 0.5);
}

/** A two-pole resonator with a gain of 1 at 0 Hz. */
class Resonator {
  #radius;
  #a1 = 0;
  #a2 = 0;
  #gain = 0;
  #y1 = 0;
  #y2 = 0;

  constructor(widthHz) {
    this.#radius = Math.exp((-Math.PI * widthHz) / SPEECH_RATE);
  }

  tune(frequencyHz) {
    this.#a1 = 2 * this.#radius * Math.cos((2 * Math.PI * frequencyHz) / SPEECH_RATE);
    this.#a2 = -this.#radius * this.#radius;
    this.#gain = 1 - this.#a1 - this.#a2;
  }

  filter(x) {
    const y = this.#gain * x + this.#a1 * this.#y1 + this.#a2 * this.#y2;
    this.#y2 = this.#y1;
    this.#y1 = y;
    return y;
  }
}
