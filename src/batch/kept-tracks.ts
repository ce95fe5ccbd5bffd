/** Names, in records, what this machine does to a finished video. */
import { hash } from 'node:crypto';

/** Tracks of its source that are added. */
export type KeptTracks = 'audio' | 'subtitles' | 'audio and subtitles';

/** @returns undefined for none */
export function nameKept(audio: boolean, subtitles: boolean): KeptTracks | undefined {
  if (audio) return subtitles ? 'audio and subtitles' : 'audio';
  return subtitles ? 'subtitles' : undefined;
}

export function isKept(what: 'audio' | 'subtitles', kept: KeptTracks | undefined): boolean {
  return kept === what || kept === 'audio and subtitles';
}

interface NamedWork {
  readonly tracks?: KeptTracks | undefined;
  readonly burned?: { readonly look: object } | undefined;
  readonly sound?: { readonly extension: string; readonly loudness?: number | undefined } | undefined;
  readonly mark?: { readonly isWanted: boolean | null };
}

/** @returns undefined for nothing */
export function nameWork({ tracks, burned, sound, mark }: NamedWork = {}): string | undefined {
  const style = burned === undefined ? [] : [`subtitle style ${digestLook(burned.look)}`];
  const loudness = sound?.loudness === undefined ? '' : ` at ${sound.loudness} LUFS`;
  const alone = sound === undefined ? [] : [`sound as ${sound.extension.slice(1)}${loudness}`];
  const changes = [tracks ?? [], style, alone].flat();
  // What is changed here has a mark anyway.
  if (mark?.isWanted === false) changes.push('no mark');
  else if (mark?.isWanted === true && changes.length === 0) changes.push('mark');
  return changes.join(', ') || undefined;
}

/** So many digits tell the styles of one video apart. */
const DIGITS = 8;

function digestLook(look: object): string {
  return hash('sha256', JSON.stringify(Object.entries(look).toSorted())).slice(0, DIGITS);
}
