/** The five capabilities, with the names used in the `object` field. Source: specification, "What the service does". */
export const JOB_KIND_NAMES = [
  'audio_separation',
  'subtitle_recognition',
  'subtitle_translation',
  'dubbing',
  'auto_localization',
] as const;

export type JobKind = (typeof JOB_KIND_NAMES)[number];
