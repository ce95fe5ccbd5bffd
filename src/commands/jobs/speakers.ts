/** `vloc recognize --speakers`: finds out on this machine who speaks each line, because services return no speakers. */
import { configurationFailure, Failure } from '../../base/failure.ts';
import type { Turn } from '../../engines/backend.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { SpokenLine, SubtitleLine } from '../../protocol/subtitle-line.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { readEngines } from '../context/engines.ts';
import type { JobOptions } from './job-options.ts';

/** Finds the speakers of lines. @param video local file with the sound of the lines */
export type FindSpeakers = (video: string, lines: readonly SubtitleLine[]) => Promise<readonly SpokenLine[]>;

export type SpeakersContext = Pick<Context, 'io' | 'signal' | 'service'> & {
  readonly terminal: Pick<Context['terminal'], 'warn'>;
};

/**
 * Checks before anything is sent that the speakers can be found and written.
 * @returns undefined without --speakers
 * @throws Failure: `usage` for a format without speakers, `configuration` without an engine
 */
export async function openSpeakers(
  kind: JobKind,
  { speakers, subtitleFormat, detach }: Pick<JobOptions, 'speakers' | 'subtitleFormat' | 'detach'>,
  context: SpeakersContext,
): Promise<FindSpeakers | undefined> {
  if (kind !== 'subtitle_recognition' || speakers !== true) return undefined;
  if (subtitleFormat === undefined || subtitleFormat === 'srt')
    throw invalidCallFailure('--speakers needs a format with speakers', 'Add --subtitle-format vtt or ass.');
  if (detach)
    throw invalidCallFailure(
      '--speakers works on the result, and --detach does not wait for it',
      'Leave one of them out.',
    );
  const [entry] = (await readEngines(context))?.diarize ?? [];
  if (entry === undefined) {
    throw configurationFailure(
      'ENGINE_MISSING',
      '--speakers needs a model that tells speakers apart; nothing was sent',
      'Install it: vloc models install diarization',
    );
  }
  const [{ createParts, withEngine }, { decodeAudio }] = await Promise.all([
    import('../engines/engines.ts'),
    import('../../media/audio/decode-audio.ts'),
  ]);
  const parts = createParts(context);
  const { signal } = context;
  return async (video, lines) => {
    try {
      const turns = await withEngine('diarize', entry, { parts, signal }, async (engine, run) => {
        const work = { ...run, report: () => {} };
        const { mono } = await decodeAudio(parts.programs, video, work, 'convertible');
        return engine.diarize(mono, run);
      });
      return assignSpeakers(lines, turns);
    } catch (error) {
      signal.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      const message = `${video}: the speakers could not be found: ${why}`;
      const advice = 'The recognition is paid and kept: run the same command again, or without --speakers.';
      throw new Failure(
        { category: 'configuration', code: 'ENGINE_ERROR', message, advice },
        { cause: error },
      );
    }
  };
}

/** Gives each line the speaker of most of its time; names follow the order of appearance. Pure. */
export function assignSpeakers(
  lines: readonly SubtitleLine[],
  turns: readonly Turn[],
): readonly SpokenLine[] {
  const names = new Map<number, string>();
  return lines.map((line) => {
    const shares = new Map<number, number>();
    for (const { speaker, start, end } of turns) {
      const share = Math.min(end * 1000, line.end_ms) - Math.max(start * 1000, line.start_ms);
      if (share > 0) shares.set(speaker, (shares.get(speaker) ?? 0) + share);
    }
    const [most] = [...shares].toSorted(([, a], [, b]) => b - a);
    if (most === undefined) return line;
    const name = names.get(most[0]) ?? `Speaker ${names.size + 1}`;
    names.set(most[0], name);
    return { ...line, speaker: name };
  });
}
