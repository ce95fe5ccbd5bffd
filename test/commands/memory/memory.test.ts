import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MemoryEntry } from '../../../src/batch/records/translation-memory.ts';
import { readTmx, writeTmx } from '../../../src/commands/memory/tmx.ts';
import { normalizeCueText } from '../../../src/protocol/srt.ts';
import { anyText } from '../../protocol/arbitraries.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { hasXmllint } from '../../support/xmllint.ts';
import { startVloc } from '../support/run-vloc.ts';

const DTD = fileURLToPath(new URL('../../fixtures/tmx14.dtd', import.meta.url));
const NOW = '2026-11-26T19:00:00.000Z';

const text = anyText({ minLength: 1, maxLength: 20 })
  .map((each) => normalizeCueText(each))
  // XML has no control characters, so an export leaves them out.
  .filter(
    (each) => each !== '' && each.isWellFormed() && !/[\p{Cc}\uFFFE\uFFFF]/u.test(each.replaceAll('\n', '')),
  );
const tagged = fc
  .array(
    fc.constantFrom(
      ...'<b>|</b>|<i>|</i>|<font color="#fff">|</font>|<u>|<b class="x">|<s>|</s>|<c.red>|</c>|<br>|{\\an8}|<x>|</B>|&lt;|a < b|\n'.split(
        '|',
      ),
    ),
    {
      maxLength: 8,
    },
  )
  .map((parts) => normalizeCueText(`x${parts.join('y')}`));
const cue = fc.oneof(text, tagged);
const entry: fc.Arbitrary<MemoryEntry> = fc.integer({ min: 1, max: 4 }).chain((cues) =>
  fc.record({
    from: fc.constantFrom('en', 'auto', 'zh-Hant'),
    to: fc.constantFrom('es', 'pt-BR'),
    source: fc.array(cue, { minLength: cues, maxLength: cues }),
    target: fc.array(cue, { minLength: cues, maxLength: cues }),
    origin: fc.constantFrom('person', 'https://api.example.com/v1', '["apertium"]', 'a & <b>'),
    before: fc.constantFrom('', '*', '0123456789abcdef'),
    after: fc.constantFrom('', '*', '0123456789abcdef'),
    terms: fc.constantFrom('', 'fedcba9876543210'),
    at: fc.constant(NOW),
  }),
);

describe('TMX', () => {
  it('is read as it was written, whatever the texts are', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 5 }), (entries) => {
        const document = Buffer.from([...writeTmx(entries)].join(''));
        expect(readTmx(document, NOW)).toEqual({ entries, plain: [], skipped: 0 });
      }),
      { numRuns: 50 },
    );
  });

  it.skipIf(!hasXmllint())('follows the document type of TMX 1.4', async () => {
    const folder = makeFolder();
    const path = join(folder, 'memory.tmx');
    await writeFile(path, [...writeTmx(fc.sample(entry, { numRuns: 200, seed: 34 }))].join(''));
    execFileSync('xmllint', ['--nonet', '--noout', '--dtdvalid', DTD, path]);
  });

  it('of another program is a translation of a person, with its formatting as tags', () => {
    const document = `<?xml version="1.0"?><tmx version="1.4"><header srclang="EN-US"/><body>
      <tu><note>n</note><tuv xml:lang="es"><seg>Hola &amp; <bpt i="1">&lt;i&gt;</bpt>adiós<ept i="1">&lt;/i&gt;</ept></seg></tuv>
      <tuv xml:lang="en-us"><seg>Hello &amp; <hi><![CDATA[<i>bye</i>]]></hi></seg></tuv></tu>
      <tu><tuv xml:lang="en-US"><seg>alone</seg></tuv></tu>
      <tu><tuv xml:lang="en-US"><seg>${'x'.repeat(100_000)}</seg></tuv><tuv xml:lang="es"><seg>y</seg></tuv></tu>
    </body></tmx>`;
    for (const bytes of [Buffer.from(document), Buffer.from(`\uFEFF${document}`, 'utf16le')]) {
      expect(readTmx(bytes, NOW)).toEqual({
        entries: [
          {
            ...{ from: 'en-US', to: 'es', source: ['Hello & <i>bye</i>'], target: ['Hola & <i>adiós</i>'] },
            ...{ origin: 'person', before: '*', after: '*', terms: '', at: NOW },
          },
        ],
        plain: [],
        skipped: 2,
      });
    }
  });

  it('has the tags of cues as elements', () => {
    const write = (...target: string[]) => {
      const same = { from: 'en', to: 'es', before: '', after: '', terms: '', origin: 'person', at: NOW };
      const [, written] = [...writeTmx([{ ...same, source: target, target }])]
        .join('')
        .split('xml:lang="es">');
      return /<seg>(.*)<\/seg>/s.exec(written ?? '')?.[1];
    };
    expect(write('<i>Ho<b>la</b></i>', 'a < b <u>c</u></i>')).toBe(
      '<bpt i="1" type="italic">&lt;i&gt;</bpt>Ho<bpt i="2" type="bold">&lt;b&gt;</bpt>la<ept i="2">&lt;/b&gt;</ept><ept i="1">&lt;/i&gt;</ept>' +
        '<ph type="x-vloc-cue"/>a &lt; b <bpt i="3" type="ulined">&lt;u&gt;</bpt>c<ept i="3">&lt;/u&gt;</ept><ph type="x-vloc-tag">&lt;/i&gt;</ph>',
    );
    expect(write('<font color="red">a</font>')).toBe(
      '<bpt i="1" type="font">&lt;font color=&quot;red&quot;&gt;</bpt>a<ept i="1">&lt;/font&gt;</ept>',
    );
    expect(write('{\\an8}<c.red>a</c> <name>')).toBe(
      '<ph type="x-vloc-tag">{\\an8}</ph><bpt i="1" type="x-vloc-tag">&lt;c.red&gt;</bpt>a<ept i="1">&lt;/c&gt;</ept> &lt;name&gt;',
    );
  });

  const readUnits = (units: string, srclang = 'en') =>
    readTmx(Buffer.from(`<tmx version="1.4"><header srclang="${srclang}"/><body>${units}</body></tmx>`), NOW);
  const unit = (source: string, target: string) =>
    `<tu><tuv xml:lang="en"><seg>${source}</seg></tuv><tuv xml:lang="es"><seg>${target}</seg></tuv></tu>`;

  it.each([
    ['<bpt i="1">{\\f1 </bpt>Hola.<ept i="1">}</ept>', 'Hola.'],
    ['<bpt i="1" type="bold">{\\b </bpt>Hola.<ept i="1">}</ept>', '<b>Hola.</b>'],
    ['<bpt i="1">&lt;STRONG class="x"></bpt>Hola<ept i="1">&lt;/STRONG></ept>.', '<b>Hola</b>.'],
    ['<hi type="italic">Ho<hi type="ulined">la</hi></hi><hi type="x">.</hi>', '<i>Ho<u>la</u></i>.'],
    ['<ph>&lt;i></ph>Hola<ph>&lt;/i></ph>.', '<i>Hola</i>.'],
    ['<it pos="begin" type="bold">{\\b1}</it>Hola<it pos="end" type="bold">{\\b0}</it>.', '<b>Hola</b>.'],
    ['<it pos="begin">&lt;b></it>Hola.', 'Hola.'],
    [
      '<bpt i="1">&lt;b></bpt>Ho<bpt i="2">&lt;i></bpt>la<ept i="1">&lt;/b></ept>.<ept i="2">&lt;/i></ept>',
      '<b>Hola</b>.',
    ],
    ['<bpt>&lt;b></bpt><bpt>{\\f1 </bpt>Hola<ept>}</ept>.<ept>&lt;/b></ept>', '<b>Hola.</b>'],
    ['Hola<ph>&lt;br/></ph>mundo<ph type="lb">{\\line}</ph>aquí', 'Hola\nmundo\naquí'],
    ['Hola<ph>&lt;img alt="<sub>una <hi>casa</hi></sub>"></ph> mundo<ph/>.', 'Hola mundo.'],
    ['Hola<bpt i="1">&lt;a title="<sub>uno</sub>"></bpt> mundo<ept i="1">&lt;/a></ept>.', 'Hola mundo.'],
  ])('has no text in its inline codes, and their formatting as pairs of tags: %s', (segment, text) => {
    expect(readUnits(unit('Hello.', segment)).entries.map(({ target }) => target)).toEqual([[text]]);
  });

  it('with formatting in a source serves cues with and without it', () => {
    const { entries, plain } = readUnits(
      unit('<hi type="bold">Good</hi> night.', '<hi type="bold">Buenas</hi> noches.'),
    );
    const texts = (found: readonly MemoryEntry[]) =>
      found.map(({ source, target }) => [source[0], target[0]]);
    expect(texts(entries)).toEqual([['<b>Good</b> night.', '<b>Buenas</b> noches.']]);
    expect(texts(plain)).toEqual([['Good night.', 'Buenas noches.']]);
  });

  it.each([
    ['<tu changedate="20200101T000000Z" creationdate="20300101T000000Z">', '', '2020-01-01'],
    ['<tu creationdate="20200101T000000Z">', '', '2020-01-01'],
    ['<tu changedate="20200101T000000Z">', 'creationdate="20100101T000000Z"', '2010-01-01'],
    [
      '<tu changedate="20200101T000000Z">',
      'changedate="20110101T000000Z" creationdate="20100101T000000Z"',
      '2011-01-01',
    ],
    ['<tu changedate="soon" creationdate="20200101T000000Z">', '', '2020-01-01'],
    ['<tu changedate="2020-01-01T00:00:00Z">', '', '2020-01-01'],
    ['<tu changedate="20200102T003000+0100">', '', '2020-01-01'],
    ['<tu changedate="20200101">', '', '2020-01-01'],
    ['<tu changedate="20201301T000000Z">', '', '2026-11-26'],
    ['<tu>', '', '2026-11-26'],
  ])('has the date of a translation, else of its unit: %s <tuv %s>', (begin, dates, day) => {
    const { entries } = readUnits(
      `${begin}<tuv xml:lang="en"><seg>Hello.</seg></tuv><tuv xml:lang="es" ${dates}><seg>Hola.</seg></tuv></tu>`,
    );
    expect(entries.map(({ at }) => at.slice(0, 10))).toEqual([day]);
  });

  it.each([
    ['en', 'xml:lang="en_US"', 'xml:lang="ES_es"'],
    ['EN-us', 'lang="EN-US"', 'lang="es-ES"'],
    ['en_US', 'xml:lang="en-US"', 'xml:lang="es-es"'],
    ['en-GB', 'xml:lang="en-US"', 'xml:lang="es-ES"'],
    ['*ALL*', 'xml:lang="en-US"', 'xml:lang="es-ES"'],
  ])('has languages in any form, srclang="%s" <tuv %s> <tuv %s>', (srclang, from, to) => {
    const { entries, skipped } = readUnits(
      `<tu><tuv ${from}><seg>Hello.</seg></tuv><tuv ${to}><seg>Hola.</seg></tuv></tu>`,
      srclang,
    );
    expect(entries[0]).toMatchObject({ from: 'en-US', to: 'es-ES' });
    expect(skipped).toBe(0);
  });

  it('that is hostile is refused', () => {
    const unit = '<tu><tuv xml:lang="en"><seg>&a;</seg></tuv></tu>';
    const entities = ['<!ENTITY a SYSTEM "file:///etc/passwd">', '<!ENTITY a "boom">'];
    for (const document of [
      ...entities.map((each) => `<!DOCTYPE tmx [${each}]><tmx><header/><body>${unit}</body></tmx>`),
      '<html></html>',
      '<tmx><body>',
      '',
      'text',
      `<tmx>${'<a>'.repeat(1000)}`,
    ])
      expect(() => readTmx(Buffer.from(document), NOW), document.slice(0, 80)).toThrow(
        expect.objectContaining({ name: 'TmxError' }),
      );
    expect(() => readTmx(Uint8Array.of(0x3c, 0xff), NOW)).toThrow('neither UTF-8 nor UTF-16');
  });
});

const SOURCE = '1\n00:00:00,000 --> 00:00:01,000\nHello\nthere.\n\n2\n00:00:02,000 --> 00:00:03,000\nBye.\n';
const TRANSLATE = ['translate', 'talk.srt', '--from', 'en', '--to', 'es'];

describe('vloc memory', () => {
  it('import adds lines that the next run uses, and pays only the others', async () => {
    const vloc = await startVloc();
    await writeFile(join(vloc.folder, 'talk.srt'), SOURCE);
    await writeFile(
      join(vloc.folder, 'agency.tmx'),
      '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>Hello there.</seg></tuv>' +
        '<tuv xml:lang="es"><seg>Muy buenas.</seg></tuv></tu></body></tmx>',
    );
    const imported = await vloc.run(['memory', 'import', 'agency.tmx', '--output', 'json']);
    expect(imported.code, imported.stderr).toBe(0);
    expect(JSON.parse(imported.stdout).data).toEqual([{ file: 'agency.tmx', imported: 1, skipped: 0 }]);
    const { code, stdout, stderr } = await vloc.run([...TRANSLATE, '--output', 'json']);
    expect([code, JSON.parse(stdout).data[0].charged_credits], stderr).toEqual([0, 1]);
    expect(await readFile(join(vloc.folder, 'talk.es.srt'), 'utf8')).toContain('\nMuy buenas.\n');
  });

  it('import says for which languages lines are used', async () => {
    const vloc = await startVloc();
    const variant = (tag: string) => `<tuv xml:lang="${tag}"><seg>Hello.</seg></tuv>`;
    for (const [from, to, words] of [
      ['en', 'es', 'from en to es; also en for its regions, es for its regions.'],
      ['en-US', 'es', 'from en-US to es; also en-US for en, es for its regions.'],
      ['en-GB', 'zh-TW', 'from en-GB to zh-TW; also en-GB for en.'],
      ['und', 'pt-BR', 'from any language to pt-BR; also pt-BR for pt.'],
    ] as const) {
      const unit = `<tu>${variant(from)}${variant(to)}</tu>`;
      const document = `<tmx version="1.4"><header srclang="${from}"/><body>${unit}</body></tmx>`;
      await writeFile(join(vloc.folder, 'a.tmx'), document);
      const { code, stderr } = await vloc.run(['memory', 'import', 'a.tmx']);
      expect([code, stderr.trim()]).toEqual([0, `Used for translations ${words}`]);
    }
  });

  it('export writes lines with edits, which another folder takes over with what was changed meanwhile', async () => {
    const vloc = await startVloc();
    await writeFile(join(vloc.folder, 'talk.srt'), SOURCE);
    await vloc.run([...TRANSLATE, '--out', 'one']);
    const result = join(vloc.folder, 'one/talk.es.srt');
    const made = await readFile(result, 'utf8');
    await writeFile(result, made.replace(/(?<=03,000\n).+/, 'Chao.'));
    const toStdout = await vloc.run(['memory', 'export', '--folder', 'one']);
    expect(toStdout.stdout).toContain('<seg>Chao.</seg>');
    const exported = await vloc.run(['memory', 'export', 'm.tmx', '--folder', 'one', '--output', 'json']);
    expect(JSON.parse(exported.stdout)).toEqual({ file: 'm.tmx', units: 3 });
    const again = await vloc.run(['memory', 'export', 'm.tmx', '--folder', 'one']);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists')]);
    await vloc.run(['memory', 'import', 'm.tmx', '--folder', 'two']);
    const { code, stdout, stderr } = await vloc.run([...TRANSLATE, '--out', 'two', '--output', 'json']);
    expect([code, JSON.parse(stdout).data[0].id], stderr).toEqual([0, null]);
    expect(await readFile(join(vloc.folder, 'two/talk.es.srt'), 'utf8')).toBe(await readFile(result, 'utf8'));
  });

  it('refuses files that it cannot use, and folders without a memory', async () => {
    const vloc = await startVloc();
    await writeFile(join(vloc.folder, 'bad.tmx'), '<tmx><body>\u001b[2J');
    const bad = await vloc.run(['memory', 'import', 'bad.tmx']);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('bad.tmx cannot be read as TMX')]);
    expect((await vloc.run(['memory', 'import', 'none.tmx'])).code).toBe(2);
    const none = await vloc.run(['memory', 'export']);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('there is no translation memory')]);
  });
});
