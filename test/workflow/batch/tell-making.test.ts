/** What commands say of how results were made: real services, real HTTP, engines that name others. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CueFit, Making } from '../../../src/engines/engine.ts';
import { startVloc } from '../../commands/support/run-vloc.ts';
import { startStaging } from '../../stages/staging.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';
const LENGTHS = { seconds: 1, allowedSeconds: 1, cutSeconds: 0 };
const FASTER: CueFit = { cues: [1], fit: 'speed', speed: 1.25, tempo: 1, ...LENGTHS };
const CUT: CueFit = { cues: [2, 3], fit: 'cut', speed: 1.4, tempo: 4, ...LENGTHS, cutSeconds: 0.5 };

const OWN: Making = { engines: [{ step: 'speak', engine: 'openai kokoro', skipped: [] }], fits: [] };
const FALLBACK: Making = {
  engines: [{ step: 'speak', engine: 'espeak-ng', skipped: ['openai kokoro'] }],
  fits: [FASTER, CUT],
};
const NOTE = 'spoken by espeak-ng instead of openai kokoro, which does not support the language.';
const WARNING = '2 cues were too long to be spoken in their time and are cut off: 2, 3.';
const ADVICE = 'Shorten their text in the subtitles, then dub them with --clobber.';

/** How the service and the command say what FALLBACK did. */
const SAID = {
  engines: FALLBACK.engines,
  cues: [
    { cues: [1], fit: 'speed', speed: 1.25, tempo: 1, cut_seconds: 0 },
    { cues: [2, 3], fit: 'cut', speed: 1.4, tempo: 4, cut_seconds: 0.5 },
  ],
};

async function start(making: Making, count = 1) {
  const vloc = await startVloc();
  vloc.engines.tellMaking(making);
  const names = Array.from({ length: count }, (_, at) => `${at}.srt`);
  for (const name of names) await writeFile(join(vloc.folder, name), SRT);
  return { ...vloc, dub: ['dub', ...names, '--to', 'es', '--out', 'out'] };
}

const countOf = (text: string, part: string) => text.split(part).length - 1;

test('a job by a fallback names the replaced engine, warns of cut cues, and says what to do', async () => {
  const vloc = await start(FALLBACK);
  const { code, stderr } = await vloc.run(vloc.dub);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain(`0.srt → es: ${NOTE}\n! 0.srt → es: ${WARNING}\n${ADVICE}`);
});

test('a job by the preferred engine, all of whose cues fit, prints nothing', async () => {
  const vloc = await start({ ...OWN, fits: [FASTER] });
  const { code, stderr } = await vloc.run(vloc.dub);
  expect(code, stderr).toBe(0);
  expect(stderr).not.toMatch(/kokoro|cut off|Shorten/);
});

test('a job that reuses a step reports it, several of them in one line', async () => {
  const reused = { step: 'speak', engine: 'espeak-ng', skipped: [], reused: true } as const;
  const vloc = await start({ engines: [reused] }, 2);
  const { code, stdout, stderr } = await vloc.run([...vloc.dub, '-o', 'json']);
  expect(code, stderr).toBe(0);
  // In the order in which they finished.
  expect(stderr).toMatch(/(0\.srt → es, 1|1\.srt → es, 0)\.srt → es: dub reused, not done again\.\n/);
  expect(JSON.parse(stdout).data[0].making.engines).toEqual([reused]);
  expect((await vloc.run(['batch', 'report', 'out'])).stdout).toContain('spoken by espeak-ng (reused)');
});

test('many jobs that reuse a step are named in one line at the end', async () => {
  const vloc = await start(
    { engines: [{ step: 'speak', engine: 'espeak-ng', skipped: [], reused: true }] },
    4,
  );
  const { code, stderr } = await vloc.run(vloc.dub);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('3.srt → es');
  expect(countOf(stderr, 'dub reused, not done again.\n')).toBe(1);
});

test('a result without a voice is a warning, immediately and in the status and reports of the batch', async () => {
  const vloc = await start({
    engines: [{ step: 'separate', engine: 'vloc', skipped: [], silent: true }],
  });
  const { code, stderr } = await vloc.run(vloc.dub);
  expect(code, stderr).toBe(0);
  const text = 'no voice was found, so the voice track is silent';
  expect(stderr).toContain(`! 0.srt → es: ${text}.\n`);
  expect((await vloc.run(['batch', 'status', 'out', '--all'])).stdout).toContain('no voice was found');
  expect((await vloc.run(['batch', 'report', 'out', '--format', 'junit'])).stdout).toContain(text);
  expect((await vloc.run(['batch', 'report', 'out'])).stdout).toContain('no voice found');
});

test('--quiet keeps only the warning', async () => {
  const vloc = await start(FALLBACK);
  const { stderr } = await vloc.run([...vloc.dub, '--quiet']);
  expect(stderr).toBe(`! 0.srt → es: ${WARNING}\n`);
});

test('a localization is shortened in its subtitles, which have to be requested first', async () => {
  const vloc = await startStaging();
  vloc.engines.tellMaking(FALLBACK);
  const { code, stderr } = await vloc.run(['localize', 'talk.mp4', '--to', 'es']);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain(`! talk.mp4 → es: ${WARNING}`);
  expect(stderr).toContain('localize with --stop-after translate, edit the subtitles');
  // As advised: the video of the stages replaces the one whose cues were cut off.
  vloc.engines.tellMaking(OWN);
  await vloc.run(['localize', 'talk.mp4', '--to', 'es', '--stop-after', 'translate']);
  await vloc.edit('talk.es.srt', 'GOOD MORNING', 'hi');
  const words = ['localize', 'talk.mp4', '--to', 'es', '--from-subtitles', '--clobber'];
  const shortened = await vloc.run(words);
  expect(shortened.code, shortened.stderr).toBe(0);
  expect(shortened.stderr).not.toContain('cut off');
  expect(vloc.dubbed).toEqual(['hi | AND GOOD NIGHT']);
  const status = await vloc.run(['batch', 'status', '.', '--all']);
  expect(status.stderr).not.toContain('cut off');
});

test('a localization in stages reports it for its dub, and includes it in its result', async () => {
  const vloc = await startStaging();
  vloc.engines.tellMaking(FALLBACK);
  await vloc.run(['localize', 'talk.mp4', '--to', 'es', '--stop-after', 'translate']);
  const { code, stdout, stderr } = await vloc.run([
    'localize',
    'talk.mp4',
    '--to',
    'es',
    '--from-subtitles',
    '-o',
    'json',
  ]);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('Shorten their text in the subtitles beside the video');
  expect(JSON.parse(stdout).data[0].making.cues).toContainEqual(SAID.cues[1]);
});

test('programs get it in the outcome, in the events and with --fields', async () => {
  const vloc = await start(FALLBACK);
  const json = await vloc.run([...vloc.dub, '-o', 'json']);
  expect(JSON.parse(json.stdout).data[0].making).toEqual(SAID);
  const events = await vloc.run([...vloc.dub, '--fresh', '--clobber', '-o', 'ndjson']);
  const lines = events.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const id = lines.find(({ type }) => type === 'created').id;
  expect(lines.filter(({ type }) => type === 'making')).toEqual([{ type: 'making', id, ...SAID }]);
  const chosen = await vloc.run(['jobs', 'get', id, '-o', 'json']);
  expect(JSON.parse(chosen.stdout).result.making).toEqual(SAID);
});

test('without engines of the user, the output is unchanged', async () => {
  const vloc = await start({});
  const { stdout, stderr } = await vloc.run([...vloc.dub, '-o', 'json']);
  expect(Object.keys(JSON.parse(stdout).data[0])).not.toContain('making');
  expect(stderr).not.toMatch(/spoken|cut off/);
  const fields = await vloc.run([...vloc.dub, '--fields', 'input,making', '-o', 'json']);
  expect(JSON.parse(fields.stdout).data).toEqual([{ input: '0.srt', making: null }]);
  const status = await vloc.run(['batch', 'status', 'out', '-o', 'json']);
  expect(Object.keys(JSON.parse(status.stdout).items[0])).not.toContain('making');
  expect((await vloc.run(['batch', 'report', 'out'])).stdout).not.toContain('How it was made');
  expect(await readFile(join(vloc.folder, 'out/.vloc/journal'), 'utf8')).not.toContain('"made"');
});

test('jobs wait reports it for each job that it delivers', async () => {
  const vloc = await start(FALLBACK);
  const { stdout } = await vloc.run([...vloc.dub, '--detach', '-o', 'id']);
  const ended = await vloc.run(['jobs', 'wait', stdout.trim(), '--out', 'there']);
  expect(ended.code, ended.stderr).toBe(0);
  expect(ended.stderr).toContain(NOTE);
  expect(ended.stderr).toContain(WARNING);
  const events = await vloc.run(['jobs', 'download', stdout.trim(), '--out', 'elsewhere', '-o', 'ndjson']);
  expect(events.stdout).toContain(JSON.stringify({ type: 'making', id: stdout.trim(), ...SAID }));
});

test('of many jobs, each cause of a warning, each fallback and the advice are reported once', async () => {
  const vloc = await start(FALLBACK, 6);
  const { code, stderr } = await vloc.run(vloc.dub);
  expect(code, stderr).toBe(0);
  expect(countOf(stderr, WARNING)).toBe(1);
  expect(countOf(stderr, NOTE)).toBe(1);
  expect(countOf(stderr, ADVICE)).toBe(1);
});

test('a name from outside cannot write to the terminal', async () => {
  const vloc = await start({
    engines: [{ step: 'speak', engine: 'a\u001b[2Jb\nc', skipped: ['\u001b]0;x\u0007'] }],
  });
  const { stderr } = await vloc.run(vloc.dub);
  expect(stderr).toMatch(/spoken by a.*b c instead of/);
  expect(stderr).not.toContain('\u001b[2J');
  expect(stderr).not.toContain('\u0007');
});

test('the record of the folder contains it for batch status and batch report', async () => {
  const vloc = await start(FALLBACK, 2);
  await vloc.run(vloc.dub);
  const status = await vloc.run(['batch', 'status', 'out', '--all']);
  expect(status.code, status.stderr).toBe(0);
  expect(status.stderr).toContain(`0.srt → es, 1.srt → es: ${NOTE}`);
  expect(status.stderr).toContain(`! 0.srt → es, 1.srt → es: ${WARNING}`);
  expect(status.stdout).toMatch(/0\.srt → es +done +dub_\w+ +cues cut off: 2, 3/);
  const json = await vloc.run(['batch', 'status', 'out', '-o', 'json', '--fields', 'label,making']);
  expect(JSON.parse(json.stdout).items[0]).toEqual({ label: '0.srt → es', making: SAID });
  const report = await vloc.run(['batch', 'report', 'out']);
  expect(report.stdout).toMatch(/## How it was made\n\n\| item \| engines \| cues cut off \|/);
  expect(report.stdout).toContain(`| 0.srt → es | ${NOTE.slice(0, -1)} | 2, 3 |`);
  const junit = await vloc.run(['batch', 'report', 'out', '--format', 'junit']);
  expect(junit.stdout).toContain(`<system-err>${NOTE.slice(0, -1)}\n${WARNING.slice(0, -1)}</system-err>`);
});
