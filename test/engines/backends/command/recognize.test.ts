import { expect, test } from 'vitest';
import { createCommandRecognizer } from '../../../../src/engines/backends/command/recognize.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { createWork } from '../../workspace.ts';
import { createParts, script, soundFile } from '../user-program.ts';

const SRT = '1\\n00:00:01,000 --> 00:00:02,000\\nHola mundo.\\n';
const JSON_TEXT = '{"language":"spanish","segments":[{"start":1,"end":2,"text":" Hola mundo."}]}';

const create = (run: string[], more: object = {}) =>
  createCommandRecognizer({ type: 'command', run, languages: ['es', 'en-US'], ...more }, createParts());

async function recognize(run: string[], more: object = {}, language = 'es-MX') {
  const folder = makeFolder();
  const voice = await soundFile(folder, 3, [[1, 2]]);
  const work = createWork(folder);
  return create(run, more).recognize({ voice, segments: [{ start: 1, end: 2 }], language }, work);
}

const HEARD = [
  { text: 'Hola', start: 1, end: 1.4, segment: 0 },
  { text: 'mundo.', start: 1.4, end: 2, segment: 0 },
];

test('SRT on stdout becomes words', async () => {
  const tool = script(`[ "$(head -c 4 "$1")" = RIFF ] && printf '${SRT}'`);
  expect(await recognize([tool, '{input}'])).toEqual({ language: 'es', words: HEARD, punctuated: true });
});

test('verbose_json on stdout becomes words', async () => {
  const tool = script(`echo '${JSON_TEXT}'`);
  expect((await recognize([tool, '{input}'], { format: 'verbose_json' })).words).toEqual(HEARD);
});

test.each([
  ['the file at the given path', `printf '${SRT}' > "$2"`, '{output}'],
  ['that file with another extension', `printf '${SRT}' > "$2.srt"`, '{output}'],
  ['a file in the given folder', `echo log; printf '${SRT}' > "$2/$(basename "$1" .wav).srt"`, '{out}'],
])('the words may be in %s', async (_, body, placeholder) => {
  expect((await recognize([script(body), '{input}', placeholder])).words).toEqual(HEARD);
});

test('the language is the requested one, else the recognized one, else the first', async () => {
  const srt = script(`printf '%s' "$2" >&2; printf '${SRT}'`);
  const json = script(`echo '${JSON_TEXT}'`);
  const said = async (tool: string, language: string, format: string) =>
    (await recognize([tool, '{input}'], { format }, language)).language;
  expect(await said(srt, 'en', 'srt')).toBe('en-US');
  expect(await said(json, 'auto', 'verbose_json')).toBe('es');
  expect(await said(srt, 'auto', 'srt')).toBe('es');
});

test('the program receives the language as engines.json names it', async () => {
  const tool = script(`printf '1\\n00:00:01,000 --> 00:00:02,000\\n%s\\n' "$2"`);
  const told = async (language: string, more = {}) =>
    (await recognize([tool, '{input}', '{language}'], more, language)).words[0]?.text;
  expect(await told('en')).toBe('en-US');
  expect(await told('auto')).toBe('auto');
  expect(await told('auto', { languages: ['es'] })).toBe('es');
});

test('words without marks are not punctuated', async () => {
  const tool = script(`printf '1\\n00:00:01,000 --> 00:00:02,000\\nhola mundo\\n'`);
  expect((await recognize([tool, '{input}'])).punctuated).toBe(false);
});

test.each([
  ['true', '{input}', 'wrote no SRT to its standard output'],
  ['true', '{output}', 'did not write its SRT file'],
  ['touch "$2/a.srt" "$2/b.srt"', '{out}', 'wrote 2 .srt files instead of one'],
  ['truncate -s 1T "$2"', '{output}', 'wrote 1099511627776 bytes into its SRT file; the limit is 33554432'],
  ['echo Loading', '{input}', 'did not write SRT: row 1: expected a number and times'],
])('a program that runs %s with %s is a failure that names it', async (body, placeholder, message) => {
  const run = recognize([script(body, 'whisper'), '{input}', placeholder]);
  await expect(run).rejects.toMatchObject({
    code: 'ENGINE_ERROR',
    message: expect.stringContaining(`command whisper ${message}`),
  });
});

test('an entry needs languages and the placeholder of the sound', () => {
  expect(() => create(['whisper', '{input}'], { languages: undefined })).toThrow(
    'command whisper: add "languages" with those that the program recognizes',
  );
  expect(() => create(['whisper'])).toThrow('"run" must contain {input}');
});
