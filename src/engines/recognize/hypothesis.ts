/** Reads what `pocketsphinx_batch -hypseg` writes. */

/** A word and the 10 ms frames from which and up to which it was heard. */
export interface HeardWord {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** Silence, noise and sentence marks stand among the words: `<sil>`, `[NOISE]`, `++UM++`. */
const FILLER = /^[<[+]/;
/** A second pronunciation in the dictionary: `read(2)`. */
const PRONUNCIATION = /\(\d+\)$/;

/**
 * Parses one line: the name of the utterance, scores marked `S`, `T`, `A` and `L`, then for each word its first frame,
 * two scores and the word itself; at the end the last frame. Lines of another form give no words.
 */
export function parseHypothesis(line: string): { utterance: string; words: HeardWord[] } {
  const tokens = line.trim().split(/\s+/);
  const utterance = tokens[0] ?? '';
  const scores = tokens.indexOf('L', 1);
  const body = scores < 0 ? [] : tokens.slice(scores + 2);
  const words: HeardWord[] = [];
  for (let at = 0; at + 4 < body.length; at += 4) {
    const text = body[at + 3] ?? '';
    const from = Number(body[at]);
    const to = Number(body[at + 4]);
    if (FILLER.test(text) || !Number.isInteger(from) || !Number.isInteger(to)) continue;
    words.push({ text: text.replace(PRONUNCIATION, ''), from, to });
  }
  return { utterance, words };
}
