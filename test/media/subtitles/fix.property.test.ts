/** What `fix` promises, on random files of all formats, languages and styles. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkSubtitle, type SubtitleStandard, textOf } from '../../../src/media/subtitles/check.ts';
import { fixSubtitle } from '../../../src/media/subtitles/fix.ts';
import { type ScannedCue, scanText } from '../../../src/media/subtitles/read-subtitle.ts';
import { builtInStyle, chooseLimits, STYLE_NAMES } from '../../../src/media/subtitles/style.ts';
import type { SubtitleFormat } from '../../../src/protocol/subtitle-line.ts';

const WORDS = [
  ...['a', 'the', 'I', 'word', 'another', 'extraordinarily', '42', '-', '- Yes?', '♪ la', 'a & b', '1 < 2'],
  ...['...', '今天天气很好。', 'これはペンです', '안녕하세요', 'السلام', 'नमस्ते', 'สวัสดีครับ'],
  ...['\u00A0', 'e\u0301', '😀'],
];
const TAGS: Record<SubtitleFormat, readonly string[]> = {
  srt: ['<i>', '</i>', '{\\an8}', '<font color="red">', '</font>'],
  vtt: ['<i>', '</i>', '<v Ana>', '</v>', '<00:00:01.000>', '&amp;', '&nbsp;'],
  ass: ['{\\i1}', '{\\i0}', '{\\pos(1,2)}', '\\h', '{note}'],
};
const BETWEEN: Record<SubtitleFormat, readonly string[]> = {
  srt: [' ', ' ', ' ', '\n', ''],
  vtt: [' ', ' ', ' ', '\n', ''],
  ass: [' ', ' ', ' ', '\\N', '\\n', ''],
};

const cue = (format: SubtitleFormat) =>
  fc.record({
    wait: fc.oneof(fc.integer({ min: -1500, max: 3000 }), fc.constantFrom(0, 40, 80, -40)),
    lasts: fc.integer({ min: -200, max: 9000 }),
    text: fc
      .array(
        fc.tuple(
          fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...WORDS) }, fc.constantFrom(...TAGS[format])),
          fc.constantFrom(...BETWEEN[format]),
        ),
        { minLength: 1, maxLength: 12 },
      )
      .map((parts) => parts.flat().join('').replace(/\n+/g, '\n').trim() || 'x'),
  });

function clock(ms: number, separator: string, digits: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const fraction = String(ms % 1000)
    .padStart(3, '0')
    .slice(0, digits);
  return `${two(Math.floor(ms / 3_600_000))}:${two(Math.floor(ms / 60_000) % 60)}:${two(Math.floor(ms / 1000) % 60)}${separator}${fraction}`;
}

interface Cue {
  readonly wait: number;
  readonly lasts: number;
  readonly text: string;
}

function writeFile(format: SubtitleFormat, cues: readonly Cue[], lineBreak: string): string {
  let at = 0;
  const rows = cues.map(({ wait, lasts, text }, index) => {
    const start = Math.max(0, at + wait);
    const end = Math.max(0, start + lasts);
    at = Math.max(start, end);
    if (format === 'ass')
      return `Dialogue: 0,${clock(start, '.', 2)},${clock(end, '.', 2)},Default,,0,0,0,,${text.replaceAll('\n', '\\N')}`;
    const separator = format === 'srt' ? ',' : '.';
    const times = `${clock(start, separator, 3)} --> ${clock(end, separator, 3)}`;
    return `${index + 1}\n${times}${format === 'vtt' ? ' align:start' : ''}\n${text}\n`;
  });
  const head = { srt: '', vtt: 'WEBVTT\n\n', ass: '[Script Info]\nScriptType: v4.00+\n\n[Events]\n' }[format];
  return (head + rows.join('\n')).replaceAll('\n', lineBreak);
}

const file = fc.constantFrom<SubtitleFormat>('srt', 'vtt', 'ass').chain((format) =>
  fc.record({
    format: fc.constant(format),
    content: fc
      .tuple(fc.array(cue(format), { minLength: 1, maxLength: 4 }), fc.constantFrom('\n', '\r\n'))
      .map(([cues, lineBreak]) => writeFile(format, cues, lineBreak)),
    style: fc.constantFrom(...STYLE_NAMES),
    language: fc.constantFrom(null, 'en', 'es', 'ja', 'zh', 'ko'),
    rate: fc.constantFrom(null, 23.976, 30, 50),
    shotsMs: fc
      .array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 6 })
      .map((shots) => shots.sort((a, b) => a - b)),
    videoMs: fc.constantFrom(null, 20_000),
  }),
);

const STYLES = new Map(STYLE_NAMES.map((name) => [name, builtInStyle(name)]));

/** The codes of each cue. A time may be better for one rule only. */
const broken = (cues: readonly ScannedCue[], standard: SubtitleStandard) =>
  new Set(checkSubtitle(cues, standard).map(({ code, cue }) => `${cue} ${code}`));
/** Everything but times and line breaks, tags in their order first. */
const content = (bytes: Uint8Array, format: SubtitleFormat) => {
  const text = Buffer.from(bytes).toString('utf8');
  const tags = text.match(/<[^<>\n]*>|\{[^{}\n]*\}|&\w+;/g) ?? [];
  const rest = text.replace(/\d+:\d+:\d+[.,]\d+/g, '').replace(format === 'ass' ? /\\N|\s/gi : /\s/g, '');
  return tags.join('') + rest;
};
const lettersOf = (cues: readonly ScannedCue[]) =>
  cues.map((each) => each.text.replace(/\s/g, '')).join('\n');

const FILES = process.env.VLOC_LONG_TESTS === '1' ? 10_000 : 300;

test('fix keeps words, tags and order, breaks no rule more, and finds nothing to do a second time', () => {
  let fixed = 0;
  fc.assert(
    fc.property(file, ({ format, content: text, style, language, rate, shotsMs, videoMs }) => {
      const name = `talk.${format}`;
      const bytes = Buffer.from(text);
      const before = scanText(bytes, name).cues;
      const limits = chooseLimits(STYLES.get(style) ?? {}, language, textOf(before), rate);
      const standard: SubtitleStandard = { limits, videoMs, shotsMs, isSpoken: false };
      const once = fixSubtitle(bytes, name, () => standard);
      fixed += once.changedCues;
      const after = scanText(once.bytes, name).cues;
      const known = broken(before, standard);
      const twice = fixSubtitle(once.bytes, name, () => standard);
      const promises = {
        'everything but times and line breaks stays': content(once.bytes, format) === content(bytes, format),
        'each cue has the same letters': lettersOf(after) === lettersOf(before),
        'no cue breaks another rule': [...broken(after, standard)].every((each) => known.has(each)),
        'a second time, nothing changes':
          twice.changedCues === 0 && Buffer.compare(twice.bytes, once.bytes) === 0,
      };
      const wrong = Object.entries(promises).filter(([, isKept]) => !isKept);
      if (wrong.length > 0) throw new Error(wrong.map(([promise]) => promise).join(', '));
    }),
    { numRuns: FILES, seed: 34 },
  );
  expect(fixed).toBeGreaterThan(FILES);
});
