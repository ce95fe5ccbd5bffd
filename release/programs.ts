/** Reads the headers of programs and libraries, so that an archive can be checked for systems other than this one. */
import { createHash } from 'node:crypto';
import type { Platform } from './table.ts';

/** For which system and processor a file was compiled; `other` is a processor that no archive is for. */
export interface Target {
  readonly os: Platform['os'];
  readonly cpu: Platform['cpu'] | 'other';
}

/** Where the header of PE begins is written here. */
const PE_OFFSET_AT = 0x3c;

/** Returns for what a file was compiled; null if it is not a program or library. */
export function readTarget(bytes: Buffer): Target | null {
  if (bytes.length < 64) return null;
  const magic = bytes.readUInt32BE(0);
  // Each format has its own numbers for processors.
  if (magic === 0x7f454c46) return target('linux', { 62: 'x64', 183: 'arm64' }, bytes.readUInt16LE(18));
  if (magic === 0xcffaedfe)
    return target('darwin', { 16777223: 'x64', 16777228: 'arm64' }, bytes.readUInt32LE(4));
  const pe = bytes.readUInt16BE(0) === 0x4d5a ? bytes.readUInt32LE(PE_OFFSET_AT) : bytes.length;
  if (pe + 6 > bytes.length || bytes.readUInt32BE(pe) !== 0x50450000) return null;
  return target('win32', { 34404: 'x64', 43620: 'arm64' }, bytes.readUInt16LE(pe + 4));
}

function target(os: Target['os'], cpus: Readonly<Record<number, Platform['cpu']>>, cpu: number): Target {
  return { os, cpu: cpus[cpu] ?? 'other' };
}

/** The newest version of glibc whose functions a file for Linux calls, such as `2.28`; null if it names none. */
export function newestGlibc(bytes: Buffer): string | null {
  const found = [...bytes.toString('latin1').matchAll(/\0GLIBC_(\d+\.\d+)(?:\.\d+)?(?=\0)/g)];
  return (
    found
      .map(([, version = '']) => version)
      .toSorted(compareGlibc)
      .at(-1) ?? null
  );
}

/** Orders `2.4` before `2.28`. */
export function compareGlibc(one: string, other: string): number {
  return Number(one.split('.')[1]) - Number(other.split('.')[1]);
}

/** Who signed a program for macOS; `team` is null if nobody did, which is called ad hoc. */
export interface Signature {
  readonly team: string | null;
}

const LC_CODE_SIGNATURE = 0x1d;
const CODE_DIRECTORY = 0xfade0c02;
/** The numbers of the hashes that signatures have. */
const HASHES: Readonly<Record<number, string>> = { 1: 'sha1', 2: 'sha256' };

/**
 * Reads the signature of a program or library for macOS, and compares its checksums with the file. Whether the certificate is
 * genuine is not checked.
 * @returns null without a signature
 * @throws Error if the file was changed after it was signed
 */
export function readSignature(bytes: Buffer): Signature | null {
  const blob = findSignature(bytes);
  if (blob === null) return null;
  const directories = readBlobs(blob).filter((part) => part.readUInt32BE(0) === CODE_DIRECTORY);
  const [first] = directories;
  if (first === undefined) return null;
  for (const directory of directories) compareHashes(directory, bytes);
  return { team: readTeam(first) };
}

/** The signature at the end of the file, which a load command points to. */
function findSignature(bytes: Buffer): Buffer | null {
  let at = 32;
  for (let left = bytes.readUInt32LE(16); left > 0; left -= 1) {
    if (bytes.readUInt32LE(at) === LC_CODE_SIGNATURE) {
      const start = bytes.readUInt32LE(at + 8);
      return bytes.subarray(start, start + bytes.readUInt32LE(at + 12));
    }
    at += bytes.readUInt32LE(at + 4);
  }
  return null;
}

function readBlobs(blob: Buffer): Buffer[] {
  return Array.from({ length: blob.readUInt32BE(8) }, (_, index) => {
    const start = blob.readUInt32BE(12 + index * 8 + 4);
    return blob.subarray(start, start + blob.readUInt32BE(start + 4));
  });
}

function compareHashes(directory: Buffer, bytes: Buffer): void {
  const [hashes, pages, limit] = [16, 28, 32].map((at) => directory.readUInt32BE(at)) as [
    number,
    number,
    number,
  ]; // as many as given
  const [size, type, shift] = [36, 37, 39].map((at) => directory.readUInt8(at)) as [number, number, number]; // as many as given
  const algorithm = HASHES[type];
  if (algorithm === undefined) throw new Error(`has a signature with checksums of an unknown type, ${type}`);
  const page = 2 ** shift;
  for (let index = 0; index < pages; index += 1) {
    const end = Math.min((index + 1) * page, limit);
    const found = createHash(algorithm)
      .update(bytes.subarray(index * page, end))
      .digest()
      .subarray(0, size);
    const start = hashes + index * size;
    if (!found.equals(directory.subarray(start, start + size))) {
      throw new Error('was changed after it was signed');
    }
  }
}

/** The first version of the directory that names the team. */
const WITH_TEAM = 0x20200;

function readTeam(directory: Buffer): string | null {
  const at = directory.readUInt32BE(8) >= WITH_TEAM ? directory.readUInt32BE(48) : 0;
  return at === 0 ? null : directory.toString('latin1', at, directory.indexOf(0, at));
}

/** Where the optional header of PE begins, and in it the address and size of the signature in programs of 64 bits. */
const PE_OPTIONAL = 24;
const PE_SIGNATURE = 112 + 4 * 8;

/**
 * Removes the signature from a program for Windows, since the program is going to be changed: Windows and virus scanners treat a
 * signature that does not fit as worse than none.
 * @throws Error if something is after the signature, which would be lost
 */
export function withoutSignature(program: Buffer): Buffer {
  const at = program.readUInt32LE(PE_OFFSET_AT) + PE_OPTIONAL + PE_SIGNATURE;
  const start = program.readUInt32LE(at);
  if (start === 0) return program;
  if (start + program.readUInt32LE(at + 4) !== program.length)
    throw new Error('the signature is not at the end');
  const kept = Buffer.from(program.subarray(0, start));
  kept.fill(0, at, at + 8);
  return kept;
}
