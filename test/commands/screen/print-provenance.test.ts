/** Messages about the engines of results and the fit of their speech. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ItemProvenance } from '../../../src/batch/item-provenance.ts';
import { createProvenancePrinter, printProvenance } from '../../../src/commands/screen/print-provenance.ts';
import type { JobKind } from '../../../src/protocol/kind-names.ts';
import { startVloc } from '../support/run-vloc.ts';

const FASTER = { cues: [1], fit: 'speed', speed: 1.1, tempo: 1, cut_seconds: 0 } as const;
const CUT = { cues: [2, 3], fit: 'cut', speed: 1.25, tempo: 1.2, cut_seconds: 0.5 } as const;
const OWN: ItemProvenance = {
  engines: [{ step: 'speak', engine: 'openai kokoro', skipped: [] }],
  cues: [FASTER],
};
const FALLBACK: ItemProvenance = {
  engines: [{ step: 'speak', engine: 'espeak-ng', skipped: ['openai kokoro'] }],
  cues: [FASTER, CUT],
};
const REUSED: ItemProvenance = {
  engines: [{ step: 'speak', engine: 'espeak-ng', skipped: [], reused: true }],
  cues: [],
};
const NOTE = 'spoken by espeak-ng instead of openai kokoro, which does not support the language.';
const WARNING = '2 cues were too long to be spoken in their time and are cut off: 2, 3.';
const FAST = '2 cues are spoken more than 1.15 times as fast as natural: 2 (1.50), 3 (1.50).';
const ADVICE = 'Shorten their text in the subtitles, then dub them with --clobber.';

function recordMessages() {
  const messages: string[] = [];
  return {
    messages,
    note: (text: string) => void messages.push(text),
    warn: (text: string) => void messages.push(`! ${text}`),
  };
}

const itemsOf = (provenance: ItemProvenance, count = 1, kind: JobKind = 'dubbing') =>
  Array.from({ length: count }, (_, at) => ({ label: `${at}.srt → es`, kind, key: null, provenance }));

function messagesOf(items: ReturnType<typeof itemsOf>): readonly string[] {
  const terminal = recordMessages();
  printProvenance(terminal, items, '/');
  return terminal.messages;
}

test('a job by a fallback names the replaced engine, warns of cut cues, and says what to do', () => {
  expect(messagesOf(itemsOf(FALLBACK))).toEqual([
    `0.srt → es: ${NOTE}`,
    `! 0.srt → es: ${WARNING}`,
    `! 0.srt → es: ${FAST}`,
    ADVICE,
  ]);
});

test('a job by the preferred engine, all of whose cues fit, prints nothing', () => {
  expect(messagesOf(itemsOf(OWN))).toEqual([]);
});

test('jobs that reuse a step are reported in one line', () => {
  expect(messagesOf(itemsOf(REUSED, 2))).toEqual(['0.srt → es, 1.srt → es: dub reused, not done again.']);
});

test('a result without a voice is a warning', () => {
  const silent: ItemProvenance = {
    engines: [{ step: 'separate', engine: 'vloc', skipped: [], silent: true }],
    cues: [],
  };
  expect(messagesOf(itemsOf(silent, 1, 'audio_separation'))).toEqual([
    '! 0.srt → es: no voice was found, so the voice track is silent.',
  ]);
});

test('a localization is shortened in its subtitles, which have to be requested first', () => {
  expect(messagesOf(itemsOf(FALLBACK, 1, 'auto_localization')).at(-1)).toContain(
    'localize with --stop-after translate, edit the subtitles',
  );
});

test('each cause of a warning, each fallback and the advice are reported once for many jobs', () => {
  const terminal = recordMessages();
  const printer = createProvenancePrinter(terminal, true, '/');
  for (const item of itemsOf(FALLBACK, 6)) printer.add(item);
  printer.end();
  const count = (part: string) => terminal.messages.filter((text) => text.includes(part)).length;
  expect([count(WARNING), count(FAST), count(NOTE), count(ADVICE)]).toEqual([1, 1, 1, 1]);
});

test('a service that is reached over HTTP states no provenance, so outcomes, status and reports leave it out', async () => {
  const vloc = await startVloc();
  vloc.engines.reportProvenance({ engines: FALLBACK.engines });
  await writeFile(join(vloc.folder, '0.srt'), '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
  const dub = ['dub', '0.srt', '--to', 'es', '--out', 'out'];
  const { code, stdout, stderr } = await vloc.run([...dub, '-o', 'json']);
  expect(code, stderr).toBe(0);
  expect(Object.keys(JSON.parse(stdout).data[0])).not.toContain('provenance');
  expect(stderr).not.toMatch(/spoken|cut off/);
  const fields = await vloc.run([...dub, '--fields', 'input,provenance', '-o', 'json']);
  expect(JSON.parse(fields.stdout).data).toEqual([{ input: '0.srt', provenance: null }]);
  const status = await vloc.run(['batch', 'status', 'out', '-o', 'json']);
  expect(Object.keys(JSON.parse(status.stdout).items[0])).not.toContain('provenance');
  expect((await vloc.run(['batch', 'report', 'out'])).stdout).not.toContain('How it was made');
});
