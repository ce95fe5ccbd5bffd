/** Files with the headers of programs, for tests of what reads them. */
import { createHash } from 'node:crypto';

const BODY = 10_000;
const PAGE_SHIFT = 12;
const HASH_NUMBERS = { sha1: 1, sha256: 2 } as const;

/** @param machine the number of a processor in ELF */
export function makeElf(machine: number, text = ''): Buffer {
  const bytes = Buffer.alloc(BODY);
  bytes.writeUInt32BE(0x7f454c46, 0);
  bytes.writeUInt16LE(machine, 18);
  bytes.write(text, 200);
  return bytes;
}

/** @param machine the number of a processor in PE */
export function makePe(machine: number, text = ''): Buffer {
  const bytes = Buffer.alloc(BODY);
  bytes.write('MZ');
  bytes.writeUInt32LE(0x80, 0x3c);
  bytes.write('PE\0\0', 0x80);
  bytes.writeUInt16LE(machine, 0x84);
  bytes.write(text, 200);
  return bytes;
}

interface MachO {
  /** The number of a processor in Mach-O; arm64 by default. */
  readonly cpu?: number;
  /** Signed with checksums of this kind; not signed by default. */
  readonly hash?: keyof typeof HASH_NUMBERS;
  /** Signed ad hoc by default. */
  readonly team?: string;
}

/** Makes a file with one load command, that of its signature if it has one. */
export function makeMachO({ cpu = 0x0100000c, hash, team }: MachO): Buffer {
  const body = Buffer.alloc(BODY);
  body.writeUInt32LE(0xfeedfacf, 0);
  body.writeUInt32LE(cpu, 4);
  body.writeUInt32LE(1, 16);
  body.writeUInt32LE(hash === undefined ? 0x1b : 0x1d, 32);
  body.writeUInt32LE(16, 36);
  if (hash === undefined) return body;
  const pages = Math.ceil(BODY / 2 ** PAGE_SHIFT);
  const size = createHash(hash).digest().length;
  const name = Buffer.from(`${team ?? ''}\0`);
  const start = 52 + name.length;
  const directory = Buffer.alloc(start + pages * size);
  const words = [0xfade0c02, directory.length, 0x20400, 0, start, 0, 0, pages, BODY];
  words.forEach((word, index) => void directory.writeUInt32BE(word, index * 4));
  directory.set([size, HASH_NUMBERS[hash], 0, PAGE_SHIFT], 36);
  directory.writeUInt32BE(team === undefined ? 0 : 52, 48);
  name.copy(directory, 52);
  const blob = Buffer.alloc(20);
  [0xfade0cc0, 20 + directory.length, 1, 0, 20].forEach((word, at) => void blob.writeUInt32BE(word, at * 4));
  body.writeUInt32LE(BODY, 40);
  body.writeUInt32LE(20 + directory.length, 44);
  for (let page = 0; page < pages; page += 1) {
    const part = body.subarray(page << PAGE_SHIFT, Math.min((page + 1) << PAGE_SHIFT, BODY));
    createHash(hash)
      .update(part)
      .digest()
      .copy(directory, start + page * size);
  }
  return Buffer.concat([body, blob, directory]);
}
