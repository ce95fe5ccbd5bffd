/** The style of burned subtitles. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { usageFailure } from '../../base/failure.ts';
import { textOption } from '../../base/option.ts';
import type { Look } from '../../media/subtitles/look.ts';
import type { Io } from './context.ts';

export const SUBTITLE_STYLE_OPTION = {
  subtitleStyle: textOption(
    'name',
    'style of burned subtitles: plain, box, vertical, or a JSON file of your own; they are then burned in on this machine (default: plain, or vertical where the picture is higher than wide)',
    { tool: 'default' },
  ),
};

/** @param given the value of the option  @returns undefined without it  @throws Failure (`usage`, STYLE_INVALID) */
export async function readLook(
  given: string | undefined,
  { cwd }: Pick<Io, 'cwd'>,
): Promise<Look | undefined> {
  if (given === undefined) return undefined;
  const { builtInLook, LOOK_NAMES, parseLook } = await import('../../media/subtitles/look.ts');
  const known = builtInLook(given);
  if (known !== null) return known;
  const text = await readFile(resolve(cwd, given), 'utf8').catch(() => null);
  const look = text === null ? 'there is no such style or file' : parseLook(text);
  if (typeof look !== 'string') return look;
  const advice = `Use ${LOOK_NAMES.join(', ')}, or a file by docs/burned-style.schema.json.`;
  throw usageFailure('STYLE_INVALID', `the subtitle style ${given} cannot be used: ${look}`, advice);
}
