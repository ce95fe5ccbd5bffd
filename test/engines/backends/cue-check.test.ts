import { describe, expect, test } from 'vitest';
import { findCueFault, findSmallModelFault } from '../../../src/engines/backends/cue-check.ts';

const SPANISH = { from: 'en', to: 'es' };

describe('a translation of a cue', () => {
  test.each([
    ['', 'Hello', 'is empty'],
    ['x'.repeat(200), 'Hello', 'is far too long'],
    ['<i>Hola', 'Hello', 'lost or changed a tag'],
    ['<i>Hola</i> <b>mundo</b>', '<i>Hello</i> world', 'lost or changed a tag'],
    ['<i>Hola<i> {\\an8}', '<i>Hello</i> {\\an8}', 'lost or changed a tag'],
    ['{\\an8}<i>Hola</i>', '<i>Hello</i>{\\an8}', null],
    ['Hola', 'Hello', null],
  ] as const)('%j of %j: %s', (text, source, fault) => {
    expect(findCueFault(text, source)).toBe(fault);
  });

  test.each([
    ['你好，世界', SPANISH, 'is in another script'],
    ['Hola, 世界 y mundo', SPANISH, null],
    ['Привет', SPANISH, 'is in another script'],
    ['こんにちは、世界', { from: 'en', to: 'ja' }, null],
    ['안녕하세요', { from: 'en', to: 'ko' }, null],
    ['안녕하세요', { from: 'en', to: 'zh-TW' }, 'is in another script'],
    // Names stay in the script of the source, or in Latin.
    ['Google Chrome', { from: 'ja', to: 'ru' }, null],
    ['123', SPANISH, null],
    ['no sé, no sé, no sé, no sé, ', SPANISH, 'repeats itself'],
  ] as const)('%j with %o: %s', (text, languages, fault) => {
    expect(findSmallModelFault(text, 'Hello', languages)).toBe(fault);
  });

  test('may repeat itself where its source does', () => {
    const source = 'I know, I know, I know, I know, I know';
    expect(findSmallModelFault('lo sé, lo sé, lo sé, lo sé, lo sé', source, SPANISH)).toBeNull();
  });
});
