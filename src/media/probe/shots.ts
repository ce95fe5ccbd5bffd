/** Finds the shot changes of a video. */
import { convertibleInput, ENCODER_LIMITS, QUIET } from '../programs/arguments.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';

/** Pictures are compared in this width: cuts are found as well as in the full one, in a third of the time. */
const WIDTH = 320;
/** The default of `scdet`: hard cuts score above 20, motion of a camera below 8. Source: ffmpeg, "scdet". */
const THRESHOLD = 10;

/**
 * Returns the times at which a shot begins, in whole milliseconds and in order. Decodes the whole video.
 * @throws ProgramMissing, ChildFailure if it cannot be decoded
 */
export async function findShots(programs: Programs, video: string, run: EngineRun): Promise<number[]> {
  const filter = `scale=${WIDTH}:-2,scdet=threshold=${THRESHOLD}:sc_pass=1,metadata=print:key=lavfi.scd.time:file=-`;
  const args = [...QUIET, ...convertibleInput(video), '-map', '0:V:0', '-vf', filter, '-f', 'null', '-'];
  const shots: number[] = [];
  const onLine = (line: string) => {
    const [, time] = /^lavfi\.scd\.time=([\d.]+)$/.exec(line) ?? [];
    if (time !== undefined) shots.push(Math.round(Number(time) * 1000));
  };
  await programs.run('ffmpeg', args, { ...run, onLine, limits: ENCODER_LIMITS });
  return shots;
}
