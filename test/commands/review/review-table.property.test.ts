import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTableFile } from '../../../src/batch/inputs/lists.ts';
import {
  digestText,
  protectText,
  readRows,
  unprotectText,
  writeRows,
} from '../../../src/commands/review/review-table.ts';
import { writeCsv, writeWorkbook } from '../../../src/commands/review/write-table.ts';
import { normalizeCueText } from '../../../src/protocol/srt.ts';
import { makeFolder } from '../../support/make-folder.ts';

/** Texts of cues, with what spreadsheets and their formats treat in a way of their own. */
const aText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 6 }),
      fc.constantFrom(
        '=',
        "'",
        '+',
        '-',
        '@',
        '"',
        ';',
        ',',
        '\t',
        '\n',
        '1/2',
        '007',
        '1,5',
        '_x0041_',
        '\u0007',
        '＝',
        '<i>',
        '&amp;',
        'ع',
        '日本',
      ),
    ),
    { maxLength: 5 },
  )
  .map((parts) => normalizeCueText(parts.join('')).replace(/^\uFEFF+/, ''));
const aTag = fc.constantFrom('es', 'pt-BR', 'zh-Hant', 'ar', 'fr');

test('protection is undone exactly, and changes no text that has none', () => {
  fc.assert(
    fc.property(fc.oneof(aText, fc.string()), (text) => {
      expect(unprotectText(protectText(text))).toBe(text);
      expect(protectText(text)).not.toMatch(/^[=+\-@\t\r]/);
    }),
  );
});

test('a table that is written and read has the same texts, in CSV with any separator and in XLSX', async () => {
  const folder = makeFolder();
  const rowsOf = (languages: readonly string[], texts: readonly (readonly string[])[]) =>
    texts.map((own, at) => {
      const named = [
        ['source', own[0] ?? ''] as const,
        ...languages.map((tag, place) => [tag, own[place + 1] ?? ''] as const),
      ];
      const place = (text: string) => ({
        file: '=a, b.srt',
        cue: at + 1,
        start_ms: at,
        end_ms: at + 1,
        text: digestText(text),
      });
      return {
        places: new Map(named.map(([role, text]) => [role, place(text)])),
        texts: new Map(named),
        speaker: own[0] ?? '',
        reasons: own,
      };
    });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(aTag, { minLength: 1 }),
      fc.array(fc.array(aText, { minLength: 6, maxLength: 6 }), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(',', ';', '\t', 'xlsx'),
      async (languages, texts, form) => {
        const rows = rowsOf(languages, texts);
        const table = writeRows(rows, languages);
        const path = join(folder, 'table');
        const csv = async () => {
          const quoted = table.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(form));
          return form === ',' ? writeCsv(table) : quoted.join('\r\n');
        };
        await writeFile(path, form === 'xlsx' ? await writeWorkbook(table, () => true) : await csv());
        const read = await readTableFile(path, { cwd: folder, stdin: Readable.from([]) });
        const found = typeof read === 'string' ? [read] : readRows(read);
        expect(found).toEqual({
          lost: [],
          rows: rows.map(({ places, texts: own }, at) => ({
            row: at + 2,
            places,
            texts: new Map([...own].filter(([role]) => role !== 'source')),
            problem: null,
          })),
        });
      },
    ),
    { numRuns: 25 },
  );
});
