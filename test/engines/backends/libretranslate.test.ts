import { describe, expect, it, onTestFinished } from 'vitest';
import type { Translator } from '../../../src/engines/backend.ts';
import { createLibreTranslate } from '../../../src/engines/backends/libretranslate.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createWork } from '../workspace.ts';
import { type LoopbackServer, type Received, recordedParts, startServer } from './loopback-server.ts';
import { findDeviations } from './published-api.ts';

type Entry = Parameters<typeof createLibreTranslate>[0];

const LANGUAGES = [
  { code: 'en', name: 'English', targets: ['en', 'es', 'pt-BR', 'pt', 'zh-Hans', 'zh-Hant'] },
  { code: 'es', name: 'Spanish', targets: ['en', 'es'] },
  { code: 'pt-BR', name: 'Portuguese (Brazil)', targets: ['en'] },
  { code: 'pt', name: 'Portuguese', targets: ['en'] },
  { code: 'zh-Hans', name: 'Chinese', targets: ['en'] },
  { code: 'zh-Hant', name: 'Chinese (traditional)', targets: ['en'] },
];

const json = ({ body }: Received) => JSON.parse(body.toString());

/** A LibreTranslate that answers as documented, unless the test says otherwise; each request must be as documented. */
async function startLibreTranslate(
  behave: (request: Received, number: number) => ReturnType<Parameters<typeof startServer>[0]> | null = () =>
    null,
): Promise<LoopbackServer> {
  let number = 0;
  const server = await startServer((request) => {
    if (request.path === '/languages') return { body: LANGUAGES };
    number += 1;
    const { q } = json(request);
    return behave(request, number) ?? { body: { translatedText: q.map((text: string) => `«${text}»`) } };
  });
  onTestFinished(() => {
    for (const request of server.received.filter(({ method }) => method === 'POST')) {
      expect(findDeviations('libretranslate', request.path, 'request', json(request))).toEqual([]);
    }
  });
  return { ...server, url: server.url.replace('/v1', '') };
}

function translator(url: string, entry: Partial<Entry> = {}, parts = recordedParts()): Translator {
  const made = createLibreTranslate({ type: 'libretranslate', url, ...entry }, parts);
  onTestFinished(() => made.close());
  return made;
}

const work = () => createWork(makeFolder());

const task = (texts: readonly string[], to = 'es') => ({
  from: 'en',
  to,
  texts: texts.map((text) => ({ text, durationMs: 2_000 })),
});
const translations = ({ received }: LoopbackServer) =>
  received.filter(({ path }) => path === '/translate').map(json);

describe('LibreTranslate', () => {
  it('translates cues in lists, as its documentation says, with the key in the body', async () => {
    expect(findDeviations('libretranslate', '/languages', 'response', LANGUAGES)).toEqual([]);
    const server = await startLibreTranslate();
    const parts = recordedParts({ env: { LT_KEY: 'secret' } });
    const job = work();
    const texts = Array.from({ length: 60 }, (_, at) => `Line ${at}`);
    const made = translator(server.url, { key: { env: 'LT_KEY' } }, parts);
    await expect(made.translate(task(texts), job)).resolves.toEqual(texts.map((text) => `«${text}»`));
    const [first, second] = translations(server);
    expect(first).toEqual({
      q: texts.slice(0, 50),
      source: 'en',
      target: 'es',
      format: 'text',
      api_key: 'secret',
    });
    expect(second.q.length).toBe(10);
    expect(job.reports.map(({ fraction }) => fraction)).toEqual([50 / 60, 1]);
    expect(server.received.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  it('sends no key if the entry has none, and no text without words', async () => {
    const server = await startLibreTranslate();
    await expect(translator(server.url).translate(task(['♪', 'Hello']), work())).resolves.toEqual([
      '♪',
      '«Hello»',
    ]);
    expect(translations(server)).toEqual([{ q: ['Hello'], source: 'en', target: 'es', format: 'text' }]);
  });

  it.each([
    ['pt-BR', 'pt-BR'],
    ['zh', 'zh-Hans'],
    ['zh-TW', 'zh-Hant'],
    ['es-MX', 'es'],
  ])('translates to %s with its language %s', async (to, target) => {
    const server = await startLibreTranslate();
    const made = translator(server.url);
    await expect(made.supports({ from: 'en-GB', to }, work())).resolves.toBe(true);
    await made.translate(task(['Hello'], to), work());
    expect(translations(server)[0]).toMatchObject({ source: 'en', target });
  });

  it('knows the codes of older servers', async () => {
    const codes = ['en', 'pb', 'pt', 'zh', 'zt'];
    const server = await startServer(({ path }) =>
      path.endsWith('/languages')
        ? { body: codes.map((code) => ({ code, name: code })) }
        : { body: { translatedText: ['x'] } },
    );
    const made = translator(server.url);
    await made.translate(task(['Hello'], 'pt-BR'), work());
    await made.translate(task(['Hello'], 'zh-TW'), work());
    expect(server.received.slice(1).map((request) => json(request).target)).toEqual(['pb', 'zt']);
    await expect(made.pairs(work())).resolves.toContainEqual({ from: 'zh-Hant', to: 'pt-BR' });
  });

  it('requests the languages once, and lists the pairs', async () => {
    const server = await startLibreTranslate();
    const made = translator(server.url);
    await expect(made.supports({ from: 'es', to: 'fr' }, work())).resolves.toBe(false);
    await expect(made.supports({ from: 'es', to: 'pt' }, work())).resolves.toBe(false);
    await expect(made.pairs(work())).resolves.toContainEqual({ from: 'es', to: 'en' });
    await expect(made.pairs(work())).resolves.not.toContainEqual({ from: 'es', to: 'es' });
    expect(server.received.length).toBe(1);
    await expect(made.translate(task(['Hello'], 'fr'), work())).rejects.toMatchObject({
      code: 'LANGUAGE_NOT_SUPPORTED',
    });
  });

  it('sends fewer cues at a time if the server limits them, and remembers that', async () => {
    const server = await startLibreTranslate((request) => {
      const { length } = json(request).q;
      const error = `Invalid request: request (${length}) exceeds text limit (7)`;
      return length > 7 ? { status: 400, body: { error } } : null;
    });
    const texts = Array.from({ length: 20 }, (_, at) => `Line ${at}`);
    await expect(translator(server.url).translate(task(texts), work())).resolves.toEqual(
      texts.map((text) => `«${text}»`),
    );
    expect(translations(server).map(({ q }) => q.length)).toEqual([20, 10, 5, 5, 5, 5]);
  });

  it('fails with the message of the server if one cue is too long for it', async () => {
    const error = 'Invalid request: request (9000) exceeds text limit (5000)';
    const server = await startLibreTranslate(() => ({ status: 400, body: { error } }));
    await expect(translator(server.url).translate(task(['a', 'b']), work())).rejects.toMatchObject({
      permanent: true,
      message: expect.stringContaining(error),
    });
  });

  it.each([
    ['too few translations', ['uno'], 'returned 1 translations of 2 cues'],
    ['an empty translation', ['uno', ' '], 'returned an empty translation of "Two"'],
    ['one text', 'uno', 'translatedText is missing or wrong'],
  ])('fails cleanly for %s', async (_, translatedText, shown) => {
    const server = await startLibreTranslate(() => ({ body: { translatedText } }));
    await expect(translator(server.url).translate(task(['One', 'Two']), work())).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      message: expect.stringContaining(shown),
    });
  });

  it('never shows the key, even if the server quotes it', async () => {
    const server = await startLibreTranslate((request) => ({
      status: 403,
      body: { error: `Invalid API key: ${json(request).api_key}` },
    }));
    const parts = recordedParts({ env: { LT_KEY: 'secret-0123' } });
    const made = translator(server.url, { key: { env: 'LT_KEY' } }, parts);
    await expect(made.translate(task(['Hi']), work())).rejects.toMatchObject({
      message: expect.stringMatching(/Invalid API key: \[key\]\); check the key \(variable LT_KEY\)$/),
    });
  });

  it('detects a language, unless the server is unsure', async () => {
    let confidence = 93;
    const server = await startLibreTranslate(() => ({
      body: [
        { confidence: 4, language: 'en' },
        { confidence, language: 'pb' },
      ],
    }));
    const made = translator(server.url);
    await expect(made.detect?.(['Bom dia'], work())).resolves.toBe('pt-BR');
    confidence = 20;
    await expect(made.detect?.(['Bom dia'], work())).rejects.toMatchObject({
      code: 'LANGUAGE_NOT_SUPPORTED',
      message: expect.stringContaining('--from'),
    });
  });
});
