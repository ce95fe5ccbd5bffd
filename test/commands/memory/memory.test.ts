import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MemoryEntry } from '../../../src/batch/memory.ts';
import { readTmx, writeTmx } from '../../../src/commands/memory/tmx.ts';
import { normalizeCueText } from '../../../src/protocol/srt.ts';
import { makeFolder, startVloc } from '../support/run-vloc.ts';

const DTD = fileURLToPath(new URL('../../fixtures/tmx14.dtd', import.meta.url));
const NOW = '2026-11-26T19:00:00.000Z';

function hasXmllint(): boolean {
  try {
    execFileSync('xmllint', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const text = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 20 })
  .map((each) => normalizeCueText(each))
  // XML has no control characters, so an export leaves them out.
  .filter(
    (each) => each !== '' && each.isWellFormed() && !/[\p{Cc}\uFFFE\uFFFF]/u.test(each.replaceAll('\n', '')),
  );
const entry: fc.Arbitrary<MemoryEntry> = fc.integer({ min: 1, max: 4 }).chain((cues) =>
  fc.record({
    from: fc.constantFrom('en', 'auto', 'zh-Hant'),
    to: fc.constantFrom('es', 'pt-BR'),
    source: fc.array(text, { minLength: cues, maxLength: cues }),
    target: fc.array(text, { minLength: cues, maxLength: cues }),
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
        expect(readTmx(document, NOW)).toEqual({ entries, skipped: 0 });
      }),
    );
  });

  it.skipIf(!hasXmllint())('follows the document type of TMX 1.4', async () => {
    const folder = await makeFolder();
    const path = join(folder, 'memory.tmx');
    await writeFile(path, [...writeTmx(fc.sample(entry, { numRuns: 200, seed: 34 }))].join(''));
    execFileSync('xmllint', ['--nonet', '--noout', '--dtdvalid', DTD, path]);
  });

  it('of another program is a translation of a person, with its markup as text', () => {
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
        skipped: 2,
      });
    }
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
