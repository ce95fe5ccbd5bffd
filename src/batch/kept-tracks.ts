/** Names, in records, what this machine does to a finished video. */
import { hash } from 'node:crypto';
import type { KeptResult } from './item.ts';

/** Tracks of its source that are added. */
export const KEPT_TRACKS = ['audio', 'subtitles', 'audio and subtitles'] as const;
export type KeptTracks = (typeof KEPT_TRACKS)[number];

/** @returns undefined for none */
export function nameKept(audio: boolean, subtitles: boolean): KeptTracks | undefined {
  if (audio) return subtitles ? 'audio and subtitles' : 'audio';
  return subtitles ? 'subtitles' : undefined;
}

export function isKept(what: 'audio' | 'subtitles', kept: KeptTracks): boolean {
  return kept === what || kept === 'audio and subtitles';
}

/** @returns undefined for nothing */
export function nameWork(work: KeptResult | undefined): string | undefined {
  const { tracks, burned } = work ?? {};
  const style = burned === undefined ? [] : [`subtitle style ${digestLook(burned)}`];
  return [tracks ?? [], style].flat().join(', ') || undefined;
}

/** So many digits tell the styles of one video apart. */
const DIGITS = 8;

function digestLook({ look }: NonNullable<KeptResult['burned']>): string {
  return hash('sha256', JSON.stringify(Object.entries(look).toSorted())).slice(0, DIGITS);
}
