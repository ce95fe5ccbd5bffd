import { type Command, defineCommand } from '../context/command.ts';
import { printRecord } from '../context/records.ts';
import { unknownProfile } from '../profiles/layers.ts';
import { findProfile, LOCAL } from '../profiles/profile.ts';
import { PROFILE_FIELDS, PROFILES, profileStore, showProfiles } from './profile-records.ts';

export const profileUse: Command = defineCommand({
  operands: { name: 'name', count: 'one', help: 'name of the profile; `local` is the embedded service' },
  options: {},
  fields: () => PROFILE_FIELDS,
  examples: [
    { command: 'vloc profile use prod', explains: 'runs that name no profile go there from now on' },
    { command: 'vloc profile use local', explains: 'back to the embedded service' },
  ],
  run: async (context, [name = '']) => {
    const store = profileStore(context);
    await store.change(({ current: _before, ...document }) => {
      if (name === LOCAL) return document;
      if (findProfile(document, name) === undefined) throw unknownProfile(name, document, store.path);
      return { ...document, current: name };
    });
    const used = showProfiles(await store.read()).find((profile) => profile.name === name);
    if (used !== undefined) await printRecord(context, PROFILES, used);
    return 0;
  },
});
