/** Which track tells how speech fits the lines, and what is said when none can. */
import type { JobGroup } from './page-entries.ts';
import type { ReportFit, ReportSubtitle, TrackRole } from './page-facts.ts';
import type { MeasuredTrack } from './page-tracks.ts';
import { measureFit } from './speech-fit.ts';

const UNSPOKEN =
  'the translation changed after the video was made, so its voice speaks an earlier text; run the same command again to update it';

/** Measures the dub against the lines that it speaks; without one, the voice of the original against its own. */
export function readFit(
  group: JobGroup,
  tracks: readonly MeasuredTrack[],
  subtitles: readonly ReportSubtitle[],
): ReportFit {
  const linesOf = (role: ReportSubtitle['role']) =>
    subtitles.find((found) => found.role === role)?.lines ?? [];
  if (subtitles.some(({ is_unspoken: isUnspoken }) => isUnspoken))
    return { measured_on: null, reason: UNSPOKEN };
  const translated = linesOf('translated');
  const original = linesOf('original');
  if (translated.length + original.length === 0) return { measured_on: null, reason: 'no subtitles' };
  const sound = (role: TrackRole) => tracks.find(({ track }) => track.role === role)?.sound ?? null;
  const candidates = [
    { role: 'dub', lines: translated },
    // With the original sound taken away, what is left in the video is the dub alone.
    ...(hasDubAlone(group) ? [{ role: 'localized', lines: translated } as const] : []),
    ...(translated.length === 0 ? [{ role: 'voice', lines: original } as const] : []),
  ] as const;
  for (const { role, lines } of candidates) {
    const heard = sound(role);
    if (heard !== null && lines.length > 0) {
      return { measured_on: role, lines: measureFit(lines, heard.loudness) };
    }
  }
  return { measured_on: null, reason: explain(translated.length > 0, sound('localized') !== null) };
}

function hasDubAlone(group: JobGroup): boolean {
  const localizations = group.jobs.filter(({ kind }) => kind === 'auto_localization');
  return localizations.at(-1)?.options.original_audio === 'mute';
}

function explain(isTranslated: boolean, isLocalized: boolean): string {
  if (!isTranslated) return 'no track with the voice alone: vloc separate makes one';
  return isLocalized
    ? 'the dub is mixed with the background here, so speech cannot be measured in it: vloc dub makes a track with the voice alone'
    : 'no dub: vloc dub makes one';
}
