import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBatchFacts } from '../../../src/batch/report/batch-facts.ts';
import { listSuites } from '../../../src/batch/report/test-suites.ts';
import { showInvisible } from '../../../src/batch/report/text-reports.ts';
import { writeJunit } from '../../../src/commands/context/output/junit.ts';
import { checkJunit, hasXmllint } from '../../support/xmllint.ts';
import { recordsOf } from '../records/support/records-of.ts';
import { EVERY_STATE, FOLDER, factsOf, NOW } from './journal-records.ts';

const HEAD = { folders: [FOLDER], madeAt: '2026-11-21T02:00:00.000Z' };
const reportOn = (records: typeof EVERY_STATE) =>
  writeJunit(listSuites(readBatchFacts(recordsOf(records), FOLDER, NOW), HEAD));

describe('a batch as JUnit XML', () => {
  it('counts failures and skipped items as CI systems do', () => {
    const xml = reportOn(EVERY_STATE);
    expect(xml).toContain(
      '<testsuite name="out" tests="9" failures="4" errors="0" skipped="4" time="3661.500" timestamp="2026-11-21T02:00:00">',
    );
    expect(xml.match(/<testcase /g)).toHaveLength(9);
    expect(xml).toContain('<testcase name="done → es" classname="vloc.dubbing" time="61.500">');
    expect(xml).toContain('<skipped message="running"/>');
    expect(xml).toContain('<system-out>one.wav</system-out>');
  });

  it('describes a failure with code, job, request and whether it may be temporary', () => {
    const xml = reportOn(EVERY_STATE);
    expect(xml).toContain(
      '<failure type="ENGINE_ERROR" message="it broke">it broke\ncode: ENGINE_ERROR\njob: dub_k-failed\nretryable: yes</failure>',
    );
    expect(xml).toContain('request: req_7');
  });

  it.skipIf(!hasXmllint())(
    'follows the schema of Jenkins, in every state and for shards that have not run',
    () => {
      const facts = readBatchFacts(recordsOf(EVERY_STATE), FOLDER, NOW);
      for (const missing of [[], ['2/3']])
        checkJunit(writeJunit(listSuites({ ...facts, missing_shards: missing }, HEAD)));
    },
  );

  it('shows hostile names instead of interpreting them', () => {
    const xml = reportOn([factsOf("\"/><failure a='&'>\u0000\u001b[2J\u202e\ud800\n]]>")]);
    expect(xml).toContain(
      'name="&quot;/&gt;&lt;failure a=&apos;&amp;&apos;&gt;\\u0000\\u001b[2J\\u202e\\ud800\\u000a]]&gt; → es"',
    );
  });

  it('contains only tags, texts and entities, and every name can be read back, whatever the names', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (labels) => {
        const xml = reportOn([...new Set(labels)].map((label) => factsOf(label)));
        const [, ...lines] = xml.split('\n');
        const texts = lines.join('\n').replace(TAG, '');
        expect(texts).toMatch(/^(\s|&(amp|lt|gt|quot|apos);|[^<>&"'])*$/);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what XML 1.0 forbids
        expect(xml).not.toMatch(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/);
        expect(xml.isWellFormed()).toBe(true);
        const names = Array.from(xml.matchAll(/<testcase name="([^"]*)"/g), ([, name = '']) => decode(name));
        expect(names).toEqual([...new Set(labels)].map((label) => showInvisible(`${label} → es`)));
      }),
      { numRuns: 30 },
    );
  });
});

/** A start, end or empty tag whose attributes are in double quotes. */
const TAG = /<\/?[a-z-]+( [a-z]+="(&(amp|lt|gt|quot|apos);|[^"<>&'])*")*\/?>/g;

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(/&(\w+);/g, (_, name: string) => CHARACTERS[name] ?? '');
}
