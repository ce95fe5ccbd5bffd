/** Checks that the fonts of this machine have the characters of burned subtitles, with the renderer that burns them in. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JobFailure } from '../../protocol/job-failure.ts';
import { canonicalLanguage, languageName } from '../../protocol/language-tag.ts';
import { scriptOf } from '../../protocol/languages.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { QUIET } from '../programs/arguments.ts';
import { ChildFailure, ProgramMissing } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { Look } from '../subtitles/look.ts';
import { stripMarkup } from '../subtitles/text.ts';
import { formatAss } from '../subtitles/write.ts';
import type { EngineRun, Subtitle } from '../work.ts';

/** Even one is refused, unlike a rare letter: the text has few of them, and a box says nothing. */
const EMOJI = /\p{Extended_Pictographic}/gu;
/** The language tag of emoji. Source: Unicode Technical Standard 51, "Emoji script". */
const EMOJI_TAG = 'und-Zsye';

/** A text in a few rare characters is burned in with a box for each; a text in an unknown script is not. */
const MISSING_SHARE = 0.05;

/**
 * Checks that burned subtitles can be read.
 * @param lines null if they are not known yet: then the alphabet of the language is checked
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED if no font has their script
 */
export async function requireFont(
  programs: Programs,
  { language, lines }: { readonly language: string; readonly lines: readonly SubtitleLine[] | null },
  run: EngineRun,
): Promise<void> {
  const text = lines === null ? sampleText(language) : lines.map((line) => stripMarkup(line.text)).join('\n');
  const emoji = await findUnshown(programs, language, new Set(text.match(EMOJI)), run);
  if (emoji.length > 0) {
    const message =
      `no font here has the emoji ${emoji.slice(0, 3).join(' ')}, so these subtitles cannot be burned in; ` +
      `install one where the export runs with \`vloc engines install --font ${EMOJI_TAG}\`, remove them, or choose soft subtitles`;
    throw new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
  }
  const missing = await findMissing(programs, language, text, run);
  if (missing.length === 0) return;
  const name = languageName(language);
  const script = scriptName(language);
  const message =
    `no font here has the characters of ${name}${script === null ? '' : ` (script: ${script})`}, such as ` +
    `${missing.slice(0, 3).join(' ')}, so subtitles cannot be burned in; ` +
    `install one where the export runs with \`vloc engines install --font ${language}\`, or choose soft subtitles`;
  throw new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
}

/** Returns the characters of a text that are burned in as boxes, each once. */
export async function findBoxes(
  programs: Programs,
  { language, lines, second }: Subtitle,
  run: EngineRun,
): Promise<string[]> {
  const find = (tag: string, texts: readonly string[]) => {
    const letters = texts.join('\n').match(/[\p{L}\p{M}\p{N}\p{P}\p{S}]/gu);
    return findUnshown(programs, tag, new Set(letters), run);
  };
  const texts = lines.map(({ text }) => stripMarkup(text));
  const sources = lines.flatMap(({ source }) => source ?? []);
  const found = [
    ...(await find(language, texts)),
    ...(second === undefined ? [] : await find(second.language, sources)),
  ];
  return [...new Set(found)];
}

/** Returns whether this machine has a font for burned subtitles in a language. Without ffmpeg it has none. */
export async function hasFont(programs: Programs, language: string, run: EngineRun): Promise<boolean> {
  try {
    return (await findMissing(programs, language, sampleText(language), run)).length === 0;
  } catch (error) {
    if (error instanceof ProgramMissing || error instanceof ChildFailure) return false;
    throw error;
  }
}

/** Returns the missing letters of a text; none if almost all of it can be read. */
async function findMissing(
  programs: Programs,
  language: string,
  text: string,
  run: EngineRun,
): Promise<string[]> {
  const letters = new Set(text.match(/[\p{L}\p{M}\p{N}\p{Emoji_Presentation}]/gu));
  const missing = await findUnshown(programs, language, letters, run);
  return missing.length > letters.size * MISSING_SHARE ? missing : [];
}

/** The name of a language and of the days of the week in that language; empty if they are not known. */
function sampleText(language: string): string {
  const tag = canonicalLanguage(language);
  if (tag === null) return '';
  if (tag === EMOJI_TAG) return '😀🎬🦊';
  const weekday = new Intl.DateTimeFormat([tag, 'und'], { weekday: 'long', timeZone: 'UTC' });
  const days = Array.from({ length: 7 }, (_, day) => weekday.format(day * 24 * 3_600_000));
  return [new Intl.DisplayNames([tag, 'und'], { type: 'language' }).of(tag) ?? '', ...days].join(' ');
}

function scriptName(language: string): string | null {
  const script = scriptOf(language);
  return script === null ? null : (new Intl.DisplayNames(['en'], { type: 'script' }).of(script) ?? null);
}

/** How libass, which renders the subtitles, reports a character that no font has. Some versions use other words. */
const NOT_FOUND = /(?:failed to find any fallback with glyph|Glyph) 0x([0-9A-F]+)(?: not found in font)? for/;

/**
 * Returns the characters that no font has, in order. Asks the renderer, because it knows the fonts of every system.
 * @throws ProgramMissing, ChildFailure
 */
async function findUnshown(
  programs: Programs,
  language: string,
  letters: ReadonlySet<string>,
  run: EngineRun,
): Promise<string[]> {
  if (letters.size === 0) return [];
  const found = await renderText(programs, [...letters].join(' '), { language }, run);
  const missing = new Set(
    found.flatMap((text) => {
      const code = NOT_FOUND.exec(text)?.[1];
      return code === undefined ? [] : String.fromCodePoint(Number.parseInt(code, 16));
    }),
  );
  return [...letters].filter((letter) => missing.has(letter));
}

/** Takes any font for it. */
const UNKNOWN_FAMILY = 'vloc unknown family';
const GENERIC = /^(?:sans-serif|serif|monospace)$/i;
/** How libass reports the font that it takes for a family. */
const SELECTED = /fontselect: \(.*\) -> (?:.*, )?([^,]+)$/;

/**
 * Checks that a font family is installed: another one would be taken without a word.
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED if it is not; ProgramMissing, ChildFailure
 */
export async function requireFamily(programs: Programs, family: string, run: EngineRun): Promise<void> {
  if (GENERIC.test(family)) return;
  const select = async (font: string) => {
    const found = await renderText(programs, 'a', { language: 'und', look: { font } }, run);
    return found.flatMap((text) => SELECTED.exec(text)?.[1]?.trim() ?? [])[0];
  };
  const [own, other] = await Promise.all([family, UNKNOWN_FAMILY].map(select));
  const fold = (name: string | undefined) => (name ?? '').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  if (own !== other || fold(own).startsWith(fold(family))) return;
  const message = `the font "${family}" of the subtitle style is not installed where the export runs; install it, or leave "font" out`;
  throw new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
}

/** Renders a text, and returns what the renderer reports. @throws ProgramMissing, ChildFailure */
async function renderText(
  programs: Programs,
  text: string,
  style: { readonly language: string; readonly look?: Look },
  { signal, folder }: EngineRun,
): Promise<readonly string[]> {
  const own = await mkdtemp(join(folder, 'vloc-font-'));
  try {
    const line = { index: 1, start_ms: 0, end_ms: 1000, text };
    const burning = { ...style, white: 255, pixelAspect: 1 };
    await writeFile(join(own, 'letters.ass'), formatAss([line], { width: 320, height: 180 }, burning));
    const found: string[] = [];
    const picture = ['-f', 'lavfi', '-i', 'color=size=320x180:duration=0.04'];
    const render = ['-vf', 'ass=filename=letters.ass', '-frames:v', '1', '-f', 'null', '-'];
    const args = [...QUIET, '-v', 'verbose', ...picture, ...render];
    await programs.run('ffmpeg', args, { signal, folder: own, onErrorLine: (row) => found.push(row) });
    return found;
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}
