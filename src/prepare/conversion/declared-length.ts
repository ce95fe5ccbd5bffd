/** How long AVI and WMV say that they are: of a file that breaks off, ffmpeg tells what is there in its place. */
import { readHead } from '../../disk/read-head.ts';

/** Both begin with the header; its first objects are all that is needed. */
const HEAD_BYTES = 64 * 1024;

/** Seconds, or null where the header does not say it, as of a recording that was never closed. */
export async function readDeclaredLength(file: string, demuxer: string): Promise<number | null> {
  if (demuxer !== 'avi' && demuxer !== 'asf') return null;
  const head = await readHead(file, HEAD_BYTES);
  const seconds = demuxer === 'avi' ? aviLength(head) : asfLength(head);
  return seconds !== null && seconds > 0 ? seconds : null;
}

/** `RIFF`, `AVI `, `LIST`, `hdrl` come first. Source: AVI RIFF File Reference, AVIMAINHEADER. */
const MAIN_HEADER_AT = 24;

/** Frames times their length; in files above 1 GiB these are those of the first GiB, which is less than there are. */
function aviLength(head: Buffer): number | null {
  if (head.toString('latin1', MAIN_HEADER_AT, MAIN_HEADER_AT + 4) !== 'avih') return null;
  if (head.length < MAIN_HEADER_AT + 28) return null;
  const microseconds = head.readUInt32LE(MAIN_HEADER_AT + 8);
  const frames = head.readUInt32LE(MAIN_HEADER_AT + 24);
  return (microseconds * frames) / 1e6;
}

/** Source: ASF specification, "File Properties Object". */
const FILE_PROPERTIES = Buffer.from('a1dcab8c47a9cf118ee400c00c205365', 'hex');
const FILE_PROPERTIES_BYTES = 104;
/** The flag of a stream that was written while it was sent: its lengths are not valid. */
const BROADCAST = 1;

function asfLength(head: Buffer): number | null {
  const at = head.indexOf(FILE_PROPERTIES);
  if (at < 0 || head.length < at + FILE_PROPERTIES_BYTES) return null;
  if ((head.readUInt32LE(at + 88) & BROADCAST) !== 0) return null;
  const played = Number(head.readBigUInt64LE(at + 64)) / 1e7;
  const preroll = Number(head.readBigUInt64LE(at + 80)) / 1e3;
  return played - preroll;
}
