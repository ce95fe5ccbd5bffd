/** Videos in containers that the service does not take and that can be converted, told by their first bytes. */
import { readHead } from '../../disk/read-head.ts';

/** The containers as people know them. */
export const CONVERTIBLE = 'MKV, WebM, TS, FLV, WMV, OGV';

/**
 * Names of such files. Two endings of transport streams, .ts and .mts, are also those of programs in TypeScript, so only
 * the content tells.
 */
export const CONVERTIBLE_EXTENSIONS = ['.mkv', '.webm', '.m2ts', '.flv', '.wmv', '.ogv'] as const;

/** Signatures at the beginning. Source: EBML (RFC 8794), Adobe FLV 10.1, Microsoft ASF, Ogg (RFC 3533). */
const SIGNATURES = ['1a45dfa3', '464c5601', '3026b2758e66cf11', '4f676753'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

const SYNC_BYTE = 0x47;
/** Bytes of a packet of a transport stream; recorders put a time of four bytes before each. Source: ISO 13818-1. */
const PACKETS = [
  { length: 188, first: 0 },
  { length: 192, first: 4 },
];
/** One such byte stands in many files by chance, four at these distances in hardly any. */
const PACKETS_SEEN = 4;

const HEAD_BYTES = 4 + 192 * PACKETS_SEEN;

export function looksConvertible(head: Buffer): boolean {
  if (SIGNATURES.some((signature) => head.subarray(0, signature.length).equals(signature))) return true;
  return PACKETS.some(({ length, first }) =>
    Array.from({ length: PACKETS_SEEN }, (_, packet) => head[first + packet * length]).every(
      (byte) => byte === SYNC_BYTE,
    ),
  );
}

/** Whether the file begins as a video that can be converted, whatever its name. */
export async function isConvertible(path: string): Promise<boolean> {
  return looksConvertible(await readHead(path, HEAD_BYTES));
}
