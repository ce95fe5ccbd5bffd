/** Subtitles of one file with the text of its source. */
import { choiceOption, textOption } from '../../base/option.ts';
import { describeBilingual } from '../../batch/inputs/bilingual-name.ts';
import { pairSource } from '../../media/subtitles/bilingual.ts';
import { readSubtitleFile } from '../../media/subtitles/read-subtitle.ts';
import type { PairedLine, SecondLanguage } from '../../media/work.ts';
import type { SpokenLine } from '../../protocol/subtitle-line.ts';
import { invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { readSubtitles, readWhole, type SubtitleFile } from './subtitles.ts';

export const BILINGUAL_OPTIONS = {
  bilingual: choiceOption(['above', 'below'], 'show the text of --source too, above or below'),
  source: textOption('file', 'the subtitles in the spoken language, for --bilingual'),
};

interface BilingualOptions {
  readonly bilingual?: SecondLanguage['place'] | undefined;
  readonly source?: string | undefined;
}

/** How each translated cue gets its source. */
export interface Pairing {
  readonly second: SecondLanguage;
  readonly pair: (lines: readonly SpokenLine[]) => readonly PairedLine[];
}

/** @param files the translation  @returns null without --bilingual  @throws Failure (`usage`) */
export async function readSource(
  { bilingual: place, source }: BilingualOptions,
  files: readonly SubtitleFile[],
  context: Context,
): Promise<Pairing | null> {
  if (place === undefined && source === undefined) return null;
  if (place === undefined)
    throw invalidCallFailure('--source is for --bilingual', 'Add --bilingual above or --bilingual below.');
  if (source === undefined)
    throw invalidCallFailure(
      'the source is missing',
      'Name it with --source talk.en.srt, or leave --bilingual out, in vloc.config.json if it is set there.',
    );
  const spoken = await readSubtitles([source], {}, context);
  const [only] = spoken;
  if (files.length !== 1 || spoken.length !== 1 || only === undefined)
    throw invalidCallFailure('--bilingual is for one file and its source', 'Use one command for each.');
  for (const { path, label } of [...files, only]) {
    const why = describeBilingual(path);
    if (why !== null) throw invalidCallFailure(`${label} ${why}`, 'Such as talk.es.srt and talk.en.srt.');
  }
  const lines = readWhole(only, readSubtitleFile);
  return {
    second: { place, language: only.language ?? 'und' },
    pair: (translated) => pairSource(translated, lines),
  };
}
