/** Sound as the result of an item: its format, and what a request cannot have with it. Pure. */
import { extname } from 'node:path';
import { isCalledSound, type SoundFormat, soundExtension } from '../../base/sound-formats.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { type InputProblem, isCopied, type JobInput } from '../input.ts';
import type { SoundResult } from '../item.ts';
import { isCalledVideo } from './content.ts';
import { givesVideo } from './delivery.ts';
import type { PlanRequest } from './plan-request.ts';
import type { PlannedRequest } from './requests.ts';

/** The sound that is written instead of a video; undefined for none. */
export function chooseSound(
  kind: JobKind,
  input: JobInput,
  { soundOnly = false, loudness }: PlanRequest['options'],
): SoundResult | undefined {
  const own = ownFormat(input);
  const isWanted = own !== undefined || soundOnly;
  if (!givesVideo(kind) || !isWanted || input.type === 'unusable' || isCopied(input)) return undefined;
  const format = own ?? 'm4a';
  const extension = soundExtension(format, own === undefined || input.type !== 'file' ? '' : input.path);
  return { format, extension, ...(loudness === undefined ? {} : { loudness: Number(loudness) }) };
}

/** The format of an input that is sound; undefined for another one. */
export function ownFormat(input: JobInput): SoundFormat | undefined {
  return input.type === 'file' ? input.sound : undefined;
}

/** What a request asks for that its result cannot have: sound no picture, a video no loudness. */
export function findSoundMisfit(
  { kind, options, look }: PlanRequest,
  input: JobInput,
  sound: SoundResult | undefined,
  fields: PlannedRequest['fields'],
): InputProblem | null {
  if (!givesVideo(kind) || input.type === 'unusable' || isCopied(input)) return null;
  if (sound === undefined)
    return options.loudness === undefined
      ? null
      : { pointer: '--loudness', detail: 'is for sound; add --sound-only, or give sound' };
  const { subtitle_output: subtitles = 'none', resolution = 'source', mode } = fields;
  const { oneFile = false } = options;
  const isOwn = ownFormat(input) !== undefined;
  const asked = [
    ...(oneFile && !isOwn
      ? []
      : [
          ...(subtitles === 'none' && look === undefined ? [] : ['--subtitle-output']),
          ...(resolution === 'source' ? [] : ['--resolution']),
          ...(options.keepAudio === true ? ['--keep-audio'] : []),
          ...(options.keepSubtitles === true ? ['--keep-subtitles'] : []),
          ...(oneFile ? ['--one-file'] : []),
        ]),
    ...(mode === 'subtitles_only' ? ['--mode subtitles_only'] : []),
  ];
  const pointer = isOwn ? input.label : '--sound-only';
  if (asked.length > 0) {
    const what = isOwn ? 'is sound without a picture' : 'writes sound without a picture';
    const advice = 'leave it out; --stop-after translate writes translated subtitles';
    return { pointer, detail: `${what}, for which ${asked.join(' and ')} does nothing; ${advice}` };
  }
  const { name = '' } = options;
  const ending = extname(name).toLowerCase();
  const isOther = oneFile || ending !== sound.extension;
  if (!isOther || !(isCalledSound(name) || isCalledVideo(name))) return null;
  const results = oneFile
    ? `the results are .mp4 and ${sound.extension}`
    : `the result is ${sound.extension}`;
  return { pointer: '--name', detail: `ends in ${ending}, and ${results}; end it in {ext}` };
}
