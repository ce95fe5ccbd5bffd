/** Checks that a file is complete before it is converted or cut: the result of a truncated file would look complete. */

import { explaining, PreparationFailure } from '../failure.ts';
import type { VideoFacts } from '../probe/facts.ts';
import { PROBE_LIMITS, seconds } from '../probe/header.ts';
import { breaksOffAt, type LastPacket } from '../probe/packets.ts';
import { foreignInput, type ProgramRun } from '../programs/arguments.ts';
import type { Programs } from '../programs/programs.ts';

/** For all other containers, ffprobe computes the length from what is there. */
const DECLARING = /^(mov|matroska|flv)/;
/** Reading 10 GiB packet by packet takes about ten seconds. */
const PACKET_CPU_SECONDS = 120;

/**
 * Compares the end of the last packet with the length that the header declares, with the tolerance of the service.
 * @throws PreparationFailure MEDIA_CORRUPT if the file is truncated
 */
export async function requireComplete(
  programs: Programs,
  file: string,
  { demuxer }: Pick<VideoFacts, 'demuxer'>,
  run: ProgramRun,
): Promise<void> {
  if (!DECLARING.test(demuxer)) return;
  let declared: number | null = null;
  let last: LastPacket | null = null;
  const onLine = (line: string) => {
    const [section, ...fields] = line.split('|');
    const values = new Map(fields.map((field) => splitOnce(field)));
    if (section === 'format') declared = seconds(values.get('duration')) || null;
    const at = seconds(values.get('pts_time')) ?? seconds(values.get('dts_time'));
    if (at === null || (last !== null && at <= last.at)) return;
    last = { at, lasts: seconds(values.get('duration_time')) ?? 0 };
  };
  // Packets of all streams: a single one may end early, and subtitles may be shown after the last picture.
  const entries = 'packet=pts_time,dts_time,duration_time:format=duration';
  const args = ['-v', 'error', '-show_entries', entries, '-of', 'compact', ...foreignInput(file)];
  const limits = { ...PROBE_LIMITS, cpuSeconds: PACKET_CPU_SECONDS };
  await explaining('the packets of the video cannot be read', () =>
    programs.run('ffprobe', args, { ...run, onLine, limits }),
  );
  // Some containers count from the first packet and some from zero; zero is the more tolerant.
  const end = breaksOffAt(declared, last, 0);
  if (end !== null) throw incompleteFailure(end, declared ?? 0);
}

function splitOnce(field: string): [string, string] {
  const at = field.indexOf('=');
  return [field.slice(0, at), field.slice(at + 1)];
}

function incompleteFailure(end: number, declared: number): PreparationFailure {
  const message = `the video breaks off at ${end.toFixed(1)} s of ${declared.toFixed(1)} s: the file is incomplete`;
  const advice =
    'copy, download or export it again; if this is the only copy, `ffmpeg -i IN -c copy OUT` writes what is left of it as a complete file';
  return new PreparationFailure('MEDIA_CORRUPT', message, advice);
}
