import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProfileDocument } from '../../src/profiles/profile.ts';
import { openProfileStore } from '../../src/profiles/store.ts';
import { makeFolder } from '../support/make-folder.ts';

async function openStore() {
  const folder = join(makeFolder(), 'vloc');
  const warnings: string[] = [];
  const store = openProfileStore(folder, (text) => warnings.push(text));
  return { folder, store, warnings };
}

const add =
  (name: string) =>
  (document: ProfileDocument): ProfileDocument => ({
    ...document,
    profiles: [
      ...document.profiles,
      { name, base_url: 'https://a.example/v1', key: 'k', secret: { type: 'file', value: 'canary' } },
    ],
  });

const withSecret = (secret: unknown) =>
  JSON.stringify({
    version: 1,
    profiles: [{ name: 'a', base_url: 'https://a.example/v1', key: 'k', secret }],
  });

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe('the file of the profiles', () => {
  it('is empty before the first one, and reading creates nothing', async () => {
    const { folder, store } = await openStore();
    expect(await store.read()).toEqual({ version: 1, profiles: [] });
    await expect(stat(folder)).rejects.toThrow('ENOENT');
  });

  it('keeps added profiles, even those named like a property of every object', async () => {
    const { store } = await openStore();
    await store.change(add('constructor'));
    await store.change(add('a.b'));
    expect((await store.read()).profiles.map(({ name }) => name)).toEqual(['constructor', 'a.b']);
  });

  it('is readable by its owner only, as the only file of its folder', async () => {
    const { folder, store, warnings } = await openStore();
    await store.change(add('a'));
    expect(await modeOf(folder)).toBe('700');
    expect(await readdir(folder)).toEqual(['profiles.json']);
    expect(await modeOf(store.path)).toBe('600');
    expect(warnings).toEqual([]);
  });

  it.each([
    ['', 'not JSON'],
    ['7', 'the whole of it'],
    ['{"version":0,"profiles":[]}', 'version'],
    ['{"version":1,"profiles":[{"name":"a","key":"canary"}]}', 'profiles.0.base_url'],

    ['{"version":1,"current":"","profiles":[]}', 'current'],
    [withSecret({ type: 'file' }), 'profiles.0.secret.value'],
    [withSecret('canary'), 'profiles.0.secret'],
  ])('that is damaged (%s) is reported and not changed', async (text, where) => {
    const { folder, store } = await openStore();
    await mkdir(folder, { mode: 0o700 });
    await writeFile(store.path, text, { mode: 0o600 });
    for (const act of [() => store.read(), () => store.change(add('b'))]) {
      const error = await act().then(
        () => null,
        (reason) => reason,
      );
      expect(error?.facts).toMatchObject({ category: 'configuration', code: 'PROFILES_DAMAGED' });
      expect(error.message).toContain(where);
      expect(error.message + error.facts.advice).not.toContain('canary');
    }
    expect(await readFile(store.path, 'utf8')).toBe(text);
  });

  it.each([
    ['{"version":2,"current":"a","profiles":{"a":"canary"}}', 'version 2'],
    ['{"version":1,"profiles":[],"canary":"canary"}', 'the field'],
    [
      '{"version":1,"profiles":[{"name":"a","base_url":"https://a.example/v1","key":"canary","secret":{"type":"file","value":"canary"},"colour":"canary"}]}',
      'the field profiles.0.colour',
    ],
  ])('of a newer version (%s) is not called damaged, and not changed', async (text, unknown) => {
    const { folder, store } = await openStore();
    await mkdir(folder, { mode: 0o700 });
    await writeFile(store.path, text, { mode: 0o600 });
    for (const act of [() => store.read(), () => store.change(add('b'))]) {
      await expect(act()).rejects.toMatchObject({
        message: expect.stringMatching(new RegExp(`written by a newer version of vloc: .* know ${unknown}`)),
        facts: {
          category: 'configuration',
          code: 'PROFILES_NEWER',
          advice: expect.stringContaining('Upgrade'),
        },
      });
    }
    expect(await readFile(store.path, 'utf8')).toBe(text);
  });

  it('is read after a byte order mark', async () => {
    const { folder, store } = await openStore();
    await mkdir(folder, { mode: 0o700 });
    await writeFile(store.path, '\uFEFF{"version":1,"profiles":[]}', { mode: 0o600 });
    await store.change(add('b'));
    expect((await store.read()).profiles).toHaveLength(1);
  });

  it('is not written through a link, but read through one', async () => {
    const { folder, store } = await openStore();
    const elsewhere = join(makeFolder(), 'public.json');
    await writeFile(elsewhere, '{"version":1,"profiles":[]}', { mode: 0o600 });
    await mkdir(folder, { mode: 0o700 });
    await symlink(elsewhere, store.path);
    expect((await store.read()).profiles).toEqual([]);
    await expect(store.change(add('a'))).rejects.toThrow('is a symbolic link');
    expect(await readFile(elsewhere, 'utf8')).not.toContain('canary');
  });

  it('that others can read is used with a warning, and closed at the next change', async () => {
    const { folder, store, warnings } = await openStore();
    await store.change(add('a'));
    await chmod(folder, 0o755);
    await chmod(store.path, 0o644);
    expect((await store.read()).profiles).toHaveLength(1);
    expect(warnings).toEqual([expect.stringContaining(`mode 644`)]);
    await store.change(add('b'));
    expect(warnings).toContainEqual(expect.stringContaining('mode 755'));
    expect(await modeOf(store.path)).toBe('600');
  });

  it('is not modified if a change is refused, and can be changed again', async () => {
    const { store } = await openStore();
    await store.change(add('a'));
    const refuse = () => {
      throw new Error('no');
    };
    await expect(store.change(refuse)).rejects.toThrow('no');
    await store.change(add('b'));
    expect((await store.read()).profiles).toHaveLength(2);
  });

  it('is not written in a form that could not be read again', async () => {
    const { store } = await openStore();
    await store.change(add('a'));
    const before = await readFile(store.path, 'utf8');
    const spoil = (document: ProfileDocument) => ({ ...document, current: '' });
    await expect(store.change(spoil)).rejects.toThrow('current');
    expect(await readFile(store.path, 'utf8')).toBe(before);
  });

  it('says what to do if its lock cannot be used', async () => {
    const { folder, store } = await openStore();
    await mkdir(`${store.path}.lock`, { recursive: true, mode: 0o700 });
    await expect(store.change(add('a'))).rejects.toMatchObject({
      message: expect.stringContaining(folder),
      facts: {
        category: 'disk',
        code: 'PROFILES_FOLDER',
        advice: expect.stringContaining('VLOC_CONFIG_DIR'),
      },
    });
  });
});
