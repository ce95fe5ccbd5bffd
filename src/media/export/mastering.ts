/** Keeps what HDR10 says about the display on which a film was graded: displays adapt their brightness by it. */
import * as v from 'valibot';
import { HEADER_BYTES } from '../probe/header.ts';
import { DECODER_LIMITS, untrustedInput } from '../programs/arguments.ts';
import { ChildFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';

const Fraction = v.pipe(
  v.string(),
  v.regex(/^\d{1,10}\/[1-9]\d{0,9}$/),
  v.transform((text) => {
    const [above = 0, below = 1] = text.split('/').map(Number);
    return above / below;
  }),
);
const Light = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535));

const DisplaySchema = v.object({
  ...{ red_x: Fraction, red_y: Fraction, green_x: Fraction, green_y: Fraction },
  ...{ blue_x: Fraction, blue_y: Fraction, white_point_x: Fraction, white_point_y: Fraction },
  ...{ min_luminance: Fraction, max_luminance: Fraction },
});
const LightSchema = v.object({ max_content: Light, max_average: Light });
const FramesSchema = v.object({
  frames: v.tuple([v.object({ side_data_list: v.optional(v.array(v.unknown()), []) })]),
});

/** Returns the options of x265 for the metadata of the first frame; empty if it has none, or cannot be decoded. */
export async function readMastering(
  programs: Programs,
  video: string,
  run: { readonly signal: AbortSignal; readonly folder: string },
): Promise<string> {
  const first = ['-select_streams', 'V:0', '-read_intervals', '%+#1', '-show_entries', 'frame_side_data'];
  const args = ['-v', 'error', ...first, '-of', 'json', ...untrustedInput(video, ['-threads', '1'])];
  try {
    const options = { ...run, limits: DECODER_LIMITS, maxStdoutBytes: HEADER_BYTES };
    return masteringOptions((await programs.run('ffprobe', args, options)).toString('utf8'));
  } catch (error) {
    // The picture is shown without them, only not as well on every display.
    if (error instanceof ChildFailure) return '';
    throw error;
  }
}

/** The same for the JSON of ffprobe. Metadata in another form is skipped. */
export function masteringOptions(json: string): string {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), FramesSchema), json);
  if (!parsed.success) return '';
  const options = parsed.output.frames[0].side_data_list.map((data) => {
    const display = v.safeParse(DisplaySchema, data);
    if (display.success) return displayOption(display.output);
    const light = v.safeParse(LightSchema, data);
    return light.success ? `:max-cll=${light.output.max_content},${light.output.max_average}` : '';
  });
  return options.join('');
}

/** Units of x265: 0.00002 for colours, 0.0001 cd/m² for brightness. */
function displayOption(display: v.InferOutput<typeof DisplaySchema>): string {
  const point = (x: number, y: number) => `(${Math.round(x * 50_000)},${Math.round(y * 50_000)})`;
  const green = point(display.green_x, display.green_y);
  const blue = point(display.blue_x, display.blue_y);
  const red = point(display.red_x, display.red_y);
  const white = point(display.white_point_x, display.white_point_y);
  const [most, least] = [display.max_luminance, display.min_luminance].map((value) =>
    Math.round(value * 10_000),
  );
  return `:master-display=G${green}B${blue}R${red}WP${white}L(${most},${least})`;
}
