import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countColumns, ROW_COLUMNS, wrapText } from '../../../src/media/subtitles/wrap.ts';

test('short text stays on one row', () => {
  expect(wrapText('He was not an ill disposed young man.')).toBe('He was not an ill disposed young man.');
});

test('longer text is divided into rows of about the same length', () => {
  expect(
    wrapText('Had he married a more amiable woman he might have been made still more respectable.'),
  ).toBe('Had he married a more amiable\nwoman he might have been made\nstill more respectable.');
  expect(wrapText('He might even have been made amiable himself in the end')).toBe(
    'He might even have been made\namiable himself in the end',
  );
});

test('no word is lost or split, and no row is too long', () => {
  const words = fc.array(fc.string({ minLength: 1, maxLength: 12 }).map((word) => word.replace(/\s/g, '-')));
  fc.assert(
    fc.property(words, (list) => {
      const rows = wrapText(list.join(' ')).split('\n');
      expect(rows.join(' ')).toBe(list.join(' '));
      for (const row of rows) expect(countColumns(row)).toBeLessThanOrEqual(ROW_COLUMNS);
    }),
  );
});

test.each([
  [
    'Japanese',
    '私たちの新しい映画は来週の金曜日に公開されます。「ぜひ映画館でご覧ください」と監督は言いました。',
  ],
  ['Chinese', '我们的新电影将于下周五上映，导演说：“请一定要去电影院观看。”我们非常期待您的光临和宝贵意见。'],
  ['Thai', 'ภาพยนตร์เรื่องใหม่ของเราจะเข้าฉายในวันศุกร์หน้า ผู้กำกับกล่าวว่าขอเชิญชมในโรงภาพยนตร์ทั่วประเทศ'],
])('%s is wrapped between words, and no row begins with closing punctuation', (_language, text) => {
  const rows = wrapText(text).split('\n');
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
  for (const row of rows) {
    expect(countColumns(row)).toBeLessThanOrEqual(ROW_COLUMNS);
    expect(row).not.toMatch(/^[、。，：」”ーๆ\p{M}]|[「“]$/u);
  }
});

test('East Asian characters count as two columns, combining marks as none', () => {
  expect(countColumns('日本語 a')).toBe(8);
  expect(countColumns('ที่')).toBe(1);
  expect(countColumns('한국어')).toBe(6);
});

test('a word longer than a row is only split on request', () => {
  const address = `https://example.com/${'a'.repeat(40)}`;
  expect(wrapText(`See ${address}`)).toBe(`See\n${address}`);
  const rows = wrapText(`See ${address}`, 'split').split('\n');
  expect(rows.slice(1).join('')).toBe(address);
  for (const row of rows) expect(countColumns(row)).toBeLessThanOrEqual(ROW_COLUMNS);
});
