/** Ways in which disks, copies and people damage a journal: each is chosen by chance that can be repeated. */
import type { Random } from '../torture/random.ts';

/** The journal and the count of its lines; null for a file that is gone. */
export interface JournalFiles {
  readonly journal: Buffer | null;
  readonly head: Buffer | null;
}

type Damage = (files: { readonly journal: Buffer; readonly head: Buffer }, random: Random) => JournalFiles;

const LINE_FEED = 0x0a;

function linesOf(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let begin = 0; begin < bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, begin) + 1;
    lines.push(bytes.subarray(begin, end === 0 ? bytes.length : end));
    begin = end === 0 ? bytes.length : end;
  }
  return lines;
}

function flipBits(bytes: Buffer, count: number, random: Random): Buffer {
  const damaged = Buffer.from(bytes);
  for (let time = 0; time < count; time += 1) {
    const offset = random.between(0, damaged.length - 1);
    damaged.writeUInt8(damaged.readUInt8(offset) ^ (1 << random.between(0, 7)), offset);
  }
  return damaged;
}

/** A way to change the journal alone. */
function ofJournal(change: (journal: Buffer, random: Random) => Buffer): Damage {
  return ({ journal, head }, random) => ({ journal: change(journal, random), head });
}

/** A way to change its lines. */
function ofLines(change: (lines: readonly Buffer[], random: Random) => readonly Buffer[]): Damage {
  return ofJournal((journal, random) => Buffer.concat(change(linesOf(journal), random)));
}

export const DAMAGES: Readonly<Record<string, Damage>> = {
  'a flipped bit': ofJournal((journal, random) => flipBits(journal, 1, random)),
  'many flipped bits': ofJournal((journal, random) => flipBits(journal, random.between(2, 40), random)),
  'a cut at a byte': ofJournal((journal, random) =>
    journal.subarray(0, random.between(0, journal.length - 1)),
  ),
  'a cut between records': ofLines((lines, random) => lines.slice(0, random.between(0, lines.length - 1))),
  'lines removed': ofLines((lines, random) => {
    const begin = random.between(0, lines.length - 1);
    return lines.toSpliced(begin, random.between(1, 3));
  }),
  'the beginning removed': ofLines((lines, random) => lines.slice(random.between(1, lines.length))),
  'a line twice': ofLines((lines, random) => {
    const place = random.between(0, lines.length - 1);
    return lines.toSpliced(random.between(0, lines.length), 0, lines[place] ?? Buffer.alloc(0));
  }),
  'a block of zeros': ofJournal((journal, random) => {
    const begin = random.between(0, journal.length - 1);
    return Buffer.from(journal).fill(0, begin, Math.min(journal.length, begin + random.between(1, 512)));
  }),
  'junk at the end': ofJournal((journal, random) => {
    const junk = Array.from({ length: random.between(1, 200) }, () => random.between(0, 255));
    return Buffer.concat([journal, Buffer.from(junk)]);
  }),
  'an empty file': ({ head }) => ({ journal: Buffer.alloc(0), head }),
  'no file': ({ head }) => ({ journal: null, head }),
  'no count': ({ journal }) => ({ journal, head: null }),
  'a damaged count': ({ journal, head }, random) => ({ journal, head: flipBits(head, 1, random) }),
  'neither file': () => ({ journal: null, head: null }),
  'no count, and a cut between records': ({ journal }, random) => {
    const lines = linesOf(journal);
    return { journal: Buffer.concat(lines.slice(0, random.between(0, lines.length - 1))), head: null };
  },
};
