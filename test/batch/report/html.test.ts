import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { writePage } from '../../../src/batch/report/html.ts';
import type { ReportFacts } from '../../../src/batch/report/page-facts.ts';

const HOSTILE = '</script><script>alert(1)</script><!--';
const facts: ReportFacts = {
  title: HOSTILE,
  attributions: [],
  made_at: '2026-11-21T09:00:00.000Z',
  places: [],
  files: [],
  run_in: '.',
  cost: '1 credit',
  entries: [
    {
      id: 'e1',
      name: HOSTILE,
      language: null,
      variant: null,
      state: 'done',
      jobs: [],
      duration_ms: null,
      misfits: null,
      cuts: null,
      losses: [],
      detail: { tracks: [], subtitles: [], cues: [], fit: { measured_on: null, reason: HOSTILE } },
    },
  ],
};
const parts = { script: 'start();', style: 'p{color:red}' };

test('outside text opens no element, and is read back as it was', () => {
  const page = writePage(facts, parts);
  expect(page.match(/<script/g)).toHaveLength(4);
  expect(page.match(/<\/script/g)).toHaveLength(4);
  expect(page).not.toContain('<!--');
  const list = /id="facts">(.*?)<\/script>/s.exec(page)?.[1] ?? '';
  expect(JSON.parse(list).entries[0].name).toBe(HOSTILE);
  const detail = /id="detail-e1">(.*?)<\/script>/s.exec(page)?.[1] ?? '';
  expect(JSON.parse(detail).fit.reason).toBe(HOSTILE);
});

test('the list contains no details, so that many videos cost little at the start', () => {
  const list = /id="facts">(.*?)<\/script>/s.exec(writePage(facts, parts))?.[1] ?? '';
  expect(JSON.parse(list).entries[0]).not.toHaveProperty('detail');
});

test('the page allows only its own script and style, and media beside it', () => {
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(writePage(facts, parts))?.[1];
  const digest = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain(`script-src '${digest(parts.script)}'`);
  expect(policy).toContain(`style-src '${digest(parts.style)}'`);
  expect(policy).toContain("media-src 'self' file:");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
});
