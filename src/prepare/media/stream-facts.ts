/** What a file that we wrote holds, counted packet by packet. */
import * as v from 'valibot';
import { fileAddress } from '../../engines/media/arguments.ts';
import type { Programs } from '../../engines/programs.ts';
import type { Run } from './source.ts';

export interface PictureCount {
  readonly frames: number;
  readonly codec: string;
  /** Equal for files whose pictures one decoder can show one after the other. */
  readonly parameters: string;
  readonly width: number;
  readonly height: number;
}

const CountSchema = v.object({
  streams: v.tuple([
    v.object({
      codec_name: v.string(),
      width: v.number(),
      height: v.number(),
      nb_read_packets: v.pipe(v.string(), v.transform(Number)),
      extradata_hash: v.optional(v.string(), ''),
      pix_fmt: v.optional(v.string(), ''),
      time_base: v.string(),
    }),
  ]),
});

/** Counts the frames of an MP4 of ours. @throws when it has no picture */
export async function countFrames(programs: Programs, file: string, run: Run): Promise<PictureCount> {
  const entries = 'stream=codec_name,width,height,pix_fmt,time_base,nb_read_packets,extradata_hash';
  const args = [
    ...['-v', 'error', '-protocol_whitelist', 'file', '-format_whitelist', 'mov'],
    ...['-select_streams', 'v:0', '-count_packets', '-show_data_hash', 'sha256', '-show_entries', entries],
    ...['-of', 'json', '-i', fileAddress(file)],
  ];
  const json = await programs.run('ffprobe', args, run);
  const [picture] = v.parse(v.pipe(v.string(), v.parseJson(), CountSchema), json.toString('utf8')).streams;
  const { codec_name, width, height, pix_fmt, time_base, extradata_hash } = picture;
  return {
    frames: picture.nb_read_packets,
    codec: codec_name,
    parameters: [codec_name, width, height, pix_fmt, time_base, extradata_hash].join(' '),
    width,
    height,
  };
}
