/** Looks: how burned subtitles are drawn. Source of the JSON Schema of their files. Not the style of a guide, see `style.ts`. */
import * as v from 'valibot';
import { between, described, parseBySchema } from './style.ts';

/** `plain` has outlined letters, `box` a dark box behind them, `vertical` room for what platforms show over portrait pictures. */
export const LOOK_NAMES = ['plain', 'box', 'vertical'] as const;
type LookName = (typeof LOOK_NAMES)[number];

/** Where the schema is published, for `$schema` in a look. */
export const LOOK_SCHEMA_ADDRESS = 'https://unpkg.com/vloc/docs/burned-style.schema.json';

const Colour = v.pipe(
  v.string('must be a string'),
  v.regex(
    /^#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$/,
    'must be #RRGGBB, or #RRGGBBAA with the opacity, such as #000000B3',
  ),
);

/** Lengths are in per cent of the shorter side of the picture, so that they fit every size. */
const LookFile = v.strictObject(
  {
    $schema: v.optional(v.string('must be a string')),
    extends: described(
      v.picklist(LOOK_NAMES, `must be one of ${LOOK_NAMES.join(', ')}`),
      'A built-in style, of which this one changes some values. Default: plain.',
    ),
    font: described(
      v.pipe(
        v.string('must be a string'),
        // ASS separates values by commas and styles by rows.
        v.regex(/^[^,{}\\\r\n]{1,100}$/, 'must be the name of a font family, such as DejaVu Sans'),
      ),
      'Font family. It must be installed on the machine that writes the video. Default: one for the language.',
    ),
    bold: described(v.boolean('must be true or false'), 'Whether letters are bold. Default: false.'),
    size: described(
      between(1, 30),
      'Height of a row, in per cent of the shorter side of the picture. Default: 5.5; 7 in pictures that are higher than wide.',
    ),
    color: described(Colour, 'Colour of the letters. Default: #FFFFFF.'),
    outline: described(between(0, 5), 'Width of the outline, in per cent of the shorter side. Default: 0.3.'),
    outline_color: described(Colour, 'Default: #000000.'),
    box: described(v.nullable(Colour), 'Colour of a box behind the text; null for none. Default: null.'),
    position: described(
      v.picklist(['bottom', 'middle', 'top'], 'must be bottom, middle or top'),
      'Default: bottom.',
    ),
    margin: described(
      between(0, 45),
      'Space to the lower or upper edge, in per cent of the height. Default: 5; 20 in pictures that are higher than wide.',
    ),
    side_margin: described(
      between(0, 45),
      'Space at each side, in per cent of the shorter side. Default: 5; 10 in pictures that are higher than wide.',
    ),
  },
  (issue) => `unknown field, or not an object: ${issue.received}`,
);

export { LookFile };

/** A missing value depends on the shape of the picture, see `chooseLook`. */
export type Look = Omit<v.InferOutput<typeof LookFile>, '$schema' | 'extends'>;

/**
 * Phones show portrait pictures as wide as the screen, and computers much smaller. TikTok, Reels and Shorts cover the lowest fifth
 * with texts and about a tenth at the side with buttons.
 */
const VERTICAL = { size: 7, margin: 20, side_margin: 10 } as const;
const BUILT_IN: Readonly<Record<LookName, Look>> = {
  plain: {},
  // 70 % is what most players use: letters are readable over anything, and the picture is seen through it.
  box: { box: '#000000B3', outline: 0 },
  vertical: VERTICAL,
};

/** Sizes in landscape pictures are those of streaming services. */
const DEFAULTS: WholeLook = {
  font: null,
  bold: false,
  size: 5.5,
  color: '#FFFFFF',
  outline: 0.3,
  outline_color: '#000000',
  box: null,
  position: 'bottom',
  margin: 5,
  side_margin: 5,
};

/** A look with all its values. A missing font is chosen by the language. */
export type WholeLook = Required<Omit<Look, 'font'>> & { readonly font: string | null };

/** @param isPortrait whether the picture is higher than wide */
export function chooseLook(look: Look, isPortrait: boolean): WholeLook {
  return { ...DEFAULTS, ...(isPortrait ? VERTICAL : {}), ...look };
}

/** The built-in look of this name; null if there is none. */
export function builtInLook(name: string): Look | null {
  const known = LOOK_NAMES.find((each) => each === name);
  return known === undefined ? null : BUILT_IN[known];
}

/** Reads the text of a look. @returns why it cannot be used, if it cannot */
export function parseLook(text: string): Look | string {
  const read = parseBySchema(LookFile, text);
  if (typeof read === 'string') return read;
  const { $schema: _, extends: base = 'plain', ...own } = read;
  return { ...BUILT_IN[base], ...own };
}
