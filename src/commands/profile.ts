/** Commands on stored profiles that take a few lines each. */
import { type Command, defineCommand } from '../context/command.ts';
import { createKeeper } from '../context/connection.ts';
import { printList, printRecord } from '../context/records.ts';
import { checkProfileName, findProfile, LOCAL, type Profile } from '../profiles/profile.ts';
import { unknownProfile } from '../profiles/resolve.ts';
import {
  forgetSecrets,
  PROFILE_FIELDS,
  PROFILES,
  profileStore,
  showProfile,
  showProfiles,
} from '../workflow/profiles.ts';

export const profileList: Command = defineCommand({
  options: {},
  fields: () => PROFILE_FIELDS,
  examples: [
    { command: 'vloc profile list', explains: 'all profiles, the embedded service first' },
    { command: 'vloc profile list --output id', explains: 'their names alone' },
  ],
  run: async (context) => {
    const data = showProfiles(await profileStore(context).read());
    await printList(context, PROFILES, { data, has_more: false, next_cursor: null });
    return 0;
  },
});

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

export const profileRemove: Command = defineCommand({
  operands: { name: 'name', count: 'one', help: 'name of the profile' },
  options: {},
  fields: () => PROFILE_FIELDS,
  examples: [
    { command: 'vloc profile remove staging', explains: 'its secrets leave the keychain too' },
    {
      command: 'vloc profile list -o id | grep ^test- | xargs -n 1 vloc profile remove',
      explains: 'several, by their names',
    },
  ],
  run: async (context, [name = '']) => {
    checkProfileName(name);
    const store = profileStore(context);
    let removed: Profile | undefined;
    await store.change(({ current, ...document }) => {
      removed = findProfile(document, name);
      if (removed === undefined) throw unknownProfile(name, document, store.path);
      const profiles = document.profiles.filter((profile) => profile.name !== name);
      const kept = { ...document, profiles };
      if (current === undefined) return kept;
      if (current !== name) return { ...kept, current };
      context.terminal.note('It was in use; runs go to the embedded service now.');
      return kept;
    });
    if (removed === undefined) return 0;
    await forgetSecrets(createKeeper(context), removed);
    await printRecord(context, PROFILES, showProfile(removed, undefined));
    return 0;
  },
});
