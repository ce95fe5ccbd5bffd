/** Headers are made here: files of other systems are not installed everywhere. */
import { describe, expect, it } from 'vitest';
import {
  compareGlibc,
  newestGlibc,
  readSignature,
  readTarget,
  withoutSignature,
} from '../../release/programs.ts';
import { makeElf, makeMachO, makePe } from './made-programs.ts';

describe('the system and processor of a file', () => {
  it.each([
    [makeElf(0x3e), { os: 'linux', cpu: 'x64' }],
    [makeElf(0xb7), { os: 'linux', cpu: 'arm64' }],
    [makeElf(0x28), { os: 'linux', cpu: 'other' }],
    [makeMachO({ cpu: 0x01000007 }), { os: 'darwin', cpu: 'x64' }],
    [makeMachO({ cpu: 0x0100000c }), { os: 'darwin', cpu: 'arm64' }],
    [makePe(0x8664), { os: 'win32', cpu: 'x64' }],
    [makePe(0xaa64), { os: 'win32', cpu: 'arm64' }],
    [makePe(0x14c), { os: 'win32', cpu: 'other' }],
  ] as const)('is in its header', (bytes, target) => expect(readTarget(bytes)).toEqual(target));

  it.each([
    Buffer.alloc(0),
    Buffer.from('#!/bin/sh\necho "a script that is longer than any of the headers above" >&2\n'),
    // The start of a program for DOS alone.
    Buffer.concat([Buffer.from('MZ'), Buffer.alloc(100, 0xff)]),
  ])('is unknown for other files', (bytes) => expect(readTarget(bytes)).toBe(null));
});

describe('the glibc that a file needs', () => {
  it('is the newest that it names, by number', () => {
    const names = ['GLIBC_2.4', 'GLIBC_2.28', 'GLIBC_2.3.4', 'GLIBCXX_3.4.30', 'GLIBC_PRIVATE'];
    expect(newestGlibc(Buffer.from(`\0${names.join('\0')}\0`))).toBe('2.28');
    expect(newestGlibc(makeElf(0x3e))).toBe(null);
    expect(compareGlibc('2.4', '2.28')).toBeLessThan(0);
  });
});

describe('the signature of a file for macOS', () => {
  it.each(['sha1', 'sha256'] as const)('matches the file, with checksums of %s', (hash) => {
    expect(readSignature(makeMachO({ hash, team: 'TEAM123456' }))).toEqual({ team: 'TEAM123456' });
    expect(readSignature(makeMachO({ hash }))).toEqual({ team: null });
  });

  it('does not match after a byte was changed, on any page', () => {
    for (const at of [100, 5000, 9000]) {
      const bytes = makeMachO({ hash: 'sha256' });
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      expect(() => readSignature(bytes)).toThrow('was changed after it was signed');
    }
  });

  it('is absent from an unsigned file', () => expect(readSignature(makeMachO({}))).toBe(null));
});

describe('the signature of a program for Windows', () => {
  const SIGNATURE_AT = 0x80 + 24 + 112 + 32;

  it('is removed with its entry in the header, and nothing else', () => {
    const plain = makePe(0x8664);
    const signed = Buffer.concat([plain, Buffer.from('a signature')]);
    signed.writeUInt32LE(plain.length, SIGNATURE_AT);
    signed.writeUInt32LE(11, SIGNATURE_AT + 4);
    expect(withoutSignature(signed).equals(plain)).toBe(true);
    expect(withoutSignature(plain).equals(plain)).toBe(true);
  });

  it('is not removed if anything follows it', () => {
    const signed = makePe(0x8664);
    signed.writeUInt32LE(9000, SIGNATURE_AT);
    signed.writeUInt32LE(11, SIGNATURE_AT + 4);
    expect(() => withoutSignature(signed)).toThrow('not at the end');
  });
});
