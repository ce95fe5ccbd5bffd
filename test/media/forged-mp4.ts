/** Makes an MP4 whose header declares less time than its packets fill. */

const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'edts']);

/**
 * Overwrites the durations in the movie, track, media and edit list headers, in place.
 * @param seconds what the header is to declare; the time scale of each box is kept
 */
export function forgeDurations(mp4: Buffer, seconds: number): void {
  let movieScale = 1;
  const walk = (from: number, to: number) => {
    for (let at = from; at + 8 <= to; ) {
      const size = mp4.readUInt32BE(at);
      if (size < 8) return;
      const type = mp4.toString('latin1', at + 4, at + 8);
      const body = at + 8;
      // All boxes are of version 0: four bytes of version and flags, two times of four bytes, then scale and duration.
      if (type === 'mvhd' || type === 'mdhd') {
        const scale = mp4.readUInt32BE(body + 12);
        if (type === 'mvhd') movieScale = scale;
        mp4.writeUInt32BE(seconds * scale, body + 16);
      }
      if (type === 'tkhd') mp4.writeUInt32BE(seconds * movieScale, body + 20);
      if (type === 'elst') mp4.writeUInt32BE(seconds * movieScale, body + 8);
      if (CONTAINERS.has(type)) walk(body, at + size);
      at += size;
    }
  };
  walk(0, mp4.length);
}
