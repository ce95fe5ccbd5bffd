import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import { readXlsx, writeXlsx } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { HAS_STRACE, STRACE } from '../../batch/records/support/strace.ts';
import { openSubtitlesDesk, type SubtitlesDesk, srtCue } from '../subtitles/desk.ts';

type Cells = string[][];

const EN = ['Hello, Anna Smith.', 'It was made in 1984.', 'Thank you very much.'];
const ES = ['Hola, Anna Smith.', 'Fue hecho en 1984.', 'Muchas gracias a todos.'];
const FR = ['Bonjour, Anna Smith.', "C'était fait en 1984.", 'Merci beaucoup.'];

const srt = (texts: readonly string[]) =>
  texts.map((text, at) => srtCue(at + 1, 3 * at + 1, 3 * at + 3, text)).join('');

/** A folder with a text in three languages, and what its table has. */
async function openLesson() {
  const desk = await openSubtitlesDesk();
  await desk.write('lessons/talk.en.srt', srt(EN));
  await desk.write('lessons/talk.es.srt', srt(ES));
  await desk.write('lessons/talk.fr.srt', srt(FR));
  return desk;
}

async function exportTable(desk: SubtitlesDesk, ...words: string[]): Promise<Cells> {
  const ended = await desk.run(
    'export',
    'lessons',
    '--to',
    'es,fr',
    '--out',
    'review.csv',
    '--clobber',
    ...words,
  );
  expect(ended).toMatchObject({ code: 0 });
  return parse(await desk.read('review.csv'), { bom: true });
}

/** Writes a table as a spreadsheet of another language does. */
async function writeTable(
  desk: SubtitlesDesk,
  cells: Cells,
  { separator = ',', lineBreak = '\n', encoding = 'utf8' as BufferEncoding, mark = '\uFEFF' } = {},
) {
  const quote = (cell: string) => `"${cell.replaceAll('"', '""').replaceAll('\n', lineBreak)}"`;
  const rows = cells.map((row) => row.map(quote).join(separator) + lineBreak);
  await desk.write('review.csv', Buffer.from(mark + rows.join(''), encoding));
}

const columnOf = (cells: Cells, title: string) => cells[0]?.indexOf(title) ?? -1;

/** Sets a cell of a row, from 1 without the titles. */
function setCell(cells: Cells, row: number, title: string, text: string): Cells {
  return cells.map((each, at) => (at === row ? each.with(columnOf(cells, title), text) : each));
}

test('a table has a row for each cue of the source, a column for each language and the reasons of attention', async () => {
  const desk = await openLesson();
  await desk.write('lessons/talk.fr.srt', srt([FR[0] ?? '', "C'était en mai.", '']));
  const ended = await desk.run('export', 'lessons', '--to', 'es,fr', '--out', 'review.csv', '-o', 'json');
  expect(JSON.parse(ended.stdout)).toEqual({ file: 'review.csv', texts: 2, rows: 3, attention: 2 });
  const bytes = await readFile(join(desk.folder, 'review.csv'));
  expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  const cells: Cells = parse(bytes, { bom: true });
  expect(cells.map((row) => row.slice(0, -1))).toEqual([
    ['file', 'cue', 'start', 'end', 'speaker', 'source', 'es', 'fr', 'reasons', 'comment'],
    ['lessons/talk.en.srt', '1', '00:00:01,000', '00:00:03,000', '', EN[0], ES[0], FR[0], '', ''],
    ...[
      [
        'lessons/talk.en.srt',
        '2',
        '00:00:04,000',
        '00:00:06,000',
        '',
        EN[1],
        ES[1],
        "C'était en mai.",
        'fr: NUMBER: "1984" is not in the translation',
        '',
      ],
      [
        'lessons/talk.en.srt',
        '3',
        '00:00:07,000',
        '00:00:09,000',
        '',
        EN[2],
        ES[2],
        '',
        'fr: MISSING: its translation is empty',
        '',
      ],
    ],
  ]);
});

test('without an edit no byte changes, and an edited cell changes only its words', async () => {
  const desk = await openLesson();
  const vtt = `\uFEFFWEBVTT\r\n\r\nNOTE kept\r\n\r\n00:01.000 --> 00:03.000 line:0\r\n<v Anna><i>Hola</i>\r\n\r\n00:04.000 --> 00:06.000\r\nFue &amp; es\r\n\r\n00:07.000 --> 00:09.000\r\nFin`;
  await desk.write('lessons/talk.es.srt', '');
  await desk.write('lessons/other.es.vtt', vtt);
  await desk.write('lessons/talk.es.srt', srt(ES));
  const cells = await exportTable(desk);
  expect(cells.map((row) => row[4])).toEqual(['speaker', 'Anna', '', '', '', '', '']);
  expect(await desk.run('import', 'review.csv')).toEqual({
    code: 0,
    stdout: '',
    stderr: '3 files: 3 unchanged.\n',
  });
  expect(await desk.read('lessons/other.es.vtt')).toBe(vtt);
  const edited = setCell(setCell(cells, 1, 'es', 'Buenos\ndías'), 4, 'fr', '- Salut');
  await writeTable(desk, edited);
  expect(await desk.run('import', 'review.csv', '--dry-run')).toEqual({
    code: 0,
    stdout:
      'review.csv:2: lessons/other.es.vtt, cue 1\n- Hola\n+ Buenos / días\n' +
      'review.csv:5: lessons/talk.fr.srt, cue 1\n- Bonjour, Anna Smith.\n+ - Salut\n',
    stderr: '3 files: 2 to write, 1 unchanged.\n',
  });
  expect(await desk.read('lessons/other.es.vtt')).toBe(vtt);
  expect(await desk.run('import', 'review.csv')).toEqual({
    code: 0,
    stdout: 'lessons/other.es.vtt: 1 cue written\nlessons/talk.fr.srt: 1 cue written\n',
    stderr:
      '3 files: 2 written, 1 unchanged.\nDub what has changed, with the options of before:\n' +
      '  vloc localize lessons --to es,fr --from-subtitles\n',
  });
  expect(await desk.read('lessons/other.es.vtt')).toBe(vtt.replace('Hola', 'Buenos\r\ndías'));
  expect(await desk.read('lessons/talk.fr.srt')).toBe(srt(FR.with(0, '- Salut')));
  // Repeated after an interruption.
  expect(await desk.run('import', 'review.csv')).toMatchObject({
    code: 0,
    stderr: '3 files: 3 unchanged.\n',
  });
});

test('sorted, deleted and reordered rows, other columns, and times as a spreadsheet shows them are fine', async () => {
  const desk = await openLesson();
  const cells = setCell(await exportTable(desk), 3, 'es', 'Gracias.');
  const [titles = [], first = [], , third = []] = cells;
  const short = third.map((cell, at) =>
    titles[at] === 'start' ? '00:07.0' : titles[at] === 'end' ? '0:00:09' : cell,
  );
  const reversed = [titles, short, first].map((row) => [...row.toReversed(), 'mine']);
  await writeTable(desk, [...reversed, reversed[0]?.map(() => '') ?? []]);
  expect(await desk.run('import', 'review.csv')).toMatchObject({
    code: 0,
    stdout: 'lessons/talk.es.srt: 1 cue written\n',
    stderr: expect.stringContaining('lessons/talk.es.srt: 1 cue without a row in the table, unchanged.\n'),
  });
  expect(await desk.read('lessons/talk.es.srt')).toBe(srt(ES.with(2, 'Gracias.')));
});

test('a language without a column stays, which a note says, and without any there is nothing to import', async () => {
  const desk = await openLesson();
  const cells = setCell(await exportTable(desk), 1, 'es', 'Buenas.');
  const at = columnOf(cells, 'fr');
  await writeTable(
    desk,
    cells.map((row) => row.toSpliced(at, 1)),
  );
  expect(await desk.run('import', 'review.csv')).toMatchObject({
    code: 0,
    stdout: 'lessons/talk.es.srt: 1 cue written\n',
    stderr: expect.stringContaining('The table has no column "fr": these texts stay.\n'),
  });
  await writeTable(
    desk,
    cells.map((row) => row.toSpliced(at - 1, 2)),
  );
  expect(await desk.run('import', 'review.csv')).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/no column "es".*\n.*no column "fr".*\nNothing to import\.\n$/),
  });
});

const REFUSED_TABLES: [(cells: Cells) => Cells, string, Parameters<typeof writeTable>[2]?][] = [
  [
    (cells) => cells.map((row) => row.slice(0, -1)),
    'the column "vloc" is missing: it says where each text is',
  ],
  [(cells) => [cells[0]?.with(9, 'es') ?? [], ...cells.slice(1)], 'the column "es" appears twice'],
  [
    (cells) => [...cells, cells[1]?.map((cell, at) => (at === 10 ? '' : cell)) ?? []],
    'row 5 is not one of the export: rows are neither added nor split in the table',
  ],
  [(cells) => cells.slice(0, 1), 'the table has no rows'],
  // As a spreadsheet saves it in the encoding of its country.
  [
    (cells) => setCell(cells, 1, 'es', 'Señor'),
    'review.csv: is not UTF-8; save it as CSV in UTF-8\n',
    { mark: '', encoding: 'latin1' },
  ],
];

test('a table that lacks what an import needs is refused with the reason, and nothing is written', async () => {
  const desk = await openLesson();
  const cells = setCell(await exportTable(desk), 1, 'es', 'Buenas.');
  for (const [change, message, form] of REFUSED_TABLES) {
    await writeTable(desk, change(cells), form);
    const { code, stderr } = await desk.run('import', 'review.csv');
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  }
  expect(await desk.read('lessons/talk.es.srt')).toBe(srt(ES));
});

const CHANGED_TABLES: [string, (cells: Cells) => Cells, string][] = [
  [
    'an emptied cell, as merged cells are',
    (cells) => setCell(cells, 2, 'es', ''),
    'review.csv:3: lessons/talk.es.srt, cue 2: its cell is empty; remove cues in a subtitle editor',
  ],
  [
    'a row that was split in two',
    (cells) => [...cells.slice(0, 3), setCell(cells, 2, 'es', 'en 1984')[2] ?? [], ...cells.slice(3)],
    'review.csv:4: lessons/talk.es.srt, cue 2: it repeats row 3',
  ],
  [
    'an edited source',
    (cells) => setCell(cells, 2, 'source', 'It was 1985.'),
    'review.csv:3: lessons/talk.es.srt, cue 2: its source differs from the export: only translations are imported, and rows are sorted as a whole',
  ],
  [
    'a column of places that was sorted alone',
    (cells) => setCell(setCell(cells, 1, 'vloc', cells[2]?.at(-1) ?? ''), 2, 'vloc', cells[1]?.at(-1) ?? ''),
    'review.csv:2: lessons/talk.es.srt, cue 2: its cue, start, end, source differs from the export: only translations are imported, and rows are sorted as a whole',
  ],
  [
    'a text too long',
    (cells) => setCell(cells, 2, 'es', 'x'.repeat(6000)),
    'review.csv:3: lessons/talk.es.srt, cue 2: it has more than',
  ],
  [
    'a text that is a cue',
    (cells) => setCell(cells, 2, 'es', 'a\n00:00:05,000 -> 00:00:06,000'),
    'review.csv:3: lessons/talk.es.srt, cue 2: this text would be read as more than one cue, or as none',
  ],
];

test('a file is left as it is for a row that does not fit it', async () => {
  const desk = await openLesson();
  const cells = await exportTable(desk);
  for (const [what, change, message] of CHANGED_TABLES) {
    await writeTable(desk, change(setCell(cells, 1, 'es', 'Buenas.')));
    const { code, stdout } = await desk.run('import', 'review.csv');
    expect([what, code === 0, stdout]).toEqual([what, false, expect.stringContaining(message)]);
  }
  expect(await desk.read('lessons/talk.es.srt')).toBe(srt(ES));
});

test('a file that changed since the export is refused by its row, and others are written', async () => {
  const desk = await openLesson();
  await desk.write('lessons/more.en.srt', srt(EN));
  await desk.write('lessons/more.es.srt', srt(ES));
  const cells = await exportTable(desk);
  await writeTable(desk, setCell(setCell(cells, 1, 'es', 'Buenas.'), 4, 'es', 'Buenas.'));
  const [source, translation] = ['lessons/talk.en.srt', 'lessons/talk.es.srt'];
  // The rows of the first three are of `more`.
  for (const [file, changed, message] of [
    [translation, srt(ES.with(1, 'Otro.')), `:6: ${translation}, cue 2: the text in the file changed`],
    [
      translation,
      srt(ES).replace('00:00:04,000', '00:00:04,100'),
      `:6: ${translation}, cue 2: the times in the file changed`,
    ],
    [translation, srt(ES.slice(0, 2)), `:7: ${translation}, cue 3: the cue in the file changed`],
    [
      source,
      srt(EN.with(1, 'Other.')),
      `:6: ${translation}, cue 2: the text in its source ${source} changed`,
    ],
  ] as const) {
    await desk.write(translation, srt(ES));
    await desk.write('lessons/more.es.srt', srt(ES));
    await desk.write(file, changed);
    const before = await desk.read(translation);
    const { code, stdout } = await desk.run('import', 'review.csv');
    expect([code, stdout]).toEqual([3, expect.stringContaining(`${message} since the export\n`)]);
    expect(await desk.read(translation)).toBe(before);
    expect(await desk.read('lessons/more.es.srt')).toBe(srt(ES.with(0, 'Buenas.')));
  }
});

test('a place in what is no file of the export is not read as subtitles', async () => {
  const desk = await openLesson();
  const exported = await exportTable(desk);
  for (const [file, message] of [
    ['/dev/zero', 'this is not a regular file'],
    ['lessons', 'this is a folder'],
    ['gone.srt', 'there is no such file; check the path (run the command in the folder of the export)'],
    ['review.csv', 'row 1: '],
    ['a\0b', 'row 2 is not one of the export'],
  ] as const) {
    const cells = setCell(exported, 1, 'vloc', JSON.stringify({ es: [file, 1, 1000, 3000, '0'] }));
    await writeTable(desk, setCell(cells, 1, 'file', file));
    const { code, stdout, stderr } = await desk.run('import', 'review.csv');
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain(message);
  }
});

test('an import lists its files with their changes and problems as JSON', async () => {
  const desk = await openLesson();
  const cells = await exportTable(desk);
  await writeTable(desk, setCell(setCell(cells, 1, 'es', 'Uno.'), 2, 'fr', ''));
  const ended = await desk.run('import', 'review.csv', '-o', 'json');
  expect([ended.code, JSON.parse(ended.stdout).data]).toEqual([
    3,
    [
      {
        ...{ file: 'lessons/talk.es.srt', language: 'es', state: 'written', problems: [] },
        changes: [{ row: 2, cue: 1, before: ES[0], after: 'Uno.' }],
      },
      {
        ...{ file: 'lessons/talk.fr.srt', language: 'fr', state: 'refused', changes: [] },
        problems: [{ row: 3, cue: 2, message: 'its cell is empty; remove cues in a subtitle editor' }],
      },
    ],
  ]);
  expect(await desk.run('import', 'review.csv', '-o', 'ndjson')).toMatchObject({ code: 3 });
});

test('what a spreadsheet would take for a formula or a number is escaped, and imported as it was', async () => {
  const desk = await openLesson();
  const texts = ['=1+1', "'Twas", '- 5 €'];
  await desk.write('lessons/talk.es.srt', srt(texts));
  const cells = await exportTable(desk);
  expect(cells.slice(1).map((row) => row[6])).toEqual(["'=1+1", "''Twas", "'- 5 €"]);
  expect(await desk.run('import', 'review.csv')).toMatchObject({ code: 0, stdout: '' });
  await writeTable(desk, setCell(setCell(cells, 1, 'es', '@casa'), 2, 'es', "'Tis"));
  expect(await desk.run('import', 'review.csv')).toMatchObject({ code: 0 });
  expect(await desk.read('lessons/talk.es.srt')).toBe(srt(['@casa', "'Tis", '- 5 €']));
});

test('a workbook is exported, and imported with what a spreadsheet has made of it', async () => {
  const desk = await openLesson();
  await desk.write('lessons/talk.es.srt', srt(['=1+1', 'Dos 1/2', 'Tres']));
  await rm(join(desk.folder, 'lessons/talk.fr.srt'));
  expect(await desk.run('export', 'lessons', '--to', 'es', '--out', 'review.xlsx')).toMatchObject({
    code: 0,
  });
  expect(await desk.run('import', 'review.xlsx')).toMatchObject({
    code: 0,
    stderr: '1 file: 1 unchanged.\n',
  });
  const book = await readXlsx(await readFile(join(desk.folder, 'review.xlsx')));
  const rows = book.sheets[0]?.rows ?? [];
  const at = rows[0]?.indexOf('es') ?? -1;
  const write = async (cell: string | number, formula?: string) => {
    const edited = rows.map((row, place) => (place === 3 ? row.with(at, cell) : row));
    const cells = new Map(formula === undefined ? [] : [[`3,${at}`, { value: cell, formula }]]);
    await desk.write(
      'review.xlsx',
      Buffer.from(await writeXlsx({ sheets: [{ name: 'Review', rows: edited, cells }] })),
    );
  };
  await write('x', '"x"');
  const refused = await desk.run('import', 'review.xlsx');
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has a formula in cell G4; write its text instead'),
  });
  await write(1984);
  expect(await desk.run('import', 'review.xlsx')).toMatchObject({ code: 0 });
  expect(await desk.read('lessons/talk.es.srt')).toBe(srt(['=1+1', 'Dos 1/2', '1984']));
});

test('ASS keeps its styles and the names of its speakers, and a cue without a source has a row of its own', async () => {
  const desk = await openSubtitlesDesk();
  const ass = (text: string) =>
    '[Script Info]\r\n\r\n[Events]\r\nFormat: Layer, Start, End, Style, Name, Text\r\n' +
    `Dialogue: 0,0:00:01.00,0:00:03.00,Top,Ana,{\\an8}${text}\r\n` +
    'Dialogue: 0,0:00:10.00,0:00:12.00,Top,,Sola\r\n';
  await desk.write('lessons/talk.es.ass', ass('Hola,\\Nmundo'));
  await desk.write('lessons/talk.srt', srtCue(1, 1, 3, 'Hello, world'));
  await desk.run('export', 'lessons', '--to', 'es', '--out', 'review.csv');
  const cells: Cells = parse(await desk.read('review.csv'), { bom: true });
  expect(cells.slice(1).map((row) => row.slice(0, 7))).toEqual([
    ['lessons/talk.srt', '1', '00:00:01,000', '00:00:03,000', 'Ana', 'Hello, world', 'Hola,\nmundo'],
    ['lessons/talk.es.ass', '2', '00:00:10,000', '00:00:12,000', '', '', 'Sola'],
  ]);
  await writeTable(desk, setCell(cells, 1, 'es', 'Uno,\ndos'));
  expect(await desk.run('import', 'review.csv')).toMatchObject({ code: 0 });
  expect(await desk.read('lessons/talk.es.ass')).toBe(ass('Uno,\\Ndos'));
});

test('a translation that is written where its file has no cue is refused by its row', async () => {
  const desk = await openLesson();
  await desk.write('lessons/talk.es.srt', srt(ES.slice(0, 2)));
  const cells = await exportTable(desk);
  expect(cells[3]?.at(-3)).toBe('es: MISSING: it has no translation');
  await writeTable(desk, setCell(cells, 3, 'es', 'Gracias.'));
  expect(await desk.run('import', 'review.csv')).toMatchObject({
    code: 3,
    stdout: 'review.csv:4: lessons/talk.es.srt: the file has no cue here; add one in a subtitle editor\n',
    stderr: '2 files: 1 unchanged, 1 left as they are, since rows cannot be imported.\n',
  });
});

const REFUSED_EXPORTS: [string[], string][] = [
  [['lessons', '--out', 'new.csv'], '--to is missing'],
  [['lessons', '--to', 'es', '--out', 'new.ods'], 'invalid --out "new.ods": expected .csv or .xlsx'],
  [['lessons', '--to', 'es', '--out', 'taken.csv'], 'taken.csv exists'],
  [['lessons', '--to', 'de', '--out', 'new.csv'], 'no subtitles in de in lessons'],
  [
    ['lessons', 'more', '--to', 'es', '--out', 'new.csv'],
    'several files could be the same text: lessons/talk.es.srt, more/talk.es.vtt',
  ],
  [
    ['lessons', '--to', 'es', '--out', 'new.csv'],
    'several files could be the same text: lessons/talk.en.srt, lessons/talk.fr.srt',
  ],
  [['broken', '--to', 'es', '--out', 'new.csv'], 'broken/talk.es.srt: row 2: '],
];

test('an export that is not clear is refused, and nothing is written', async () => {
  const desk = await openLesson();
  await desk.write('taken.csv', 'mine');
  await desk.write('more/talk.es.vtt', `WEBVTT\n\n00:01.000 --> 00:02.000\nHola\n`);
  await desk.write('broken/talk.es.srt', '1\n00:00:01,000 -> 00:00:02,000\nHola\n');
  for (const [words, message] of REFUSED_EXPORTS) {
    const ended = await desk.run('export', ...words);
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  }
  expect(await desk.read('taken.csv')).toBe('mine');
  expect(await readdir(desk.folder)).not.toContain('new.csv');
});

test('of several other languages, --from says which is the source', async () => {
  const desk = await openLesson();
  await desk.run('export', 'lessons', '--to', 'es', '--from', 'fr', '--out', 'review.csv');
  const cells: Cells = parse(await desk.read('review.csv'), { bom: true });
  expect(cells[1]?.[columnOf(cells, 'source')]).toBe(FR[0]);
});

test('subtitles for the deaf are a text of their own, whose source is theirs or else the usual one', async () => {
  const desk = await openLesson();
  const sourcesOf = async (): Promise<string[][]> => {
    const cells = await exportTable(desk);
    const [file, source, es] = ['file', 'source', 'es'].map((title) => columnOf(cells, title));
    return cells
      .slice(1)
      .flatMap((row) =>
        row[1] === '1' ? [[row[file ?? -1], row[source ?? -1], row[es ?? -1]].map(String)] : [],
      );
  };
  await desk.write('lessons/talk.es.sdh.srt', srt(['[ríe] Hola', ...ES.slice(1)]));
  const usual = ['lessons/talk.en.srt', EN[0], ES[0]];
  expect(await sourcesOf()).toEqual([usual, ['lessons/talk.en.srt', EN[0], '[ríe] Hola']]);
  // A cue that both lack.
  await desk.write('lessons/talk.en.srt', srt([...EN, 'Bye.']));
  await exportTable(desk);
  expect(await desk.run('import', 'review.csv')).toMatchObject({
    code: 0,
    stderr: '3 files: 3 unchanged.\n',
  });
  await desk.write('lessons/talk.en.sdh.srt', srt(['[laughs] Hello', ...EN.slice(1)]));
  expect(await sourcesOf()).toEqual([['lessons/talk.en.sdh.srt', '[laughs] Hello', '[ríe] Hola'], usual]);
  await rm(join(desk.folder, 'lessons/talk.es.sdh.srt'));
  await rm(join(desk.folder, 'lessons/talk.en.srt'));
  expect(await sourcesOf()).toEqual([['lessons/talk.en.sdh.srt', '[laughs] Hello', ES[0]]]);
});

test.skipIf(!HAS_STRACE)(
  'a full disk leaves the file as it is that cannot be written, and the others are written (needs strace)',
  async () => {
    const desk = await openLesson();
    const cells = await exportTable(desk);
    await writeTable(desk, setCell(setCell(cells, 1, 'es', 'Uno.'), 2, 'fr', 'Deux.'));
    const vloc = join(import.meta.dirname, '../support/vloc-process.ts');
    const inject = ['-e', 'trace=rename', '-e', 'inject=rename:error=ENOSPC:when=1'];
    const words = [process.execPath, vloc, 'subtitles', 'import', 'review.csv'];
    // strace counts the calls of each thread.
    const env = {
      PATH: process.env.PATH,
      UV_THREADPOOL_SIZE: '1',
      VLOC_STATE_DIR: join(desk.folder, 'state'),
    };
    const traced = promisify(execFile)('strace', [...STRACE, '-o', '/dev/null', ...inject, ...words], {
      ...{ cwd: desk.folder, env },
    });
    await expect(traced).rejects.toMatchObject({
      code: 10,
      stdout: expect.stringMatching(
        /^lessons\/talk\.es\.srt: cannot write .*\nlessons\/talk\.fr\.srt: 1 cue written\n$/,
      ),
      stderr: expect.stringContaining('2 files: 1 written, 1 not written.\n'),
    });
    expect(await desk.read('lessons/talk.es.srt')).toBe(srt(ES));
    expect(await readdir(join(desk.folder, 'lessons'))).toHaveLength(3);
  },
);
