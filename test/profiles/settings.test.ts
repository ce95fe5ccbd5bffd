/** What each row of the table promises; new rows are tested as they are added. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENVIRONMENT, takeEnvironment } from '../../src/profiles/environment.ts';
import { readProjectFile } from '../../src/profiles/project-file.ts';
import { resolveSettings, type SettingSources } from '../../src/profiles/resolve.ts';
import {
  FLAGS,
  flagOf,
  rowOf,
  SECRETS,
  SETTING_NAMES,
  type SettingName,
  type Settings,
} from '../../src/profiles/settings.ts';
import { openProfileStore } from '../../src/profiles/store.ts';
import { makeFolder } from '../support/make-folder.ts';

const PROD = { name: 'prod', base_url: 'https://a.example/v1', key: 'k', secret: stored('s') } as const;

function stored(value: string) {
  return { type: 'file', value } as const;
}

/** A value that each setting takes, and the profile of that name is there. */
const VALUE = 'prod';
const heldBy = (name: SettingName) => (rowOf(name).isSecret ? stored(VALUE) : VALUE);

function resolve(given: Partial<SettingSources>): Settings {
  return resolveSettings({
    flags: {},
    env: {},
    platform: 'linux',
    project: null,
    profiles: { version: 1, profiles: [PROD] },
    profilesPath: '/c/profiles.json',
    ...given,
  });
}

/** Reads a file of profiles with this one, as it would be on a disk. */
async function readStored(profile: object) {
  const folder = makeFolder();
  const store = openProfileStore(folder, () => undefined);
  const text = JSON.stringify({ version: 1, current: VALUE, profiles: [profile] });
  await writeFile(store.path, text, { mode: 0o600 });
  return store.read();
}

/** Every setting that a profile may have. */
const WHOLE: Readonly<Record<string, unknown>> = Object.fromEntries([
  ['name', VALUE],
  ...SETTING_NAMES.filter((name) => rowOf(name).inProfile !== 'never').map((name) => [
    rowOf(name).field,
    heldBy(name),
  ]),
]);

describe.each(SETTING_NAMES)('the setting %s', (name) => {
  const { field, variable, help, inProject, inProfile, isSecret } = rowOf(name);

  it('comes from its variable, which is documented', () => {
    expect(ENVIRONMENT).toMatchObject({ [variable]: help });
    expect(resolve({ env: { [variable]: VALUE } })[name]).toEqual({
      value: heldBy(name),
      origin: { type: 'env', name: variable },
    });
  });

  it(`is ${inProject ? 'read from' : 'refused in'} a project file`, async () => {
    const folder = join(makeFolder(), 'project');
    await mkdir(folder);
    const path = join(folder, 'vloc.config.json');
    await writeFile(path, JSON.stringify({ [field]: VALUE }));
    const reading = readProjectFile(folder, '/nobody', () => undefined);
    if (!inProject) {
      await expect(reading).rejects.toMatchObject({ facts: { code: 'PROJECT_FILE_INVALID' } });
      return;
    }
    expect(resolve({ project: await reading })[name]).toEqual({
      value: VALUE,
      origin: { type: 'project', path },
    });
  });

  if (inProfile === 'never') {
    it('is refused in a profile', async () => {
      await expect(readStored({ ...WHOLE, [field]: VALUE })).rejects.toThrow(
        `does not know the field profiles.0.${field}`,
      );
    });
  } else {
    it('is stored with a profile, and comes from it', async () => {
      const profiles = await readStored(WHOLE);
      expect(profiles.profiles[0]).toMatchObject({ [field]: heldBy(name) });
      expect(resolve({ profiles })[name]).toEqual({
        value: heldBy(name),
        origin: { type: 'profile', name: VALUE },
      });
    });

    it(`is ${inProfile} in a profile`, async () => {
      const { [field]: _left, ...rest } = WHOLE;
      const reading = readStored(rest);
      if (inProfile === 'optional') expect((await reading).profiles).toHaveLength(1);
      else await expect(reading).rejects.toThrow(`wrong at profiles.0.${field}`);
    });
  }

  it(`${isSecret ? 'leaves' : 'stays in'} the environment of the process`, () => {
    const variables = { [variable]: VALUE };
    expect(takeEnvironment(variables)).toEqual({ [variable]: VALUE });
    expect(variables).toEqual(isSecret ? {} : { [variable]: VALUE });
  });

  it('has its default, if any, if nothing sets it', () => {
    const { value } = resolve({})[name] ?? { value: undefined };
    expect(value).toBe(name === 'profile' ? 'local' : rowOf(name).default);
  });
});

it.each(FLAGS)('the flag of %s overrides the variable', (name) => {
  const env = { [rowOf(name).variable]: 'elsewhere' };
  expect(resolve({ flags: { [name]: VALUE }, env })[name]).toEqual({
    value: VALUE,
    origin: { type: 'flag', name: flagOf(name) },
  });
});

it('no secret may be set by a flag or a project file', () => {
  const open = SECRETS.filter((name) => rowOf(name).inProject || rowOf(name).flag !== undefined);
  expect(open).toEqual([]);
});
