// spec: open — the fields of an upload beyond status and purpose are not shown.
/** What validation measured on a source video; durations in seconds, sizes in pixels, rates in Hz. */
export interface Media {
  readonly duration_seconds: number;
  readonly container: string;
  readonly video: { codec: string; width: number; height: number; frame_rate: number } | null;
  readonly audio: { codec: string; sample_rate: number; channels: number } | null;
}
