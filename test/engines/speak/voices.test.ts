import { expect, test } from 'vitest';
import { chooseVoice, noVoiceFor, parseVoices, voiceNames } from '../../../src/engines/speak/voices.ts';

const TABLE = `Pty Language       Age/Gender VoiceName          File                 Other Languages
 5  en-us           --/M      English_(America)  gmw/en-US            (en 3)
 2  en-gb           --/M      English_(Great_Britain) gmw/en               (en 2)
 5  cmn             --/M      Chinese_(Mandarin) sit/cmn              (zh-cmn 5)(zh 5)
 3  es-es           --/F      spanish-mbrola-3   mb/mb-es3            (es 3)
 5  es              --/M      Spanish_(Spain)    roa/es
 5  es-419          --/M      Spanish_(Latin_America) roa/es-419           (es-mx 6)(es 6)
`;
const voices = parseVoices(TABLE);
const parseRow = (rows: string) => parseVoices(`${TABLE.split('\n')[0]}\n${rows}`);

test('voices are named by BCP 47; those that need separate data are omitted', () => {
  expect(voices.map((voice) => voice.language)).toEqual(['en-US', 'en-GB', 'zh', 'es', 'es-419']);
});

test('languages that espeak-ng would spell are omitted, and the refusal says why', () => {
  const rows =
    ' 5  ja --/M Japanese jpx/ja\n 5  hak --/M Hakka_Chinese sit/hak\n 5  kok --/M Konkani inc/kok';
  expect(parseRow(rows)).toEqual([]);
  expect(noVoiceFor('ja-JP')).toBe(
    'there is no voice for Japanese (Japan): the built-in voice (espeak-ng) has no dictionary of its characters and would spell them; an engine of engines.json can speak it (vloc engines add)',
  );
  expect(noVoiceFor('gsw')).not.toContain('dictionary');
});

test('Mandarin is spoken by the voice that reads its characters as Mandarin', () => {
  const rows = ' 5  cmn --/M Chinese sit/cmn\n 5  cmn-latn-pinyin --/M Chinese sit/cmn-Latn-pinyin';
  expect(chooseVoice(parseRow(rows), 'zh-CN', 'female')).toBe('cmn-latn-pinyin+f2');
});

test.each([
  ['es', 'auto', 'es'],
  ['es', 'female', 'es+f2'],
  ['es-ES', 'male', 'es'],
  ['es-MX', 'auto', 'es-419'],
  ['en', 'auto', 'en-us'],
  ['en-AU', 'auto', 'en-us'],
  ['zh-Hans', 'auto', 'cmn'],
  ['xx', 'auto', null],
] as const)('%s, %s, is spoken by %s', (language, mode, name) => {
  expect(chooseVoice(voices, language, mode)).toBe(name);
});

test('each language can be spoken by two voices; the plain one is also the male one', () => {
  expect(voices[3] && voiceNames(voices[3])).toEqual(['es', 'es+f2']);
});
