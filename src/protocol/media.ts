// spec: open — the fields of an upload other than status and purpose are not specified.
/** Measurements of a source video during validation. Durations are in seconds, sizes in pixels, rates in Hz. */
export interface Media {
  readonly duration_seconds: number;
  readonly container: string;
  readonly video: { codec: string; width: number; height: number; frame_rate: number } | null;
  readonly audio: { codec: string; sample_rate: number; channels: number } | null;
}
