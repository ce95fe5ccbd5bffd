/** Names, in records, the tracks of a source that are added to a finished video. */
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
