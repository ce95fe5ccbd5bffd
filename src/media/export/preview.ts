/** Draws one picture of a video with its burned subtitles. */
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { planPicture } from '../encode/picture.ts';
import { readAnyHeader } from '../probe/facts.ts';
import { convertibleInput, DECODER_LIMITS, fileAddress, QUIET } from '../programs/arguments.ts';
import { explainFailures, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { Look } from '../subtitles/look.ts';
import type { EngineRun, Subtitle } from '../work.ts';
import { formatBurned } from './export.ts';
import { findBoxes, requireFamily } from './fonts.ts';

interface Preview {
  readonly video: string;
  readonly atSeconds: number;
  /** The cues that are shown then. */
  readonly subtitle: Subtitle;
  readonly look: Look | undefined;
}

const BURNED_FILE = 'preview.ass';
/** Longer than the one picture. */
const SHOWN_MS = 60_000;

/**
 * Writes a PNG, as the export would draw the picture, into the work folder.
 * @returns its path, and the characters that no font has
 * @throws PreparationFailure; JobFailure for colours that cannot be decoded and for a font that is not installed
 */
export function drawPreview(
  programs: Programs,
  { video, atSeconds, subtitle, look }: Preview,
  work: EngineRun,
): Promise<{ readonly path: string; readonly unshown: readonly string[] }> {
  return explainFailures('the preview cannot be drawn', async () => {
    if (look?.font !== undefined) await requireFamily(programs, look.font, work);
    const header = await readAnyHeader(programs, video, work);
    const picture = planPicture(header, 'source', true);
    if (header.video === null || picture.copy) throw noPictureFailure('the file has no picture');
    const lines = subtitle.lines.map((line) => ({ ...line, start_ms: 0, end_ms: SHOWN_MS }));
    await writeFile(join(work.folder, BURNED_FILE), formatBurned(picture, { ...subtitle, lines }, look));
    const { size, pixelAspect } = picture;
    const filters = [
      `scale=${size.width}:${size.height}`,
      `ass=filename=${BURNED_FILE}`,
      `scale=${Math.round(size.width * pixelAspect)}:${size.height}`,
    ];
    const path = join(work.folder, 'preview.png');
    const args = [
      ...[...QUIET, ...convertibleInput(video, ['-ss', String(atSeconds)]), '-map', '0:V:0'],
      ...['-vf', filters.join(','), '-frames:v', '1', '-c:v', 'png', '-f', 'image2', '-update', '1'],
      fileAddress(path),
    ];
    await programs.run('ffmpeg', args, { ...work, limits: DECODER_LIMITS });
    // ffmpeg succeeds after the end of the video, too.
    const written = await stat(path).catch(() => null);
    if (written === null) throw noPictureFailure(`the video has no picture at ${atSeconds} s`);
    return { path, unshown: await findBoxes(programs, subtitle, work) };
  });
}

function noPictureFailure(message: string): PreparationFailure {
  return new PreparationFailure('MEDIA_UNSUPPORTED', message, 'choose another time, or check the file');
}
