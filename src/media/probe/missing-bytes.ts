/** Detects MP4 and MOV files that were cut off, by the sizes of their boxes. Source: ISO/IEC 14496-12, "Object structure". */
import { type FileHandle, open } from 'node:fs/promises';

/**
 * Boxes with media or its index. Other boxes that reach beyond the end are ignored: cameras and editors append data of
 * their own, which is not always made of boxes.
 */
const NEEDED: readonly string[] = ['mdat', 'moov', 'moof'];

/**
 * 15 minutes at 50 frames per second, with two boxes for each frame, have 90,000. More are not read, so that a file cannot
 * keep the service busy.
 */
const MOST_BOXES = 100_000;
const SHORT_HEAD_BYTES = 8;
const LONG_HEAD_BYTES = 16;

/**
 * Returns how many bytes the last box of an MP4 or MOV lacks: 0 for a whole file. Durations do not show it if only the
 * last part is missing, because the index at the start of the file is complete.
 */
export async function missingBytes(file: string): Promise<number> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    let at = 0;
    for (let boxes = 0; at + SHORT_HEAD_BYTES <= size && boxes < MOST_BOXES; boxes += 1) {
      const box = await readBox(handle, at);
      if (box === null) return 0;
      at += box.length;
      if (at > size) return NEEDED.includes(box.type) ? at - size : 0;
    }
    return 0;
  } finally {
    await handle.close();
  }
}

/** Returns null for a box that extends to the end of the file, and for bytes that are not a box. */
async function readBox(handle: FileHandle, at: number): Promise<{ type: string; length: number } | null> {
  const head = Buffer.alloc(LONG_HEAD_BYTES);
  await handle.read(head, 0, LONG_HEAD_BYTES, at);
  const short = head.readUInt32BE(0);
  const isLong = short === 1;
  const length = isLong ? Number(head.readBigUInt64BE(SHORT_HEAD_BYTES)) : short;
  if (length < (isLong ? LONG_HEAD_BYTES : SHORT_HEAD_BYTES)) return null;
  return { type: head.toString('latin1', 4, SHORT_HEAD_BYTES), length };
}
