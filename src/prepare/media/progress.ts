/** Reads ffmpeg's `-progress pipe:1`. */

/** Takes its lines and reports the fraction of `seconds` that is written; nothing when the length is not known. */
export function trackProgress(seconds: number, report: (fraction: number) => void): (line: string) => void {
  return (line) => {
    const time = /^out_time_us=(\d+)/.exec(line)?.[1];
    if (time !== undefined && seconds > 0) report(Math.min(1, Number(time) / 1e6 / seconds));
  };
}
